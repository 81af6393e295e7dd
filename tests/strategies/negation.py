"""Random queries with negated parts: any case, of which some rules get ``not``.

A part also reads predicates with values, and compares them with values of the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from tests.oracles.conditions import Compare, Vert
from tests.oracles.query import (
    Atom,
    BodyAtom,
    Closure,
    Const,
    Derived,
    Not,
    PathAtom,
    Rule,
    Term,
    Var,
)
from tests.strategies.derived import kind_of
from tests.strategies.queries import Case, aliases, cases, regexes


@st.composite
def negated_cases(draw: st.DrawFn, of: st.SearchStrategy[Case] | None = None) -> Case:
    """A case with at least one negated part, in a derived predicate or in the answer."""
    case = draw(cases() if of is None else of)
    rules = list(case.query.rules)
    labels = [label for label, _ in case.query.sources if label not in case.query.vertices]
    places = [k for k, rule in enumerate(rules) if labels and _variables(rule.body)]
    if not places:
        return draw(st.nothing())
    vertices = sorted({v for e in case.edges for v in (e.src, e.trg)}) or [0]
    chosen = draw(st.lists(st.sampled_from(places), min_size=1, max_size=2, unique=True))
    for k in chosen:
        before = [r for r in rules[:k] if r.head != rules[k].head]
        wide = [rule for rule in before if _kinds(rule) != (None, None)]
        pairs = dict.fromkeys(rule.head for rule in before if rule not in wide)
        known = [*labels, *pairs, *aliases(before)]
        constants = [Const(vertex) for vertex in vertices]
        count = draw(st.sampled_from([1, 1, 1, 2]))
        own = _variables(rules[k].body)
        parts = [draw(_parts(known, own, constants, f"n{i}")) for i in range(count)]
        if draw(st.booleans()) and wide:
            part = draw(_of_values(draw(st.sampled_from(wide)), rules[k], constants))
            parts += [] if part is None else [part]
        rules[k] = replace(rules[k], negated=tuple(parts))
    return replace(case, query=replace(case.query, rules=tuple(rules)))


@st.composite
def _parts(
    draw: st.DrawFn,
    predicates: Sequence[str],
    outside: Sequence[str],
    constants: Sequence[Const],
    name: str,
    depth: int = 1,
) -> Not:
    """A part of one or two atoms, the first of which has a variable of ``outside``."""
    local = [f"{name}_{i}" for i in range(2)]
    terms: list[Term] = [Var(v) for v in (*outside, *local)]
    first: Term = Var(draw(st.sampled_from(outside)))
    others = st.one_of(*[st.sampled_from(terms)] * 5, st.just(Var("_")), st.sampled_from(constants))
    pair = draw(st.permutations([first, draw(others)]))
    body = [draw(_atoms(predicates, *pair))]
    if draw(st.integers(0, 2)) == 0:
        joined = [Var(v) for v in _variables(body)]
        body.append(draw(_atoms(predicates, draw(st.sampled_from(joined)), draw(others))))
    own = _variables(body)
    conditions: tuple[Compare, ...] = ()
    if len(own) > 1 and draw(st.integers(0, 3)) == 0:
        conditions = (Compare(Vert(own[0]), "<>", Vert(own[1])),)
    negated: tuple[Not, ...] = ()
    if depth and draw(st.integers(0, 4)) == 0:
        inner = draw(_parts(predicates, own, constants, f"{name}n", depth - 1))
        negated = (inner,)
    return Not(tuple(body), conditions, negated)


@st.composite
def _of_values(
    draw: st.DrawFn, head: Rule, outside: Rule, constants: Sequence[Const]
) -> Not | None:
    """A part that reads a predicate of any width; None if it shares no variable with the rule."""
    terms: list[Term] = []
    for kind in _kinds(head):
        alike = [Var(name) for name in _names(outside.body) if kind_of(name) == kind]
        own = [Var("_"), Var("m0" if kind is None else f"k{kind}8")]
        others = constants if kind is None else []
        possible: list[Term] = [*alike * 3, *own, *others]
        terms.append(draw(st.sampled_from(possible)))
    if not any(term in terms for term in map(Var, _names(outside.body))):
        return None
    return Not((Derived(head.head, tuple(terms)),))


def _kinds(rule: Rule) -> tuple[str | None, ...]:
    """For each column of a head a kind of values, or None for vertices."""
    return tuple(map(kind_of, rule.variables))


@st.composite
def _atoms(draw: st.DrawFn, predicates: Sequence[str], source: Term, target: Term) -> BodyAtom:
    match draw(st.sampled_from(["atom"] * 5 + ["closure", "path"])):
        case "atom":
            return Atom(draw(st.sampled_from(predicates)), source, target)
        case "closure":
            return Closure(draw(st.sampled_from(predicates)), source, target)
        case _:
            return PathAtom(draw(regexes(predicates, 1)), source, target)


def _variables(body: Sequence[BodyAtom]) -> list[str]:
    """The variables of vertices in a body."""
    return [name for name in _names(body) if kind_of(name) is None]


def _names(body: Sequence[BodyAtom]) -> list[str]:
    names = [term.name for atom in body for term in atom.terms if isinstance(term, Var)]
    return [name for name in dict.fromkeys(names) if name != "_"]
