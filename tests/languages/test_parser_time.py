"""The time limit of a request and the preparation of a grammar."""

from pathlib import Path
from typing import Any

import pytest
from lark import Token, Transformer

from headrace.algebra import deadline
from headrace.algebra.deadline import Deadline
from headrace.languages.parsing.lark_parser import Parser
from headrace.languages.query.errors import QueryError


def test_the_first_query_of_a_process_is_not_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine took over two seconds to prepare a grammar, and the query counted as too large."""
    now = 0.0
    monkeypatch.setattr(deadline, "perf_counter", lambda: now)

    def transformer() -> Transformer[Token, Any]:
        nonlocal now
        now += 30.0
        return Transformer()

    grammar = tmp_path / "letters.lark"
    grammar.write_text('start: "a"+')
    parser = Parser(grammar, transformer, lambda refusal: QueryError("E-SYNTAX", "refused"))
    limit = Deadline(1000)
    assert parser.parse("aa", limit).data == "start"
    assert limit.elapsed_ms() == 0.0
