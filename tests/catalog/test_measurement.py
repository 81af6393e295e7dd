"""Measured statistics against exact counts, and the effect of sampling."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.catalog import EdgeFile, RejectedRowError, measure, measure_files, measured_catalog
from headrace.catalog.measurement import MOST_LABELS
from headrace.catalog.rows import Expectation
from headrace.catalog.sketch import Sketch, hashes_of, pair_hashes

Edge = tuple[str, str, str, int]
NOW = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
MATHOVERFLOW = Path(__file__).parent.parent.parent / "examples" / "mathoverflow"


def batch(edges: Sequence[Edge]) -> pa.RecordBatch:
    schema = Expectation().schema
    return pa.RecordBatch.from_pylist(
        [dict(zip(schema.names, edge, strict=True)) for edge in edges], schema=schema
    )


names = st.sampled_from("abcdefg")
edges = st.lists(st.tuples(names, names, st.sampled_from(["k", "l"]), st.integers(0, 50)))


@given(st.lists(edges, max_size=4))
def test_statistics_equal_exact_counts(groups: list[list[Edge]]) -> None:
    measured = measure([batch(group) for group in groups], now=NOW)
    everything = [edge for group in groups for edge in group]
    assert measured.rows == len(everything)
    assert measured.complete
    assert sorted(measured.statistics) == sorted({label for _, _, label, _ in everything})
    for label, statistics in measured.statistics.items():
        mine = [edge for edge in everything if edge[2] == label]
        times = [ts for *_, ts in everything]
        assert statistics.rate == pytest.approx(len(mine) / (max(times) - min(times) + 1))
        assert statistics.distinct_src == len({src for src, *_ in mine})
        assert statistics.distinct_trg == len({trg for _, trg, *_ in mine})
        assert statistics.distinct_pairs == len({(src, trg) for src, trg, *_ in mine})
        degrees = list(Counter(v for src, trg, *_ in mine for v in (src, trg)).values())
        assert statistics.vertices == len(degrees)
        uniform = (sum(degrees) / len(degrees)) ** 2
        squares = sum(d * d for d in degrees) / len(degrees)
        assert statistics.degree_skew == pytest.approx(squares / uniform, abs=5e-4)
        assert statistics.measured_at == "2020-01-02T03:04:05+00:00"
        assert (statistics.longest_path, statistics.population) == (None, None)


def test_reading_ends_with_the_batch_that_completes_the_sample() -> None:
    def endless() -> object:
        time = 0
        while True:
            yield batch([(str(time), "x", "a", time + i) for i in range(10)])
            time += 10

    measured = measure(endless(), rows=95, now=NOW)  # type: ignore[arg-type]  # as it is
    assert measured.rows == 100
    assert not measured.complete
    assert measured.statistics["a"].rate == 1.0


def test_integers_and_text_are_measured_alike() -> None:
    some = [("1", "2", "a", 0), ("2", "3", "a", 1), ("1", "2", "a", 2)]
    schema = Expectation(vertex_type="integer").schema
    numbers = pa.RecordBatch.from_pylist(
        [{"src": int(s), "trg": int(t), "label": label, "ts": ts} for s, t, label, ts in some],
        schema=schema,
    )
    assert measure([numbers], now=NOW) == measure([batch(some)], now=NOW)


def write(path: Path, rows: Sequence[tuple[int, int, int]]) -> EdgeFile:
    path.write_text("".join(f"{s} {t} {ts}\n" for s, t, ts in rows))
    names = ("src", "trg", "ts")
    return EdgeFile(str(path), label=path.stem, header=False, names=names, separator=" ")


def test_a_sample_does_not_distort_rates(tmp_path: Path) -> None:
    """Two labels of the same time span, one a hundred times as frequent as the other."""
    dice = random.Random(1)
    frequent = write(
        tmp_path / "many",
        [(dice.randrange(100, 999), dice.randrange(100, 999), 10**6 + i) for i in range(300_000)],
    )
    rare = write(tmp_path / "few", [(1, 2, 10**6 + i * 100) for i in range(3_000)])
    whole = measure_files([frequent, rare], now=NOW)
    sample = measure_files([frequent, rare], rows=100_000, now=NOW)
    assert whole.complete
    assert not sample.complete
    assert sample.rows < whole.rows / 1.5
    for label in ("many", "few"):
        exact = whole.statistics[label]
        assert sample.statistics[label].rate == pytest.approx(exact.rate, rel=0.03)
    assert whole.statistics["many"].rate == pytest.approx(1.0)
    assert whole.statistics["few"].rate == pytest.approx(0.01)


def test_rates_of_consecutive_files_are_those_of_one_stream(tmp_path: Path) -> None:
    files = []
    for day in range(3):
        file = write(tmp_path / f"day{day}", [(i, i, day * 1000 + i) for i in range(1000)])
        files.append(EdgeFile(file.path, label="a", header=False, names=file.names, separator=" "))
    assert measure_files(files, now=NOW).statistics["a"].rate == 1.0
    assert measure_files(files * 2, now=NOW).statistics["a"].rate == 2.0


def test_gaps_between_files_do_not_lower_rates(tmp_path: Path) -> None:
    files = [write(tmp_path / "a", [(1, 2, i) for i in range(100)])]
    files.append(write(tmp_path / "b", [(1, 2, 10**6 + i) for i in range(300)]))
    statistics = measure_files(files, now=NOW).statistics
    assert (statistics["a"].rate, statistics["b"].rate) == (0.25, 0.75)


def test_a_label_without_edges_has_empty_statistics(tmp_path: Path) -> None:
    files = [write(tmp_path / "none", []), write(tmp_path / "a", [(1, 2, 3)])]
    measured = measure_files(files, now=NOW)
    assert measured.statistics["none"].rate == 0
    assert measured.statistics["none"].vertices == 0
    assert measured.statistics["none"].degree_skew is None
    assert measured.complete


def test_a_stored_graph_has_a_population_and_no_rate(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("src,trg\n1,2\n1,2\n2,3\n")
    measured = measure_files([EdgeFile(str(path), label="g", stored=True)], now=NOW)
    assert (measured.statistics["g"].rate, measured.statistics["g"].population) == (0, 2)


def test_rejected_rows_are_counted_and_the_first_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("src,trg,ts\n" + "1,2\n" * 150 + "1,2,3\n")
    measured = measure_files([EdgeFile(str(path), label="a")], now=NOW)
    assert (measured.rows, measured.rejected_count, len(measured.rejected)) == (1, 150, 100)
    with pytest.raises(RejectedRowError):
        measure_files([EdgeFile(str(path), label="a")], strict=True)


def test_progress_is_reported_for_every_file(tmp_path: Path) -> None:
    files = [write(tmp_path / name, [(1, 2, 3)] * 10) for name in "ab"]
    seen: list[tuple[int, int]] = []
    measure_files(files, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(60, 60), (60, 60)]


def test_real_data_has_the_published_counts() -> None:
    files = [EdgeFile(str(MATHOVERFLOW / f"{n}.csv.gz"), label=n) for n in ("a2q", "c2a", "c2q")]
    measured = measure_files(files, now=NOW)
    assert measured.rows == 4_610 + 8_998 + 6_881
    days = 60
    for label, count in (("a2q", 4_610), ("c2a", 8_998), ("c2q", 6_881)):
        rate = measured.statistics[label].rate * 86_400
        assert rate == pytest.approx(count / days, rel=0.01)
        assert (measured.statistics[label].degree_skew or 0) > 2  # some people talk more


values = st.lists(st.integers(0, 60), max_size=80)


@given(st.lists(values, min_size=1, max_size=5), st.integers(1, 100))
def test_a_sketch_that_overflows_keeps_complete_counts(groups: list[list[int]], kept: int) -> None:
    small, exact = Sketch(kept), Sketch(10_000)
    for group in groups:
        hashes = hashes_of(pa.array(group, pa.int64()))
        small.add(hashes)
        exact.add(hashes)
    count = len({value for group in groups for value in group})
    assert exact.distinct == count
    if count <= kept:
        assert (small.distinct, small.skew) == (exact.distinct, exact.skew)
    else:
        assert small._hashes.tolist() == exact._hashes[:kept].tolist()
        assert small._counts.tolist() == exact._counts[:kept].tolist()


@pytest.mark.parametrize("kind", ["integer", "text", "pair"])
def test_the_error_of_an_estimate_is_small(kind: str) -> None:
    sketch = Sketch(1 << 12)
    for start in range(0, 200_000, 10_000):
        column = np.arange(start, start + 10_000)
        if kind == "text":
            hashes = hashes_of(pa.array([str(i) for i in column]))
        else:
            hashes = hashes_of(pa.array(column))
        if kind == "pair":
            hashes = pair_hashes(hashes, hashes_of(pa.array(column % 7)))
        sketch.add(hashes)
        sketch.add(hashes)
    assert sketch.distinct == pytest.approx(200_000, rel=5 / 64)  # five standard errors
    assert sketch.skew == 1.0


def test_pairs_have_a_direction() -> None:
    one, two = hashes_of(pa.array(["1", "2"])), hashes_of(pa.array(["2", "1"]))
    assert len(set(pair_hashes(one, two).tolist())) == 2


def test_hashes_are_the_same_in_every_process() -> None:
    assert hashes_of(pa.array(["a"])).tolist() == [hashes_of(pa.array(["b", "a"])).tolist()[1]]
    assert hashes_of(pa.array([1])).tolist() == [6238072747940578789]


def test_records_of_several_lines_are_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('src,trg,ts,n\n1,2,5,"7\n8,9,9,1"\n1,2,soon,"\n8,9,9,1"\n3,4,6,8\n')
    catalog, (measured,) = measured_catalog([EdgeFile(str(path), label="a")])
    assert (measured.rows, measured.rejected_count) == (2, 1)
    assert catalog.streams["input"].labels["a"].vertices == 4
    assert catalog.streams["input"].properties == {"n": "string"}


@pytest.mark.long
def test_very_many_labels_are_measured_in_bounded_memory(tmp_path: Path) -> None:
    """Those that are asked for, and of the others as many as come first."""
    path = tmp_path / "x.csv"
    rows = [f"{k},{k + 1},l{k},{k}" for k in range(60_000)]
    path.write_text("\n".join(["src,trg,label,ts", *rows, *rows[:7]]) + "\n")
    measured = measure_files([EdgeFile(str(path))], labels=["l59999", "l3", "none"])
    assert measured.more_labels
    assert len(measured.statistics) == MOST_LABELS + 1
    assert {"l0", "l3", "l59999"} <= measured.statistics.keys()
    assert measured.rows == 60_007
    assert measured.statistics["l3"].rate == pytest.approx(2 / 60_000)
    assert measured.statistics["l59999"].distinct_pairs == 1
    catalog, _ = measured_catalog([EdgeFile(str(path))])
    assert catalog.streams["input"].open_labels


def test_labels_are_measured_as_if_each_stood_alone(tmp_path: Path) -> None:
    generator = random.Random(3)
    rows = [
        (str(generator.randrange(900)), str(generator.randrange(50)), generator.choice("abc"), k)
        for k in range(40_000)
    ]
    files = {}
    for label in ("a", "b", "c", None):
        own = [row for row in rows if label in (None, row[2])]
        path = tmp_path / f"{label}.csv"
        lines = [f"{s},{t},{la},{ts},{int(s) % 7 or ''}" for s, t, la, ts in own]
        path.write_text("\n".join(["src,trg,label,ts,p", *lines]) + "\n")
        files[label] = EdgeFile(str(path), properties={"p": "integer"})
    together = measure_files([files[None]]).statistics
    for label in "abc":
        alone = measure_files([files[label]]).statistics[label]
        for name in ("distinct_src", "distinct_trg", "vertices", "distinct_pairs", "degree_skew"):
            assert getattr(together[label], name) == getattr(alone, name)
        assert together[label].distinct_properties == {"p": 6}


def test_measuring_ends_when_enough_returns_true(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    lines = (f"v{i},w{i},a,{i}" for i in range(300_000))
    path.write_text("src,trg,label,ts\n" + "\n".join(lines) + "\n", "utf-8")
    file = EdgeFile(str(path))
    part = measure_files([file], enough=lambda: True)
    assert not part.complete
    assert 0 < part.rows < 300_000
    assert part.statistics["a"].rate == pytest.approx(1, rel=0.01)
