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
from headrace.algebra.aggregates import AggregateCall, Function
from headrace.algebra.logical import (
    Aggregate,
    AntiJoin,
    Filter,
    LeftJoin,
    LogicalExpression,
    PathSemantics,
    Pattern,
    Project,
    Shortest,
    Top,
    Trail,
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


def without(key: int, below: LogicalExpression) -> LogicalExpression:
    """The rows whose column ``key`` is no source of an edge ``d``."""
    sources = LogicalExpression(Project((0,)), (scan("d"),))
    return LogicalExpression(AntiJoin.on(below.width, (key,)), (below, sources))


def optionally(key: int, below: LogicalExpression) -> LogicalExpression:
    """The rows with the targets of edges ``d`` from their column ``key``, if there are any."""
    return LogicalExpression(LeftJoin.on(below.width, (key, None)), (below, scan("d")))


def counted(function: Function) -> LogicalExpression:
    """An aggregate of the second column for each value of the first one, over a join."""
    calls = (AggregateCall(function, 1),)
    return LogicalExpression(Aggregate((0,), calls, (0, 1), retracts=True), (chained(A, B),))


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
    "(a|b|c)^3 as joins": (JOINED, 9, 46),
    "(a|b|c)^3 beside a·b·c": (union(JOINED, words("abc")), 13, 113),
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
    "a condition on columns that change places": where(
        "c0 = 1", LogicalExpression(Project((1, 0)), (path(regex.plus(Symbol(0)), A),))
    ),
    "bound pairs": LogicalExpression(
        Pattern(((0, 1), (0, 1)), (0, 1)), (B, path(regex.plus(Symbol(0)), A))
    ),
    "ends that two relations bind": LogicalExpression(
        Pattern(((0, 1), (1, 2), (2, 3)), (0, 1, 2, 3)), (B, path(regex.plus(Symbol(0)), A), C)
    ),
    "trails": LogicalExpression(
        Trail(
            regex.alternation([regex.concat([Symbol(0), Symbol(0)]), regex.plus(Symbol(1))]), (0, 1)
        ),
        (A, B),
    ),
    "a condition on shortest paths": where(
        "c0 = 1", LogicalExpression(Shortest(regex.plus(Symbol(0)), ("length",), every=5), (A,))
    ),
    "a projection of a projection": LogicalExpression(
        Project((1, 0)), (path(Symbol(0, inverse=True), A),)
    ),
    "a condition on a key of an aggregate": where("c0 = 1", counted("max")),
    "a count on two partitions": counted("count"),
    "a projection of an aggregate": LogicalExpression(Project((0,)), (counted("count"),)),
    "a condition on an anti-join": where("c0 = 1", without(1, A)),
    "a projection of an anti-join": LogicalExpression(Project((1,)), (without(1, A),)),
    "an anti-join of a join": without(0, chained(A, B)),
    "a join of an anti-join": chained(without(0, A), B),
    "a union of anti-joins": LogicalExpression(Union(), (without(0, A), without(0, B))),
    "a condition on a left join": where("c0 = 1", optionally(1, A)),
    "a projection of a left join": LogicalExpression(
        Project((0, 3)), (optionally(0, chained(A, B)),)
    ),
    "a left join of a join": optionally(0, chained(A, B)),
    "the first rows over two partitions": LogicalExpression(Top((), 2), (A,)),
    "a join of a left join": LogicalExpression(
        Pattern(((0, 1, 2), (1, 3)), (0, 1, 2, 3)), (optionally(0, A), B)
    ),
}


OVER_PARTITIONS = {"the first rows over two partitions", "a count on two partitions"}
RULES_GOLDEN = Path(__file__).with_name("rules_fired.txt")


def test_every_rule_fires(golden: Callable[[Path, str], None]) -> None:
    """The number of results of each rule over all queries here; every rule must have results."""
    fired: dict[str, list[int]] = {rule.name: [0, 0] for rule in transformation_rules()}
    queries = {**{name: e for name, (e, _, _) in BUDGETS.items()}, **TABLE_4_2, **ELSEWHERE}
    for name, expression in queries.items():
        n = 2 if name in OVER_PARTITIONS else 1
        for way, duplicate_free in enumerate((True, False)):
            outcome = explored(
                expression, duplicate_free=duplicate_free, prune=False, parallelism=n
            )
            for rule, done in outcome.rules.items():
                fired[rule][way] += done.fired
    assert [name for name, (_, plainly) in fired.items() if not plainly] == []
    lines = [f"{name:<36}{spared:>8}{plainly:>8}" for name, (spared, plainly) in fired.items()]
    title = f"{'rule':<36}{'spared':>8}{'plainly':>8}"
    golden(RULES_GOLDEN, "\n".join([title, *lines]) + "\n")
