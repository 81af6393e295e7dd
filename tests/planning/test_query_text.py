"""A query argument is a file, standard input or the text itself, and never a traceback."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from headrace.planning.errors import UsageError
from headrace.planning.query_text import LONGEST_QUERY, load_query, read_text

TEXT = "Answer(x, y) <- a(x, y)  WINDOW 1d"
NOTHING = io.StringIO()


def test_an_argument_may_be_the_text_itself() -> None:
    assert load_query(TEXT, NOTHING).text == TEXT
    assert load_query("?x, ?y <- ?x a+ ?y", NOTHING).name == "query"


def test_a_dash_reads_standard_input() -> None:
    assert load_query("-", io.StringIO(TEXT)).text == TEXT


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "q.rq"
    file.write_text("\ufeff" + TEXT, encoding="utf-8")
    query = load_query(str(file), NOTHING)
    assert query.text == TEXT
    assert query.name == str(file)


def test_a_query_may_be_longer_than_a_file_name() -> None:
    long = f"{TEXT} % {'x' * 5000}"
    assert load_query(long, NOTHING).text == long
    assert load_query("a(\0", NOTHING).text == "a(\0"


def test_plans_are_distinguished_from_queries(tmp_path: Path) -> None:
    assert load_query('{"version": 1, "x": "("}', NOTHING).is_plan
    assert not load_query(TEXT, NOTHING).is_plan
    with pytest.raises(UsageError, match="plan version 7 is not known"):
        _ = load_query('{"version": 7, "(": 1}', NOTHING).plan


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("query.rq", "no such file: query.rq"),
        ("no/such/folder/q", "no such file"),
        ("", "the query is empty"),
        (" \n", "the query is empty"),
        (".", "is a folder"),
    ],
)
def test_an_argument_that_is_no_query_is_refused(argument: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_query(argument, NOTHING)


def test_an_empty_query_is_refused() -> None:
    with pytest.raises(UsageError, match="standard input is empty"):
        load_query("-", io.StringIO(" \n"))


def test_a_too_long_text_is_refused() -> None:
    with pytest.raises(UsageError, match="more than 1,000,000 characters"):
        load_query("-", io.StringIO("(" * (LONGEST_QUERY + 1)))


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "q.rq"
    file.write_bytes(b"Answer\xff\xfe")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        read_text(file)


def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_text(tmp_path / "missing")
