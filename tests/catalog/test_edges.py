"""The reader of edge files: every row is an edge or rejected, in every format."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.catalog import EdgeFile, EdgeFileError, RejectedRowError, delimited, json_lines
from headrace.catalog.edges import format_of, read
from headrace.catalog.lines import LONGEST_LINE, Block
from headrace.catalog.rows import LATEST

Edge = tuple[object, object, str, int]


def edges_of(file: EdgeFile) -> list[Edge]:
    return [
        (row["src"], row["trg"], row["label"], row["ts"])
        for batch in read(file)
        for row in batch.edges.to_pylist()
    ]


def rejected_of(file: EdgeFile) -> list[tuple[int, str, str]]:
    return [(r.line, r.reason, r.text) for batch in read(file) for r in batch.rejected]


def written(folder: Path, name: str, data: bytes | str) -> str:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


ROWS = [("1", "2", "a", 5), ("é,x", "2", "b", 6), ("07", "7", "a", 6)]


def test_every_format_gives_the_same_rows(tmp_path: Path) -> None:
    names = ["src", "trg", "label", "ts"]
    table = pa.table({n: [row[i] for row in ROWS] for i, n in enumerate(names)})
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *ROWS])
    lines = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in ROWS)
    pq.write_table(table, tmp_path / "x.parquet")
    paths = [
        str(tmp_path / "x.parquet"),
        written(tmp_path, "x.csv", text.getvalue()),
        written(tmp_path, "crlf.csv", text.getvalue().replace("\n", "\r\n")),
        written(tmp_path, "bom.csv", b"\xef\xbb\xbf" + text.getvalue().encode()),
        written(tmp_path, "no-end.csv", text.getvalue().rstrip("\n")),
        written(tmp_path, "x.csv.gz", gzip.compress(text.getvalue().encode())),
        written(tmp_path, "x.jsonl", lines),
        written(tmp_path, "crlf.jsonl", lines.replace("\n", "\r\n")),
        written(tmp_path, "x.ndjson.gz", gzip.compress(lines.encode())),
    ]
    for path in paths:
        file = EdgeFile(path, format_of(path))
        assert edges_of(file) == ROWS, path
        assert rejected_of(file) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.CSV", "csv"),
        ("a.txt.gz", "csv"),
        ("a.tsv", "csv"),
        ("a", "csv"),
        ("a.json", "json"),
        ("a.jsonl.gz", "json"),
        ("a.parquet", "parquet"),
        ("part-000.snappy.parquet", "parquet"),
    ],
)
def test_the_file_name_decides_the_format(name: str, expected: str) -> None:
    assert format_of(name) == expected


def test_mapped_columns_are_read_and_others_ignored(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", "SRC|w|UNIXTS|DST\n1|.|5|2\n")
    columns = {"src": "SRC", "trg": "DST", "ts": "UNIXTS"}
    assert edges_of(EdgeFile(path, label="a", columns=columns, separator="|")) == [
        ("1", "2", "a", 5)
    ]


def test_a_file_without_a_header_has_numbered_or_named_fields(tmp_path: Path) -> None:
    path = written(tmp_path, "x.txt", "1 2 5\n3 4 6\n")
    named = EdgeFile(path, label="a", header=False, names=("trg", "src", "ts"), separator=" ")
    assert edges_of(named) == [("2", "1", "a", 5), ("4", "3", "a", 6)]
    columns = {"src": "_c0", "trg": "_c1", "ts": "_c2"}
    numbered = EdgeFile(path, label="a", header=False, columns=columns, separator=" ")
    assert edges_of(numbered) == [("1", "2", "a", 5), ("3", "4", "a", 6)]


def test_integers_are_compared_as_integers_and_text_as_text(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", "src,trg,ts\n07,7, 5\n-1, 2 ,1\n1.5,1,1\n")
    assert edges_of(EdgeFile(path, label="a"))[0][:2] == ("07", "7")
    numbers = EdgeFile(path, label="a", vertex_type="integer")
    assert edges_of(numbers) == [(7, 7, "a", 5), (-1, 2, "a", 1)]
    assert rejected_of(numbers) == [(4, "src '1.5' is not a whole number", "1.5,1,1")]


def test_json_numbers_are_vertices_too(tmp_path: Path) -> None:
    same = '{"src": 1, "trg": 2, "ts": 3}\n'
    mixed = same + '{"src": "1", "trg": 2, "ts": "1970-01-01T00:00:04Z"}\n'
    for data in (same, mixed):
        path = written(tmp_path, "x.jsonl", data)
        assert edges_of(EdgeFile(path, "json", "a"))[0] == ("1", "2", "a", 3)
        assert edges_of(EdgeFile(path, "json", "a", vertex_type="integer"))[0] == (1, 2, "a", 3)
    assert edges_of(EdgeFile(path, "json", "a"))[1] == ("1", "2", "a", 4)


def test_iso_times_are_converted_to_the_time_unit(tmp_path: Path) -> None:
    path = written(
        tmp_path, "x.csv", "src,trg,ts\n1,2,1970-01-01T00:01:00Z\n1,2,1970-01-01 00:01:30\n"
    )
    assert [e[3] for e in edges_of(EdgeFile(path, label="a"))] == [60, 90]
    minutes = EdgeFile(path, label="a", time_unit="minute")
    assert [e[3] for e in edges_of(minutes)] == [1, 1]
    steps = EdgeFile(path, label="a", time_unit="step")
    assert "the time unit 'step' is not a length of time" in rejected_of(steps)[0][1]


CSV_FAULTS = [
    ("x,2,a", "expected 4 fields, found 3"),
    ("x 2 a 1", "expected 4 fields separated by ',', found 1"),
    ("x,2,a,1,9", "expected 4 fields, found 5"),
    (",2,a,1", "src is empty"),
    ("1,,a,1", "trg is empty"),
    ("1,2,,1", "label is empty"),
    ("1,2,a,", "ts is empty"),
    ("1,2,a,soon", "ts 'soon' is neither a whole number nor ISO-8601"),
    ("1,2,a,1.5", "ts '1.5' is neither a whole number nor ISO-8601"),
    ("1,2,a,2010-02-30", "ts '2010-02-30' is neither a whole number nor ISO-8601"),
    ("1,2,a,-1", "ts -1 is negative"),
    ("1,2,a,1969-12-31", "ts 1969-12-31 is negative"),
    (f"1,2,a,{LATEST}", f"ts {LATEST} is too large"),
    (f"1,2,a,{10**30}", f"ts '{10**30}' is neither a whole number nor ISO-8601"),
    (",,,", "src is empty"),
    ('"x"y,2,a,1', "the quotes of the line do not fit: ',' expected after '\"'"),
]


@pytest.mark.parametrize(("row", "reason"), CSV_FAULTS)
def test_an_invalid_row_of_csv_is_rejected(tmp_path: Path, row: str, reason: str) -> None:
    path = written(tmp_path, "x.csv", f"src,trg,label,ts\n1,2,a,5\n\n{row}\n3,4,a,6\n")
    assert edges_of(EdgeFile(path)) == [("1", "2", "a", 5), ("3", "4", "a", 6)]
    assert rejected_of(EdgeFile(path)) == [(4, reason, row)]
    # The same without the blank line, by which the block may take the fast way.
    path = written(tmp_path, "y.csv", f"src,trg,label,ts\n1,2,a,5\n{row}\n3,4,a,6\n")
    assert edges_of(EdgeFile(path)) == [("1", "2", "a", 5), ("3", "4", "a", 6)]
    assert rejected_of(EdgeFile(path)) == [(3, reason, row)]


JSON_FAULTS = [
    ('{"src": 1, "trg": 2, "label": "a"', "not JSON: Expecting ',' delimiter"),
    ("[1, 2]", "not a JSON object"),
    ("null", "not a JSON object"),
    ('{"trg": 2, "label": "a", "ts": 1}', "src is missing"),
    ('{"src": null, "trg": 2, "label": "a", "ts": 1}', "src is missing"),
    ('{"src": 1, "trg": "", "label": "a", "ts": 1}', "trg is empty"),
    ('{"src": 1, "trg": 2, "ts": 1}', "label is missing"),
    ('{"src": 1, "trg": 2, "label": "a"}', "ts is missing"),
    ('{"src": 1, "trg": 2, "label": "a", "ts": -3}', "ts -3 is negative"),
    ('{"src": 1, "trg": 2, "label": "a", "ts": 1.5}', "ts is 1.5: expected text or a whole"),
    ('{"src": true, "trg": 2, "label": "a", "ts": 1}', "src is true: expected text or a whole"),
    ('{"src": [1], "trg": 2, "label": "a", "ts": 1}', "src is [1]: expected text or a whole"),
    ('{"src": "\\ud800", "trg": 2, "label": "a", "ts": 1}', "src is not Unicode"),
    ('{"src": 1, "trg": 2, "label": "a", "ts": 1, "op": "-"}', "op '-' deletes, and the stream"),
    ('{"src": 1, "trg": 2, "label": "a", "ts": 1, "op": "x"}', "op 'x' is neither '+' nor '-'"),
    ('{"src": ' + "[" * 100_000 + "}", "not JSON: "),
    ('{"src": 1, "trg": 2, "label": "a", "ts": ' + "9" * 5000 + "}", "not JSON: "),
]


@pytest.mark.parametrize(("row", "reason"), JSON_FAULTS, ids=range(len(JSON_FAULTS)))
def test_an_invalid_row_of_json_is_rejected(tmp_path: Path, row: str, reason: str) -> None:
    good = '{"src": 1, "trg": 2, "label": "a", "ts": 5}\n'
    for blank in ("\n", ""):
        path = written(tmp_path, "x.jsonl", f"{good}{blank}{row}\n{good}")
        assert edges_of(EdgeFile(path, "json")) == [("1", "2", "a", 5)] * 2
        ((line, why, text),) = rejected_of(EdgeFile(path, "json"))
        assert (line, text) == (2 + len(blank), row)
        assert why.startswith(reason)


def test_lines_that_are_not_utf8_are_rejected(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", b"src,trg,ts\n1,\xff,5\n1,2,6\n")
    assert edges_of(EdgeFile(path, label="a")) == [("1", "2", "a", 6)]
    assert rejected_of(EdgeFile(path, label="a")) == [(2, "the line is not UTF-8", r"1,\xff,5")]
    path = written(tmp_path, "x.json", b'{"src": "\xff", "trg": 1, "ts": 1}\n')
    assert rejected_of(EdgeFile(path, "json", "a"))[0][1] == "the line is not UTF-8"


def test_invalid_rows_of_parquet_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    moment = datetime(1970, 1, 1, 0, 0, 7, tzinfo=UTC)
    table = pa.table(
        {
            "src": pa.array([1, None, 3], pa.int32()),
            "trg": pa.array(["x", "y", ""]).dictionary_encode(),
            "ts": pa.array([moment, moment, None], pa.timestamp("ms", "UTC")),
        }
    )
    pq.write_table(table, path)
    file = EdgeFile(str(path), "parquet", "a")
    assert edges_of(file) == [("1", "x", "a", 7)]
    assert [r[:2] for r in rejected_of(file)] == [(2, "src is missing"), (3, "trg is empty")]
    assert json.loads(rejected_of(file)[1][2])["src"] == 3


def test_columns_of_other_types_are_refused_as_vertices(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"src": [1.0], "trg": [2], "ts": [3]}), path)
    with pytest.raises(EdgeFileError, match="column 'src' is double: expected text, whole numbers"):
        edges_of(EdgeFile(str(path), "parquet", "a"))


def test_the_op_column_distinguishes_deletions(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", "src,trg,ts,op\n1,2,5,+\n1,2,6,-\n1,2,7,\n1,2,8,?\n")
    assert [e[3] for e in edges_of(EdgeFile(path, label="a"))] == [5, 7]
    assert [(r[0], r[1][:14]) for r in rejected_of(EdgeFile(path, label="a"))] == [
        (3, "op '-' deletes"),
        (5, "op '?' is neit"),
    ]
    deleting = EdgeFile(path, label="a", deletions=True)
    (batch,) = read(deleting)
    assert batch.edges["op"].to_pylist() == ["+", "-", "+"]
    assert [r.line for r in batch.rejected] == [5]


def test_a_file_without_an_op_column_has_insertions_only(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", "src,trg,ts\n1,2,5\n")
    (batch,) = read(EdgeFile(path, label="a", deletions=True))
    assert batch.edges["op"].to_pylist() == ["+"]


def test_a_stored_graph_needs_no_times(tmp_path: Path) -> None:
    for name, data in (("x.csv", "src,trg\n1,2\n"), ("x.json", '{"src": 1, "trg": 2}\n')):
        path = written(tmp_path, name, data)
        assert edges_of(EdgeFile(path, format_of(path), "a", stored=True)) == [("1", "2", "a", 0)]


def test_strict_reading_ends_at_the_first_rejected_row(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", "src,trg,ts\n1,2,5\n1,2,x\n1,2\n")
    with pytest.raises(RejectedRowError) as caught:
        list(read(EdgeFile(path, label="a"), strict=True))
    assert caught.value.rejected.line == 3
    assert str(caught.value) == f"{path}:3: ts 'x' is neither a whole number nor ISO-8601: 1,2,x"


@pytest.mark.parametrize(
    ("data", "file", "message"),
    [
        (
            "1 4 1254192988\n",
            {"label": "a"},
            "no column 'src'; it has '1 4 1254192988': if ' ' separates its fields, say "
            r"separator=' ' \(and columns='src,trg,ts'",
        ),
        ("src,trg,ts\n1,2,3\n", {}, "no column 'label'; it has 'src', 'trg', 'ts': .* one label"),
        ("src,trg\n", {"label": "a"}, "no column 'ts'"),
        ("A,trg,ts\n", {"label": "a", "columns": {"src": "B"}}, "no column 'B' for src"),
        ("src,src,trg,ts\n", {"label": "a"}, "two columns are called 'src'"),
        ('"src,trg,ts\n', {"label": "a"}, "its first line cannot be read: a quote of the line"),
        (b"\xff\n", {"label": "a"}, "its first line cannot be read: the line is not UTF-8"),
        (gzip.compress(b"src,trg,ts\n1,2,3\n", mtime=0)[:-9], {"label": "a"}, "damaged or cut off"),
        (b"\x1f\x8b\x08rubbish", {"label": "a"}, "damaged or cut off"),
        (b"PAR1rubbish", {"format": "parquet"}, "cannot be read as Parquet"),
    ],
)
def test_unreadable_files_are_refused(
    tmp_path: Path, data: bytes | str, file: dict[str, Any], message: str
) -> None:
    path = written(tmp_path, "x", data)
    with pytest.raises(EdgeFileError, match=message) as caught:
        edges_of(EdgeFile(path, **file))
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("header", "file", "by_options", "by_catalog"),
    [
        (
            "src;trg;label;ts", {},
            "if ';' separates its fields, say --sep ';'",
            "if ';' separates its fields, say options: {sep: ';'}",
        ),
        (
            "1\t2\t5", {"label": "a"},
            r"say --sep '\t' (and --columns src,trg,ts or the like, without a header)",
            r"say options: {sep: '\t', header: false}",
        ),
        (
            "from,to,ts", {"label": "a"},
            "if the file has a header, say which columns these are, as --columns "
            "src=NAME,trg=NAME; if it has none, name its fields in order, as --columns src,trg,ts",
            "say columns: {src: ...}, and options: {header: false} if it has no header",
        ),
        (
            "src,trg,ts", {},
            "give the file one label, as --input LABEL=FILE, or say which column is label, as "
            "--columns label=NAME",
            "say label: NAME of all rows, or columns: {label: ...}",
        ),
        (
            "name,label", {"vertices": True, "stored": True},
            "say in a catalog which column is id: columns: {id: ...}",
            "say columns: {id: ...}, and options: {header: false} if it has no header",
        ),
    ],
)  # fmt: skip
def test_a_missing_column_comes_with_its_remedy(
    tmp_path: Path, header: str, file: dict[str, Any], by_options: str, by_catalog: str
) -> None:
    path = written(tmp_path, "x.csv", header + "\n1,2,5\n")
    for origin, message in (("options", by_options), ("catalog", by_catalog)):
        with pytest.raises(EdgeFileError) as caught:
            edges_of(EdgeFile(path, **{**file, "origin": origin}))
        assert str(caught.value).startswith(f"{path}: no column ")
        assert message in str(caught.value)


def test_advice_names_the_arguments_of_a_program(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", "src;trg;label;ts\n1;2;a;5\n")
    with pytest.raises(EdgeFileError, match=r"say separator=';'$"):
        edges_of(EdgeFile(path))
    path = written(tmp_path, "x.csv", "from,to,ts\n1,2,5\n")
    with pytest.raises(EdgeFileError, match="as columns='src=NAME,trg=NAME'; if it has none, "):
        edges_of(EdgeFile(path, label="a"))


def test_missing_files_are_refused(tmp_path: Path) -> None:
    for name in ("none.csv", "none.json", "none.parquet"):
        with pytest.raises(EdgeFileError, match="cannot be read"):
            edges_of(EdgeFile(str(tmp_path / name), format_of(name)))
    with pytest.raises(EdgeFileError, match="cannot be read: Is a directory"):
        edges_of(EdgeFile(str(tmp_path), label="a"))


@pytest.mark.parametrize("separator", ["", "ab", "é", '"', "\n"])
def test_invalid_separators_are_refused(separator: str) -> None:
    with pytest.raises(EdgeFileError, match="a separator is one ASCII character"):
        EdgeFile("x", separator=separator)


def test_a_file_with_a_header_takes_no_field_names() -> None:
    with pytest.raises(EdgeFileError, match="only a file without a header"):
        EdgeFile("x", names=("src", "trg", "ts"))


@pytest.mark.parametrize("data", ["", "src,trg,ts", "src,trg,ts\n", "src,trg,ts\n\n\n"])
def test_files_without_rows_give_no_edges(tmp_path: Path, data: str) -> None:
    path = written(tmp_path, "x.csv", data)
    assert edges_of(EdgeFile(path, label="a")) == []
    assert rejected_of(EdgeFile(path, label="a")) == []


def test_an_overlong_line_is_rejected_and_reading_continues(tmp_path: Path) -> None:
    long = b"x" * (LONGEST_LINE + 2_000_000)
    path = written(tmp_path, "x.csv", b"src,trg,ts\n1,2,3\n" + long + b"\n4,5,6\n\n7,8\n")
    file = EdgeFile(path, label="a")
    assert edges_of(file) == [("1", "2", "a", 3), ("4", "5", "a", 6)]
    assert rejected_of(file) == [
        (3, "the line is too long", "x" * 1000),
        (6, "expected 3 fields, found 2", "7,8"),
    ]


def test_lines_keep_their_numbers_over_many_blocks(tmp_path: Path) -> None:
    rows = [f"{i},{i + 1},{i if i % 50_000 else 'x'}" for i in range(200_000)]
    path = written(tmp_path, "x.csv", "src,trg,ts\n" + "\n".join(rows) + "\n")
    batches = list(read(EdgeFile(path, label="a", vertex_type="integer")))
    assert len(batches) > 2
    assert sum(b.edges.num_rows for b in batches) == 200_000 - 4
    rejected = [(r.line, r.text) for b in batches for r in b.rejected]
    assert rejected == [(i + 2, rows[i]) for i in range(0, 200_000, 50_000)]


def test_memory_is_bounded_by_the_block_size(tmp_path: Path) -> None:
    row = b"1,2,3\n"
    path = written(tmp_path, "x.csv.gz", gzip.compress(b"src,trg,ts\n" + row * 5_000_000))
    file = EdgeFile(path, label="a", vertex_type="integer")
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    rows = arrow = 0
    for batch in read(file):
        rows += batch.edges.num_rows
        arrow = max(arrow, pa.total_allocated_bytes() - before)
    _, python = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows == 5_000_000
    assert arrow < 64 << 20  # the whole would be 160 MB
    assert python < 16 << 20


WITH_LINE_ENDS = 'src,trg,ts,note\n1,2,5,"a\n3,4,6,b"\n5,6,7,"c\r\n\r\nd ""e"", f"\n7,8,9,\n'


def test_a_quoted_value_may_hold_line_ends(tmp_path: Path) -> None:
    for data in (
        WITH_LINE_ENDS,
        WITH_LINE_ENDS.rstrip("\n"),
        WITH_LINE_ENDS.replace("\r", "").replace("\n", "\r\n"),
    ):
        path = written(tmp_path, "x.csv", data)
        file = EdgeFile(path, label="a", properties={"note": "string"})
        rows = [row for batch in read(file) for row in batch.edges.to_pylist()]
        assert [(row["src"], row["ts"]) for row in rows] == [("1", 5), ("5", 7), ("7", 9)]
        notes = [row["note"] and row["note"].replace("\r\n", "\n") for row in rows]
        assert notes == ["a\n3,4,6,b", 'c\n\nd "e", f', None]
        assert rejected_of(file) == []


def test_a_record_of_several_lines_is_rejected_whole_at_its_first_line(tmp_path: Path) -> None:
    fields = ['"a\r\n1,2,5\nb",2,x', '1,"2\n3,4,6",7,8', '1,"2"\t"\n3,4,6', '1,2,"\n3,4,6']
    body = f"{fields[0]}\n1,2,5\n{fields[1]}\n\n{fields[2]}\r\n{fields[3]}\n9,9,9\n"
    path = written(tmp_path, "x.csv", "src,trg,ts\n" + body)
    file = EdgeFile(path, label="a")
    assert edges_of(file) == [("1", "2", "a", 5), ("3", "4", "a", 6)]
    assert rejected_of(file) == [
        (2, "ts 'x' is neither a whole number nor ISO-8601", fields[0]),
        (6, "expected 3 fields, found 4", fields[1]),
        (9, "the quotes of the line do not fit: ',' expected after '\"'", '1,"2"\t"'),
        (11, "a quote of the record of 3 lines is never closed", fields[3] + "\n9,9,9"),
    ]
    with pytest.raises(RejectedRowError, match=r"x\.csv:2: ts 'x'"):
        list(read(file, strict=True))


def test_an_unclosed_quote_rejects_the_rest_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", 'src,trg,ts\n1,2,5\n"1,2,6\n3,4,7\n')
    file = EdgeFile(path, label="a")
    assert edges_of(file) == [("1", "2", "a", 5)]
    reason = "a quote of the record of 2 lines is never closed"
    assert rejected_of(file) == [(3, reason, '"1,2,6\n3,4,7')]


def test_a_record_may_be_longer_than_a_block(tmp_path: Path) -> None:
    note = "\n1,2,3" * 500_000
    path = written(tmp_path, "x.csv", f'src,trg,ts,note\n1,2,5,"{note}"\n3,4,x,y\n')
    file = EdgeFile(path, label="a", properties={"note": "string"})
    (row,) = (row for batch in read(file) for row in batch.edges.to_pylist())
    assert row["note"] == note
    assert rejected_of(file) == [
        (500_003, "ts 'x' is neither a whole number nor ISO-8601", "3,4,x,y")
    ]


@pytest.mark.parametrize("line", [b"1,2,3\n", b"x" * 1_000_000])
def test_an_unclosed_quote_in_a_long_file_raises(tmp_path: Path, line: bytes) -> None:
    path = written(
        tmp_path, "x.csv", b'src,trg,ts\n1,2,3\n"' + line * (LONGEST_LINE // len(line) + 2)
    )
    message = "x.csv:3: the record that begins in this line is longer than 16 MB: perhaps a quote"
    with pytest.raises(EdgeFileError, match=message):
        edges_of(EdgeFile(path, label="a"))


def test_a_header_is_a_record_and_may_follow_blank_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", '\n"src","trg","the\ntime"\n1,2,5\n1,2,x\n')
    file = EdgeFile(path, label="a", columns={"ts": "the\ntime"})
    assert edges_of(file) == [("1", "2", "a", 5)]
    assert [line for line, _, _ in rejected_of(file)] == [5]


def _progress(file: EdgeFile) -> list[tuple[int, int]]:
    seen: list[tuple[int, int]] = []
    for _ in read(file, on_progress=lambda done, total: seen.append((done, total))):
        pass
    return seen


def test_progress_counts_the_bytes_as_stored(tmp_path: Path) -> None:
    body = b"".join(b"%d,%d,%d\n" % (i * 7919, i, i) for i in range(300_000))
    for data in (body, gzip.compress(body)):
        path = written(tmp_path, "x", data)
        seen = _progress(EdgeFile(path, label="a", header=False, names=("src", "trg", "ts")))
        assert len(seen) > 2
        assert {total for _, total in seen} == {len(data)}
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        assert seen[-1][0] == len(data)


fields = st.text(st.sampled_from('ab1,;" \té-\r\n'), max_size=4)
numbers = st.integers(-3, 10**6).map(str)
csv_records = st.one_of(
    st.tuples(fields, fields, numbers).map(",".join),
    st.tuples(numbers, numbers, numbers).map(",".join),
    st.lists(fields, max_size=5).map(",".join),
    st.tuples(fields, fields, numbers).map(
        lambda row: ",".join('"' + f.replace('"', '""') + '"' for f in row)
    ),
)


def _records(text: str) -> list[tuple[int, str]]:
    """The records of a text with their first lines, told sign by sign as RFC 4180 says."""
    text = text.removesuffix("\n")
    records, begin, line, first = [], 0, 1, 1
    inside, may_open = False, True
    for at, sign in enumerate(text):
        if sign == '"' and (inside or may_open):
            inside = not inside
            may_open = not inside  # directly behind a closing quote one opens again
            continue
        may_open = sign in ",\n"
        line += sign == "\n"
        if sign == "\n" and not inside:
            records.append((first, text[begin:at]))
            begin, first = at + 1, line
    return [*records, (first, text[begin:])]


def _naive(text: str) -> tuple[list[Edge], list[tuple[int, str]]]:
    """What the reader should make of records ``src,trg,ts``, one by one."""
    edges: list[Edge] = []
    rejected = []
    for number, record in _records(text):
        whole = record.removesuffix("\r")
        if not whole:
            continue
        try:
            quoted = '"' in whole
            row = next(csv.reader([whole], strict=True)) if quoted else whole.split(",")
            src, trg, ts = row
            time = int(ts) if ts.strip().removeprefix("-").isdigit() else -1
            assert src
            assert trg
            assert time >= 0
        except (csv.Error, ValueError, AssertionError):
            rejected.append((number, whole))
        else:
            edges.append((src, trg, "a", time))
    return edges, rejected


@given(st.lists(csv_records, max_size=30), st.integers(1, 40))
def test_csv_is_read_as_record_by_record(
    tmp_path_factory: pytest.TempPathFactory, records: list[str], size: int
) -> None:
    text = "\n".join(records)
    path = written(tmp_path_factory.mktemp("csv"), "x.csv", text)
    file = EdgeFile(path, label="a", header=False, names=("src", "trg", "ts"))
    edges, rejected = _naive(text)
    assert edges_of(file) == edges
    assert [(line, text) for line, _, text in rejected_of(file)] == rejected
    # However the text is cut into blocks, the rows are the same.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headrace.catalog.lines.BLOCK", size)
        assert edges_of(file) == edges
        assert [(line, text) for line, _, text in rejected_of(file)] == rejected


plain = st.text(st.sampled_from("ab1; é-"), max_size=3)


@given(st.lists(st.tuples(plain, plain, plain).map(",".join).filter(bool), min_size=1))
def test_fast_and_careful_csv_readers_agree(lines: list[str]) -> None:
    block = Block(1, "\n".join(lines).encode())
    fast = delimited._fast(block, 3, [2, 0], ",")
    # A record in quotes has the careful way taken; it is the last one of all.
    quoted = Block(1, block.data + b'\n"a","b","c"')
    (careful,) = delimited.Reader("x", iter([quoted]), ",").rows(3, [2, 0])
    assert fast is not None
    assert len(careful.lines) == len(fast.lines) + 1
    assert [c.to_pylist() for c in fast.columns] == [c.to_pylist()[:-1] for c in careful.columns]
    for row in range(len(fast.lines)):
        assert (fast.lines[row], fast.text(row)) == (careful.lines[row], careful.text(row))


values = st.one_of(st.integers(-5, 5), st.integers(-(2**63), 2**63 - 1), st.text(max_size=3))


@given(st.lists(st.fixed_dictionaries({"src": values, "ts": values}, optional={"z": values})))
def test_fast_and_careful_json_readers_agree(rows: list[dict[str, object]]) -> None:
    block = Block(7, "\n".join(json.dumps(row) for row in rows).encode())
    fast = json_lines._fast(block, ["src", "ts"])
    careful = json_lines._careful(block, ["src", "ts"])
    types = {(type(row["src"]), type(row["ts"])) for row in rows}
    assert (fast is not None) == (len(types) == 1)
    if fast is not None:
        assert [[str(v) for v in c.to_pylist()] for c in fast.columns] == [
            c.to_pylist() for c in careful.columns
        ]
        for row in range(len(fast.lines)):
            assert (fast.lines[row], fast.text(row)) == (careful.lines[row], careful.text(row))


@given(st.binary(max_size=200))
def test_every_record_of_any_bytes_is_an_edge_rejected_or_blank(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("bytes")
    body = data.replace(b"\x1f\x8b", b"..").removeprefix(b"\xef\xbb\xbf")
    path = written(folder, "x", body)
    lines = [line.removesuffix(b"\r") for line in body.split(b"\n")]
    fields = EdgeFile(path, "csv", "a", header=False, names=("src", "trg", "ts"))
    objects = EdgeFile(path, "json", "a")
    records = [text.removesuffix("\r") for _, text in _records(body.decode("latin-1"))]
    assert len(edges_of(fields)) + len(rejected_of(fields)) == sum(map(bool, records))
    full = sum(bool(line.strip()) for line in lines)
    assert len(edges_of(objects)) + len(rejected_of(objects)) == full
