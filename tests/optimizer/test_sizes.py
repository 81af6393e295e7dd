"""Size budgets: rules that feed each other do not explode.

The numbers are the present sizes. A rule that finds a little more may raise them; a rule that
multiplies them has lost its bound. Every rule of the registry fires somewhere here. A golden file
records how often, in the plain search and in the duplicate-free search.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.algebra import logical, regex
from headrace.algebra.logical import (
    Filter,
    LogicalExpression,
    PathSemantics,
    Pattern,
    Project,
    Union,
    WScan,
    WScanUnion,
)
from headrace.algebra.predicate import Predicate
from headrace.algebra.regex import Symbol
from headrace.costmodel import CostModel
from headrace.optimizer import SearchResult
from headrace.rules.registry import transformation_rules
from tests.optimizer.shapes import (
    CONCAT_PLUS,
    QS,
    TABLE_4_2,
    TERNARY_PLUS,
    catalog,
    chain,
    cycle,
    optimize,
    path,
    pattern,
    scan,
    star,
)


def where(sql: str, below: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Filter(Predicate(sql)), (below,))


def union(*parts: LogicalExpression) -> LogicalExpression:
    done = parts[0]
    for part in parts[1:]:
        done = LogicalExpression(Union(), (done, part))
    return done


def chained(left: LogicalExpression, right: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Pattern(((0, 1), (1, 2)), (0, 1, 2)), (left, right))


A, B, C = scan("a"), scan("b"), scan("c")
LABELS = (A, B, C)
ONE_OF_THREE = regex.alternation([Symbol(0), Symbol(1), Symbol(2)])
CUBE = path(regex.concat([ONE_OF_THREE] * 3), *LABELS)
"""(a|b|c)·(a|b|c)·(a|b|c)"""
WHOLE = union(*LABELS)
JOINED = LogicalExpression(Pattern(((0, 1), (1, 2), (2, 3)), (0, 3)), (WHOLE, WHOLE, WHOLE))
"""The same with unions and joins."""


def words(*labels: str) -> LogicalExpression:
    """Joins of three labels each, united."""
    return union(*(pattern(chain(3), output=(0, 3), labels=word) for word in labels))


def selective(atoms: int, filtered: int) -> LogicalExpression:
    """A star of which some atoms are filtered, with all columns kept."""
    inputs = (
        where(f"c1 = 'v{k}'", scan(f"l{k}")) if k < filtered else scan(f"l{k}")
        for k in range(atoms)
    )
    return LogicalExpression(Pattern(star(atoms), tuple(range(atoms + 1))), tuple(inputs))


BUDGETS: dict[str, tuple[LogicalExpression, int, int]] = {
    # Without filters and unions: as before these rules were there.
    "Qs": (QS, 15, 58),
    "Qp": (CONCAT_PLUS, 7, 20),
    "paper": (TERNARY_PLUS, 7, 20),
    "star of 5": (pattern(star(5)), 31, 190),
    # Alternations and unions.
    "Q9 = Q4": (TABLE_4_2["Q4"], 8, 25),
    "Q10": (TABLE_4_2["Q10"], 19, 76),
    "(a|b|c)^3": (CUBE, 9, 45),
    "(a|b|c)^3 as joins": (JOINED, 9, 45),
    "(a|b|c)^3 beside a·b·c": (union(JOINED, words("abc")), 13, 112),
    "three words that share": (words("abc", "abd", "dbc"), 19, 287),
    # Predicates.
    "OR of equalities": (where("c0 = 1 OR c1 = 2 OR c0 = 3 OR c1 = 4 OR c0 = 5", A), 10, 23),
    "OR over a chain": (where("c0 = 1 OR c2 = 2 OR c4 = 3", pattern(chain(4))), 38, 171),
    "AND over a chain": (where("c0 = 1 AND c2 = 2 AND c4 = 3", pattern(chain(4))), 40, 120),
    "AND over a star": (
        where("c0 = 1 AND c1 = 2 AND c2 = 3 AND c3 = 4", pattern(star(4))),
        42,
        225,
    ),
    "filtered atoms": (selective(4, 3), 24, 78),
    "more filtered atoms": (selective(5, 5), 52, 260),
    "constant over Q10": (where("c0 = 1", TABLE_4_2["Q10"]), 36, 204),
    "OR over (a|b|c)^3": (where("c0 = 1 OR c1 = 2", CUBE), 28, 160),
    "constant over a·b·c": (where("c0 = 1", TABLE_4_2["Q11"]), 9, 30),
}  # fmt: skip


def explored(expression: LogicalExpression, **options: object) -> SearchResult:
    outcome = optimize(expression, CostModel("saturating", catalog()), **options)
    assert outcome.stop_reason == "complete"
    assert outcome.plans.logical_count > 0
    return outcome


@pytest.mark.parametrize("name", BUDGETS)
def test_sizes_stay_within_their_budget(name: str) -> None:
    expression, groups, expressions = BUDGETS[name]
    outcome = explored(expression)
    found = outcome.memo.group_count, outcome.memo.expression_count
    assert found[0] <= groups, found
    assert found[1] <= expressions, found


@pytest.mark.parametrize("parts", [3, 6, 12])
def test_a_disjunction_of_equalities_grows_linearly(parts: int) -> None:
    either = " OR ".join(f"c{k % 2} = {k}" for k in range(parts))
    outcome = explored(where(either, A))
    assert outcome.memo.group_count == 2 * parts
    assert outcome.memo.expression_count <= 5 * parts


@pytest.mark.parametrize("atoms", [2, 3, 4])
def test_filters_on_atoms_do_not_make_every_subset(atoms: int) -> None:
    """Each connected part with its filters, and without them above the first join."""
    outcome = explored(selective(atoms, atoms))
    pairs = atoms * (atoms - 1) // 2
    assert outcome.memo.group_count <= 2**atoms - 1 + atoms + pairs


ELSEWHERE: dict[str, LogicalExpression] = {
    "rules 2, 3 and 5 in the memo": where(
        "c0 < c2 AND c1 = 5", chained(where("c0 = 1", A), where("c1 = 2", B))
    ),
    "rule 2 in the memo": where("c0 = 1", chained(where("c0 = 1", A), B)),
    "rule 3 backwards": where("c0 < c2 AND c0 = 1", chained(A, B)),
    "rule 4": union(where("c0 = 1", A), where("c1 = 2", A)),
    "rule 6": union(where("c0 = 1", A), where("c0 = 1", B)),
    "rule 11": union(words("abd"), LogicalExpression(JOINED.operator, (A, WHOLE, scan("d")))),
    "rule 12": LogicalExpression(
        WScan("s", "a", TERNARY_PLUS.inputs[0].inputs[0].operator.window, Predicate("c0 = 1"))  # type: ignore[attr-defined]  # a scan
    ),
    "rule 13": LogicalExpression(
        WScanUnion(tuple(s for e in LABELS for s in e.operator.scans))  # type: ignore[attr-defined]  # scans
    ),
    "rule 16": path(regex.concat([Symbol(0), Symbol(1, inverse=True)]), A, B),
    "simple paths": LogicalExpression(
        logical.Path(regex.plus(Symbol(0)), PathSemantics.SIMPLE), (A,)
    ),
    "a step backwards": path(Symbol(0, inverse=True), A),
    "projections": LogicalExpression(Project((1, 0)), (path(regex.concat([Symbol(0)] * 2), A),)),
    "projections of projections": LogicalExpression(
        Project((1, 0)), (union(LogicalExpression(Project((1, 0)), (A,)), A),)
    ),
    "a residual of which a projection drops columns": LogicalExpression(
        Project((1,)), (where("c0 < c2", chained(A, B)),)
    ),
    "a residual over a cycle of which a projection drops columns": LogicalExpression(
        Project((1,)), (where("c0 < c2", pattern(cycle(4))),)
    ),
    "a projection of a projection": LogicalExpression(
        Project((1, 0)), (path(Symbol(0, inverse=True), A),)
    ),
}


RULES_GOLDEN = Path(__file__).with_name("rules_fired.txt")


def test_every_rule_fires(golden: Callable[[Path, str], None]) -> None:
    """The number of results of each rule over all queries here; every rule must have results."""
    fired: dict[str, list[int]] = {rule.name: [0, 0] for rule in transformation_rules()}
    queries = {**{name: e for name, (e, _, _) in BUDGETS.items()}, **TABLE_4_2, **ELSEWHERE}
    for expression in queries.values():
        for way, duplicate_free in enumerate((True, False)):
            outcome = explored(expression, duplicate_free=duplicate_free, prune=False)
            for name, rule in outcome.rules.items():
                fired[name][way] += rule.fired
    assert [name for name, (_, plainly) in fired.items() if not plainly] == []
    lines = [f"{name:<36}{spared:>8}{plainly:>8}" for name, (spared, plainly) in fired.items()]
    title = f"{'rule':<36}{'spared':>8}{'plainly':>8}"
    golden(RULES_GOLDEN, "\n".join([title, *lines]) + "\n")
