"""Random queries with closures whose ends are bound: by constants, conditions and joins."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tests.oracles.conditions import Compare, Lit, Vert
from tests.oracles.query import (
    Atom,
    BodyAtom,
    Const,
    PathAtom,
    Regex,
    Rule,
    Seq,
    Term,
    Var,
    Vertex,
    plus,
    star,
)
from tests.strategies.queries import (
    INTEGER_VERTICES,
    TEXT_VERTICES,
    Case,
    cases_of,
    regexes,
)

LABELS = ("a", "b", "c")
X, Y, Z, W = map(Var, "xyzw")


def closures() -> st.SearchStrategy[Regex]:
    """Regexes with a closure somewhere."""
    part = regexes(LABELS[:2], 1)
    return st.one_of(
        part.map(plus),
        part.map(star),
        st.builds(lambda one, many: Seq((one, plus(many))), regexes(LABELS, 0), part),
        st.builds(lambda many, one: Seq((star(many), one)), part, regexes(LABELS, 0)),
        st.builds(lambda one, other: Seq((star(one), star(other))), part, part),
    )


@st.composite
def bound_rules(draw: st.DrawFn, vertices: Sequence[Vertex]) -> tuple[Rule, ...]:
    """A rule with a closure from x to y, of which conditions or other atoms bind an end or both."""
    constant = st.sampled_from(vertices)
    ends: list[Term] = [X, Y]
    body: list[BodyAtom] = []
    conditions: list[Compare] = []
    relations = ["atom", "closure"]
    kinds = draw(st.sampled_from([["constant", "condition", *relations, "free"], relations]))
    for k, (end, other) in enumerate(((X, Z), (Y, W))):
        bound = draw(st.sampled_from(kinds))
        if bound == "constant" and X in ends and Y in ends:
            ends[k] = Const(draw(constant))
        elif bound in {"constant", "condition"}:
            sign = draw(st.sampled_from(["=", "<", ">=", "<>"]))
            conditions.append(Compare(Vert(end.name), sign, Lit(draw(constant))))
        elif bound == "atom":
            source, target = draw(st.permutations((end, other)))
            body.append(Atom(draw(st.sampled_from(LABELS)), source, target))
        elif bound == "closure":
            source, target = draw(st.permutations((end, other)))
            body.append(PathAtom(plus(draw(regexes(LABELS, 0))), source, target))
    if X in ends and Y in ends and draw(st.booleans()):
        source, target = draw(st.permutations((X, Y)))
        body.append(Atom(draw(st.sampled_from(LABELS)), source, target))
    place = draw(st.integers(0, len(body)))
    body.insert(place, PathAtom(draw(closures()), ends[0], ends[1]))
    terms = [term for atom in body for term in atom.terms]
    names = list(dict.fromkeys(term.name for term in terms if isinstance(term, Var)))
    answer = draw(st.permutations(names))
    head = tuple(answer[: draw(st.integers(1, len(answer)))])
    return (Rule("Answer", head, tuple(body), tuple(conditions)),)


@st.composite
def bound_cases(draw: st.DrawFn, longest: int = 24) -> Case:
    """Such a query with windows and a stream."""
    pool: tuple[Vertex, ...] = draw(st.sampled_from([TEXT_VERTICES, INTEGER_VERTICES]))
    pool = pool[: draw(st.integers(2, 5))]
    return draw(cases_of(draw(bound_rules(pool)), pool, longest))
