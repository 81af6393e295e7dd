"""The identity of rows: equal however a query is written, and different for different rows."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from itertools import permutations
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from headrace.algebra.identity import Relation
from headrace.algebra.logical import (
    Aggregate,
    Filter,
    FilteredPattern,
    LogicalExpression,
    LogicalOperator,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Rewindow,
    Union,
    WScan,
    WScanUnion,
)
from headrace.algebra.regex import Symbol, concat, plus
from headrace.algebra.window import Window
from headrace.catalog.defaults import default_catalog
from headrace.executor.local import Edge
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.memo import GroupExpression, Memo
from tests.optimizer.test_meaning import relations
from tests.oracles.snapshot import Row, Snapshot
from tests.properties.algebra import rows_of
from tests.properties.test_optimizer_fuzz import EXPRESSIONS, LABELS, NAMES, searched, streams
from tests.strategies.amount import examples

WINDOW = Window(10, 2)
ALIKE = (
    (
        "Answer(x, z) <- a(x, y), b(y, z), c(z, w)",
        "Answer(p, r) <- c(r, q), a(p, s), b(s, r)",
        "Answer(z, x) <- b(y, z), c(z, w), a(x, y)",
    ),
    (
        "Answer(x, y) <- x a/b/c y",
        "Answer(x, y) <- y ^c/^b/^a x",
        "Answer(x, y) <- a(x, u), b(u, v), c(v, y)",
        "Answer(x, y) <- x a/b v, c(v, y)",
    ),
    ("Answer(x, y) <- x (a/b)+ y", "d(x, z) <- a(x, y), b(y, z). Answer(x, y) <- x d+ y"),
    ("Answer(x, y) <- x a|b y", "d(x, y) <- a(x, y). d(x, y) <- b(x, y). Answer(x, y) <- d(x, y)"),
    ("Answer(x, y) <- x a/b* y", "Answer(x, y) <- x a|a/b+ y"),
    ("Answer(x, z) <- a(x, y), a(y, z), x <> z", "Answer(x, z) <- a(y, x), a(z, y), z <> x"),
    (
        "Answer(x, y, z) <- a(x, y), a(y, z), a(z, x)",
        "Answer(p, r, q) <- a(r, p), a(q, r), a(p, q)",
    ),
)
DIFFERENT = (
    "Answer(x, z) <- a(x, y), b(y, z)",
    "Answer(x, z) <- b(x, y), a(y, z)",
    "Answer(x, z) <- a(x, y), b(z, y)",
    "Answer(x, y) <- a(x, y), b(y, z)",
    "Answer(x, y, z) <- a(x, y), b(y, z)",
    "Answer(x, y) <- x (a/b)+ y",
    "Answer(x, y) <- x (a|b)+ y",
    "Answer(x, y) <- x a+/b+ y",
    "Answer(x, y) <- x a|b y",
    "Answer(x, z) <- a(x, y), b(y, z), x <> z",
    "Answer(x, z) <- a(x, y), b(y, z), x = 'v'",
    "Answer(x, z) <- a(x, y), b(y, z), z = 'v'",
    "Answer(x, z) <- a(x, y), b(y, z) WINDOW 20",
)


def relation_of(expression: LogicalExpression) -> Relation:
    return Relation(expression.operator, tuple(map(relation_of, expression.inputs)))


def identity(query: str) -> str:
    catalog = default_catalog(LABELS, (), ())
    return relation_of(translate(parse(query), catalog, WINDOW).expression).identity


def relation_of_group(memo: Memo, group: int) -> Relation:
    return relation_of_member(memo, memo.group(group).expressions[0])


def relation_of_member(memo: Memo, member: GroupExpression) -> Relation:
    assert isinstance(member.operator, LogicalOperator)
    return Relation(member.operator, tuple(relation_of_group(memo, i) for i in member.inputs))


@pytest.mark.parametrize("queries", ALIKE, ids=lambda queries: queries[0])
def test_queries_for_the_same_rows_have_one_identity(queries: tuple[str, ...]) -> None:
    assert len(set(map(identity, queries))) == 1


def test_queries_for_different_rows_have_different_identities() -> None:
    queries = (*DIFFERENT, *(queries[0] for queries in ALIKE))
    different = set(map(identity, queries))
    assert len(different) == len(set(queries))


def test_windows_labels_streams_and_properties_are_part_of_the_identity() -> None:
    scans = [
        WScan("s", "a", WINDOW),
        WScan("t", "a", WINDOW),
        WScan("s", "b", WINDOW),
        WScan("s", "a", Window(10, 1)),
        WScan("s", "a", None),
        WScan("s", "a", WINDOW, properties=("p",)),
        WScan("s", "a", WINDOW, properties=("q",)),
    ]
    assert len({Relation(scan).identity for scan in scans}) == len(scans)


def test_other_operators_have_the_identity_of_their_text_over_their_inputs() -> None:
    scan = Relation(WScan("s", "a", WINDOW))
    over = [
        Relation(Rewindow(Window(5, 1)), (scan,)),
        Relation(Rewindow(Window(6, 1)), (scan,)),
        Relation(Rewindow(Window(5, 1)), (Relation(Project((1, 0)), (scan,)),)),
        Relation(Aggregate((0,), (), (0,)), (scan,)),
        Relation(Path(plus(Symbol(0)), PathSemantics.SIMPLE), (scan,)),
        Relation(Path(plus(Symbol(0))), (scan,)),
    ]
    assert len({relation.identity for relation in over}) == len(over)
    again = Relation(Rewindow(Window(5, 1)), (Relation(WScan("s", "a", WINDOW)),))
    assert again.identity == over[0].identity


READ_FIELDS: dict[type[LogicalOperator], set[str]] = {
    WScan: {"stream", "label", "window", "predicate", "properties", "deletions"},
    WScanUnion: {"scans"},
    Filter: {"predicate"},
    Project: {"columns"},
    Pattern: {"bindings", "output"},
    FilteredPattern: {"bindings", "output", "predicate"},
    Union: set(),
    Path: {"regex", "semantics"},
}
"""The fields of the operators that the identity knows by their laws."""


@pytest.mark.parametrize("operator", READ_FIELDS, ids=lambda operator: operator.__name__)
def test_a_new_field_of_an_operator_has_to_enter_its_identity(
    operator: type[LogicalOperator],
) -> None:
    dataclass: Any = operator
    assert {f.name for f in fields(dataclass) if f.compare} == READ_FIELDS[operator]


def test_deep_and_doubling_expressions_have_an_identity() -> None:
    deep = Relation(WScan("s", "a", WINDOW))
    for k in range(1_500):
        deep = Relation(Rewindow(Window(k + 1, 1)), (deep,))
    assert len(deep.identity) == 32
    doubled = Relation(WScan("s", "a", WINDOW))
    for _ in range(40):
        doubled = Relation(Path(plus(concat([Symbol(0), Symbol(0)]))), (doubled,))
        doubled = Relation(Pattern(((0, 1), (1, 2)), (0, 2)), (doubled, doubled))
    assert len(doubled.identity) == 32


def test_another_process_computes_the_same_identity() -> None:
    relation = (
        "from headrace.algebra.identity import Relation\n"
        "from headrace.algebra.logical import *\n"
        "a, b = (Relation(WScan('s', label, None)) for label in 'ab')\n"
        "join = Relation(Pattern(((0, 1), (1, 2), (2, 0)), (0, 2)), (a, b, a))\n"
        "identity = Relation(Union(), (join, b)).identity\n"
    )
    here: dict[str, str] = {}
    exec(relation, here)
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    printed = subprocess.run(
        [sys.executable, "-c", f"{relation}print(identity)"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert printed.stdout.strip() == here["identity"]


@examples(80)
@given(expression=EXPRESSIONS, seed=st.integers(0, 10**6))
def test_expressions_that_rules_commute_associate_and_split_have_one_identity(
    expression: LogicalExpression, seed: int
) -> None:
    """All members of a group, except those that only laws of regexes or predicates make equal.

    A path below a path brings such laws in: rules put its regex into that of the path above.
    """
    assume(not any(isinstance(e.operator, Path) for e in below_paths(expression)))
    memo = searched(expression, seed, prune=False, disabled_rules=frozenset(NAMES) - LAWS).memo
    for group in memo.groups:
        expected = relation_of_group(memo, group.id).identity
        for member in group.expressions:
            assert relation_of_member(memo, member).identity == expected, member


def below_paths(expression: LogicalExpression) -> list[LogicalExpression]:
    """The expressions below a path."""
    below = [e for part in expression.inputs for e in below_paths(part)]
    if not isinstance(expression.operator, Path):
        return below
    pending = list(expression.inputs)
    for e in pending:
        pending += e.inputs
    return pending


LAWS = frozenset(
    {
        "UnionCommute",
        "UnionAssociate",
        "FilterMerge",
        "FilterSplit",
        "FilterSwap",
        "FilterUnionTranspose",
        "PatternCommute",
        "PatternAssociate",
        "PatternAssociateInverse",
        "FilterPatternTransposeLeft",
        "FilterPatternTransposeRight",
        "FilterIntoPattern",
        "FilterWScanTranspose",
        "ProjectMerge",
        "ProjectIntoPattern",
        "ConcatToPattern",
        "AlternationToUnion",
    }
)
"""Rules that leave each relation its identity."""


@examples(80)
@given(one=EXPRESSIONS, other=EXPRESSIONS, edges=streams())
def test_equal_identities_mean_equal_rows(
    one: LogicalExpression, other: LogicalExpression, edges: list[Edge]
) -> None:
    """The groups of two searches are compared; a snapshot knows labels and not their windows."""
    snapshot: Snapshot = {
        label: frozenset((e[0], e[1]) for e in edges if e[2] == label) for label in LABELS
    }
    rows: dict[str, set[Row]] = {}
    for expression in map(in_one_window, (one, other)):
        memo = searched(expression, 0, prune=False).memo
        of_groups = relations(memo, snapshot)
        for group in memo.groups:
            own = of_groups[group.id]
            first = rows.setdefault(relation_of_group(memo, group.id).identity, own)
            assert own == first or is_permuted(own, first)


def in_one_window(expression: LogicalExpression) -> LogicalExpression:
    operator = expression.operator
    if isinstance(operator, WScan):
        operator = WScan(operator.stream, operator.label, WINDOW, operator.predicate)
    return LogicalExpression(operator, tuple(map(in_one_window, expression.inputs)))


def is_permuted(one: set[Row], other: set[Row]) -> bool:
    """Whether the rows are equal in another order of columns, or with a column repeated."""
    width = len(next(iter(one), ()))
    return any(
        {tuple(row[k] for k in order) for row in one} == other
        for order in permutations(range(width))
    )


def test_rows_of_the_oracle_agree_for_queries_with_one_identity() -> None:
    snapshot: Snapshot = {
        "a": frozenset({("u", "v"), ("v", "w"), ("w", "u"), ("u", "u")}),
        "b": frozenset({("v", "w"), ("w", "v")}),
        "c": frozenset({("w", "u"), ("v", "v")}),
    }
    catalog = default_catalog(LABELS, (), ())
    for queries in ALIKE:
        answers = [
            rows_of(translate(parse(query), catalog, WINDOW).expression, snapshot)
            for query in queries
        ]
        assert all(is_permuted(answer, answers[0]) for answer in answers), queries
