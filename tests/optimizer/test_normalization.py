"""Normalization of a query before the memo."""

from __future__ import annotations

import pytest

from headrace.algebra import regex
from headrace.algebra.logical import (
    AntiJoin,
    BoundPath,
    BoundPattern,
    Empty,
    Filter,
    FilteredPattern,
    LeftJoin,
    LogicalExpression,
    MultiwayPattern,
    Path,
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
from headrace.algebra.predicate_syntax import PredicateError
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer.normalization import ALWAYS_WIN, absent_operators, has_cycle, normalized
from headrace.rules.registry import (
    enabled_rules,
    idle_rules,
    normalization_rules,
    transformation_rules,
)
from tests.optimizer.shapes import SetCosts, chain, optimize, path, pattern, scan

A, B = scan("a"), scan("b")
BOUND = (BoundPath, BoundPattern)
TRIANGLE = pattern(((0, 1), (1, 2), (2, 0)))
RULES = enabled_rules()


def where(sql: str, below: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Filter(Predicate(sql)), (below,))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (where("c1 = c0", A), where("c0 = c1", A)),
        (where("c0 = 1", where("1 = c0", A)), where("c0 = 1", A)),
        (where("c1 = 2", where("c0 = 1", A)), where("c0 = 1 AND c1 = 2", A)),
        (
            where("c0 = 3", where("c1 = 2", where("c0 = 1", A))),
            where("c0 = 1 AND c0 = 3 AND c1 = 2", A),
        ),
        (where("1 < 2", A), A),
        (where("c0 = 1", where("1 < 2", A)), where("c0 = 1", A)),
        (where("c0 <> c0 AND c1 = 1", A), LogicalExpression(Empty(2))),
        (where("c0 = 1", where("'a' = 1", A)), LogicalExpression(Empty(2))),
        (pattern(chain(3)), pattern(chain(3))),
    ],
)  # fmt: skip
def test_filters_become_one(before: LogicalExpression, after: LogicalExpression) -> None:
    assert normalized(before, RULES) == after


def test_filters_merge_below_other_operators_and_names_stay() -> None:
    inner = LogicalExpression(Filter(Predicate("c1 = 2")), (where("c0 = 1", A),), "few")
    join = Pattern(((0, 1), (1, 2)), (0, 2))
    done = normalized(LogicalExpression(join, (inner, B), "answer"), RULES)
    assert done == LogicalExpression(join, (where("c0 = 1 AND c1 = 2", A), B))
    assert (done.name, done.inputs[0].name) == ("answer", "few")


def test_a_shared_relation_stays_shared() -> None:
    shared = where("c0 = 1", where("c1 = 2", A))
    done = normalized(LogicalExpression(Union(), (shared, where("c0 = 3", shared))), RULES)
    assert done.inputs[0] == where("c0 = 1 AND c1 = 2", A)
    assert done.inputs[1] == where("c0 = 1 AND c0 = 3 AND c1 = 2", A)


def test_disabled_rules_are_not_applied_in_normalization() -> None:
    twice = where("c1 = 2", where("c0 = 1", A))
    assert normalized(twice, enabled_rules(ALWAYS_WIN)) == twice


SHORTER = [
    ("Answer(x, y) <- a(x, y), y b+ z.", "Answer(x, y) <- a(x, y), y b z."),
    ("Answer(x, y) <- a(x, y), z b+ y.", "Answer(x, y) <- a(x, y), z b y."),
    ("Answer(x) <- a(x, y), y b/(b|c)+ z.", "Answer(x) <- a(x, y), y b/(b|c) z."),
    ("Answer(x) <- a(x, y), y b/c+ z.", "Answer(x) <- a(x, y), y b/c z."),
    ("Answer(x) <- x (a|b)+ y.", "Answer(x) <- x a|b y."),
    ("Answer(y) <- x a+/b y.", "Answer(y) <- x a/b y."),
    ("Answer(y) <- x a*/(a|b) y.", "Answer(y) <- x a|b y."),
    ("Answer(x) <- x a/b+ y, x = 7.", "Answer(x) <- x a/b y, x = 7."),
]
SHORTER_TRAILS = [
    ("Answer(x, y) <- a(x, y), y (b/b)+ z.", "Answer(x, y) <- a(x, y), y b/b z."),
    ("Answer(x) <- x a/^a/a* y.", "Answer(x) <- x a/^a y."),
    ("Answer(y) <- x (a/a)+/b y.", "Answer(y) <- x a/a/b y."),
    ("Answer(x) <- x a/a/c+ y, x = 7.", "Answer(x) <- x a/a/c y, x = 7."),
]
"""Paths that are trails for the optimizer: they may repeat an edge."""
AS_SHORT = [
    "Answer(x, z) <- a(x, y), y b+ z.",  # both ends are read
    "Answer(x) <- a(x, y), x b+ y.",  # both ends are joined
    "Answer(x) <- x a+ y, y = 7.",  # a condition reads the target
    "Answer(x) <- a(x, y), y b/c* z.",  # else the stream of c would not be read
    "Answer(x) <- a(x, y), y b*/c z.",
]


