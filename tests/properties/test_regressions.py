"""Minimized counterexamples of former faults."""

import pytest

from headrace.optimizer import Options
from tests.oracles.query import Atom, Query, Rule, Source, Var
from tests.oracles.snapshot import Truth
from tests.properties.plans import THOROUGH, optimized, plans_of
from tests.properties.running import BATCH_ROWS, judge, lines_of
from tests.strategies.queries import Case, input_labels
from tests.strategies.streams import long_stream

V0, V1, V2, ANY = Var("v0"), Var("v1"), Var("v2"), Var("_")


WINDOW = Source("s", 5, 2)


def _case(*rules: Rule, window: Source = WINDOW) -> Case:
    labels = input_labels(rules)
    query = Query(rules, tuple((label, window) for label in labels))
    return Case(query, long_stream(1, labels, ("0", "1", "2"), 40, 1.5))


def _check(case: Case, options: Options = THOROUGH) -> None:
    truth = Truth(case.query, case.edges)
    assert any(map(truth.at, truth.changes))
    for plan in plans_of(optimized(case, options)):
        for batch_rows in BATCH_ROWS:
            judge(truth, plan, lines_of(case, plan, batch_rows))


@pytest.mark.parametrize("disabled", ["", "PatternAssociate"])
def test_joins_keep_two_variables_that_an_input_equates(disabled: str) -> None:
    """d1 has a column twice, so v0 and v1 are one and yet two columns of the answer."""
    _check(
        _case(
            Rule("d1", ("v0", "v0"), (Atom("a", V0, V0), Atom("a", V0, ANY))),
            Rule(
                "Answer",
                ("v0", "v1", "v0"),
                (Atom("a", V0, V0), Atom("a", V0, V0), Atom("d1", V1, V0)),
            ),
        ),
        Options(prune=False, check=True, disabled_rules=frozenset(filter(None, [disabled]))),
    )
