"""Queries have the rules that stand beside them, and what is not supported is refused."""

import pytest

from headrace.languages import QueryError, detect, parse
from headrace.languages.query.regular_query import Emit
from headrace.languages.rq import printer
from tests.languages.cypher.examples import PAPER, REFUSED, TRANSLATED


@pytest.mark.parametrize("text", TRANSLATED, ids=lambda text: " ".join(text.split())[:60])
def test_a_query_has_its_rules(text: str) -> None:
    assert "\n".join(printer.rules_text(parse(text, "cypher"))) == TRANSLATED[text]


@pytest.mark.parametrize("name", PAPER)
def test_the_text_of_a_query_of_the_paper_is_recognized(name: str) -> None:
    assert detect(PAPER[name]) == "cypher"
    assert parse(PAPER[name]).emit is not None


def test_the_clauses_of_a_registered_query_are_windows_and_reports() -> None:
    query = parse(PAPER["location"], None, "second")
    (clause,) = query.windows
    assert (clause.window.range, clause.window.slide, clause.stream) == (120, 1, None)
    assert query.emit == Emit("entering", 60)
    assert query.answer == "people_in_the_same_location"
    assert [warning.split(":")[0].split()[0] for warning in query.warnings] == ["W-RUN", "W-RUN"]


STARTS = [
    ("STARTING AT 90", "Latest", "1 Event", Emit("exit", None, events=1, start=90)),
    ("STARTING AT 1970-01-01T00:02:00Z", "Earliest", "PT1M", Emit("exit", 60, start=120)),
    (
        "STARTING AT Earliest",
        "1970-01-01T01:00+00:30",
        "7 Events",
        Emit("exit", events=7, start=1800),
    ),
    ("", "'1970-01-02'", "30s", Emit("exit", 30, start=86400)),
]


@pytest.mark.parametrize(("at", "start", "every", "emit"), STARTS)
def test_reports_begin_at_a_time(at: str, start: str, every: str, emit: Emit) -> None:
    text = (
        f"REGISTER QUERY q {at} {{ FROM STREAM s STARTING FROM {start} WITH WINDOW RANGE PT1H "
        f"MATCH (a)-[:K]->(b) RETURN a EMIT ON EXIT EVERY {every} }}"
    )
    query = parse(text, "cypher")
    assert query.emit == emit
    assert parse(printer.text(query), "rq").emit == emit


def test_an_order_without_a_limit_has_a_warning() -> None:
    query = parse("MATCH (a:P)-[r:K]->(b) RETURN a.x AS x ORDER BY r.w DESC, x", "cypher")
    assert printer.rules_text(query) == ["Answer(a.x as x) <- P(a), K(a, b) as r."]
    (warning,) = query.warnings
    assert warning.startswith("W-ORDER 1:49: ORDER BY: a result is a set of rows")


@pytest.mark.parametrize("text", REFUSED)
def test_a_refused_text_has_one_clear_message(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text, "cypher")
    assert str(caught.value).startswith(REFUSED[text])
    assert caught.value.hint or caught.value.expected
