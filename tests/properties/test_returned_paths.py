"""Every plan of a query that returns a path returns a real one, with the right rows."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.plan import PhysicalPlan
from tests.oracles.judgement import Line
from tests.oracles.query import Closure, PathAtom, Query, Rule, Source, Step, Var, plus, text
from tests.oracles.snapshot import Edge, Truth
from tests.oracles.witnesses import Witnesses, returning, with_names
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import judge, lines_of
from tests.properties.test_per_slide import judge as judge_per_slide
from tests.properties.test_per_slide import per_slide
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases

ROWS = st.sampled_from([1, 3, 1000])


@dataclass(frozen=True)
class Returned:
    """A case, the same that returns the path of an atom, and in which column."""

    plain: Case
    case: Case
    number: int
    column: int


@st.composite
def returned(draw: st.DrawFn) -> Returned:
    """Cases with a path in the answer."""
    case = draw(cases().filter(_has_path))
    query = with_names(case.query)
    answer = query.rules[-1]
    numbers = [k for k, a in enumerate(answer.body) if isinstance(a, Closure | PathAtom)]
    number = draw(st.sampled_from(numbers))
    column = draw(st.integers(0, len(answer.variables)))
    plain = replace(case, query=query)
    whole = replace(case, query=returning(query, number, column))
    return Returned(plain, whole, number, column)


def _has_path(case: Case) -> bool:
    answers = [rule for rule in case.query.rules if rule.head == "Answer"]
    return len(answers) == 1 and any(
        isinstance(a, PathAtom) or (isinstance(a, Closure) and a.alias is None)
        for a in answers[0].body
    )


def check(of: Returned, plan: PhysicalPlan, lines: Sequence[Line]) -> None:
    """Lines with paths are right."""
    column = of.column
    witnesses = Witnesses(of.plain.query, of.plain.edges, of.number)
    rows = [replace(line, row=line.row[:column] + line.row[column + 1 :]) for line in lines]
    if plan.evaluate_every is None:
        judge(Truth(of.plain.query, of.plain.edges), plan, rows)
    else:
        judge_per_slide(of.plain, plan, rows)
    for line, row in zip(lines, rows, strict=True):
        path = [tuple(step) for step in json.loads(line.row[column])]
        faults = witnesses.faults(row.row, line.ts, line.exp, path, plan.evaluate_every)
        assert not faults, f"{line}: {faults}\n{text(of.case.query)}"


@given(of=returned(), seed=st.integers(0, 999), rows=ROWS)
@examples(30)
def test_plans_return_a_valid_path_with_each_row(of: Returned, seed: int, rows: int) -> None:
    note(text(of.case.query))
    for plan in plans_of(optimized(of.case), most=8, seed=seed):
        check(of, plan, lines_of(of.case, read_back(plan), rows))


@pytest.mark.long
@given(of=returned(), partitions=st.integers(2, 4), seed=st.integers(0, 999), rows=ROWS)
@examples(12)
def test_plans_made_for_several_partitions(
    of: Returned, partitions: int, seed: int, rows: int
) -> None:
    note(text(of.case.query))
    options = replace(THOROUGH, parallelism=partitions)
    for plan in plans_of(optimized(of.case, options, seed), most=6, seed=seed):
        check(of, plan, lines_of(of.case, read_back(plan), rows))


@pytest.mark.long
@given(
    of=returned(),
    simple=st.booleans(),
    partitions=st.integers(1, 2),
    seed=st.integers(0, 999),
    rows=ROWS,
)
@examples(20)
def test_plans_evaluated_per_slide_return_a_valid_path_with_each_row(
    of: Returned, simple: bool, partitions: int, seed: int, rows: int
) -> None:
    note(text(of.case.query))
    if simple:
        of = replace(of, plain=_simple(of.plain), case=_simple(of.case))
    options = per_slide(of.case, replace(THOROUGH, parallelism=partitions))
    for plan in plans_of(optimized(of.case, options), most=6, seed=seed):
        check(of, plan, lines_of(of.case, read_back(plan), rows))


def _simple(case: Case) -> Case:
    return replace(case, query=replace(case.query, paths="simple"), edges=case.edges[:20])


@pytest.mark.long
@given(of=returned(), seed=st.integers(0, 999), rows=ROWS)
@examples(15)
def test_plans_of_simple_paths_return_a_simple_path_with_each_row(
    of: Returned, seed: int, rows: int
) -> None:
    note(text(of.case.query))
    plain, case = _simple(of.plain), _simple(of.case)
    simple = replace(of, plain=plain, case=case)
    for plan in plans_of(optimized(case), most=6, seed=seed):
        check(simple, plan, lines_of(case, plan, rows))


def test_an_answer_may_return_two_paths() -> None:
    """A separate operator searches each path; the answer need not keep the ends of either."""
    edges = (
        Edge(0, "1", "2", "a"), Edge(1, "2", "3", "b"), Edge(2, "3", "4", "b"),
        Edge(4, "2", "1", "a"), Edge(7, "4", "2", "b"),
    )  # fmt: skip
    rules = (
        Rule(
            "Answer",
            ("q", "x", "p"),
            (
                PathAtom(plus(Step("a")), Var("x"), Var("y"), "p"),
                PathAtom(plus(Step("b")), Var("y"), Var("z"), "q"),
            ),
        ),
    )
    sources = (("a", Source("s", 8)), ("b", Source("s", 8)))
    case = Case(Query(rules, sources), edges)
    for plan in plans_of(optimized(case)):
        lines = lines_of(case, plan, 2)
        assert {line.row[1] for line in lines} == {"1", "2"}
        for line in lines:
            q, x, p = line.row
            first, second = json.loads(p), json.loads(q)
            assert first[0][0] == x
            assert first[-1][2] == second[0][0]
            assert {step[1] for step in first} == {"a"}
            assert {step[1] for step in second} == {"b"}
