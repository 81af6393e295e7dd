"""Random queries in which some atoms bind only variables that nothing else reads.

Such an atom says only that an edge or a path is there. Joins of two of them bind no variable on
either side, and other operators read inputs without columns.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.oracles.query import Atom, BodyAtom, Const, PathAtom, Rule, Term, Var
from tests.strategies.queries import TEXT_VERTICES, Case, cases_of, regexes

_POOL = TEXT_VERTICES[:3]


@st.composite
def existence_cases(draw: st.DrawFn, longest: int = 12) -> Case:
    """An answer over a derived predicate or labels, beside atoms with variables of their own."""
    predicates = ["a", "b"]
    found: list[Rule] = []
    if draw(st.booleans()):
        atoms = draw(_apart(predicates, "k"))
        found.append(Rule("d", ("x", "y"), (Atom("c", Var("x"), Var("y")), *atoms)))
        predicates = ["d", *predicates]
    for _ in range(draw(st.sampled_from([1, 1, 2]))):
        first = Atom(draw(st.sampled_from(predicates)), Var("x"), Var("y"))
        body = draw(st.permutations([first, *draw(_apart(predicates, "m"))]))
        found.append(Rule("Answer", ("x",), tuple(body)))
    return draw(cases_of(tuple(found), _POOL, longest))


@st.composite
def _apart(draw: st.DrawFn, predicates: list[str], prefix: str) -> list[BodyAtom]:
    """One to three atoms that share no variable with others, or only with each other."""
    atoms: list[BodyAtom] = []
    for number in range(draw(st.integers(1, 3))):
        near = number if draw(st.booleans()) else 0
        source: Term = Var(f"{prefix}{near}")
        target: Term = Var(f"{prefix}{number}_")
        if draw(st.integers(0, 3)) == 0:
            target = Const(draw(st.sampled_from(_POOL)))
        if draw(st.integers(0, 2)) == 0:
            atoms.append(PathAtom(draw(regexes(predicates, 1)), source, target))
        else:
            atoms.append(Atom(draw(st.sampled_from(predicates)), source, target))
    return atoms
