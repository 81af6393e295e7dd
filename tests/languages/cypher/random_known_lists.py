"""Random lists of which a query knows the members, and what it reads of them.

Kuzu has no lists of other columns in the functions of its lists, so that its texts have what is
read of each member.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.languages.cypher.drawing import Texts, returned
from tests.languages.cypher.random_bodies import Body, key_of

NOTHING = "CAST(NULL AS INT64)"
TESTS = ("{} > 1", "{} % 2 = 1", "{} IS NOT NULL", "NOT {} IN [2, 3]")
VALUES = ("{} + 1", "3 - {}", "{} * {}")


@dataclass(frozen=True)
class Listed:
    """A list in Cypher, and its members in the words of Kuzu, each with when the list has it."""

    cypher: str
    members: tuple[tuple[str, str], ...]

    @property
    def is_whole(self) -> bool:
        """Whether it has all of its members."""
        return all(kept == "true" for kept, _ in self.members)

    @property
    def kuzu(self) -> str:
        """The list."""
        text = "CAST([] AS INT64[])"
        for kept, value in self.members:
            one = f"CASE WHEN {kept} THEN [{value}] ELSE CAST([] AS INT64[]) END"
            text = f"list_concat({text}, {one})"
        return text


def _written_out(draw: st.DrawFn, body: Body) -> Listed:
    values = draw(st.lists(st.sampled_from([*body.values, "1", "2", "null"]), max_size=3))
    if draw(st.integers(0, 5)) == 0:
        values = ["1", "2", "3"]
        return Listed("range(1, 3)", tuple(("true", value) for value in values))
    kuzu = (NOTHING if value == "null" else value for value in values)
    return Listed(f"[{', '.join(values)}]", tuple(("true", value) for value in kuzu))


def _changed(draw: st.DrawFn, of: Listed, body: Body) -> Listed:
    """A list made of another one."""
    kinds = ["filtered", "mapped", "both", "reversed", "added", "reduced"]
    kind = draw(st.sampled_from([*kinds, "sliced", "tail"] if of.is_whole else kinds))
    if kind == "reversed":
        return Listed(f"reverse({of.cypher})", of.members[::-1])
    if kind == "tail":
        return Listed(f"tail({of.cypher})", of.members[1:])
    if kind == "sliced":
        bounds = st.sampled_from([None, None, -2, -1, 0, 1, 2, 9])
        start, end = draw(bounds), draw(bounds)
        text = "..".join("" if bound is None else str(bound) for bound in (start, end))
        return Listed(f"{of.cypher}[{text}]", of.members[slice(start, end)])
    if kind == "added":
        more = draw(st.sampled_from([*body.values, "7"]))
        added = more if more == "7" and draw(st.booleans()) else f"[{more}]"
        text = f"({of.cypher} + {added})"
        return Listed(text, (*of.members, ("true", more)))
    if kind == "reduced" and of.is_whole:
        text = f"reduce(l = [0], y IN {of.cypher} | [y] + l)"
        return Listed(text, (*of.members[::-1], ("true", "0")))
    test = draw(st.sampled_from(TESTS)) if kind != "mapped" else None
    value = draw(st.sampled_from(VALUES)) if kind != "filtered" else None
    where = "" if test is None else f" WHERE {test.format('x')}"
    given = "" if value is None else f" | {value.format('x', 'x')}"
    members = []
    for kept, member in of.members:
        chosen = kept
        if test is not None:
            chosen = f"({kept} AND coalesce({test.format(f'({member})')}, false))"
        made = member if value is None else value.format(f"({member})", f"({member})")
        members.append((chosen, f"({made})"))
    return Listed(f"[x IN {of.cypher}{where}{given}]", tuple(members))


def _read(draw: st.DrawFn, of: Listed, name: str, body: Body) -> Texts:
    """What a query reads of a list with a name or a text."""
    members = of.members
    kinds = ["size", "head", "last", "reduced", "largest", "in", "all", "any", "none"]
    kind = draw(st.sampled_from([*kinds, "place", "any place", "equal"] if of.is_whole else kinds))
    if kind == "size":
        ones = [f"CASE WHEN {kept} THEN 1 ELSE 0 END" for kept, _ in members]
        return Texts(f"size({name})", " + ".join(["0", *ones]))
    if kind in ("head", "last"):
        return Texts(f"{kind}({name})", _first(members if kind == "head" else members[::-1]))
    if kind == "place":
        place = draw(st.integers(-4, 4))
        inside = -len(members) <= place < len(members)
        return Texts(f"{name}[{place}]", members[place][1] if inside else NOTHING)
    if kind == "any place":
        number = draw(st.sampled_from([*body.values, "1"]))
        tests = [f"WHEN {number} = {k} THEN {value}" for k, (_, value) in enumerate(members)]
        return Texts(f"{name}[{number}]", f"CASE {' '.join([*tests, 'WHEN false THEN 0'])} END")
    if kind == "equal":
        other = draw(st.lists(st.sampled_from([*body.values, "1"]), max_size=3))
        pairs = [f"({one}) = {two}" for (_, one), two in zip(members, other, strict=False)]
        equal = " AND ".join(["true", *pairs]) if len(other) == len(members) else "false"
        return Texts(f"{name} = [{', '.join(other)}]", equal)
    if kind == "in":
        value = draw(st.sampled_from([*body.values, "2"]))
        tests = [f"({kept} AND ({member}) = {value})" for kept, member in members]
        return Texts(f"{value} IN {name}", " OR ".join(["false", *tests]))
    if kind in ("all", "any", "none"):
        test = draw(st.sampled_from(TESTS))
        each = [(kept, f"({test.format(f'({member})')})") for kept, member in members]
        if kind == "any":
            kuzu = " OR ".join(["false", *(f"({kept} AND {one})" for kept, one in each)])
        else:
            negated = "NOT " * (kind == "none")
            tests = [f"(NOT {kept} OR {negated}{one})" for kept, one in each]
            kuzu = " AND ".join(["true", *tests])
        return Texts(f"{kind}(m IN {name} WHERE {test.format('m')})", kuzu)
    so_far = "0"
    step = "{s} + {v}" if kind == "reduced" else "CASE WHEN {v} > {s} THEN {v} ELSE {s} END"
    for kept, value in members:
        found = step.format(s=f"({so_far})", v=f"({value})")
        if kind == "largest":
            test = f"coalesce({value} > ({so_far}), false)"
            found = f"CASE WHEN {test} THEN {value} ELSE ({so_far}) END"
        so_far = f"CASE WHEN {kept} THEN {found} ELSE {so_far} END"
    return Texts(f"reduce(s = 0, x IN {name} | {step.format(s='s', v='x')})", so_far)


def _first(members: tuple[tuple[str, str], ...]) -> str:
    """The first member that a list has."""
    tests = [f"WHEN {kept} THEN {value}" for kept, value in members]
    return f"CASE {' '.join([*tests, f'WHEN false THEN {NOTHING}'])} END"


def known_lists(draw: st.DrawFn, body: Body) -> Texts:
    """A list, what is read of it, or a row for each of its members."""
    listed = _written_out(draw, body)
    for _ in range(draw(st.integers(0, 2))):
        listed = _changed(draw, listed, body)
    key = key_of(draw, body)
    columns = [Texts(f"{key} AS a", f"{key}.id AS a")]
    kind = draw(st.sampled_from(["list", "read", "read", "named", "UNWIND"]))
    if kind == "list":
        columns.append(Texts(f"{listed.cypher} AS v", f"{listed.kuzu} AS v"))
        return replace(returned(columns, distinct=True), ordered=(1,))
    if kind == "UNWIND":
        last = returned([*columns, Texts("y", "y"), Texts("count(*) AS n", "count(*) AS n")],
                        distinct=False)  # fmt: skip
        return Texts(
            f"UNWIND {listed.cypher} AS y {last.cypher}", f"UNWIND {listed.kuzu} AS y {last.kuzu}"
        )
    found = _read(draw, listed, "xs" if kind == "named" else listed.cypher, body)
    columns.append(Texts(f"{found.cypher} AS v", f"{found.kuzu} AS v"))
    last = returned(columns, distinct=True)
    if kind == "named":
        return replace(last, cypher=f"WITH *, {listed.cypher} AS xs {last.cypher}")
    return last