def logical(text: str, semantics: PathSemantics = PathSemantics.ARBITRARY) -> LogicalExpression:
    labels = dict.fromkeys("abc", LabelStatistics(1.0, 200, 200, 200))
    catalog = Catalog({"s": Stream("s", labels)})
    parsed = parse(f"{text}\nWINDOW 10 SLIDE 1")
    return translate(parsed, catalog, semantics=semantics).expression


@pytest.mark.parametrize(
    ("text", "shorter", "semantics"),
    [
        *(
            (text, shorter, semantics)
            for text, shorter in SHORTER
            for semantics in PathSemantics
            if semantics is not PathSemantics.SIMPLE or set("/|") & set(shorter)
        ),
        *((text, shorter, PathSemantics.TRAIL) for text, shorter in SHORTER_TRAILS),
    ],
)
def test_paths_to_an_end_that_nothing_reads_become_shorter(
    text: str, shorter: str, semantics: PathSemantics
) -> None:
    found = optimize(logical(text, semantics)).plan.digest
    assert found == optimize(logical(shorter, semantics)).plan.digest
    longer = optimize(logical(text, semantics), disabled_rules=frozenset({"ShortenPath"}))
    assert found != longer.plan.digest


MERGED = {
    "Answer(x, y) <- x a/a?/a*/a? y": "Answer(x, y) <- x a+ y",
    "Answer(x, y) <- x (a|b)*/(b|a)/c y": "Answer(x, y) <- x (a|b)+/c y",
}


@pytest.mark.parametrize("semantics", PathSemantics)
@pytest.mark.parametrize("text", MERGED)
def test_repeats_side_by_side_are_one(text: str, semantics: PathSemantics) -> None:
    found = normalized(logical(text, semantics), RULES, before=normalization_rules())
    assert found != normalized(logical(text, semantics), RULES)
    same = normalized(logical(MERGED[text], semantics), RULES, before=normalization_rules())
    assert found == same


def operators(expression: LogicalExpression) -> set[type]:
    return {type(expression.operator)}.union(*map(operators, expression.inputs))


@pytest.mark.parametrize("text", [text for pair in SHORTER_TRAILS for text in pair])
def test_trails_that_may_repeat_an_edge_are_an_operator_of_their_own(text: str) -> None:
    assert Trail in operators(logical(text, PathSemantics.TRAIL))
    assert Path not in operators(logical(text, PathSemantics.TRAIL))


@pytest.mark.parametrize("text", AS_SHORT)
def test_paths_whose_ends_are_read_stay(text: str) -> None:
    found = normalized(logical(text), RULES, before=normalization_rules())
    assert found == normalized(logical(text), RULES)


def test_many_filters_become_few() -> None:
    deep = A
    for k in range(150):
        deep = where(f"c0 <> {k}", deep)
    done = normalized(deep, RULES)
    depth = 0
    while isinstance(done.operator, Filter):
        done, depth = done.inputs[0], depth + 1
    assert depth == 3, "of 64 parts at most, so that the executor takes them"


def test_normalization_refuses_a_predicate_that_is_not_allowed() -> None:
    with pytest.raises(PredicateError, match="not allowed"):
        optimize(where("reflect('a', 'b')", A), SetCosts())


def test_a_query_without_filters_or_unions_skips_their_rules() -> None:
    absent = absent_operators(pattern(chain(3)))
    assert absent == {
        AntiJoin,
        LeftJoin,
        Shortest,
        Top,
        Filter,
        FilteredPattern,
        Union,
        WScanUnion,
        *BOUND,
    }
    idle = idle_rules(absent)
    assert {
        "FilterSwap",
        "UnionCommute",
        "PatternUnionDistribute",
        "UnionToConcat",
        "JoinIntoPath",
        "JoinIntoPairs",
        "JoinsIntoPairs",
        "AntiJoinPatternTransposeInverse",
        "LeftJoinPatternTranspose",
    } <= idle
    assert idle.isdisjoint({"PatternCommute", "PatternAssociate", "PatternToConcat"})
    assert idle_rules(()) == frozenset()


