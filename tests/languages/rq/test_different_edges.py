"""`DIFFERENT EDGES` in RQ: what it reads as, prints as, and means."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import text as algebra_text
from headrace.algebra.window import Window
from headrace.catalog.document import from_document
from headrace.catalog.model import Catalog
from headrace.executor.local import Edge, run_plan
from headrace.languages.query.atoms import group_of
from headrace.languages.query.errors import QueryError
from headrace.languages.rq import printer
from headrace.languages.rq.parser import parse
from headrace.languages.translation.canonical import translate
from headrace.planning.errors import UsageError
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from tests.oracles.query import text
from tests.strategies.amount import examples
from tests.strategies.different import different
from tests.strategies.negation import negated_cases
from tests.strategies.queries import Case

LABELS = {label: {"rate": 1.0, "distinct_src": 9, "distinct_trg": 9} for label in "abcd"}


def catalog(**stream: object) -> Catalog:
    return from_document({"streams": {"s": {"labels": LABELS, **stream}}})


def results(
    query: str, edges: list[Edge], known: Catalog | None = None, **options: object
) -> set[tuple[object, ...]]:
    chosen = PlanningOptions(**options)  # type: ignore[arg-type]
    request = PlanRequest(query, catalog=known or catalog(), options=chosen)
    return {tuple(result) for result in run_plan(optimize(request).plan, edges)}


def logical(query: str) -> str:
    return algebra_text.text(translate(parse(query), catalog(), Window(9)).expression, "second")


@pytest.mark.parametrize(
    ("body", "groups"),
    [
        ("a(x, y), a(y, z) DIFFERENT EDGES", [0, 0]),
        ("x a{1,2} y, (a|^b)[ts > 3](y, z), y <> z different\n edges", [0, 0]),
        ("x a y different edges", [0]),
        ("x a ?y DIFFERENT EDGES", [0]),
        ("Person(x), a(x, y), Person(y) DIFFERENT EDGES", [None, 0, None]),
        ("(a(x, y), a(y, z) DIFFERENT EDGES), a(z, u)", [0, 0, None]),
        ("a(z, u), (a(x, y), a(y, z) DIFFERENT EDGES), (b(x, v), b(v, w) DIFFERENT EDGES)",
         [None, 0, 0, 1, 1]),
        ("(a(x, y), Person(y), a(y, z) DIFFERENT EDGES), a(z, u)", [0, None, 0, None]),
        ("(a(x, y), a(y, z) DIFFERENT EDGES), a(z, u) DIFFERENT EDGES", [0, 0, 0]),
        ("a(x, y), a(y, different), x edges different", [None, None, None]),
    ],
)  # fmt: skip
def test_atoms_before_the_clause_are_a_group(body: str, groups: list[int | None]) -> None:
    query = parse(f"Answer(x) <- {body}. WINDOW 9")
    assert [group_of(atom) for atom in query.rules[0].body] == groups
    assert parse(printer.text(query)) == query


def test_a_negated_part_is_a_group_of_its_own() -> None:
    query = parse("Answer(x) <- a(x, y), not {a(x, z), a(z, y) DIFFERENT EDGES}. WINDOW 9")
    assert [[group_of(atom) for atom in rule.body] for rule in query.rules] == [[None], [0, 0]]
    assert parse(printer.text(query)) == query


@given(case=negated_cases(), seed=st.integers(0, 999))
@examples(20)
def test_what_is_printed_reads_as_the_same_query(case: Case, seed: int) -> None:
    query = parse(text(different(case, seed).query))
    assert parse(printer.text(query)) == query


@pytest.mark.parametrize(
    "body",
    [
        "a(x, y), b(y, z)",
        "a(x, y), x (b|c)+ z",
        "(a|b)(x, y), (c|^d)(y, z), not {a(z, u), b(u, z)}",
        "x (a/b)+ y, c(y, z)",
    ],
)
def test_atoms_without_a_common_label_need_no_condition(body: str) -> None:
    """Nor a path of them that may repeat its edges."""
    assert logical(f"Answer(x) <- {body} DIFFERENT EDGES.") == logical(f"Answer(x) <- {body}.")


def test_only_atoms_that_can_match_one_edge_are_compared() -> None:
    plan = logical("Answer(x) <- a(x, y), (a|b)(y, z), c(z, u), b(u, v) DIFFERENT EDGES.")
    (condition,) = re.findall(r"F\[(.*)\]", plan)
    assert condition.count(" AND ") == 1, "two pairs of atoms have a common label"


def test_parallel_edges_at_different_times_are_different() -> None:
    query = "Answer(x, z) <- a(x, y), a(z, y) DIFFERENT EDGES. WINDOW 9"
    assert not results(query, [("1", "2", "a", 3), ("1", "2", "a", 3)])
    assert results(query, [("1", "2", "a", 3), ("1", "2", "a", 4)]) == {(("1", "1"), 4, 12)}
    same: list[Edge] = [("1", "2", "a", 3, "s", {"w": w}) for w in (5, 6)]
    known = catalog(properties={"w": "integer"})
    assert results(query, same, known) == {(("1", "1"), 3, 12)}


def test_steps_of_a_path_differ_from_other_atoms_and_from_each_other() -> None:
    query = "Answer(z) <- a(x, y), x = 1, y a{1,2} z DIFFERENT EDGES. WINDOW 9"
    there_and_back: list[Edge] = [("1", "2", "a", 0), ("2", "1", "a", 0)]
    assert results(query, there_and_back) == {(("1",), 0, 9)}
    assert results(query.replace("{1,2}", "{2}"), there_and_back) == set()
    again = [*there_and_back, ("1", "2", "a", 1)]
    assert {row for row, *_ in results(query.replace("{1,2}", "{2}"), again)} == {("2",)}


def test_an_aggregate_counts_a_path_once_for_its_ends() -> None:
    query = "Answer(count(*) as n) <- a(x, y), y a{2} z DIFFERENT EDGES. WINDOW 9"
    edges: list[Edge] = [("1", "2", "a", 0), *(("2", m, "a", 0) for m in "34")]
    ends: list[Edge] = [(m, "5", "a", 0) for m in "34"]
    assert results(query, [*edges, *ends]) == {((1,), 0, 9)}


def test_rows_of_a_predicate_are_its_edges_whatever_its_window() -> None:
    query = "D(x, y) <- a(x, y). Answer(x, z) <- D(x, y), D[WINDOW 5](z, y) DIFFERENT EDGES."
    edges: list[Edge] = [("1", "2", "a", 0), ("1", "2", "a", 1), ("3", "2", "a", 1)]
    rows = {row for row, *_ in results(f"{query} WINDOW 9", edges)}
    assert rows == {("1", "3"), ("3", "1")}


def test_other_rules_read_a_named_path_with_all_of_its_edges() -> None:
    query = "P(x) <- a(x, y), y a{1,2} z as q DIFFERENT EDGES. Answer(x, z) <- P(x), q(x, z)."
    edges: list[Edge] = [("1", "1", "a", 0), ("1", "1", "a", 1)]
    assert {row for row, *_ in results(f"{query} WINDOW 9", edges)} == {("1", "1")}


def test_simple_paths_of_a_group_repeat_no_vertex() -> None:
    query = "Answer(z) <- a(x, y), y a{2} z DIFFERENT EDGES. WINDOW 9"
    edges: list[Edge] = [("1", "2", "a", 0), ("2", "3", "a", 0), ("3", "2", "a", 0)]
    assert {row for row, *_ in results(query, edges)} == {("2",)}
    assert not results(query, edges, path_semantics="simple")


def test_bounded_trails_of_a_group_go_with_deletions() -> None:
    known = catalog(deletions=True)
    query = "Answer(x, z) <- x a/a z DIFFERENT EDGES. WINDOW 9"
    loops: list[Edge] = [("1", "1", "a", 0), ("2", "2", "a", 0), ("2", "2", "a", 1)]
    rows: list[Edge] = [*loops, ("2", "2", "a", 3, "s", {"op": "-"})]
    found = results(query, rows, known)
    assert found == {(("2", "2"), 1, 9), (("2", "2"), 3, ~9)}


LANGUAGE = Path(__file__).parents[3] / "docs" / "language.md"


def test_the_example_of_the_docs() -> None:
    section = LANGUAGE.read_text("utf-8").split("\n## Different edges\n")[1].split("\n## ")[0]
    query = re.search(r"```\n(.*?)```", section, re.DOTALL)[1]  # type: ignore[index]
    labels = {"pays": LABELS["a"]}
    known = from_document({"streams": {"s": {"labels": labels}}})
    edges: list[Edge] = [("ann", "bob", "pays", 0), ("bob", "ann", "pays", 60)]
    assert results(query, edges, known) == set()
    assert results(query.replace("DIFFERENT EDGES", ""), edges, known)
    further: list[Edge] = [("bob", "cy", "pays", 70), ("cy", "ann", "pays", 80)]
    around = {(("ann", "cy"), 80, 3600), (("bob", "ann"), 80, 3600), (("cy", "bob"), 80, 3600)}
    assert results(query, [*edges, *further], known) == around


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("Answer(x) <- a(x, y), y a+ z DIFFERENT EDGES.", "E-LATER.*a path without a bound"),
        ("Answer(x) <- _(x, y), y (b/b)* z DIFFERENT EDGES.", "E-LATER.*a path without a bound"),
        ("Answer(x, p) <- a(x, y), y a{1,2} z as p DIFFERENT EDGES.", "E-LATER.*in the answer"),
        ("Answer(x, p) <- c(x, y), y a/a z as p DIFFERENT EDGES.", "E-LATER.*with trails that"),
        ("Answer(x) <- a(x, y), y (a/b|c/a|d/d){1,4} z DIFFERENT EDGES.", "E-SIZE.*more than 64"),
    ],
)
def test_what_is_not_supported_is_refused(query: str, problem: str) -> None:
    with pytest.raises((QueryError, UsageError), match=problem):
        results(f"{query} WINDOW 9", [("1", "2", "a", 0)])


def test_unbounded_trails_of_a_group_are_refused_over_deletions() -> None:
    query = "Answer(x) <- c(x, y), y (a/a)+ z DIFFERENT EDGES. WINDOW 9"
    assert results(query, [("1", "2", "c", 0), ("2", "2", "a", 0), ("2", "2", "a", 1)])
    with pytest.raises(UsageError, match="trails that differ from any paths are not supported"):
        results(query, [], catalog(deletions=True))


def test_a_returned_path_without_common_labels_is_any_path() -> None:
    query = "Answer(x, p) <- c(x, y), y a+ z as p DIFFERENT EDGES. WINDOW 9"
    ((row, *_),) = results(query, [("1", "2", "c", 0), ("2", "3", "a", 0)])
    assert row[0] == "1"  # type: ignore[index]
