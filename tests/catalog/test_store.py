"""Catalog files: contents, round trips, and errors with file, line and place."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra.values import PropertyType
from headrace.catalog import (
    Catalog,
    CatalogError,
    LabelStatistics,
    Source,
    Stream,
    dump,
    dumps,
    from_document,
    load,
    loads,
    to_document,
)
from headrace.catalog.model import FILE_FORMATS, LIVE_FORMATS, ROLES

EXAMPLE = """\
time_unit: second
streams:
  social:
    source:
      {format: csv, path: data/*.csv, options: {sep: ",", header: true, maxFilesPerTrigger: 3}}
    columns: {src: SRC, trg: DST, ts: UNIXTS}
    label: a2q
    delay: 1h
    deletions: false
    labels:
      a2q: {rate: 12.5, distinct_src: 1200, distinct_trg: 900, vertices: 1500}
  profiles:
    stored: true
    source: {format: parquet, path: profiles/}
    labels: {worksAt: {population: 50000, distinct_src: 40000, distinct_trg: 900}}
"""


def test_the_example_of_the_specification_loads(tmp_path: Path) -> None:
    file = tmp_path / "catalog.yaml"
    file.write_text(EXAMPLE)
    assert load(file) == Catalog(
        {
            "social": Stream(
                "social",
                {"a2q": LabelStatistics(12.5, 1200, 900, 1500)},
                Source(
                    "csv",
                    (f"{tmp_path}/data/*.csv",),
                    {"sep": ",", "header": "true", "maxFilesPerTrigger": "3"},
                ),
                {"src": "SRC", "trg": "DST", "ts": "UNIXTS"},
                "a2q",
                delay=3600,
            ),
            "profiles": Stream(
                "profiles",
                {"worksAt": LabelStatistics(0.0, 40000, 900, 40000, population=50000)},
                Source("parquet", (f"{tmp_path}/profiles",)),
                stored=True,
            ),
        }
    )


def test_durations_count_in_the_time_unit() -> None:
    text = "{time_unit: millisecond, streams: {s: {delay: 30d}, t: {delay: 250}, u: {}}}"
    streams = loads(text).streams
    assert [streams[name].delay for name in "stu"] == [30 * 86_400_000, 250, 0]


def test_idle_times_count_in_milliseconds_whatever_the_time_unit() -> None:
    catalog = loads(
        "{time_unit: day, streams: {s: {idle: 10m, delay: 2}, t: {idle: 250ms}, u: {}}}"
    )
    assert [catalog.streams[name].idle_ms for name in "stu"] == [600_000, 250, None]
    assert loads(dumps(catalog)) == catalog
    assert "idle: 10m" in dumps(catalog)


def test_names_are_text_as_written() -> None:
    same = "{rate: 1, distinct_src: 1, distinct_trg: 1}"
    text = f"streams: {{s: {{labels: {{no: {same}, 007: {same}, 2020-01-01: {same}}}}}}}"
    assert list(loads(text).streams["s"].labels) == ["no", "007", "2020-01-01"]


def test_numbers_may_be_written_as_people_write_them() -> None:
    text = "streams: {s: {labels: {a: {rate: 1e-3, distinct_src: 1e6, distinct_trg: 1_000}}}}"
    statistics = loads(text).streams["s"].labels["a"]
    assert (statistics.rate, statistics.distinct_src) == (0.001, 1e6)
    assert statistics.distinct_trg == 1000


def test_a_source_may_map_each_file_to_a_label() -> None:
    text = "streams: {s: {source: {format: csv, path: {a: [x.csv, y.csv], b: z.csv}}}}"
    source = loads(text).streams["s"].source
    assert source is not None
    assert source.path == ("x.csv", "y.csv", "z.csv")
    assert source.path_labels == {"x.csv": "a", "y.csv": "a", "z.csv": "b"}


STATISTICS = "rate: 1, distinct_src: 2, distinct_trg: 3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the catalog: expected a mapping with time_unit and streams"),
        ("- a\n- b", "1: the catalog: expected a mapping with time_unit and streams"),
        ("time_unit: second", "1: streams: it is missing"),
        ("streams: {}", "1: streams: expected at least one"),
        ("streams: 5", "1: streams: expected a mapping, got 5"),
        ("streams:\n  s: 5", "2: streams.s: expected a mapping, got 5"),
        (
            "time_unit: 5\nstreams: {s: {delay: 1h}}",
            "1: time_unit: expected text; put it in quotes",
        ),
        ("streams:\n  s:\n    lables: {}", "3: streams.s.lables: no such entry is known"),
        (
            "streams:\n  s:\n    labels:\n      a:\n        rate: fast\n        distinct_src: 1",
            "5: streams.s.labels.a.rate: expected a number, got 'fast'",
        ),
        (
            "streams:\n  s:\n    labels:\n      a: {rate: -1, distinct_src: 1, distinct_trg: 1}",
            "4: streams.s.labels.a.rate: expected at least 0, got -1",
        ),
        (
            "streams: {s: {labels: {a: {rate: .nan, distinct_src: 1, distinct_trg: 1}}}}",
            "1: streams.s.labels.a.rate: expected at least 0, got nan",
        ),
        (
            "streams: {s: {labels: {a: {rate: .inf, distinct_src: 1, distinct_trg: 1}}}}",
            "1: streams.s.labels.a.rate: expected a finite number, got inf",
        ),
        (
            "streams: {s: {labels: {a: {rate: true, distinct_src: 1, distinct_trg: 1}}}}",
            "1: streams.s.labels.a.rate: expected a number, got true",
        ),
        (
            "streams:\n  s:\n    labels:\n      a: {rate: 1, distinct_src: 1}",
            "4: streams.s.labels.a.distinct_trg: it is missing",
        ),
        (
            f"streams: {{s: {{labels: {{a: {{{STATISTICS}, vertices: 2}}}}}}}}",
            "1: streams.s.labels.a: expected vertices to be at least 3",
        ),
        (
            f"streams: {{s: {{labels: {{a: {{{STATISTICS}, longest_path: 0}}}}}}}}",
            "1: streams.s.labels.a.longest_path: expected at least 1, got 0",
        ),
        (
            f"streams: {{s: {{labels: {{a: {{{STATISTICS}, longest_path: 2.5}}}}}}}}",
            "1: streams.s.labels.a.longest_path: expected a whole number, got 2.5",
        ),
        (
            "streams: {s: {labels: {a: {distinct_src: 1, distinct_trg: 1}}}}",
            "1: streams.s.labels.a: expected rate, in edges per time unit",
        ),
        (
            "streams: {s: {stored: true, labels: {a: {distinct_src: 1, distinct_trg: 1}}}}",
            "1: streams.s.labels.a: expected population, since the graph is stored",
        ),
        (
            f"streams: {{s: {{stored: true, labels: {{a: {{{STATISTICS}, population: 3}}}}}}}}",
            "1: streams.s.labels.a: a stored graph has a population and no rate",
        ),
        (
            f"streams: {{s: {{labels: {{a: {{{STATISTICS}, population: 3}}}}}}}}",
            "1: streams.s.labels.a: only a stored graph (stored: true) has a population",
        ),
        (
            f"streams: {{s: {{label: b, labels: {{a: {{{STATISTICS}}}}}}}}}",
            "1: streams.s.labels: expected statistics of b, the stream's label",
        ),
        ("streams: {s: {delay: soon}}", "1: streams.s.delay: 'soon': it is not a length of time"),
        ("streams: {s: {delay: -5}}", "1: streams.s.delay: expected a length of time that is not"),
        (f"streams: {{s: {{delay: {2**62}}}}}", "1: streams.s.delay: expected a length of time of"),
        ("streams: {s: {delay: [1]}}", "1: streams.s.delay: expected a length of time, as 1h"),
        ("streams: {s: {idle: 600}}", "1: streams.s.idle: expected a length of time with its unit"),
        (
            "streams: {s: {idle: 0s}}",
            "1: streams.s.idle: expected a length of time that is not zero",
        ),
        (
            "{time_unit: step, streams: {s: {delay: 1h}}}",
            "1: streams.s.delay: '1h': it cannot be counted in the time unit 'step'",
        ),
        ("streams: {s: {stored: perhaps}}", "1: streams.s.stored: expected true or false"),
        (
            "streams: {s: {vertex_type: float}}",
            "1: streams.s.vertex_type: expected string or integer, got 'float'",
        ),
        (
            "streams: {s: {source: {format: java.lang.Runtime}}}",
            "1: streams.s.source.format: java.lang.Runtime is not a known format; expected one of "
            "csv",
        ),
        ("streams: {s: {source: {path: x}}}", "1: streams.s.source.format: it is missing"),
        (
            "streams:\n  s:\n    source:\n      format: csv\n      path: [a, 5]",
            "5: streams.s.source.path: expected a path, a list of paths, or a mapping",
        ),
        (
            "streams: {s: {source: {format: csv, path: {a: x, b: x}}}}",
            "1: streams.s.source.path: x is given twice",
        ),
        (
            "streams: {s: {source: {format: csv, options: {sep: [1]}}}}",
            "1: streams.s.source.options.sep: expected text",
        ),
        ("stream: {s: {}}", "1: stream: no such entry is known; did you mean streams?"),
        (
            "streams: {s: {vertex_typ: integer}}",
            "1: streams.s.vertex_typ: no such entry is known; did you mean vertex_type?",
        ),
        (
            "streams: {s: {labels: {a: {rate: 1, distinct_source: 1, distinct_trg: 1}}}}",
            "1: streams.s.labels.a.distinct_source: no such entry is known; did you mean "
            "distinct_src?",
        ),
        (
            "streams: {s: {vertex_type: int}}",
            "1: streams.s.vertex_type: expected string or integer, got 'int'; did you mean integer",
        ),
        (
            "views: {v: {text: x}}\nstreams: {s: {}}",
            "1: views.v.text: no such entry is known; the entries are query, file, language",
        ),
        (
            "streams:\n  s:\n    labels:\n      path: {rate: x, distinct_src: 1, distinct_trg: 1}",
            "4: streams.s.labels.path.rate: expected a number, got 'x'",
        ),
        ("streams: {s: {}, s: {}}", "1: 's' is given twice"),
        ("streams: {s: {[1]: 2}}", "1: expected text as the name of an entry"),
        ("streams: {s: {", "1: "),
        ("a: b: c", "1: not YAML: mapping values are not allowed here; look at"),
        ("streams: !!python/object:os.system {}", "1: could not determine a constructor"),
        ("streams: \x00", "not YAML: "),
    ],
)
def test_errors_say_where_and_what_was_expected(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "catalog.yaml"
    file.write_text(text)
    with pytest.raises(CatalogError) as caught:
        load(file)
    assert re.match(rf"{re.escape(str(file))}: ?{re.escape(message)}", str(caught.value))


def test_missing_or_binary_catalog_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"none\.yaml: cannot be read: No such file"):
        load(tmp_path / "none.yaml")
    with pytest.raises(CatalogError, match="cannot be read: Is a directory"):
        load(tmp_path)
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CatalogError, match="not UTF-8"):
        load(tmp_path / "b.yaml")


def test_a_catalog_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    catalog = loads("streams: {s: {}}")
    with pytest.raises(CatalogError, match="cannot be written"):
        dump(catalog, tmp_path / "no-folder" / "catalog.yaml")
    (tmp_path / "taken").mkdir()
    with pytest.raises(CatalogError, match="cannot be written"):
        dump(catalog, tmp_path / "taken")
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]


def test_paths_are_relative_to_the_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    source = Source("csv", ("sub/a.csv", "b.csv", "/elsewhere/c.csv", "s3://bucket/d.csv"))
    catalog = Catalog({"s": Stream("s", {}, source)})
    dump(catalog, "sub/catalog.yaml")
    assert "- a.csv\n" in Path("sub/catalog.yaml").read_text()
    assert load("sub/catalog.yaml") == catalog
    dump(catalog, tmp_path / "sub" / "catalog.yaml")
    loaded = load(tmp_path / "sub" / "catalog.yaml").streams["s"].source
    assert loaded is not None
    assert loaded.path == (
        f"{tmp_path}/sub/a.csv",
        f"{tmp_path}/b.csv",
        "/elsewhere/c.csv",
        "s3://bucket/d.csv",
    )


def test_a_loaded_catalog_cannot_be_changed() -> None:
    catalog = loads(EXAMPLE)
    for mapping in (catalog.streams, catalog.streams["social"].labels):
        assert isinstance(mapping, MappingProxyType)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
counts = st.floats(0, 1e18) | st.integers(0, 10**9).map(float)


@st.composite
def statistics(draw: st.DrawFn, stored: bool, properties: list[str]) -> LabelStatistics:
    src, trg = draw(counts), draw(counts)
    return LabelStatistics(
        rate=0.0 if stored else draw(counts),
        distinct_src=src,
        distinct_trg=trg,
        vertices=max(src, trg) + draw(counts),
        distinct_pairs=draw(st.none() | counts),
        degree_skew=draw(st.none() | counts),
        longest_path=draw(st.none() | st.integers(1, 10**6)),
        population=draw(counts) if stored else None,
        measured_at=draw(st.none() | names),
        distinct_properties={name: draw(counts) for name in properties if draw(st.booleans())},
    )


paths = st.text("abc._ é=:#'\"-", min_size=1, max_size=8).filter(lambda p: p.strip(".") != "")


@st.composite
def sources(draw: st.DrawFn) -> Source:
    path = tuple(draw(st.lists(paths, max_size=3, unique=True)))
    labelled = draw(st.booleans())
    if labelled:  # in the order in which the file groups them
        labels = {p: draw(names) for p in path}
        path = tuple(sorted(path, key=lambda p: list(labels.values()).index(labels[p])))
    form = draw(st.sampled_from((*FILE_FORMATS, *LIVE_FORMATS)))
    is_live = form in LIVE_FORMATS
    value: Literal["graph"] | None = "graph" if is_live and draw(st.integers(0, 3)) == 0 else None
    of_graphs = "graph" in (form, value)
    labelled = labelled and not of_graphs
    return Source(
        form,
        path,
        draw(st.dictionaries(names, st.text(st.characters(exclude_categories=["Cs"])), max_size=3)),
        labels if labelled else {},
        value=value,
        layout=draw(st.sampled_from(["seraph", "neo4j"])) if of_graphs else "seraph",
    )


@st.composite
def streams(draw: st.DrawFn, name: str) -> Stream:
    stored = draw(st.booleans())
    roles = [role for role in ROLES if role != "ts" or not stored]
    types = st.sampled_from(get_args(PropertyType))
    properties = draw(st.dictionaries(names.filter(lambda n: n not in ROLES), types, max_size=3))
    labels = draw(st.dictionaries(names, statistics(stored, [*properties]), max_size=3))
    source = draw(st.none() | sources())
    label = draw(st.none() | (st.sampled_from(sorted(labels)) if labels else names))
    if source is not None and source.of_graphs:  # events have their own labels and ends
        label, roles = None, ["ts"] if source.layout == "seraph" and not stored else []
    named = st.sampled_from([*roles, *properties]) if roles or properties else st.nothing()
    return Stream(
        name=name,
        labels=labels,
        source=source,
        columns=draw(st.dictionaries(named, names)),
        label=label,
        open_labels=draw(st.booleans()),
        vertex_type=draw(st.sampled_from(["string", "integer"])),
        delay=0 if stored else draw(st.integers(0, 10**12)),
        deletions=not stored and draw(st.booleans()),
        stored=stored,
        merge=not stored and draw(st.booleans()),
        properties=properties,
    )


@st.composite
def catalogs(draw: st.DrawFn) -> Catalog:
    stream_names = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    units = st.sampled_from(["second", "millisecond", "day", "step"])
    return Catalog({name: draw(streams(name)) for name in stream_names}, draw(units))


@given(catalogs())
def test_written_catalogs_read_as_themselves(catalog: Catalog) -> None:
    text = dumps(catalog)
    assert loads(text) == catalog
    assert dumps(loads(text)) == text
    assert from_document(to_document(catalog)) == catalog


documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "streams",
                    "time_unit",
                    "s",
                    "labels",
                    "a",
                    "rate",
                    "source",
                    "path",
                    "format",
                    "delay",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def attempted(read: Callable[[], Catalog]) -> Catalog | CatalogError:
    try:
        return read()
    except CatalogError as error:
        return error


@given(documents)
def test_no_document_breaks_the_reader(document: object) -> None:
    outcome = attempted(lambda: from_document(document))
    if isinstance(outcome, Catalog):
        assert from_document(to_document(outcome)) == outcome
    else:
        assert str(outcome)


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    outcome = attempted(lambda: loads("streams: " + text))
    assert isinstance(outcome, Catalog) or str(outcome).startswith("catalog")
