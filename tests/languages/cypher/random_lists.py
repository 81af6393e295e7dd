"""The last clauses of random Cypher queries with lists."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import strategies as st

from tests.languages.cypher.drawing import (
    Scope,
    Texts,
    clause_of,
    conditions_over,
    mixed_tests,
    patterns,
    returned,
    tests_of_patterns,
)
from tests.languages.cypher.random_bodies import Body, key_of, keyed

LISTS = ("collect(", "collect(DISTINCT ")


def lists(draw: st.DrawFn, body: Body) -> Texts:
    """A list by a node."""
    value = draw(st.sampled_from([*body.values, "7"]))
    call = f"{draw(st.sampled_from(LISTS))}{value})"
    return replace(keyed(key_of(draw, body), [Texts(call, call)]), lists=(1,))


def nested_lists(draw: st.DrawFn, body: Body) -> Texts:
    """A list of lists or of maps by a node, perhaps behind a WITH, and its size."""
    key, name = key_of(draw, body), draw(st.sampled_from([*body.scope.labels]))
    value = draw(st.sampled_from([*body.values, "7"]))
    item = draw(st.sampled_from(["[{}, {}]", "{{x: {}, w: {}}}"]))
    said, kuzu = item.format(f"id({name})", value), item.format(f"{name}.id", value)
    if draw(st.integers(0, 2)) == 0:
        said = f"{name} {{.age, w: {value}}}"
        kuzu = f"CASE WHEN {name}.id IS NOT NULL THEN {{age: {name}.age, w: {value}}} END"
    elif draw(st.booleans()):
        test = draw(st.sampled_from([f"{value} > 1", f"{name} IS NOT NULL"]))
        said = f"CASE WHEN {test} THEN {said} END"
        kuzu = f"CASE WHEN {test.replace(f'{name} ', f'{name}.id ')} THEN {kuzu} END"
    distinct = draw(st.sampled_from(["", "DISTINCT "]))
    call, of_kuzu = (f"collect({distinct}{of})" for of in (said, kuzu))
    if distinct or draw(st.booleans()):
        return replace(keyed(key, [Texts(call, of_kuzu)]), lists=(1,))
    return Texts(
        f"WITH {key}, {call} AS xs RETURN {key} AS a, xs, size(xs) AS n",
        f"WITH {key}, {of_kuzu} AS xs, count({kuzu}) AS n RETURN {key}.id AS a, xs, n",
        lists=(1,),
    )


def chosen_of_lists(draw: st.DrawFn, body: Body) -> Texts:
    """The members of a list by a node that satisfy a condition, and perhaps their number."""
    key, name = key_of(draw, body), draw(st.sampled_from([*body.scope.labels]))
    x = Scope({"x": body.scope.labels[name]})
    test = draw(conditions_over(x))
    value = draw(st.sampled_from(["", " | id(x)", " | x", " | x.age"]))
    chosen = f"x.age IS NOT NULL AND ({test.cypher})" if value == " | x.age" else test.cypher
    found = f"{name}.age" if value == " | x.age" else f"{name}.id"
    kuzu = re.sub(r"\bx\b", name, test.kuzu)
    kuzu = f"CASE WHEN {name}.id IS NOT NULL AND ({kuzu}) THEN {found} END"
    list_ = f"[x IN {{}} WHERE {chosen}{value}]"
    size = draw(st.sampled_from(["", f", size({list_}) AS n"]))
    columns = f"{list_} AS l{size}"
    if draw(st.booleans()):
        said = f"RETURN {key} AS a, {columns.replace('{}', f'collect({name})')}"
    else:
        said = f"WITH {key}, collect({name}) AS xs RETURN {key}, {columns.replace('{}', 'xs')}"
    counted = f", sum({kuzu.replace(f'THEN {found}', 'THEN 1 ELSE 0')}) AS n" if size else ""
    return Texts(said, f"RETURN {key}.id AS a, collect({kuzu}) AS l{counted}", lists=(1,))


def _named_list(draw: st.DrawFn, body: Body) -> tuple[str, Texts]:
    """A key, and a WITH of a list ``xs`` of values by the key; Kuzu has its size ``m`` beside it,
    and its smallest and largest value, for it fails to compute some sizes."""
    key, value = key_of(draw, body), draw(st.sampled_from([*body.values, "7"]))
    values = "collect(v) AS xs, count(v) AS m, min(v) AS h, max(v) AS l"
    distinct = draw(st.sampled_from(["", "DISTINCT "]))
    return key, Texts(
        f"WITH {key}, collect({distinct}{value}) AS xs",
        f"WITH {distinct}{key}, {value} AS v WITH {key}, {values}",
    )


def lists_of_groups(draw: st.DrawFn, body: Body) -> Texts:
    """The lists of the groups that a WITH chooses."""
    key, given = _named_list(draw, body)
    where = draw(st.sampled_from(["", "WHERE size(xs) > 1"]))
    rest = draw(st.sampled_from(["xs AS s", "xs AS s, size(xs) AS n"]))
    said = f"{given.cypher} {where} RETURN {key} AS a, {rest}"
    kuzu = f"{given.kuzu} {where} RETURN {key}.id AS a, {rest}".replace("size(xs)", "m")
    return Texts(said, kuzu, lists=(1,))


def handed_on_lists(draw: st.DrawFn, body: Body) -> Texts:
    """A list beside a property of its key, beside the nodes of a later MATCH, or their number."""
    key, given = _named_list(draw, body)
    if draw(st.booleans()):
        given = Texts(f"{given.cypher} WHERE size(xs) > 1", f"{given.kuzu} WHERE m > 1")
    after = Scope({key: body.scope.labels[key]}, count=body.scope.count)
    pattern, needed = draw(patterns(after, 1, start=True, counted=True))
    match = clause_of("MATCH", [pattern], needed, [])
    last = draw(st.sampled_from(after.nodes))
    parts = [given, match] if draw(st.booleans()) else [given]
    values = [f"{key}.age AS v, xs AS s", f"{key}.age AS v, xs AS s, size(xs) AS n"]
    found = Texts(f"RETURN {draw(st.sampled_from(values))}", "")
    if len(parts) == 2 and draw(st.booleans()):
        found = Texts(f"WITH {key}, xs, count({last}) AS n RETURN n, xs AS s", "")
    kuzu = found.cypher.replace("size(xs)", "m").replace(f"count({last})", "count(*)")
    parts.append(Texts(found.cypher, kuzu))
    said, kuzu = (" ".join(of) for of in zip(*((p.cypher, p.kuzu) for p in parts), strict=True))
    return Texts(said, kuzu, lists=(1,))


def functions_of_lists(draw: st.DrawFn, body: Body) -> Texts:
    """Functions of lists that a WITH names, behind another WITH or not."""
    key, given = _named_list(draw, body)
    again = draw(st.sampled_from(["", f"WITH {key}, xs WHERE size(xs) > 1 "]))
    said = f"{again}RETURN {key} AS a, size(xs) AS s, head(xs) AS h, last(xs) AS l"
    kuzu = again.replace(", xs", ", h, l, m").replace("size(xs)", "m")
    kuzu += f"RETURN {key}.id AS a, m AS s, h, l"
    return Texts(f"{given.cypher} {said}", f"{given.kuzu} {kuzu}")


def unwound_lists(draw: st.DrawFn, body: Body) -> Texts:
    """The values of a list one by one, of groups or of all rows, and how often each is there."""
    key, value = key_of(draw, body), draw(st.sampled_from([*body.values, "7"]))
    distinct = draw(st.sampled_from(["", "DISTINCT "]))
    # Kuzu 0.11.3 ignores DISTINCT where all columns are constants.
    by = draw(st.sampled_from([f"{key}, ", ""] if value != "7" else [f"{key}, "]))
    last = "RETURN x, count(*) AS n"
    return Texts(
        f"WITH {by}collect({distinct}{value}) AS xs UNWIND xs AS x {last}",
        f"WITH {distinct}{by}{value} AS x WITH x WHERE x IS NOT NULL {last}",
    )


def joined_lists(draw: st.DrawFn, body: Body) -> Texts:
    """The values of two lists of a node joined, of which a later clause may give the second one, or
    the number of values; Kuzu has one list of both."""
    key = key_of(draw, body)
    one, other = (draw(st.sampled_from([*body.scope.labels, *body.values])) for _ in range(2))
    ids = [f"{of}.id" if of in body.scope.labels else of for of in (one, other)]
    known = f"UNWIND [{', '.join(ids)}] AS x WITH {key}, x WHERE x IS NOT NULL"
    found = f"RETURN DISTINCT {key}.id AS a, x"
    pair = f"WITH {key}, collect({one}) AS xs, collect({other}) AS ys"
    match draw(st.sampled_from(["WITH", "UNWIND", "size", "IN"])):
        case "WITH":
            lists = f"collect(DISTINCT {one}) + collect({other})"
            said = f"WITH {key}, {lists} AS zs UNWIND zs AS x RETURN {key} AS a, x"
            return Texts(said, f"{known} {found}")
        case "UNWIND":
            return Texts(f"{pair} UNWIND xs + ys AS x RETURN {key} AS a, x", f"{known} {found}")
        case "size":
            sizes = f"count({ids[0]}) + count({ids[1]}) AS n"
            said = f"{pair} RETURN {key} AS a, size(xs + ys) AS n"
            return Texts(said, f"RETURN {key}.id AS a, {sizes}")
    nodes = [draw(st.sampled_from([*body.scope.labels])) for _ in range(2)]
    given = Texts(
        f"WITH {key}, collect({nodes[0]}) AS xs, collect({nodes[1]}) AS ys",
        f"WITH {key}, collect({nodes[0]}.id) AS xs, collect({nodes[1]}.id) AS ys",
    )
    after = Scope({key: body.scope.labels[key]}, count=body.scope.count)
    pattern, needed = draw(patterns(after, 1, start=True))
    last = draw(st.sampled_from(after.nodes))
    negation = draw(st.sampled_from(["", "NOT "]))
    where = Texts(f"{negation}{last} IN xs + ys", f"{negation}({last}.id IN xs OR {last}.id IN ys)")
    match = clause_of("MATCH", [pattern], needed, [where])
    rows = returned(
        [Texts(f"{key} AS a", f"{key}.id AS a"), Texts(f"{last} AS b", f"{last}.id AS b")],
        distinct=True,
    )
    parts = (given, match, rows)
    return Texts(" ".join(p.cypher for p in parts), " ".join(p.kuzu for p in parts))


def list_beside_another(draw: st.DrawFn, body: Body) -> Texts:
    """The values of a list and of one that a WITH behind an OPTIONAL MATCH adds to it."""
    key, one = key_of(draw, body), draw(st.sampled_from([*body.scope.labels]))
    after = Scope({key: body.scope.labels[key]}, count=body.scope.count)
    pattern, needed = draw(patterns(after, 1, start=True, counted=True))
    match = clause_of("OPTIONAL MATCH", [pattern], needed, [])
    last = draw(st.sampled_from([*after.labels]))
    said = f"WITH {key}, collect({one}) AS xs {match.cypher} "
    said += f"WITH {key}, xs, xs + collect({last}) AS zs UNWIND zs AS x RETURN {key} AS a, x"
    kuzu = f"WITH DISTINCT {key}, {one}.id AS y {match.kuzu} WITH {key}, y, {last}.id AS z "
    kuzu += f"UNWIND [y, z] AS x WITH {key}, x WHERE x IS NOT NULL RETURN DISTINCT {key}.id AS a, x"
    return Texts(said, kuzu)


def in_lists(draw: st.DrawFn, body: Body) -> Texts:
    """A MATCH from nodes, whose last node is in a list of theirs or is not."""
    key, member = key_of(draw, body), key_of(draw, body)
    counted = draw(st.sampled_from(["", ", count(*) AS n"]))
    after = Scope({key: body.scope.labels[key]}, count=body.scope.count)
    pattern, needed = draw(patterns(after, 2, start=True))
    last = draw(st.sampled_from(after.nodes))
    negation = draw(st.sampled_from(["", "NOT "]))
    where = Texts(f"{negation}{last} IN xs", f"{negation}{last}.id IN xs")
    if draw(st.booleans()):
        other = draw(mixed_tests(after))
        where = Texts(f"{where.cypher} OR {other.cypher}", f"{where.kuzu} OR {other.kuzu}")
    match = clause_of(
        draw(st.sampled_from(["MATCH", "OPTIONAL MATCH"])), [pattern], needed, [where]
    )
    if match.cypher.startswith("OPTIONAL") and " OR " in match.cypher:
        match = clause_of("MATCH", [pattern], needed, [where])
    optional = match.cypher.startswith("OPTIONAL")
    end = key if optional else last
    columns = [Texts(f"{key} AS a", f"{key}.id AS a"), Texts(f"{end} AS b", f"{end}.id AS b")]
    columns += [Texts("n", "n")] * bool(counted)
    found = returned(columns, distinct=True)
    if optional:
        count = f"count({after.relationships[0]}) AS m" if after.relationships else "count(*) AS m"
        found = keyed(key, [])
        found = Texts(f"{found.cypher}, {count}", f"{found.kuzu}, {count}")
    given = Texts(
        f"WITH {key}, collect({member}) AS xs{counted}",
        f"WITH {key}, collect({member}.id) AS xs{counted}",
    )
    parts = (given, match, found)
    return Texts(" ".join(p.cypher for p in parts), " ".join(p.kuzu for p in parts))


def unwound_beside_lists(draw: st.DrawFn, body: Body) -> Texts:
    """A MATCH from each node of a list without repeats to another one of it."""
    key, member = key_of(draw, body), key_of(draw, body)
    after = Scope({"x": body.scope.labels[member]}, count=body.scope.count)
    pattern, needed = draw(patterns(after, 1, start=True, counted=True))
    last = draw(st.sampled_from(after.nodes))
    where = Texts(f"{last} IN xs", f"{last}.id IN xs")
    match = clause_of(
        draw(st.sampled_from(["MATCH", "OPTIONAL MATCH"])), [pattern], needed, [where]
    )
    keys = key if key == member else f"{key}, {member}"
    grouped = f"WITH {keys}, count(*) AS c WITH {key}, collect({{}}) AS xs UNWIND xs AS "
    found = keyed("x", [Texts("count(*)", "count(*)")])
    parts = (
        Texts(
            f"{grouped.format(member)}x",
            f"{grouped.format(f'{member}.id')}i MATCH (x:N) WHERE x.id = i",
        ),
        match,
        found,
    )
    return Texts(" ".join(p.cypher for p in parts), " ".join(p.kuzu for p in parts))


def filtered_lists(draw: st.DrawFn, body: Body) -> Texts:
    """The number of members of a list that satisfy a condition, beside that of all."""
    key = key_of(draw, body)
    after = Scope({key: body.scope.labels[key]}, count=body.scope.count)
    pattern, needed = draw(patterns(after, 2, start=True, counted=True, paths=False))
    match = clause_of("OPTIONAL MATCH", [pattern], needed, [])
    members = [name for name in after.labels if name != key] or [key]
    x = draw(st.sampled_from(members))
    of_member = Scope({key: None, x: after.labels[x]}, count=after.count)
    test = draw(st.one_of(conditions_over(of_member), tests_of_patterns(of_member)))
    chosen = re.sub(rf"\b{x}\b", "y", test.cypher)
    said = f"WITH {key}, collect({x}) AS xs RETURN {key} AS a, size(xs) AS m, "
    said += f"size([y IN xs WHERE {chosen}]) AS n"
    counted = f"sum(CASE WHEN {x}.id IS NOT NULL AND ({test.kuzu}) THEN 1 ELSE 0 END) AS n"
    kuzu = f"RETURN {key}.id AS a, count({x}.id) AS m, {counted}"
    given = f"WITH DISTINCT {key}"
    return Texts(f"{given} {match.cypher} {said}", f"{given} {match.kuzu} {kuzu}")
