"""Random queries with optional parts: any case whose answer, or a predicate below it, gets them.

Their variables are called ``o``, ``o0``, ``o1``, ... Conditions, negated parts and heads read them.
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
    Optional,
    PathAtom,
    Rule,
    Term,
    Var,
)
from tests.oracles.roots import Agg
from tests.strategies.derived import kind_of
from tests.strategies.queries import Case, aliases, cases, regexes


@st.composite
def optional_cases(draw: st.DrawFn, of: st.SearchStrategy[Case] | None = None) -> Case:
    """A case whose answer has columns of optional parts."""
    case = draw(cases() if of is None else of)
    rules = list(case.query.rules)
    labels = [label for label, _ in case.query.sources if label not in case.query.vertices]
    answers = [k for k, rule in enumerate(rules) if rule.head == "Answer"]
    if not labels or not all(_variables(rules[k].body) for k in answers):
        return draw(st.nothing())
    constants = [Const(v) for v in sorted({v for e in case.edges for v in (e.src, e.trg)}) or [0]]
    before = [rule for rule in rules[: answers[0]] if rule.head != "Answer"]
    pairs = [r.head for r in before if len(r.variables) == 2 and not _values(r)]
    predicates = [*labels, *dict.fromkeys(pairs), *aliases(before)]
    counted = draw(st.sampled_from([None, None, "count", "count distinct"]))
    for k in answers:
        rules[k] = draw(_extended(rules[k], predicates, constants, counted))
    names = rules[answers[0]].variables
    if len(answers) == 1 and not rules[answers[0]].aggregates and draw(st.integers(0, 2)) == 0:
        rules[answers[0]] = replace(rules[answers[0]], head="Wide")
        rules.append(draw(_reading("Wide", names, labels)))
    return replace(case, query=replace(case.query, rules=tuple(rules)))


@st.composite
def _extended(
    draw: st.DrawFn,
    rule: Rule,
    predicates: Sequence[str],
    constants: Sequence[Const],
    counted: str | None,
) -> Rule:
    """The rule with one or two optional parts, and a column of the first one.

    In a rule with aggregates the column may be an aggregate, ``counted``; the rules of one head
    have the same ones.
    """
    own = _variables(rule.body)
    first = draw(_parts(predicates, own, constants, "o0"))
    parts = [first]
    if draw(st.booleans()):
        around = [*own, "o0"]
        parts.append(draw(_parts(predicates, around, constants, "o1")))
    conditions, negated = list(rule.conditions), list(rule.negated)
    sides = [Vert(v) for v in ["o0", *own, *(["o1"] if len(parts) > 1 else [])]]
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        sign = draw(st.sampled_from(["=", "<>"]))
        conditions.append(Compare(Vert("o0"), sign, draw(st.sampled_from(sides))))
    if draw(st.integers(0, 3)) == 0:
        label = draw(st.sampled_from(predicates))
        negated.append(
            Not((Atom(label, Var("o0"), draw(st.sampled_from([Var("_"), Var(own[0])]))),))
        )
    properties, column = list(rule.properties), "o0"
    if rule.aggregates and counted is not None:
        column = "no"
        properties.append((column, Agg(counted, Vert("o0"))))
    return replace(
        rule,
        variables=(*rule.variables, column),
        conditions=tuple(conditions),
        properties=tuple(properties),
        negated=tuple(negated),
        optional=tuple(parts),
    )


@st.composite
def _parts(
    draw: st.DrawFn,
    predicates: Sequence[str],
    outside: Sequence[str],
    constants: Sequence[Const],
    name: str,
    depth: int = 1,
) -> Optional:
    """A part with the variable ``name`` and one of ``outside``."""
    shared = Var(draw(st.sampled_from(outside)))
    pair: list[Term] = draw(st.permutations([shared, Var(name)]))
    body = [draw(_atoms(predicates, *pair))]
    if draw(st.integers(0, 3)) == 0:
        others: list[Term] = [Var("_"), Var(name), *map(Var, outside), *constants[:2]]
        ends = [Var(name), draw(st.sampled_from(others))]
        body.append(draw(_atoms(predicates, *draw(st.permutations(ends)))))
    conditions: tuple[Compare, ...] = ()
    if draw(st.integers(0, 3)) == 0:
        conditions = (Compare(Vert(name), draw(st.sampled_from(["=", "<>"])), Vert(shared.name)),)
    negated: tuple[Not, ...] = ()
    if draw(st.integers(0, 5)) == 0:
        label = draw(st.sampled_from(predicates))
        negated = (Not((Atom(label, Var(name), Var("_")),)),)
    inner: tuple[Optional, ...] = ()
    if depth and draw(st.integers(0, 4)) == 0:
        inner = (draw(_parts(predicates, [name], constants, f"{name}i", depth - 1)),)
    return Optional(tuple(body), conditions, negated, inner)


@st.composite
def _reading(draw: st.DrawFn, head: str, names: Sequence[str], labels: Sequence[str]) -> Rule:
    """An answer over a predicate whose last column may be missing."""
    body: list[BodyAtom] = [Derived(head, tuple(map(Var, names)))]
    if len(names) == 2:
        body = [Atom(head, Var(names[0]), Var(names[1]))]
    last = Var(names[-1])
    optional: tuple[Optional, ...] = ()
    source, target = draw(st.permutations([last, Var("o")]))
    atom = Atom(draw(st.sampled_from(labels)), source, target)
    match draw(st.sampled_from(["join", "optional", "alone"])):
        case "join":
            body.append(atom)
        case "optional":
            optional = (Optional((atom,)),)
        case _:
            pass
    variables = (*names, "o") if optional else tuple(names)
    return Rule("Answer", variables, tuple(body), optional=optional)


@st.composite
def _atoms(draw: st.DrawFn, predicates: Sequence[str], source: Term, target: Term) -> BodyAtom:
    match draw(st.sampled_from(["atom"] * 6 + ["closure", "path"])):
        case "atom":
            return Atom(draw(st.sampled_from(predicates)), source, target)
        case "closure":
            return Closure(draw(st.sampled_from(predicates)), source, target)
        case _:
            return PathAtom(draw(regexes(predicates, 1)), source, target)


def _values(rule: Rule) -> bool:
    """Whether a rule's head has values."""
    return bool(rule.properties) or any(map(kind_of, rule.variables))


def _variables(body: Sequence[BodyAtom]) -> list[str]:
    """The variables of vertices in a body."""
    names = [t.name for atom in body for t in atom.terms if isinstance(t, Var)]
    return [name for name in dict.fromkeys(names) if name != "_" and kind_of(name) is None]
