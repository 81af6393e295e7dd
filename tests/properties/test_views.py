"""Windows over derived predicates: every plan gives the oracle's results."""

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.languages import parse
from headrace.languages.rq import printer
from tests.oracles.query import Atom, Closure, Query, Rule, Source, Var, text
from tests.oracles.windows import truth_of
from tests.properties.plans import THOROUGH, optimized, plans_of, read_back
from tests.properties.running import judge, lines_of
from tests.strategies.amount import examples
from tests.strategies.queries import Case
from tests.strategies.streams import long_stream
from tests.strategies.views import view_cases


@given(case=view_cases(), seed=st.integers(0, 999), rows=st.sampled_from([1, 3, 1000]))
@examples(12)
def test_plans_over_views_give_the_results_of_the_oracle(case: Case, seed: int, rows: int) -> None:
    note(text(case.query))
    parsed = parse(text(case.query))
    assert parse(printer.text(parsed)) == parsed
    truth = truth_of(case.query, case.edges)
    for plan in plans_of(optimized(case), most=5, seed=seed):
        judge(truth, read_back(plan), lines_of(case, plan, rows))


@given(case=view_cases(), seed=st.integers(0, 999))
@examples(6)
def test_partitioned_plans_over_views_give_the_results_of_the_oracle(case: Case, seed: int) -> None:
    note(text(case.query))
    truth = truth_of(case.query, case.edges)
    options = THOROUGH.__class__(parallelism=2)
    for plan in plans_of(optimized(case, options), most=3, seed=seed):
        judge(truth, plan, lines_of(case, plan, 3))


X, Y, Z = map(Var, "xyz")
D = Rule("d", ("x", "y"), (Atom("a", X, Z), Atom("b", Z, Y)))
NAMED = {
    "a join under a window": (D, Rule("Answer", ("x", "y"), (Atom("d[WINDOW 4]", X, Y),))),
    "paths over a view that slides": (
        D,
        Rule("Answer", ("x", "y"), (Closure("d[WINDOW 9 SLIDE 3]", X, Y), Atom("c", Y, Z))),
    ),
    "a window over paths": (
        Rule("d", ("x", "y"), (Closure("a", X, Y),)),
        Rule("Answer", ("x", "y"), (Atom("d[WINDOW 6]", X, Z), Atom("b", Z, Y))),
    ),
    "a view over a view": (
        D,
        Rule("e", ("x", "y"), (Closure("d[WINDOW 7 SLIDE 2]", X, Y),)),
        Rule("e", ("x", "y"), (Atom("c", X, Y),)),
        Rule("Answer", ("x", "y"), (Atom("e[WINDOW 5]", X, Y), Atom("e[WINDOW 3]", Y, X))),
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_plans_over_views_give_the_results_of_the_oracle_over_long_streams(name: str) -> None:
    query = Query(NAMED[name], tuple((label, Source("s", 12, 2)) for label in "abc"))
    case = Case(query, long_stream(3, "abc", ["u", "v", "w", "x"], 160, pace=1.2))
    truth = truth_of(query, case.edges)
    for plan in plans_of(optimized(case), most=4):
        lines = lines_of(case, plan, 7)
        assert len(lines) > 50
        judge(truth, plan, lines)
