"""Random Cypher queries, each in the words of the language and in those of Kuzu, and random graphs.

Kuzu has one table of nodes with truth values for labels, and no rule that relationships of a MATCH
are different, so these conditions are written out for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from hypothesis import strategies as st

from tests.languages.cypher.streams import Graph, Node, Relationship

NODES = 4
PAIRS = [
    (one, other) for one in range(1, NODES + 1) for other in range(1, NODES + 1) if one != other
]


@dataclass(frozen=True)
class Texts:
    """A text in Cypher, and the same in the words of Kuzu.

    Attributes:
        cypher: the text.
        kuzu: the text for Kuzu, without the first rows and with lists in any order. The keys of
            an order are its last columns.
        first: the columns to order by, with whether they descend, the rows to leave out and those
            to give; None for all rows.
        by_groups: whether they are the first rows of each group, which the first column tells.
        lists: the positions of the columns that are lists, in ascending order in Headrace.
        ordered: the positions of the columns that are lists in an order of their own.
    """

    cypher: str
    kuzu: str
    first: tuple[tuple[tuple[int, bool], ...], int, int] | None = None
    lists: tuple[int, ...] = ()
    ordered: tuple[int, ...] = ()
    by_groups: bool = False


@dataclass(frozen=True)
class Link:
    """A relationship of a pattern; ``hops`` are the bounds of a path."""

    left: str
    right: str
    types: tuple[str, ...]
    arrow: tuple[str, str]
    name: str
    hops: tuple[int, int | None] | None = None

    def texts(self) -> Texts:
        """The relationship with its brackets."""
        types = f":{'|'.join(self.types)}" if self.types else ""
        before, after = self.arrow
        if self.hops is None:
            own = f"{before}[{self.name}{types}]{after}"
            return Texts(own, own)
        least, most = self.hops
        bounds = f"{least}..{'' if most is None else most}"
        return Texts(
            f"{before}[{types}*{bounds}]{after}",
            f"{before}[{self.name}{types}* TRAIL {least}..{8 if most is None else most}]{after}",
        )


@dataclass
class Scope:
    """What a query has bound: nodes with their labels, and relationships.

    ``ends`` are the nodes where relationships of one direction start and end.
    """

    labels: dict[str, str | None] = field(default_factory=dict)
    optional: set[str] = field(default_factory=set)
    relationships: list[str] = field(default_factory=list)
    ends: dict[str, tuple[str, str]] = field(default_factory=dict)
    count: int = 0

    def number(self) -> int:
        """A number of its own for a new name."""
        self.count += 1
        return self.count

    @property
    def nodes(self) -> list[str]:
        """The nodes that are never missing."""
        return [name for name in self.labels if name not in self.optional]

    @property
    def properties(self) -> list[str]:
        """The properties of nodes and of relationships."""
        of_nodes = (f"{name}.age" for name in self.nodes)
        return [*of_nodes, *(f"{name}.w" for name in self.relationships)]


@st.composite
def patterns(
    draw: st.DrawFn,
    scope: Scope,
    most: int = 3,
    *,
    start: bool = False,
    paths: bool = True,
    counted: bool = False,
    named: bool = True,
) -> tuple[Texts, list[str]]:
    """A pattern, and the conditions that Kuzu needs beside it; ``start``: from a known node.

    Kuzu 0.11.3 leaves out paths of no relationships at nodes with others, so none are drawn.
    """
    links: list[Link] = []
    has_path = False
    length = draw(st.integers(1, most))
    known = [*scope.labels] if named else scope.nodes
    left = draw(st.sampled_from(known)) if start else f"n{scope.number()}"
    labels = dict(scope.labels)
    texts: dict[str, Texts] = {}
    conditions: list[str] = []

    def node(name: str) -> Texts:
        if name not in labels:
            labels[name] = draw(st.sampled_from(["Person", "City", None, None]))
            if labels[name] is not None:
                conditions.append(f"{name}.{labels[name]}")
            label = f":{labels[name]}" if labels[name] else ""
            if labels[name] is None and draw(st.integers(0, 7)) == 0:
                conditions.append(f"({name}.Person OR {name}.City)")
                label = ":Person|City"
            return Texts(f"({name}{label})", f"({name}:N)")
        return Texts(f"({name})", f"({name}:N)")

    texts[""] = node(left)
    said, kuzu = texts[""].cypher, texts[""].kuzu
    for _ in range(length):
        fresh = f"n{scope.number()}"
        right = draw(st.sampled_from([fresh, fresh, fresh, *labels][: 6 if named else 4]))
        if not named:
            right = draw(st.sampled_from([fresh, *scope.nodes]))
        path = paths and not has_path and draw(st.integers(0, 3)) == 0
        types = draw(st.sampled_from([("K",), ("L",), ("K", "L"), ()]))
        hops: tuple[int, int | None] | None = None
        if path:
            used = {type_ for link in links for type_ in link.types or ("K", "L")}
            rest = tuple(one for one in ("K", "L") if one not in used)
            if rest:
                types = (draw(st.sampled_from(rest)),)
                ends: list[tuple[int, int | None]] = [(1, 2), (2, 2), (1, 3), (1, 1)]
                hops = draw(st.sampled_from(ends if counted else [*ends, (1, None), (2, 3)]))
                has_path = True
        elif has_path:
            of_path = next(link.types for link in links if link.hops is not None)
            types = tuple(one for one in ("K", "L") if one not in of_path)
            if not types:
                break
        arrow = draw(st.sampled_from([("-", "->"), ("<-", "-"), ("-", "-")]))
        link = Link(left, right, types, arrow, f"r{scope.number()}", hops)
        links.append(link)
        text, end = link.texts(), node(right)
        said += text.cypher + end.cypher
        kuzu += text.kuzu + end.kuzu
        left = right
    single = [link for link in links if link.hops is None]
    for one, other in combinations(single, 2):
        if not one.types or not other.types or set(one.types) & set(other.types):
            conditions.append(f"id({one.name}) <> id({other.name})")
    if named:
        scope.labels.update(labels)
        scope.relationships += [link.name for link in single]
        of_one_direction = (link for link in single if link.arrow != ("-", "-"))
        for link in of_one_direction:
            turned = link.arrow == ("<-", "-")
            pair = (link.right, link.left) if turned else (link.left, link.right)
            scope.ends[link.name] = pair
    return Texts(said, kuzu), conditions


def is_there(node: str) -> str:
    """The condition for Kuzu that a node has a row or a relationship."""
    return f"({node}.HasRow OR EXISTS {{ MATCH ({node})-[:K|L]-(:N) }})"


@st.composite
def lone_nodes(draw: st.DrawFn, scope: Scope) -> tuple[Texts, list[str]]:
    """A node without a label and a relationship, as a pattern, and the conditions of Kuzu."""
    name = f"n{scope.number()}"
    scope.labels[name] = None
    age = draw(st.sampled_from([None, None, 1, 2]))
    if age is None:
        return Texts(f"({name})", f"({name}:N)"), [is_there(name)]
    return Texts(f"({name} {{age: {age}}})", f"({name}:N)"), [is_there(name), f"{name}.age = {age}"]


@st.composite
def conditions_over(draw: st.DrawFn, scope: Scope, depth: int = 2) -> Texts:
    """A condition over the properties and nodes of a scope."""
    kinds = ["nodes"] if len(scope.nodes) > 1 else []
    if scope.properties:
        kinds += ["compared", "compared", "null", "list"]
    if depth and kinds:
        kinds += ["and", "or", "not", "xor"]
    if not kinds:
        return Texts("1 = 1", "1 = 1")
    kind = draw(st.sampled_from(kinds))
    if kind in ("and", "or", "xor", "not"):
        parts = [draw(conditions_over(scope, depth - 1)) for _ in range(2)]
        if kind == "not":
            return Texts(f"NOT ({parts[0].cypher})", f"NOT ({parts[0].kuzu})")
        word = f" {kind.upper()} "
        return Texts(
            word.join(f"({p.cypher})" for p in parts), word.join(f"({p.kuzu})" for p in parts)
        )
    if kind == "nodes":
        one, other = draw(st.lists(st.sampled_from(scope.nodes), min_size=2, max_size=2))
        sign = draw(st.sampled_from(["=", "<>"]))
        return Texts(f"{one} {sign} {other}", f"{one}.id {sign} {other}.id")
    of = draw(st.sampled_from(scope.properties))
    if kind == "null":
        text = f"{of} IS {draw(st.sampled_from(['', 'NOT ']))}NULL"
    elif kind == "list":
        text = f"{of} IN [{', '.join(map(str, draw(st.lists(st.integers(0, 3), min_size=1))))}]"
        if draw(st.integers(0, 2)) == 0:
            least = draw(st.integers(-1, 2))
            text = f"{of} IN range({least}, {least + draw(st.integers(0, 2))})"
    else:
        other = draw(st.sampled_from(["1", "2", *scope.properties]))
        text = f"{of} {draw(st.sampled_from(['=', '<>', '<', '>=']))} {other}"
    return Texts(text, text)


@st.composite
def tests_of_patterns(draw: st.DrawFn, scope: Scope) -> Texts:
    """A pattern in a condition, perhaps with conditions of its own, or its negation."""
    inner = Scope(dict(scope.labels), set(scope.optional), count=scope.count + 100)
    block = draw(st.booleans())
    counted = draw(st.integers(0, 4)) == 0
    pattern, needed = draw(patterns(inner, 1, start=True, named=False, counted=counted))
    negation = draw(st.sampled_from(["", "NOT "]))
    where = f" WHERE {' AND '.join(needed)}" if needed else ""
    if counted:
        test = draw(st.sampled_from(["> 1", "= 0", "< 2", "= 1"]))
        kuzu = f"{negation}COUNT {{ MATCH {pattern.kuzu}{where} }} {test}"
        return Texts(f"{negation}COUNT {{ {pattern.cypher} }} {test}", kuzu)
    kuzu = f"{negation}EXISTS {{ MATCH {pattern.kuzu}{where} }}"
    if block:
        return Texts(f"{negation}EXISTS {{ {pattern.cypher} }}", kuzu)
    return Texts(f"{negation}EXISTS {{ MATCH {pattern.cypher} }}", kuzu)


@st.composite
def mixed_tests(draw: st.DrawFn, scope: Scope) -> Texts:
    """Patterns beside other conditions, under OR or compared with each other."""
    one, other = draw(tests_of_patterns(scope)), draw(tests_of_patterns(scope))
    word = draw(st.sampled_from(["OR", "OR", "=", "<>", "XOR"]))
    if word == "OR" and draw(st.booleans()):
        other = draw(conditions_over(scope))
    return Texts(f"({one.cypher}) {word} ({other.cypher})", f"({one.kuzu}) {word} ({other.kuzu})")


def clause_of(
    word: str, of: Sequence[Texts], needed: Sequence[str], where: Sequence[Texts]
) -> Texts:
    """A clause of patterns and conditions; Kuzu has the conditions ``needed`` beside them."""
    said = f"{word} {', '.join(one.cypher for one in of)}"
    kuzu = f"{word} {', '.join(one.kuzu for one in of)}"
    both = [*needed, *(f"({one.kuzu})" for one in where)]
    if where:
        said += f" WHERE {' AND '.join(f'({one.cypher})' for one in where)}"
    return Texts(said, f"{kuzu} WHERE {' AND '.join(both)}" if both else kuzu)


def returned(items: Sequence[Texts], *, distinct: bool) -> Texts:
    """A RETURN of columns; rows are ``distinct`` for Kuzu, as they are in Headrace."""
    said, kuzu = (", ".join(of) for of in zip(*[(i.cypher, i.kuzu) for i in items], strict=True))
    return Texts(f"RETURN {said}", f"RETURN {'DISTINCT ' * distinct}{kuzu}")


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A small graph without loops, as Kuzu matches those of either direction twice."""
    labels = st.sampled_from([("Person",), ("City",), ("Person", "City"), ()])
    ages = st.sampled_from([None, 1, 2, 3])
    nodes = tuple(
        Node(n, own, draw(ages) if own else None)
        for n, own in ((n, draw(labels)) for n in range(1, NODES + 1))
    )
    times = sorted(draw(st.lists(st.integers(0, 6), min_size=1, max_size=8, unique=False)))
    relationships: list[Relationship] = []
    for number, ts in enumerate(times):
        source, target = draw(st.sampled_from(PAIRS))
        type_ = draw(st.sampled_from(["K", "K", "L"]))
        w = draw(st.sampled_from([None, 1, 2, 3]))
        one = Relationship(source, target, type_, ts, w)
        if one not in relationships[: number + 1]:
            relationships.append(one)
    return Graph(nodes, tuple(relationships))