@pytest.mark.parametrize(
    ("expression", "absent"),
    [
        (where("c0 = 1", A), {Union, WScanUnion, *BOUND}),
        (path(regex.plus(regex.Symbol(0)), A), {Filter, FilteredPattern}),
        (path(regex.concat([regex.Symbol(0)] * 2), A), {Filter, FilteredPattern, *BOUND}),
        (
            LogicalExpression(Path(regex.Symbol(0), PathSemantics.SIMPLE), (A,)),
            set(),
        ),
        (
            LogicalExpression(Trail(regex.concat([regex.Symbol(0)] * 2), (0,)), (A,)),
            {Filter, FilteredPattern, *BOUND},
        ),
        (LogicalExpression(Union(), (A, B)), {Filter, FilteredPattern, *BOUND}),
        (
            LogicalExpression(WScan("s", "a", A.operator.window, Predicate("c0 = 1"))),  # type: ignore[attr-defined]  # a scan
            {Union, WScanUnion, *BOUND},
        ),
    ],
)
def test_operators_that_no_rule_can_introduce(
    expression: LogicalExpression, absent: set[type]
) -> None:
    without = {AntiJoin, LeftJoin, Shortest, Top, MultiwayPattern}
    assert absent_operators(expression) == absent | without


def test_an_anti_join_of_the_query_keeps_its_rules() -> None:
    join = LogicalExpression(AntiJoin.on(2, (0, 1)), (A, B))
    assert AntiJoin not in absent_operators(join)


OPTIONAL = LogicalExpression(LeftJoin.on(2, (1, None)), (A, B))
PAIRS = LogicalExpression(Pattern(((0, 1), (1, 2)), (0, 1, 2)), (A, B))


def test_a_left_join_of_the_query_keeps_its_rules() -> None:
    assert LeftJoin not in absent_operators(OPTIONAL)


def _projected(below: LogicalExpression, *columns: int) -> LogicalExpression:
    return LogicalExpression(Project(columns), (below,))


def _joined(below: LogicalExpression) -> LogicalExpression:
    return LogicalExpression(Pattern(((0, 1, 2), (0, 3)), (0, 2, 3)), (below, B))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (where("c0 <> c2", OPTIONAL), where("c0 <> c2", PAIRS)),
        (where("c0 = 1 AND c2 = 2", OPTIONAL), where("c0 = 1 AND c2 = 2", PAIRS)),
        (where("c2 = 1 OR NOT (c2 IS NULL)", OPTIONAL), where("c2 = 1 OR NOT (c2 IS NULL)", PAIRS)),
        (where("c0 = 1 OR c2 = 2", OPTIONAL), None),
        (where("c2 IS NULL", OPTIONAL), None),
        (where("c0 = c1", OPTIONAL), None),
        (where("c0 = 1", _projected(OPTIONAL, 2)), where("c0 = 1", _projected(PAIRS, 2))),
        (where("c0 = 1", _projected(OPTIONAL, 0, 2)), None),
        (where("c1 = 1", _joined(OPTIONAL)), where("c1 = 1", _joined(PAIRS))),
        (where("c2 = 1", _joined(OPTIONAL)), None),
        (
            where("c2 = 1", LogicalExpression(AntiJoin.on(3, (2,)), (OPTIONAL, _projected(A, 0)))),
            where("c2 = 1", LogicalExpression(AntiJoin.on(3, (2,)), (PAIRS, _projected(A, 0)))),
        ),
    ],
)
def test_a_condition_that_rejects_missing_values_makes_a_join_of_a_left_join(
    before: LogicalExpression, after: LogicalExpression | None
) -> None:
    found = normalized(before, RULES, before=normalization_rules())
    assert found == normalized(after or before, RULES)


def test_three_atoms_may_be_joined_at_once() -> None:
    around = LogicalExpression(Pattern(((0, 1), (0, 1)), (0, 1)), (A, pattern(chain(2))))
    word = path(regex.plus(regex.concat([regex.Symbol(0)] * 3)), A)
    for joined in (TRIANGLE, where("c0 = 1", TRIANGLE), around, pattern(chain(3)), word):
        assert MultiwayPattern not in absent_operators(joined)
    assert MultiwayPattern in absent_operators(pattern(chain(2)))


def test_only_a_cycle_of_atoms_needs_the_rules_for_cycles() -> None:
    around = LogicalExpression(Pattern(((0, 1), (0, 1)), (0, 1)), (A, pattern(chain(2))))
    for cycle in (TRIANGLE, where("c0 = 1", TRIANGLE), around):
        assert has_cycle(cycle)
    assert not has_cycle(pattern(chain(3)))
    assert {"PatternToMultiway", "MultiwayNest"} == idle_rules((), cycles=False)


def test_on_one_partition_no_rule_divides_the_rows() -> None:
    first = LogicalExpression(Top((), 1), (A,))
    assert Top not in absent_operators(first)
    assert idle_rules((), partitions=False) == {"AggregatePartially", "TopOfEachPartition"}
    assert "TopOfEachPartition" in idle_rules(absent_operators(A))


def test_leaving_idle_rules_out_changes_nothing() -> None:
    names = {rule.name for rule in transformation_rules()}
    outcome = optimize(pattern(chain(4)), SetCosts())
    asked = set(outcome.rules)
    absent = absent_operators(pattern(chain(4)))
    assert asked == names - idle_rules(absent, cycles=False, partitions=False)
    assert outcome.plans.logical_count == 2**3 * 5
