"""`optional` in RQ: what it reads as, prints as, and means."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

from headrace.catalog.document import from_document
from headrace.executor.local import Edge, run_plan
from headrace.languages.query.atoms import EdgeAtom, PathAtom, VertexAtom
from headrace.languages.query.errors import QueryError
from headrace.languages.rq import printer
from headrace.languages.rq.parser import parse
from headrace.planning.errors import UsageError
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from tests.oracles.query import text
from tests.strategies.amount import examples
from tests.strategies.optional import optional_cases
from tests.strategies.queries import Case

BEGIN = "Answer(x, y) <- a(x, y), "


@pytest.mark.parametrize(
    ("part", "kind", "columns"),
    [
        ("optional b(y, z)", EdgeAtom, ("y", "z")),
        ("OPTIONAL b(x, _)", EdgeAtom, ("x",)),
        ("optional b+(y, m)", PathAtom, ("y", "m")),
        ("optional x (a/b)* z", PathAtom, ("x", "z")),
        ("optional ?x b ?m", PathAtom, ("x", "m")),
        ("optional Person(y)", VertexAtom, ("y",)),
        ("optional b[amount > 5](x, 'k')", EdgeAtom, ("x",)),
        ("optional {(b|^a)(x, m)}", EdgeAtom, ("x", "m")),
    ],
)
def test_a_part_is_a_rule_of_its_own(part: str, kind: type, columns: tuple[str, ...]) -> None:
    query = parse(f"{BEGIN}{part}.")
    answer, inner = query.rules
    (optional,) = answer.optional
    assert len(answer.body) == 1
    assert inner.variables == columns
    assert optional.predicate == inner.head == "optional"
    assert isinstance(inner.body[0], kind)
    assert parse(printer.text(query)) == query


def test_properties_that_the_rule_reads_are_columns_of_the_part() -> None:
    query = parse("Answer(x, e.n) <- a(x, y), optional {b(y, m) as e, optional c(m, k)}, k <> x.")
    assert query.rules[1].variables == ("y", "m", "k", "e.n")
    assert query.rules[2].variables == ("m", "k")
    assert parse(printer.text(query)) == query


@pytest.mark.parametrize(
    "body",
    ["optional(x, y)", "a(x, optional), optional = x", "optional a x, y a x", "optional a/b x"],
)
def test_a_label_or_variable_may_be_called_optional(body: str) -> None:
    assert not parse(f"Answer(x) <- {body}.").rules[0].optional


@given(case=optional_cases())
@examples(40)
def test_what_is_printed_reads_as_the_same_query(case: Case) -> None:
    query = parse(text(case.query))
    assert parse(printer.text(query)) == query


EDGES: list[Edge] = [
    ("1", "2", "a", 0), ("2", "7", "b", 3), ("2", "8", "b", 4), ("3", "4", "a", 4),
    ("7", "9", "c", 4), ("8", "8", "c", 4),
]  # fmt: skip


def _results(query: str, edges: list[Edge], **options: object) -> list[tuple[object, ...]]:
    labels = {label: {"rate": 1.0, "distinct_src": 9, "distinct_trg": 9} for label in "abc"}
    labels |= {edge[2]: labels["a"] for edge in edges}
    catalog = from_document({"streams": {"s": {"labels": labels}}})
    chosen = PlanningOptions(**options)  # type: ignore[arg-type]
    plan = optimize(PlanRequest(query, catalog=catalog, options=chosen)).plan
    return [tuple(result) for result in run_plan(plan, edges)]


def _at(query: str, instant: int) -> set[object]:
    """The answer at an instant."""
    rows: dict[object, int] = {}
    for row, ts, exp in _results(f"{query} WINDOW 5", EDGES):
        assert isinstance(ts, int)
        assert isinstance(exp, int)
        if ts <= instant:
            rows[row] = max(exp, rows.get(row, 0)) if exp >= 0 else 0
    return {row for row, exp in rows.items() if exp > instant}


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("Answer(x, m) <- a(x, y), optional b(y, m).", {("1", "7"), ("1", "8"), ("3", None)}),
        ("Answer(x, m) <- a(x, y), optional {b(y, m), c(m, m)}.", {("1", "8"), ("3", None)}),
        ("Answer(x, m) <- a(x, y), optional {b(y, m), m <> 7}.", {("1", "8"), ("3", None)}),
        ("Answer(x, m) <- a(x, y), optional b(y, m), m <> 7.", {("1", "8")}),
        ("Answer(x, m) <- a(x, y), optional b(y, m), m = x.", set()),
        (
            "Answer(x, m, k) <- a(x, y), optional b(y, m), optional {c(m, k), k <> m}.",
            {("1", "7", "9"), ("1", "8", None), ("3", None, None)},
        ),
        (
            "Answer(x, m, k) <- a(x, y), optional {b(y, m), optional {c(m, k), k <> m}}.",
            {("1", "7", "9"), ("1", "8", None), ("3", None, None)},
        ),
        ("Answer(x, m) <- a(x, y), optional b(y, m), not c(m, m).", {("1", "7"), ("3", None)}),
        ("Answer(x, e.ts) <- a(x, y), optional b(y, m) as e.", {("1", 3), ("1", 4), ("3", None)}),
        ("Answer(x) <- a(x, y), optional b(y, m) as e, e.ts = 3.", {("1",)}),
        ("Answer(x) <- a(x, y), optional b(y, m).", {("1",), ("3",)}),
        ("D(x, m) <- a(x, y), optional b(y, m). Answer(x, k) <- D(x, m), c(m, k).",
         {("1", "9"), ("1", "8")}),
        ("D(x, m) <- a(x, y), optional b(y, m). Answer(x, m, k) <- D(x, m), optional c(m, k).",
         {("1", "7", "9"), ("1", "8", "8"), ("3", None, None)}),
        ("Answer(x, z) <- a(x, y), optional b+(y, z).", {("1", "7"), ("1", "8"), ("3", None)}),
    ],
)  # fmt: skip
def test_the_answer_has_missing_values(query: str, answer: set[object]) -> None:
    assert _at(query, 4) == answer


def test_aggregates_skip_missing_values() -> None:
    query = (
        "Answer(x, count(*) as k, count(m) as n, max(e.ts) as t) <- a(x, y), optional b(y, m) as e."
    )
    assert _at(query, 4) == {("1", 2, 2, 4), ("3", 1, 0, None)}


def test_the_example_of_the_docs() -> None:
    path = Path(__file__).parents[3] / "docs" / "language.md"
    section = path.read_text("utf-8").split("\n## Optional parts\n")[1].split("\n## ")[0]
    query = re.search(r"```\n(.*?)```", section, re.DOTALL)[1]  # type: ignore[index]
    parsed = parse(query)
    assert [rule.head for rule in parsed.rules] == ["Answer", "optional"]
    assert parse(printer.text(parsed)) == parsed


@pytest.mark.parametrize(
    ("query", "options", "problem"),
    [
        ("Answer(x, y) <- a(x, y), optional b(z, w).", {}, "shares no variable"),
        ("Answer(x, y) <- optional b(x, y).", {}, "shares no variable"),
        ("Answer(x, count(e) as n) <- a(x, y), optional b(y, m) as e.", {}, "may be missing"),
        ("Answer(x, y) <- a(x, y), optional {b(y, m), m <> x}.", {}, "no atom of the body binds"),
        ("Answer(x) <- a(x, y) as e, optional b(y, m) as e.", {}, "already that of"),
        (
            "D(x, m) <- a(x, y), optional b(y, m). Answer(x, y) <- D+(x, y).",
            {},
            "paths and alternatives relate vertices",
        ),
        ("Answer(x, y) <- Answer(x, z), optional a(z, y).", {}, "depends on itself"),
        (
            "C(x, y, z) <- a(x, y), optional b(y, z). D(x, y, z) <- C(x, y, z), x = z. "
            "E(x, y) <- D(x, y, z). Answer(x, y) <- x (E/a)+ y.",
            {"path_semantics": "simple"},
            "simple paths are not supported with `optional`",
        ),
        ("Answer(x, p, m) <- x a+ y as p, optional a(y, m).", {}, "with `optional` yet"),
        (
            "D(x, m) <- a(x, y), optional a(y, m). Answer(x, m) <- D[WINDOW 3](x, m).",
            {},
            "with `optional` yet",
        ),
    ],
)
def test_what_is_not_supported_is_refused(
    query: str, options: dict[str, object], problem: str
) -> None:
    with pytest.raises((QueryError, UsageError), match=problem):
        _results(f"{query} WINDOW 9", [("1", "2", "a", 0)], **options)
