"""Random Cypher queries: MATCHes, OPTIONAL MATCH, WITH, and what they return."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.languages.cypher.drawing import (
    Scope,
    Texts,
    clause_of,
    patterns,
    returned,
)
from tests.languages.cypher.random_bodies import Body, Ending, bodies, key_of, keyed, named, truth
from tests.languages.cypher.random_known_lists import known_lists
from tests.languages.cypher.random_lists import (
    chosen_of_lists,
    filtered_lists,
    functions_of_lists,
    handed_on_lists,
    in_lists,
    joined_lists,
    list_beside_another,
    lists,
    lists_of_groups,
    nested_lists,
    unwound_beside_lists,
    unwound_lists,
)
from tests.languages.cypher.random_paths import queries_of_paths, unwound

ORDERS = ("{x}", "{v}", "{v} % 2", "-{v}", "{x} % 2 + {v}", "abs({v} - 3)")
"""Keys of an order over the columns x, a node, and v, a number."""
AGGREGATES = ("count", "sum", "avg", "min", "max")


def _rows(draw: st.DrawFn, body: Body) -> Texts:
    """Nodes, perhaps a property, and perhaps an end of a relationship."""
    several = st.lists(st.sampled_from([*body.scope.labels]), min_size=1, max_size=3, unique=True)
    items = [Texts(name, f"{name}.id") for name in draw(several)]
    if body.values:
        value = draw(st.sampled_from(body.values))
        items.append(Texts(f"{value} AS v", f"{value} AS v"))
    if draw(st.integers(0, 3)) == 0:
        items.append(named(truth(draw, body), "t"))
    ends = {r: of for r, of in body.scope.ends.items() if not body.scope.optional & {*of}}
    if draw(st.booleans()) and ends:
        name = draw(st.sampled_from([*ends]))
        place = draw(st.integers(0, 1))
        function = ("startNode", "endNode")[place]
        items.append(Texts(f"{function}({name}) AS s", f"{ends[name][place]}.id AS s"))
    rows = returned(items, distinct=True)
    if not body.values or draw(st.integers(0, 3)):
        return rows
    name, value = draw(st.sampled_from([*body.scope.labels])), draw(st.sampled_from(body.values))
    list_ = Texts(f"[id({name}), {value}, 7] AS l", f"[{name}.id, {value}, 7] AS l")
    return replace(returned([*items, list_], distinct=True), ordered=(len(items),))


def _node_and_value(draw: st.DrawFn, body: Body) -> Texts:
    """Two columns that any query has, for UNION."""
    value = draw(st.sampled_from([*body.values, "7"]))
    return returned(
        [Texts(f"{key} AS x", f"{key}.id AS x") for key in [key_of(draw, body)]]
        + [Texts(f"{value} AS v", f"{value} AS v")],
        distinct=True,
    )


def _of_part(part: str) -> Ending:
    """The rows of a query of UNION ALL, with a column of their own."""

    def ending(draw: st.DrawFn, body: Body) -> Texts:
        of = _node_and_value(draw, body)
        return Texts(f"{of.cypher}, {part} AS part", f"{of.kuzu}, {part} AS part")

    return ending


def _counts(draw: st.DrawFn, body: Body) -> Texts:
    """Aggregates by a node."""
    calls = ["count(*)", *(f"count({name})" for name in body.scope.relationships)]
    calls += [f"{f}({v})" for v in body.values for f in AGGREGATES]
    chosen = draw(st.lists(st.sampled_from(calls), min_size=1, max_size=4))
    found = [Texts(call, call) for call in chosen]
    if draw(st.integers(0, 3)) == 0:
        test = truth(draw, body)
        of = "sum(CASE WHEN {} THEN 1 ELSE 0 END)"
        found.append(Texts(of.format(test.cypher), of.format(test.kuzu)))
    ordered: tuple[int, ...] = ()
    if body.values and draw(st.integers(0, 3)) == 0:
        value = draw(st.sampled_from(body.values))
        pair = f"[min({value}), max({value}), count(*)]"
        found.append(Texts(pair, pair))
        ordered = (len(found),)
    return replace(keyed(key_of(draw, body), found), ordered=ordered)


def _counts_by_test(draw: st.DrawFn, body: Body) -> Texts:
    """Aggregates by whether a pattern has a match."""
    columns = [named(truth(draw, body), "a"), Texts("count(*) AS n", "count(*) AS n")]
    return returned(columns, distinct=False)


def _beside_all(draw: st.DrawFn, body: Body) -> Texts:
    """Rows with a value beside all variables."""
    value = draw(st.sampled_from([*body.values, "2"]))
    test = named(truth(draw, body), "t")
    key = key_of(draw, body)
    items = [Texts(f"{key} AS a", f"{key}.id AS a"), Texts("n", "n"), Texts("t", "t")]
    last = returned(items, distinct=True)
    given = f"WITH *, {value} + 1 AS n, "
    where = " WHERE n > 1 OR t "
    return Texts(
        f"{given}{test.cypher}{where}{last.cypher}", f"{given}{test.kuzu}{where}{last.kuzu}"
    )


def _count_distinct(draw: st.DrawFn, body: Body) -> Texts:
    """Kuzu 0.11.3 gives wrong counts beside count(DISTINCT ...), so it stands alone."""
    names = {name: f"{name}.id" for name in body.scope.labels}
    names |= {name: f"id({name})" for name in body.scope.relationships}
    name, id_ = draw(st.sampled_from([*names.items()]))
    return keyed(key_of(draw, body), [Texts(f"count(DISTINCT {name})", f"count(DISTINCT {id_})")])


def _first(draw: st.DrawFn, body: Body) -> Texts:
    """The first rows in an order, of rows or of counts, by columns or values over columns."""
    key, counts = key_of(draw, body), draw(st.booleans())
    value = "count(*)" if counts else draw(st.sampled_from([*body.values, "7"]))
    of = returned([Texts(f"{key} AS x", f"{key}.id AS x"), Texts(f"{value} AS v", f"{value} AS v")],
                  distinct=not counts)  # fmt: skip
    chosen = draw(st.lists(st.sampled_from(ORDERS), max_size=2, unique=True))
    columns = [order.format(x=f"{key}.id", v=f"({value})") for order in chosen]
    kuzu = ", ".join([of.kuzu, *(f"{column} AS k{k}" for k, column in enumerate(columns))])
    order = tuple((2 + k, draw(st.booleans())) for k in range(len(chosen)))
    skip, limit = draw(st.sampled_from([0, 0, 1, 2])), draw(st.integers(1, 3))
    said = ", ".join(
        f"{column.format(x='id(x)', v='v')}{' DESC' * descends}"
        for column, (_, descends) in zip(chosen, order, strict=True)
    )
    text = f"{of.cypher}{f' ORDER BY {said}' if said else ''}{f' SKIP {skip}' if skip else ''}"
    return Texts(f"{text} LIMIT {limit}", kuzu, (order, skip, limit))


def _first_of_groups(draw: st.DrawFn, body: Body) -> Texts:
    """The first value, or the first map of two values, of each group in an order."""
    key, node = key_of(draw, body), key_of(draw, body)
    w = draw(st.sampled_from([*body.values, "7"]))
    x = draw(st.sampled_from([Texts(node, f"{node}.id"), Texts(w, w)]))
    chosen = draw(st.lists(st.sampled_from(("{w}", "{w} % 2", "-{w}")), max_size=2, unique=True))
    chosen.insert(draw(st.integers(0, len(chosen))), "{x}")
    down = [draw(st.booleans()) for _ in chosen]
    order = ", ".join(
        f"{of.format(x='x', w='w')}{' DESC' * descends}"
        for of, descends in zip(chosen, down, strict=True)
    )
    map_ = draw(st.booleans())
    last = "head(collect(x)) AS h RETURN a, h AS y"
    if map_:
        last = "head(collect({y: x, z: w})) AS h RETURN a, h.y AS y, h.z AS z"
    said = f"WITH {key} AS a, {x.cypher} AS x, {w} AS w ORDER BY {order} WITH a, {last}"
    keys = [of.format(x=x.kuzu, w=f"({w})") for of in chosen]
    values = [f"{key}.id", x.kuzu, w] if map_ else [f"{key}.id", x.kuzu]
    if not map_:
        keys.insert(0, f"CASE WHEN {x.kuzu} IS NULL THEN 1 ELSE 0 END")
        down.insert(0, False)
    columns = ", ".join(f"{of} AS c{k}" for k, of in enumerate([*values, *keys]))
    first = (tuple((len(values) + k, of) for k, of in enumerate(down)), 0, 1)
    return Texts(said, f"RETURN DISTINCT {columns}", first, by_groups=True)


def _after_having(draw: st.DrawFn, body: Body) -> Texts:
    """A MATCH from the nodes with more than one row."""
    key = key_of(draw, body)
    grouped = f"WITH {key}, count(*) AS n WHERE n > 1"
    return _matched_again(draw, body, key, Texts(grouped, grouped), "n + 1")


def _after_limit(draw: st.DrawFn, body: Body) -> Texts:
    """A MATCH from the first nodes."""
    key, limit = key_of(draw, body), draw(st.integers(1, 2))
    down = draw(st.sampled_from(["", " DESC"]))
    distinct = "DISTINCT " if limit > 1 or draw(st.booleans()) else ""
    text = f"WITH {distinct}{key} ORDER BY {{}}{down} LIMIT {limit}"
    return _matched_again(draw, body, key, Texts(text.format(key), text.format(f"{key}.id")), "1")


def _after_limit_of_rows(draw: st.DrawFn, body: Body) -> Texts:
    """A MATCH from the first rows, which may repeat; its order may have a key that is not a column.

    Rows that agree in the keys and columns are equal, so Kuzu chooses as many of each.
    """
    key, value = key_of(draw, body), draw(st.sampled_from([*body.values, "7"]))
    down, is_column = draw(st.sampled_from(["", " DESC"])), draw(st.booleans())
    skip, limit = draw(st.sampled_from([0, 0, 1, 2])), draw(st.sampled_from([1, 1, 2, 2, 3, 9]))
    end = f"{f' SKIP {skip}' * bool(skip)} LIMIT {limit}"
    order = f"CASE WHEN v IS NULL THEN 1 ELSE 0 END, v{down}"
    kuzu = f"WITH {key}, {value} AS v ORDER BY {order}, {key}.id{end}"
    given = draw(st.sampled_from([key, key, "*"]))
    said = f"WITH {given}, {value} AS v ORDER BY v{down}{end}"
    if not is_column:
        said = f"WITH {given} ORDER BY {value}{down}{end}"
        if value != "7" and draw(st.booleans()):
            last = f"RETURN {key} AS a ORDER BY {value}{down}{end}"
            return Texts(last, f"{kuzu} RETURN {key}.id AS a")
    call = draw(st.sampled_from(["sum(v)", "count(*)"])) if is_column else "count(*)"
    return _matched_again(draw, body, key, Texts(said, kuzu), call)


def _after_limit_of_groups(draw: st.DrawFn, body: Body) -> Texts:
    """A MATCH from the first groups by their counts."""
    key, limit = key_of(draw, body), draw(st.integers(1, 3))
    down = draw(st.sampled_from(["", " DESC"]))
    if draw(st.integers(0, 2)) == 0:
        text = (
            f"WITH {key}, count(*) AS n WITH {{}}n % 2 AS m ORDER BY m{down}, {{}} LIMIT {limit} "
        )
        last = "RETURN m, count(*) AS c"
        return Texts(text.format("", key) + last, text.format(f"{key}, ", f"{key}.id") + last)
    text = f"WITH {key}, count(*) AS n WITH {key}, n + 1 AS m ORDER BY m{down}, {{}} LIMIT {limit}"
    given = Texts(text.format(key), text.format(f"{key}.id"))
    return _matched_again(draw, body, key, given, "m")


def _after_values(draw: st.DrawFn, body: Body) -> Texts:
    """A MATCH beside a value that a WITH computes."""
    key = key_of(draw, body)
    value = draw(st.sampled_from([*body.values, "2"]))
    named = f"WITH {key}, {value} + 1 AS n WHERE n > 2"
    return _matched_again(draw, body, key, Texts(named, named), "n", distinct=True)


def _matched_again(
    draw: st.DrawFn, body: Body, key: str, given: Texts, value: str, *, distinct: bool = False
) -> Texts:
    after = Scope({key: body.scope.labels[key]}, count=body.scope.count)
    pattern, needed = draw(patterns(after, 1, start=True))
    match = clause_of("MATCH", [pattern], needed, [])
    last = draw(st.sampled_from(after.nodes))
    nodes = [Texts(f"{key} AS a", f"{key}.id AS a"), Texts(f"{last} AS b", f"{last}.id AS b")]
    found = returned([*nodes, Texts(f"{value} AS m", f"{value} AS m")], distinct=distinct)
    parts = (given, match, found)
    return Texts(" ".join(p.cypher for p in parts), " ".join(p.kuzu for p in parts))


def _counts_of_counts(draw: st.DrawFn, body: Body) -> Texts:
    """How many nodes have a count."""
    text = f"WITH {key_of(draw, body)}, count(*) AS n RETURN n, count(*) AS nodes"
    return Texts(text, text)


def _after_first_optional(draw: st.DrawFn, body: Body) -> Texts:
    """Groups, or aggregates of all rows, of a query whose first clause is OPTIONAL MATCH."""
    first = body.clauses[0]
    body.clauses[0] = Texts(f"OPTIONAL {first.cypher}", f"OPTIONAL {first.kuzu}")
    key = key_of(draw, body)
    of = draw(
        st.sampled_from([Texts(f"id({key})", f"{key}.id"), *(Texts(v, v) for v in body.values)])
    )
    function = draw(st.sampled_from(AGGREGATES))
    call = Texts(f"{function}({of.cypher})", f"{function}({of.kuzu})")
    if draw(st.booleans()):
        last = "n > 0 RETURN n, s"
        return Texts(
            f"WITH count({key}) AS n, {call.cypher} AS s WHERE {last}",
            f"WITH count({key}.id) AS n, {call.kuzu} AS s WHERE {last}",
        )
    test = draw(st.sampled_from(["a IS NOT NULL", "a > 0", "a <> n AND n > 0"]))
    return Texts(
        f"WITH id({key}) AS a, {call.cypher} AS s, count(*) AS n WHERE {test} RETURN a, s, n",
        f"WITH {key}.id AS a, {call.kuzu} AS s, count(*) AS n WHERE {test} RETURN a, s, n",
    )


ENDINGS: dict[str, tuple[Ending, bool]] = {
    "rows": (_rows, False),
    "counts": (_counts, True),
    "counts by test": (_counts_by_test, True),
    "beside all": (_beside_all, False),
    "count distinct": (_count_distinct, False),
    "lists": (lists, True),
    "known lists": (known_lists, True),
    "nested lists": (nested_lists, True),
    "chosen of lists": (chosen_of_lists, True),
    "lists of groups": (lists_of_groups, True),
    "lists handed on": (handed_on_lists, True),
    "filtered lists": (filtered_lists, True),
    "functions of lists": (functions_of_lists, True),
    "UNWIND of lists": (unwound_lists, True),
    "joined lists": (joined_lists, True),
    "list beside another": (list_beside_another, True),
    "in lists": (in_lists, True),
    "UNWIND beside IN": (unwound_beside_lists, True),
    "first rows": (_first, True),
    "first of groups": (_first_of_groups, False),
    "after having": (_after_having, True),
    "after limit": (_after_limit, False),
    "after limit of rows": (_after_limit_of_rows, True),
    "after limit of groups": (_after_limit_of_groups, True),
    "after values": (_after_values, False),
    "counts of counts": (_counts_of_counts, True),
    "first OPTIONAL MATCH": (_after_first_optional, True),
}
"""What follows a body, by name; and whether an aggregate counts its rows."""
OF_PATHS = {"UNWIND": unwound, "paths": queries_of_paths}
"""Queries that read what is on a path."""


@st.composite
def queries(draw: st.DrawFn) -> Texts:
    """A small query, or two joined by UNION."""
    name = draw(st.sampled_from([*ENDINGS, "UNION", "UNION ALL", *OF_PATHS]))
    if name in OF_PATHS:
        return draw(OF_PATHS[name]())
    if name.startswith("UNION"):
        ends = map(_of_part, "12") if name == "UNION ALL" else [_node_and_value] * 2
        one, other = (_ended(draw, ending, counted=False) for ending in ends)
        return Texts(f"{one.cypher} {name} {other.cypher}", f"{one.kuzu} {name} {other.kuzu}")
    ending, counted = ENDINGS[name]
    return _ended(draw, ending, counted=counted)


def _ended(draw: st.DrawFn, ending: Ending, *, counted: bool) -> Texts:
    body = draw(bodies(counted=counted))
    last = ending(draw, body)
    parts = [*body.clauses, last]
    return replace(
        last, cypher=" ".join(p.cypher for p in parts), kuzu=" ".join(p.kuzu for p in parts)
    )
