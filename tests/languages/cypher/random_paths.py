"""Random queries that read the nodes, the relationships or the length of a path.

A condition inside ``all`` and its like reads nothing of the query around it in Kuzu, and has wrong
results where it is unknown or the list is empty (0.11.3). So each condition has a text for Kuzu
that says when it is true, and one that says when it is false; ``single`` and conditions as values
have no unknown ones, and each path has a relationship.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.languages.cypher.drawing import (
    Link,
    Scope,
    Texts,
    clause_of,
    conditions_over,
    is_there,
    patterns,
    returned,
)


@dataclass(frozen=True)
class Test:
    """A condition of a member ``m``, and when it is true and false in the words of Kuzu."""

    cypher: str
    true: str
    false: str


KNOWN = {
    "nodes": [
        Test("m:Person", "m.Person", "NOT m.Person"),
        Test("NOT m:City", "NOT m.City", "m.City"),
    ],
    "relationships": [
        Test("m.w IS NULL", "m.w IS NULL", "m.w IS NOT NULL"),
        Test("m.w IS NOT NULL", "m.w IS NOT NULL", "m.w IS NULL"),
    ],
}
"""Conditions that are true or false."""
OTHERS = {
    "nodes": [
        Test(
            f"m:{label} AND {test}",
            f"m.{label} AND m.age IS NOT NULL AND {test}",
            f"NOT m.{label} OR (m.age IS NOT NULL AND NOT ({test}))",
        )
        for label in ("Person", "City")
        for test in ("m.age > 1", "m.age IN [1, 3]", "NOT m.age = 2")
    ],
    "relationships": [
        Test(test, f"m.w IS NOT NULL AND {test}", f"m.w IS NOT NULL AND NOT ({test})")
        for test in ("m.w > 1", "m.w IN [1, 3]", "m.w <= m.ts")
    ],
}
"""Conditions that may be unknown."""
OF_MEMBERS = [
    Texts(
        "reduce(s = 0, m IN relationships(p) | s + m.w)",
        "CASE WHEN all(m IN rels(p) WHERE m.w IS NOT NULL) "
        "THEN list_sum(list_transform(rels(p), m -> m.w)) END",
    ),
    Texts("nodes(p)[0].age", "(nodes(p)[1]).age"),
    Texts("id(last(nodes(p)))", "(nodes(p)[-1]).id"),
    Texts("head(relationships(p)).w", "(rels(p)[1]).w"),
    Texts("size([m IN relationships(p) WHERE m.w IS NOT NULL])",
          "size(list_filter(rels(p), m -> m.w IS NOT NULL))"),
]  # fmt: skip
"""What is read of the members of a path."""
CHOSEN = {
    "nodes": (Test("m.age > 1", "m.age IS NOT NULL AND m.age > 1", ""), Texts("id(m)", "m.id")),
    "relationships": (
        Test("m.w <= m.ts", "m.w IS NOT NULL AND m.w <= m.ts", ""), Texts("m.w + 1", "m.w + 1")
    ),
}  # fmt: skip
"""Conditions that choose members of a path, and values of these."""
LISTS = {"nodes": "nodes(p)", "relationships": "rels(p)"}


@st.composite
def path_tests(draw: st.DrawFn, lengths: bool = True) -> Texts:
    """A condition over a path ``p``; without ``lengths`` it may be over a path of any length."""
    of = draw(st.sampled_from([*LISTS]))
    if lengths and draw(st.integers(0, 3)) == 0:
        what = draw(st.sampled_from(["length({})", "size(nodes({}))", "size(relationships({}))"]))
        sign, number = draw(st.sampled_from(["=", "<>", ">"])), draw(st.integers(1, 3))
        said = f"{what.format('p')} {sign} {number}"
        return Texts(said, said.replace("relationships", "rels"))
    quantifiers = ["all", "any", "none", "single"] if lengths else ["all", "none"]
    quantifier = draw(st.sampled_from(quantifiers))
    known = quantifier == "single"
    test = draw(st.sampled_from(KNOWN[of] if known else KNOWN[of] + OTHERS[of]))
    negated = lengths and draw(st.integers(0, 3)) == 0
    return _quantified(quantifier, of, test, negated=negated)


def _quantified(quantifier: str, of: str, test: Test, *, negated: bool = False) -> Texts:
    """The condition of the members of a list, or its negation."""
    said = f"{'NOT ' * negated}{quantifier}(m IN {of}(p) WHERE {test.cypher})"
    plain = {"all": ("all", test.true), "any": ("any", test.true), "none": ("all", test.false)}
    opposite = {"all": ("any", test.false), "any": ("all", test.false), "none": ("any", test.true)}
    if quantifier == "single":
        word, inside = f"{'NOT ' * negated}single", test.true
    else:
        word, inside = (opposite if negated else plain)[quantifier]
    return Texts(said, f"{word}(m IN {LISTS[of]} WHERE {inside})")


@st.composite
def membership(draw: st.DrawFn, scope: Scope) -> Texts:
    """Whether a node or a relationship is on a path ``p``."""
    negation = draw(st.sampled_from(["", "NOT "]))
    of_relationships = draw(st.booleans())
    if scope.relationships and of_relationships:
        name = draw(st.sampled_from(scope.relationships))
        ids = f"list_transform(rels(p), m -> id(m)), id({name})"
        return Texts(f"{negation}{name} IN relationships(p)", f"{negation}list_contains({ids})")
    name = draw(st.sampled_from(scope.nodes))
    ids = f"list_transform(nodes(p), m -> m.id), {name}.id"
    return Texts(f"{negation}{name} IN nodes(p)", f"{negation}list_contains({ids})")


@st.composite
def paths(draw: st.DrawFn, scope: Scope, *, bounded: bool) -> tuple[Texts, list[str]]:
    """A named path, of one relationship or several, and the conditions that Kuzu needs."""
    if bounded and draw(st.booleans()):
        pattern, needed = draw(patterns(scope, 2, counted=True))
        return Texts(f"p = {pattern.cypher}", f"p = {pattern.kuzu}"), needed
    bounds: list[tuple[int, int | None]] = [(1, 2), (2, 2), (1, 3)]
    hops = draw(st.sampled_from(bounds if bounded else [(1, None), (1, 3)]))
    types = draw(st.sampled_from([("K",), ("L",), ("K", "L"), ()]))
    arrow = draw(st.sampled_from([("-", "->"), ("-", "->"), ("<-", "-"), ("-", "-")]))
    left, right = f"n{scope.number()}", f"n{scope.number()}"
    link = Link(left, right, types, arrow, f"r{scope.number()}", hops).texts()
    needed = []
    ends = []
    for name in (left, right):
        label = draw(st.sampled_from(["Person", "City", None, None]))
        scope.labels[name] = label
        needed += [f"{name}.{label}"] if label else []
        ends.append(Texts(f"({name}:{label})" if label else f"({name})", f"({name}:N)"))
    one, other = ends
    return (
        Texts(
            f"p = {one.cypher}{link.cypher}{other.cypher}", f"p = {one.kuzu}{link.kuzu}{other.kuzu}"
        ),
        needed,
    )


@st.composite
def queries_of_paths(draw: st.DrawFn) -> Texts:
    """Rows or counts under conditions over a path."""
    scope = Scope()
    bounded = draw(st.integers(0, 2)) > 0
    pattern, needed = draw(paths(scope, bounded=bounded))
    where = [draw(path_tests(lengths=bounded)) for _ in range(draw(st.integers(1, 2)))]
    if draw(st.integers(0, 2)) == 0:
        where.append(draw(conditions_over(scope, 1)))
    clauses = [clause_of("MATCH", [pattern], needed, where)]
    nodes = scope.nodes
    # Kuzu 0.11.3 has wrong results of paths of several relationships in OPTIONAL MATCH, and finds
    # no path there under single(m IN rels(p) WHERE m.w IS NULL).
    is_path = bounded and "TRAIL" in pattern.kuzu and pattern.kuzu.count("[") == 1
    is_path &= not any("single(" in test.kuzu and "NULL" in test.kuzu for test in where)
    is_optional = is_path and draw(st.integers(0, 3)) == 0
    if is_optional:
        nodes = nodes[:1]
        node = Texts(f"({nodes[0]})", f"({nodes[0]}:N)")
        optional = clause_of("OPTIONAL MATCH", [pattern], needed, where)
        clauses = [clause_of("MATCH", [node], [is_there(nodes[0])], []), optional]
    elif bounded and draw(st.integers(0, 2)) == 0:
        again, needed = draw(patterns(scope, 1, start=True, paths=False))
        clauses.append(clause_of("MATCH", [again], needed, [draw(membership(scope))]))
    key = draw(st.sampled_from(nodes))
    items = [Texts(f"{key} AS a", f"{key}.id AS a")]
    # Kuzu 0.11.3 has lengths of paths that an OPTIONAL MATCH does not find, and it finds paths that
    # are not there where it lists the nodes of a pattern of either direction.
    kinds = ["rows", "counts"] if is_optional else ["rows", "length", "value", "counts"]
    if not is_optional and not re.search(r"\)-\[[^\]]*\]-\(", pattern.kuzu):
        kinds += ["list", "member", "chosen"]
    kind = draw(st.sampled_from(kinds)) if bounded else "rows"
    if kind == "rows":
        other = draw(st.sampled_from([*scope.labels]))
        items.append(Texts(f"{other} AS v", f"{other}.id AS v"))
    elif kind == "length":
        items.append(Texts("length(p) * 2 AS v", "length(p) * 2 AS v"))
    elif kind == "value":
        quantifier = draw(st.sampled_from(["all", "any", "none", "single"]))
        test = draw(st.sampled_from(KNOWN["relationships"]))
        value = _quantified(quantifier, "relationships", test)
        items.append(Texts(f"{value.cypher} AS v", f"{value.kuzu} AS v"))
    elif kind == "member":
        of = draw(st.sampled_from(OF_MEMBERS))
        items.append(Texts(f"{of.cypher} AS v", f"{of.kuzu} AS v"))
    elif kind == "chosen":
        list_ = draw(st.sampled_from([*LISTS]))
        test, value = CHOSEN[list_]
        kuzu = f"list_filter({LISTS[list_]}, m -> {test.true})"
        kuzu = f"list_transform({kuzu}, m -> {value.kuzu})"
        said = f"[m IN {list_}(p) WHERE {test.cypher} | {value.cypher}]"
        items.append(Texts(f"{said} AS v", f"{kuzu} AS v"))
    elif kind == "list":
        list_ = draw(st.sampled_from([*LISTS]))
        member = draw(st.sampled_from(["id(m)", "m.age"])) if list_ == "nodes" else "m.w"
        kuzu = f"list_transform({LISTS[list_]}, m -> {member.replace('id(m)', 'm.id')})"
        said = "nodes(p)" if member == "id(m)" else f"[m IN {list_}(p) | {member}]"
        items.append(Texts(f"{said} AS v", f"{kuzu} AS v"))
    else:
        calls = ["count(*)", "avg(length(p))", "max(size(nodes(p)))"]
        choices = [Texts(call, call) for call in (calls[:1] if is_optional else calls)]
        if not is_optional:
            choices.append(Texts("count(p)", "count(*)"))
        elif len(scope.nodes) == 2:
            choices.append(Texts("count(p)", f"count({scope.nodes[-1]}.id)"))
        call = draw(st.sampled_from(choices))
        items.append(Texts(f"{call.cypher} AS v", f"{call.kuzu} AS v"))
    ending = returned(items, distinct=kind != "counts")
    parts = (*clauses, ending)
    texts = " ".join(c.cypher for c in parts), " ".join(c.kuzu for c in parts)
    return Texts(*texts, ordered=(1,) if kind in ("list", "chosen") else ())


@st.composite
def unwound(draw: st.DrawFn) -> Texts:
    """Rows or counts of the nodes or relationships on a path, one for each."""
    scope = Scope()
    pattern, needed = draw(paths(scope, bounded=True))
    where = [draw(conditions_over(scope))] if draw(st.booleans()) else []
    where += [draw(path_tests())] if draw(st.integers(0, 2)) == 0 else []
    match = clause_of("MATCH", [pattern], needed, where)
    key = Texts(name := draw(st.sampled_from(scope.nodes)), f"{name}.id")
    if draw(st.booleans()):
        list_, member = Texts("nodes(p)", "nodes(p)"), Texts("u", "u.id")
    else:
        list_, member = Texts("relationships(p)", "rels(p)"), Texts("u.w", "u.w")
    last = draw(
        st.sampled_from(["length(p) AS l", "count(*) AS l", "count(*) AS l, sum({u}) AS s"])
    )
    items = [
        Texts(f"{k.cypher} AS {name}", f"{k.kuzu} AS {name}")
        for k, name in zip((key, member), "kv", strict=True)
    ]
    items.append(Texts(last.format(u=member.cypher), last.format(u=member.kuzu)))
    ending = returned(items, distinct=last.startswith("length"))
    return replace(
        ending,
        cypher=f"{match.cypher} UNWIND {list_.cypher} AS u {ending.cypher}",
        kuzu=f"{match.kuzu} UNWIND {list_.kuzu} AS u {ending.kuzu}",
    )
