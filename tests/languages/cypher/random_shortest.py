"""Random queries that read the nodes and relationships of shortest paths one by one.

Kuzu has a path for each of several relationships between two nodes, and takes any of the shortest
ones as the one. So all shortest paths are compared by distinct rows, and one of them by counts that
are the same for each.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tests.languages.cypher.drawing import (
    Scope,
    Texts,
    clause_of,
    conditions_over,
    is_there,
    patterns,
    returned,
    tests_of_patterns,
)


@st.composite
def members_of_shortest(draw: st.DrawFn) -> Texts:
    """Rows or counts of the members of shortest paths."""
    if draw(st.integers(0, 2)) == 0:
        return draw(_counted())
    return draw(_unwound())


@st.composite
def _shortest(draw: st.DrawFn, scope: Scope, kind: str, words: str) -> tuple[Texts, list[str]]:
    """The pattern of a path, and the conditions that Kuzu needs."""
    types = draw(st.sampled_from(["K", "K|L"]))
    before, after = draw(st.sampled_from([("-", "->"), ("<-", "-"), ("-", "-")]))
    most = draw(st.sampled_from([2, 4]))
    ends, needed = [], []
    for name in (f"n{scope.number()}", f"n{scope.number()}"):
        label = draw(st.sampled_from(["Person", "City", None, None]))
        scope.labels[name] = label
        needed += [f"{name}.{label}"] if label else []
        ends.append(f"({name}:{label})" if label else f"({name})")
    one, other = scope.nodes
    cypher = f"p = {kind}({ends[0]}{before}[:{types}*..{most}]{after}{ends[1]})"
    kuzu = f"p = ({one}:N){before}[:{types}* {words} 1..{most}]{after}({other}:N)"
    return Texts(cypher, kuzu), [*needed, f"{one}.id <> {other}.id"]


@st.composite
def _unwound(draw: st.DrawFn) -> Texts:
    """Rows of the nodes or relationships of all shortest paths, with clauses behind."""
    scope = Scope()
    path, needed = draw(_shortest(scope, "allShortestPaths", "ALL SHORTEST"))
    where = [draw(conditions_over(scope, 1))] if draw(st.integers(0, 2)) == 0 else []
    clauses = [clause_of("MATCH", [path], needed, where)]
    items = [Texts("length(p) AS l", "length(p) AS l")] if draw(st.booleans()) else []
    passed = draw(st.sampled_from(["", " WITH *"]))
    if draw(st.integers(0, 2)) > 0:
        node, member = f"n{scope.number()}", f"m{scope.number()}"
        tests = {
            "": "",
            " WHERE m.age > 1": f" AND {node}.age > 1",
            " WHERE m.age IS NULL": f" AND {node}.age IS NULL",
            f" WHERE NOT m = {scope.nodes[0]}": f" AND {node}.id <> {scope.nodes[0]}.id",
        }
        test = draw(st.sampled_from([*tests]))
        chosen = f"[m IN nodes(p){test}]" if test else "nodes(p)"
        unwind = Texts(
            f"UNWIND {chosen} AS {node}{passed}",
            f"UNWIND nodes(p) AS {member} MATCH ({node}:N) "
            f"WHERE {node}.id = {member}.id{tests[test]}",
        )
        clauses.append(unwind)
        scope.labels[node] = None
        if draw(st.booleans()):
            again, needed = draw(patterns(scope, 2, start=True, paths=False))
            word = draw(st.sampled_from(["MATCH", "MATCH", "OPTIONAL MATCH"]))
            if word == "MATCH":
                behind = [draw(conditions_over(scope, 1))] if draw(st.booleans()) else []
                clauses.append(clause_of("MATCH", [again], needed, behind))
            else:
                known = {node, *list(scope.labels)[:2]}
                scope.optional |= scope.labels.keys() - known
                scope.relationships.clear()
                clauses.append(clause_of("OPTIONAL MATCH", [again], needed, []))
        shown: Sequence[str] = draw(st.lists(st.sampled_from(scope.nodes), min_size=1, max_size=2))
        items += [Texts(f"{name} AS c{k}", f"{name}.id AS c{k}") for k, name in enumerate(shown)]
        value = draw(st.sampled_from([f"{node}.age", f"count(DISTINCT {node})"]))
        items.append(Texts(f"{value} AS v", f"{value.replace(node + ')', node + '.id)')} AS v"))
    else:
        of = "UNWIND rels(p) AS m MATCH (s:N)-[r:K|L]->(e:N) WHERE id(r) = id(m)"
        clauses.append(Texts(f"UNWIND relationships(p) AS r{passed}", of))
        ends = {"startNode(r)": "s.id", "endNode(r)": "e.id", "endNode(r).age": "e.age"}
        read = draw(st.lists(st.sampled_from([*ends]), min_size=1, max_size=2, unique=True))
        items += [Texts(f"{of} AS c{k}", f"{ends[of]} AS c{k}") for k, of in enumerate(read)]
        key = draw(st.sampled_from(scope.nodes))
        items.append(Texts(f"{key} AS k", f"{key}.id AS k"))
    return _text([*clauses, returned(items, distinct=True)])


@st.composite
def _counted(draw: st.DrawFn) -> Texts:
    """How many nodes or relationships are on one shortest path, or how many nodes are not."""
    scope = Scope()
    path, needed = draw(_shortest(scope, "shortestPath", "SHORTEST"))
    where = [draw(conditions_over(scope, 1))] if draw(st.integers(0, 2)) == 0 else []
    key = draw(st.sampled_from(scope.nodes))
    items = [Texts(f"{key} AS a", f"{key}.id AS a")]
    kind = draw(st.sampled_from(["nodes", "relationships", "twice", "in"]))
    clauses = [clause_of("MATCH", [path], needed, where)]
    call = "count(*)"
    match kind:
        case "nodes":
            clauses.append(Texts("UNWIND nodes(p) AS u", "UNWIND nodes(p) AS u"))
            call = draw(st.sampled_from(["count(*)", "count(u)", "sum(length(p))"]))
        case "relationships":
            clauses.append(Texts("UNWIND relationships(p) AS u", "UNWIND rels(p) AS u"))
            call = draw(st.sampled_from(["count(*)", "count(u)", "avg(length(p))"]))
        case "twice":
            said = "UNWIND nodes(p) AS u UNWIND {}(p) AS v"
            clauses.append(Texts(said.format("relationships"), said.format("rels")))
        case _:
            negation = draw(st.sampled_from(["", "NOT "]))
            ids = "list_transform(nodes(p), m -> m.id)"
            test = Texts(f"{negation}c IN nodes(p)", f"{negation}list_contains({ids}, c.id)")
            if draw(st.booleans()):
                test = Texts(f"({test.cypher}) = true OR c = {key}",
                             f"({test.kuzu}) OR c.id = {key}.id")  # fmt: skip
            clauses.append(clause_of("MATCH", [Texts("(c)", "(c:N)")], [is_there("c")], [test]))
    items.append(Texts(f"{call} AS v", f"{call.replace('count(u)', 'count(*)')} AS v"))
    return _text([*clauses, returned(items, distinct=False)])


def _text(parts: Sequence[Texts]) -> Texts:
    return Texts(" ".join(p.cypher for p in parts), " ".join(p.kuzu for p in parts))


@st.composite
def conditions_of_members(draw: st.DrawFn) -> Texts:
    """A condition of a node ``n`` of a path from ``a`` to ``b``, which reads these two."""
    scope = Scope(dict.fromkeys("abn"))
    kind = draw(st.sampled_from(["values", "pattern", "label"]))
    if kind == "label":
        return Texts("n:Person AND n <> a", "")
    return draw(conditions_over(scope) if kind == "values" else tests_of_patterns(scope))
