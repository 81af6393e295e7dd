"""`headrace stats` explains its columns, and shows times and histograms."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.api.command import Commands, process

AT = 1_700_000_000


def _csv(folder: Path, times: list[object], values: list[object] | None = None) -> Path:
    file = folder / "edges.csv"
    rows = [f"{k % 7},{k % 5},a,{time}" for k, time in enumerate(times)]
    head = "src,trg,label,ts"
    if values is not None:
        head += ",amount"
        rows = [f"{row},{value}" for row, value in zip(rows, values, strict=True)]
    file.write_text("\n".join([head, *rows, ""]))
    return file


def _line(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.strip().startswith(start))


def _rates(text: str) -> str:
    """The histogram of the rates of the only label."""
    lines = text.splitlines()
    heading = next(k for k, line in enumerate(lines) if line.startswith("rates over"))
    return lines[heading + 1].removeprefix("  a  ")


def test_each_column_is_explained(headrace: Commands, tmp_path: Path) -> None:
    out = headrace("stats", "--input", _csv(tmp_path, [AT + k for k in range(100)])).out
    table, explained, *_ = out.split("\n\n")
    columns = table.splitlines()[0].split()[1:]
    assert columns == ["edges/s", "peak", "sources", "targets", "vertices", "pairs", "skew"]
    assert [line.split()[0] for line in explained.splitlines()] == columns


def test_files_without_an_option_are_edges(headrace: Commands, tmp_path: Path) -> None:
    file = _csv(tmp_path, [AT + k for k in range(10)])
    assert headrace("stats", file).out == headrace("stats", "--input", file).out


def test_the_time_span_and_the_rates_over_it(headrace: Commands, tmp_path: Path) -> None:
    busy = [AT + k for k in range(40)]
    late = [AT + 399]
    out = headrace("stats", "--input", _csv(tmp_path, [*busy, *late])).out
    span = _line(out, "time span")
    assert span == "time span  2023-11-14 22:13:20 to 2023-11-14 22:19:59 UTC, 6.67m"
    assert _line(out, "unit of ts") == "unit of ts  seconds since 1970"
    bars = _rates(out)
    assert len(bars) == 40
    assert (bars[0], set(bars[6:36]), bars[-1]) == ("█", {" "}, "▁")


@pytest.mark.parametrize(
    ("factor", "unit"), [(10**3, "millisecond"), (10**6, "microsecond"), (10**9, "nanosecond")]
)
def test_times_in_a_finer_unit_are_recognized(
    headrace: Commands, tmp_path: Path, factor: int, unit: str
) -> None:
    file = _csv(tmp_path, [(AT + k) * factor for k in range(30)])
    out = headrace("stats", "--input", file).out
    said = f"probably {unit}s since 1970, but read as seconds: say --time-unit {unit}"
    assert _line(out, "unit of ts") == f"unit of ts  {said}"
    again = headrace("stats", "--input", file, "--time-unit", unit).out
    assert _line(again, "unit of ts") == f"unit of ts  {unit}s since 1970"


def test_a_plain_counter_is_recognized(headrace: Commands, tmp_path: Path) -> None:
    out = headrace("stats", "--input", _csv(tmp_path, list(range(50)))).out
    assert "unit of ts  probably a plain counter" in out
    assert "in none of the usual units are 0 to 49 dates between 1990 and 2100" in out


def test_timestamps_of_text_and_parquet_are_no_guess(headrace: Commands, tmp_path: Path) -> None:
    texts = [f"2024-01-01T00:00:{k:02}" for k in range(30)]
    out = headrace("stats", "--input", _csv(tmp_path, [*texts, "soon"])).out
    assert "the column has timestamps, read as seconds" in out
    file = tmp_path / "edges.parquet"
    times = pa.array([AT * 10**6 + k for k in range(30)], pa.timestamp("us"))
    ends = pa.array([str(k) for k in range(30)])
    pq.write_table(pa.table({"src": ends, "trg": ends, "label": ends, "ts": times}), file)
    assert "the column has timestamps, read as seconds" in headrace("stats", "--input", file).out


def test_numbers_have_a_histogram(headrace: Commands, tmp_path: Path) -> None:
    times: list[object] = [AT + k for k in range(400)]
    even = headrace("stats", "--input", _csv(tmp_path, times, list(range(400)))).out
    assert set(_line(even, "0 ").split()[1]) <= {"▇", "█"}
    skewed = headrace(
        "stats", "--input", _csv(tmp_path, times, [*range(360), *range(360, 4_000_000, 100_000)])
    ).out
    assert _line(skewed, "0 ").endswith(" 3.9M, logarithmic")
    texts = headrace("stats", "--input", _csv(tmp_path, times, ["eur", "usd"] * 200)).out
    assert _line(texts, "a.amount").startswith("  a.amount: string, 2 values")


def test_an_output_without_blocks_has_other_signs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _csv(tmp_path, [AT + k * k for k in range(100)])
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = process("stats", "--input", file)
    assert (done.code, "\\u2581" in done.out) == (0, False)
    assert _rates(done.out)[0] == "@"


def test_a_stored_graph_has_no_times(headrace: Commands, tmp_path: Path) -> None:
    file = tmp_path / "graph.jsonl"
    file.write_text("".join(json.dumps({"src": k, "trg": k + 1}) + "\n" for k in range(9)))
    out = headrace("stats", "--stored", f"a={file}").out
    assert "time span" not in out
    assert "9 stored" in out
