"""Finite inputs become slices sorted by time; rows that are not edges are rejected."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from headrace.catalog.edges import EdgeFile
from headrace.executor.spark.host.errors import (
    DamagedError,
    InputError,
    OtherQueryError,
    StorageError,
)
from headrace.executor.spark.reading.rate import ReplayRate
from headrace.executor.spark.reading.replay import Spool, spool
from tests.executor.spark.plans import csv_file, plan_of, random_edges, reach, scan
from tests.executor.spark.shortage import no_room_for_files


def slices_of(made: Spool, *, ended: bool = True) -> list[list[tuple[object, ...]]]:
    """The rows of all slices; sorted edges end with a row without a stream."""
    files = sorted(made.folder.glob("edges-*"), key=lambda file: file.stat().st_mtime_ns)
    slices = [pq.read_table(file).to_pylist() for file in files]
    if slices and ended:
        end = slices[-1].pop()
        assert (end["stream"], end["label"]) == (None, None), "the end of the input"
    return [[tuple(row.values()) for row in rows] for rows in slices]


def test_all_files_are_merged_by_time(tmp_path: Path) -> None:
    edges = random_edges(50)
    halves = [csv_file(tmp_path / f"{i}.csv", edges[i::2][::-1]) for i in range(2)]
    made = spool(tmp_path / "in", reach(), {"input": halves}, tmp_path / "bad", largest_slice=8)
    slices = slices_of(made)
    rows = [row for part in slices for row in part]
    relevant = [edge for edge in edges if edge[2] == "a"]
    assert sorted(rows) == sorted(("input", label, x, y, ts) for x, y, label, ts, *_ in relevant)
    assert [row[4] for row in rows] == sorted(edge[3] for edge in relevant)
    assert {len(part) for part in slices[:-1]} == {8}
    assert (made.edges, made.relevant, made.rejected) == (50, len(relevant), 0)
    assert made.slice_ends[-1] == len(relevant)


def test_first_slices_are_small(tmp_path: Path) -> None:
    file = csv_file(tmp_path / "a.csv", [("1", "2", "a", ts) for ts in range(20_000)])
    made = spool(tmp_path / "in", reach(), {"input": [file]}, tmp_path / "bad")
    assert made.slice_ends == (4_096, 12_288, 20_000)


def test_slices_cover_equal_lengths_of_time(tmp_path: Path) -> None:
    times = [3, 9, 10, 11, 19, 45, 45, 49, 50]
    edges = [("1", str(i), "a", ts) for i, ts in enumerate(times)]
    file = csv_file(tmp_path / "a.csv", [*edges[::2], *edges[1::2]])
    made = spool(
        tmp_path / "in",
        reach(),
        {"input": [file]},
        tmp_path / "bad",
        largest_slice=2,
        slice_length=10,
    )
    cut = [[row[4] for row in rows] for rows in slices_of(made)]
    assert cut == [[3, 9], [10, 11, 19], [45, 45, 49], [50]]
    assert made.slice_ends == (2, 5, 8, 9)


@pytest.mark.parametrize(
    ("speed", "interval", "wanted"),
    [
        (86400, None, ReplayRate(86400, "1000 milliseconds")),
        (10, "500 ms", ReplayRate(5, "500 milliseconds")),
        (0.25, "1 second", ReplayRate(1, "4000 milliseconds")),
        (2.5, None, ReplayRate(2, "800 milliseconds")),
    ],
)
def test_replay_rate_keeps_the_speed(
    speed: float, interval: str | None, wanted: ReplayRate
) -> None:
    assert ReplayRate.of(speed, interval) == wanted


@pytest.mark.parametrize(
    ("speed", "interval", "mention"),
    [(0, None, "at 0 time units"), (float("nan"), None, "at nan"), (1, "soon", "not a length")],
)
def test_invalid_replay_rates_are_refused(speed: float, interval: str | None, mention: str) -> None:
    with pytest.raises(InputError, match=mention):
        ReplayRate.of(speed, interval)


def test_modification_times_of_slices_rise(tmp_path: Path) -> None:
    file = csv_file(tmp_path / "a.csv", random_edges(50, labels="a"))
    made = spool(tmp_path / "in", reach(), {"input": [file]}, tmp_path / "bad", largest_slice=4)
    by_name = sorted(made.folder.glob("edges-*"))
    times = [path.stat().st_mtime for path in by_name]
    assert times == sorted(set(times))
    assert all(time.is_integer() for time in times)


def test_rows_that_are_no_edges_are_rejected_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("src,trg,label,ts\n1,2,a,0\n1,,a,1\n1,2,a,-3\n1,2,b,soon\n3,4,a,5\n")
    made = spool(tmp_path / "in", reach(), {"input": [EdgeFile(str(path))]}, tmp_path / "bad")
    assert (made.edges, made.relevant, made.rejected) == (2, 2, 3)
    rejected = [json.loads(line) for line in (tmp_path / "bad").read_text().splitlines()]
    assert [(row["line"], row["text"]) for row in rejected] == [
        (3, "1,,a,1"),
        (4, "1,2,a,-3"),
        (5, "1,2,b,soon"),
    ]
    assert all(row["file"] == str(path) and row["reason"] for row in rejected)


def test_records_of_several_lines_are_spooled_or_rejected_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    bad = '1,2,a,soon,"x\r\n9,9,a,9,"'
    path.write_bytes(f'src,trg,label,ts,note\n1,2,a,0,"x\n9,9,a,9,"\n{bad}\n3,4,a,5,\n'.encode())
    made = spool(tmp_path / "in", reach(), {"input": [EdgeFile(str(path))]}, tmp_path / "bad")
    assert [edge[-3:] for rows in slices_of(made) for edge in rows] == [
        ("1", "2", 0),
        ("3", "4", 5),
    ]
    (row,) = map(json.loads, (tmp_path / "bad").read_text().splitlines())
    assert (row["line"], row["text"]) == (4, bad)


def test_strict_stops_at_a_rejected_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("src,trg,label,ts\n1,2,a,0\n1,,a,1\n")
    inputs = {"input": [EdgeFile(str(path))]}
    with pytest.raises(InputError, match=r"a\.csv:3: trg is empty"):
        spool(tmp_path / "in", reach(), inputs, tmp_path / "bad", strict=True)
    assert not (tmp_path / "bad").exists()


def test_a_finished_spool_is_reused(tmp_path: Path) -> None:
    inputs = {"input": [csv_file(tmp_path / "a.csv", random_edges(50))]}
    first = spool(tmp_path / "in", reach(), inputs, tmp_path / "bad", largest_slice=8)
    made = {path: path.stat().st_ino for path in first.folder.iterdir()}
    again = spool(tmp_path / "in", reach(), inputs, tmp_path / "bad", largest_slice=8)
    assert again == first
    assert made == {path: path.stat().st_ino for path in first.folder.iterdir()}


def test_an_unfinished_spool_is_rewritten(tmp_path: Path) -> None:
    inputs = {"input": [csv_file(tmp_path / "a.csv", random_edges(50))]}
    first = spool(tmp_path / "in", reach(), inputs, tmp_path / "bad", largest_slice=8)
    whole = slices_of(first)
    (first.folder / "_manifest.json").unlink()
    (first.folder / "edges-00000009.parquet").write_bytes(b"torn")
    again = spool(tmp_path / "in", reach(), inputs, tmp_path / "bad", largest_slice=8)
    assert again == first
    assert slices_of(again) == whole


def test_a_spool_of_other_inputs_is_refused(tmp_path: Path) -> None:
    inputs = {"input": [csv_file(tmp_path / "a.csv", random_edges(50))]}
    spool(tmp_path / "in", reach(), inputs, tmp_path / "bad")
    csv_file(tmp_path / "a.csv", random_edges(51))
    with pytest.raises(OtherQueryError, match="other input files"):
        spool(tmp_path / "in", reach(), inputs, tmp_path / "bad")


def test_integers_and_text_travel_together_as_text(tmp_path: Path) -> None:
    plan = plan_of(
        (scan(stream="numbers"), ()),
        (scan(stream="names"), ()),
        vertex_types=(("numbers", "integer"), ("names", "string")),
    )
    numbers = csv_file(tmp_path / "n.csv", [("007", "8", "a", 0)])
    names = csv_file(tmp_path / "t.csv", [("007", "8", "a", 1)])
    inputs = {"numbers": [numbers], "names": [names]}
    made = spool(tmp_path / "in", plan, inputs, tmp_path / "bad")
    assert made.vertex_type == "string"
    assert slices_of(made) == [[("numbers", "a", "7", "8", 0), ("names", "a", "007", "8", 1)]]


def test_a_stream_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="stream 'input', which has no input"):
        spool(tmp_path / "in", reach(), {}, tmp_path / "bad")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    inputs = {"input": [EdgeFile(str(tmp_path / "no.csv"))]}
    with pytest.raises(InputError, match=r"no\.csv: cannot be read: No such file"):
        spool(tmp_path / "in", reach(), inputs, tmp_path / "bad")
    assert not (tmp_path / "in").exists()


@pytest.mark.parametrize("how", ["grown", "cut", "rewritten", "deleted", "replaced"])
def test_a_file_that_changes_while_it_is_read_ends_the_run(tmp_path: Path, how: str) -> None:
    path = tmp_path / "a.csv"
    text = "src,trg,label,ts\n" + "".join(f"{k},{k + 1},a,{k}\n" for k in range(200_000))
    path.write_text(text)
    again = tmp_path / "b.csv"
    again.write_text(text.replace("1", "2"))

    def change(done: int, total: int) -> None:
        if done == total:
            return
        match how:
            case "grown":
                path.open("a").write("7,8,a,200000\n")
            case "cut":
                os.truncate(path, total // 2)
            case "rewritten":
                path.write_text(again.read_text())
            case "deleted":
                path.unlink(missing_ok=True)
            case "replaced" if again.exists():
                again.replace(path)

    inputs = {"input": [EdgeFile(str(path))]}
    with pytest.raises(InputError, match=r"a\.csv: .*(changed while it was read|No such file)"):
        spool(tmp_path / "in", reach(), inputs, tmp_path / "bad", on_read=change)
    assert not (tmp_path / "in" / "_manifest.json").exists()
    # The same call takes the file as it is then.
    path.write_text("src,trg,label,ts\n1,2,a,0\n")
    made = spool(tmp_path / "in", reach(), inputs, tmp_path / "bad")
    assert slices_of(made) == [[("input", "a", "1", "2", 0)]]


@pytest.mark.parametrize("data", ["", "\n\n"])
def test_a_stream_of_empty_files_alone_is_refused(tmp_path: Path, data: str) -> None:
    empty, header = tmp_path / "empty.csv", tmp_path / "header.csv"
    empty.write_text(data)
    header.write_text("src,trg,label,ts\n")
    with pytest.raises(InputError, match=r"The stream 'input' has no rows: .*empty\.csv: the file"):
        spool(tmp_path / "in", reach(), {"input": [EdgeFile(str(empty))]}, tmp_path / "bad")
    both = {"input": [EdgeFile(str(empty)), EdgeFile(str(header))]}
    assert spool(tmp_path / "other", reach(), both, tmp_path / "bad").edges == 0


def test_damaged_slices_are_refused_by_name(tmp_path: Path) -> None:
    inputs = {"input": [csv_file(tmp_path / "in.csv", random_edges(50))]}
    spool(tmp_path / "in", reach(), inputs, tmp_path / "bad", largest_slice=8)
    made = spool(tmp_path / "in", reach(), inputs, tmp_path / "bad")
    made.check(0)
    file = made.slice(2)
    written = file.read_bytes()
    for place in range(0, len(written), 97):
        for content in (
            written[:place] + bytes([written[place] ^ 16]) + written[place + 1 :],
            written[:place],
        ):
            file.write_bytes(content)
            with pytest.raises(DamagedError, match=r"edges-00000002\.parquet is damaged"):
                made.check(1)
            made.check(3)
    file.unlink()
    with pytest.raises(DamagedError, match=r"edges-00000002\.parquet is damaged"):
        made.check(0)


def test_slices_of_a_copied_checkpoint_get_their_order_back(tmp_path: Path) -> None:
    inputs = {"input": [csv_file(tmp_path / "in.csv", random_edges(50))]}
    made = spool(tmp_path / "in", reach(), inputs, tmp_path / "bad", largest_slice=8)
    before = slices_of(made)
    for number in reversed(range(len(made.slice_ends))):
        made.slice(number).write_bytes(made.slice(number).read_bytes())
        made.slice(number).touch()
    made.check(0)
    assert slices_of(made) == before


def test_a_lost_manifest_is_rewritten_only_before_the_first_batch(tmp_path: Path) -> None:
    inputs = {"input": [csv_file(tmp_path / "in.csv", random_edges(50))]}
    made = spool(tmp_path / "in", reach(), inputs, tmp_path / "bad", largest_slice=8)
    (made.folder / "_manifest.json").unlink()
    with pytest.raises(DamagedError, match=r"_manifest\.json is damaged"):
        spool(tmp_path / "in", reach(), inputs, tmp_path / "bad", begun=True)
    again = spool(tmp_path / "in", reach(), inputs, tmp_path / "bad", largest_slice=8)
    assert again.digests == made.digests


def test_a_spool_that_failed_on_a_full_disk_is_rewritten(tmp_path: Path) -> None:
    inputs = {"input": [csv_file(tmp_path / "in.csv", random_edges(50))]}
    with (
        no_room_for_files(os.getpid()),
        pytest.raises(StorageError, match=r"edges-00000000\.parquet: File too large"),
    ):
        spool(tmp_path / "in", reach(), inputs, tmp_path / "bad")
    made = spool(tmp_path / "in", reach(), inputs, tmp_path / "bad")
    made.check(0)
    assert made.edges == 50
