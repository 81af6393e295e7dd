"""`not` in RQ: what it reads as, prints as, and means."""

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
from tests.strategies.negation import negated_cases
from tests.strategies.queries import Case

BEGIN = "Answer(x, y) <- a(x, y), "


@pytest.mark.parametrize(
    ("part", "kind", "shared"),
    [
        ("not b(y, x)", EdgeAtom, ("y", "x")),
        ("NOT b(x, _)", EdgeAtom, ("x",)),
        ("not b+(x, y)", PathAtom, ("x", "y")),
        ("not x (a/b)* z", PathAtom, ("x",)),
        ("not x (a|b) z", PathAtom, ("x",)),
        ("not x b y", PathAtom, ("x", "y")),
        ("not -7 ^b y", PathAtom, ("y",)),
        ("not ?x b ?y", PathAtom, ("x", "y")),
        ("not Person(y)", VertexAtom, ("y",)),
        ("not {Person(y)}", VertexAtom, ("y",)),
        ("not b[amount > 5](x, 'k')", EdgeAtom, ("x",)),
        ("not {(b|^a)(x, y)}", EdgeAtom, ("x", "y")),
        ("not `b c`(x, z)", EdgeAtom, ("x",)),
    ],
)
def test_a_part_is_a_rule_of_its_own(part: str, kind: type, shared: tuple[str, ...]) -> None:
    query = parse(f"{BEGIN}{part}.")
    answer, inner = query.rules
    (negation,) = answer.negated
    assert len(answer.body) == 1
    assert negation.variables == inner.variables == shared
    assert negation.predicate == inner.head == "negated"
    assert isinstance(inner.body[0], kind)
    assert parse(printer.text(query)) == query


def test_parts_may_be_nested_and_have_conditions() -> None:
    query = parse(f"{BEGIN}not {{b(y, z) as e, e.n > 3, not c(z, w), not d(_, z)}}, not c(x, z).")
    assert [rule.head for rule in query.rules] == [
        "Answer", "negated", "negated_3", "negated_4", "negated_2",
    ]  # fmt: skip
    assert query.rules[1].negated[0].variables == ("z",)
    assert not query.warnings
    assert parse(printer.text(query)) == query


@pytest.mark.parametrize(
    "body", ["not(x, y)", "a(x, y), not = x, not(not, y)", "not a x, y a x", "not a/b x, x not not"]
)
def test_a_label_or_variable_may_be_called_not(body: str) -> None:
    assert not parse(f"Answer(x) <- {body}.").rules[0].negated


@given(case=negated_cases())
@examples(40)
def test_what_is_printed_reads_as_the_same_query(case: Case) -> None:
    query = parse(text(case.query))
    assert parse(printer.text(query)) == query


def _results(query: str, edges: list[Edge], **options: object) -> list[tuple[object, ...]]:
    labels = {edge[2]: {"rate": 1.0, "distinct_src": 9, "distinct_trg": 9} for edge in edges}
    catalog = from_document({"streams": {"s": {"labels": labels}}})
    chosen = PlanningOptions(**options)  # type: ignore[arg-type]
    plan = optimize(PlanRequest(query, catalog=catalog, options=chosen)).plan
    return [tuple(result) for result in run_plan(plan, edges)]


LANGUAGE = Path(__file__).parents[3] / "docs" / "language.md"


def test_the_example_of_the_docs() -> None:
    section = LANGUAGE.read_text("utf-8").split("\n## Negation\n")[1].split("\n## ")[0]
    query = re.search(r"```\n(.*?)```", section, re.DOTALL)[1]  # type: ignore[index]
    edges: list[Edge] = [
        ("ann", "bob", "likes", 0),
        ("cy", "ann", "trusts", 60),
        ("ann", "cy", "trusts", 60),
        ("eve", "bob", "blocks", 60),
        ("cy", "ann", "warns", 120),
        ("bob", "ann", "blocks", 1200),
        ("eve", "ann", "warns", 1200),
    ]
    assert _results(query, edges) == [
        (("ann", "bob"), 0, 3600),
        (("ann", "bob"), 120, ~3600),
    ]
    quiet = [edge for edge in edges if edge[2] != "warns"] + [("eve", "x", "warns", 1300)]
    assert _results(query, quiet) == [
        (("ann", "bob"), 0, 3600),
        (("ann", "bob"), 1200, ~3600),
    ]


def test_a_label_of_the_catalog_may_have_the_generated_name() -> None:
    edges: list[Edge] = [("1", "2", "a", 0), ("1", "2", "negated", 1)]
    assert _results("Answer(x) <- a(x, y), not a(y, x). WINDOW 5", edges) == [(("1",), 0, 5)]


@pytest.mark.parametrize(
    ("query", "options", "problem"),
    [
        (
            "D(x, y) <- a(x, y), not a(y, x). Answer(x, y) <- x (D/a)+ y.",
            {"path_semantics": "simple"},
            "simple paths are not supported with `not`",
        ),
        ("Answer(x, p) <- x a+ y as p, not a(y, x).", {}, "paths in the answer"),
        (
            "D(x, y) <- a(x, y), not a(y, x). Answer(x, y) <- D[WINDOW 3](x, y).",
            {},
            "windows over results are not supported with `not`",
        ),
    ],
)
def test_what_is_not_supported_is_refused(
    query: str, options: dict[str, object], problem: str
) -> None:
    with pytest.raises((QueryError, UsageError), match=problem):
        _results(f"{query} WINDOW 9", [("1", "2", "a", 0)], **options)
