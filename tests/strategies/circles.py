"""Random queries whose groups tend to form cycles in the memo.

A closure of a closure is that closure, and so is one of turned edges, turned back: derived
predicates that turn edges round under closures that turn them again make groups that merge until
they read each other.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.oracles.query import Atom, Back, BodyAtom, Closure, PathAtom, Rule, Step, Var, plus
from tests.strategies.queries import TEXT_VERTICES, Case, cases_of, regexes

_POOL = TEXT_VERTICES[:2]


@st.composite
def circular_cases(draw: st.DrawFn, longest: int = 2) -> Case:
    """Two derived predicates, turned or not, and an answer of up to three rules over them."""
    predicates = ["a", "b"]
    found: list[Rule] = []
    for name in ("d1", "d2"):
        for _ in range(draw(st.sampled_from([1, 1, 2]))):
            head = draw(st.sampled_from([("x", "y"), ("y", "x")]))
            found.append(Rule(name, head, (draw(_paths(predicates, Var("x"), Var("y"))),)))
        predicates = [name, *predicates]
    for _ in range(draw(st.integers(1, 3))):
        found.append(Rule("Answer", ("u", "w"), draw(_answers(predicates[:3]))))
    return draw(cases_of(tuple(found), _POOL, longest))


@st.composite
def _paths(draw: st.DrawFn, predicates: list[str], source: Var, target: Var) -> BodyAtom:
    label = draw(st.sampled_from(predicates))
    match draw(st.sampled_from(["path", "closure", "closure", "inverse"])):
        case "closure":
            return Closure(label, source, target, "+")
        case "inverse":
            return PathAtom(plus(Back(Step(label))), source, target)
        case _:
            return PathAtom(draw(regexes(predicates, 2)), source, target)


@st.composite
def _answers(draw: st.DrawFn, predicates: list[str]) -> tuple[BodyAtom, ...]:
    u, w, x = Var("u"), Var("w"), Var("x")
    atoms = [draw(_paths(predicates, u, w))]
    for _ in range(draw(st.integers(0, 2))):
        source, target = draw(st.sampled_from([(u, w), (w, u), (w, x), (x, u)]))
        label = draw(st.sampled_from(predicates))
        if draw(st.booleans()):
            atoms.append(Atom(label, source, target))
        else:
            atoms.append(Closure(label, source, target, "+"))
    return tuple(atoms)
