"""The clauses of random Cypher queries before their last ones, and what these have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests.languages.cypher.drawing import (
    Link,
    Scope,
    Texts,
    clause_of,
    conditions_over,
    lone_nodes,
    mixed_tests,
    patterns,
    returned,
    tests_of_patterns,
)

WORDS = ("IS NULL", "IS NOT NULL")


@dataclass
class Body:
    """The clauses of a query before its RETURN.

    Attributes:
        scope: what they bind.
        clauses: their texts.
        values: the properties that may be read, of relationships first.
    """

    scope: Scope
    clauses: list[Texts] = field(default_factory=list)
    values: list[str] = field(default_factory=list)


@st.composite
def bodies(draw: st.DrawFn, *, counted: bool) -> Body:
    """One or two MATCHes, perhaps with OPTIONAL MATCH; ``counted`` if an aggregate follows."""
    scope = Scope()
    body = Body(scope)
    sizes = draw(st.sampled_from([(1,), (2,), (3,), (1, 1), (2, 1)]))
    for number, most in enumerate(sizes):
        if number == 0 and draw(st.integers(0, 7)) == 0:
            pattern, needed = draw(lone_nodes(scope))
        else:
            pattern, needed = draw(patterns(scope, most, start=number > 0, counted=counted))
        where = []
        if draw(st.booleans()):
            where.append(draw(conditions_over(scope)))
        if draw(st.integers(0, 2)) == 0:
            where.append(draw(st.one_of(tests_of_patterns(scope), mixed_tests(scope))))
        body.clauses.append(clause_of("MATCH", [pattern], needed, where))
    before = list(scope.relationships)
    if sum(sizes) < 3 and draw(st.booleans()):
        known = set(scope.labels)
        body.clauses.append(draw(optional_matches(scope, 3 - sum(sizes), counted=counted)))
        scope.optional |= set(scope.labels) - known
    optional = [name for name in scope.relationships if name not in before]
    body.values = [*(f"{name}.w" for name in (*before, *optional)), *scope.properties]
    body.values += (f"{name}.age" for name in scope.labels if name in scope.optional)
    return body


@st.composite
def optional_matches(draw: st.DrawFn, scope: Scope, most: int, *, counted: bool) -> Texts:
    """An OPTIONAL MATCH, perhaps under conditions, which may be patterns.

    Kuzu 0.11.3 leaves out paths of no relationships, so a condition says what they connect.
    """
    if not counted and draw(st.integers(0, 4)) == 0:
        return draw(_zero_lengths(scope))
    before = [*scope.relationships]
    pattern, needed = draw(patterns(scope, most, start=True, counted=counted))
    new = [name for name in scope.relationships if name not in before]
    inner = Scope(scope.labels, relationships=new, count=scope.count)
    where = []
    if draw(st.integers(0, 2)) == 0:
        where.append(draw(conditions_over(inner)))
    if draw(st.integers(0, 2)) == 0:
        where.append(draw(st.one_of(tests_of_patterns(inner), mixed_tests(inner))))
    return clause_of("OPTIONAL MATCH", [pattern], needed, where)


@st.composite
def _zero_lengths(draw: st.DrawFn, scope: Scope) -> Texts:
    """An OPTIONAL MATCH of a path that may have no relationships."""
    key, end = draw(st.sampled_from(scope.nodes)), f"n{scope.number()}"
    end = draw(st.sampled_from([end, end, *scope.nodes]))
    label = None if end in scope.labels else draw(st.sampled_from(["Person", "City", None]))
    type_ = draw(st.sampled_from(["K", "L"]))
    arrow = draw(st.sampled_from([("-", "->"), ("<-", "-"), ("-", "-")]))
    most = draw(st.sampled_from([1, 2, None]))
    link = Link(key, end, (type_,), arrow, "z", (1, most)).texts()
    said = link.cypher.replace("*1..", "*0..")
    test = draw(conditions_over(Scope({key: None, end: label}), 1)) if draw(st.booleans()) else None
    at_end = f"({end}:{label})" if label else f"({end})"
    found = f"EXISTS {{ MATCH ({key}){link.kuzu}({end}:N) }}"
    kuzu = [f"({end}.id = {key}.id OR {found})", *[f"{end}.{label}"] * bool(label)]
    scope.labels.setdefault(end, label)
    where = [] if test is None else [test]
    return clause_of("OPTIONAL MATCH", [Texts(f"({key}){said}{at_end}", f"({end}:N)")], kuzu, where)


Ending = Callable[[st.DrawFn, Body], Texts]
"""Draws the last clauses of a query from its body."""


def keyed(key: str, calls: Sequence[Texts]) -> Texts:
    """A RETURN of a node and aggregates."""
    columns = [named(call, f"c{k}") for k, call in enumerate(calls)]
    return returned([Texts(f"{key} AS a", f"{key}.id AS a"), *columns], distinct=False)


def key_of(draw: st.DrawFn, body: Body) -> str:
    """A node that is never missing."""
    return draw(st.sampled_from(body.scope.nodes))


def truth(draw: st.DrawFn, body: Body) -> Texts:
    """A pattern as a value, or whether there is a relationship."""
    if body.scope.relationships and draw(st.integers(0, 3)) == 0:
        name, word = draw(st.sampled_from(body.scope.relationships)), draw(st.sampled_from(WORDS))
        return Texts(f"{name} {word}", f"id({name}) {word}")
    return draw(st.one_of(tests_of_patterns(body.scope), mixed_tests(body.scope)))


def named(of: Texts, name: str) -> Texts:
    """A column with a name."""
    return Texts(f"{of.cypher} AS {name}", f"{of.kuzu} AS {name}")
