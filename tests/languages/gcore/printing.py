"""Rules that G-CORE can say, written in it: the oracle's form of a query as G-CORE text.

A derived predicate becomes a PATH macro, whose first pattern is the first atom of its rules;
the atoms behind it become patterns too, or, if there are several rules, conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.oracles.conditions import Compare, Vert, expr_text
from tests.oracles.conditions import text as condition_text
from tests.oracles.query import (
    Alt,
    AnyBut,
    AnyOf,
    Atom,
    Back,
    BodyAtom,
    Closure,
    Const,
    Derived,
    Is,
    PathAtom,
    Regex,
    Repeat,
    Rule,
    Seq,
    Step,
    Term,
    steps,
)
from tests.oracles.roots import column_text


@dataclass(frozen=True)
class Style:
    """Ways to say the same: atoms in chains, edges to the left, equal vertices by WHERE,
    conditions as what does not hold."""

    chained: bool = False
    leftward: bool = False
    equalities: bool = False
    negated: bool = False


def text(macros: Sequence[Sequence[Rule]], answers: Sequence[Rule], on: str, style: Style) -> str:
    """The query; ``macros`` are the rules of each derived predicate, ``on`` a clause."""
    derived = frozenset(rules[0].head for rules in macros)
    clauses = [_macro(rules, derived, style) for rules in macros]
    statements = [_statement(rule, derived, on, style) for rule in answers]
    # The macros are those of one statement, so each has them.
    return "\nUNION ".join("\n".join([*clauses, statement]) for statement in statements)


def _macro(rules: Sequence[Rule], derived: frozenset[str], style: Style) -> str:
    # Its ends in this order are those of the macro, so it is never turned.
    first = _pattern(rules[0].body[0], derived, Style())
    others = [[_pattern(atom, derived, style) for atom in rule.body[1:]] for rule in rules]
    if len(rules) == 1:
        where = _where(_conditions(rules[0], style))
        return f"PATH {rules[0].head} = {', '.join([first, *others[0]])}{where}"
    condition = " OR ".join(" AND ".join(patterns) for patterns in others)
    return f"PATH {rules[0].head} = {first} WHERE {condition}"


def _statement(rule: Rule, derived: frozenset[str], on: str, style: Style) -> str:
    body, equal = _split(rule.body) if style.equalities else (rule.body, [])
    patterns = [_pattern(atom, derived, style) for atom in body]
    if style.chained:
        patterns = _chained(body, patterns)
    tests = [*(f"({left}) = ({right})" for left, right in equal), *_conditions(rule, style)]
    condition = _where(tests)
    if rule.head == "Answer":
        properties = dict(rule.properties)
        columns = (
            f"{column_text(properties[name])} AS {name}" if name in properties else name
            for name in rule.variables
        )
        head = f"SELECT {', '.join(columns)}"
    else:
        source, target = rule.variables
        head = f"CONSTRUCT ({source})-[:{rule.head}]->({target})"
    return f"{head} MATCH {', '.join(patterns)} {on}{condition}"


def _where(tests: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(tests)}" if tests else ""


_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _conditions(rule: Rule, style: Style) -> list[str]:
    if style.negated and rule.conditions:
        whole = " OR ".join(_comparison(one, _OPPOSITE[one.sign]) for one in rule.conditions)
        return [f"NOT ({whole})"]
    return [_comparison(one, one.sign) for one in rule.conditions]


def _comparison(of: Compare, sign: str) -> str:
    left, right = (
        f"({side.name})" if isinstance(side, Vert) else expr_text(side)
        for side in (of.left, of.right)
    )
    return f"{left} {sign} {right}"


def _split(body: tuple[BodyAtom, ...]) -> tuple[list[BodyAtom], list[tuple[str, str]]]:
    """Each later occurrence of a variable gets a name of its own, and an equality."""
    seen: dict[str, int] = {}
    equal: list[tuple[str, str]] = []

    def apart(term: Term) -> Term:
        assert not isinstance(term, Const)
        if term.name == "_":
            return term
        count = seen[term.name] = seen.get(term.name, 0) + 1
        if count == 1:
            return term
        equal.append((term.name, f"{term.name}_{count}"))
        return type(term)(f"{term.name}_{count}")

    atoms: list[BodyAtom] = []
    for atom in body:
        assert not isinstance(atom, Derived)
        source = apart(atom.source)
        match atom:
            case Atom(label, _, _, edge):
                atoms.append(Atom(label, source, apart(atom.target), edge))
            case AnyOf():
                atoms.append(replace(atom, source=source, target=apart(atom.target)))
            case Closure(label, _, _, sign, alias):
                atoms.append(Closure(label, source, apart(atom.target), sign, alias))
            case Is(label, _, row):
                atoms.append(Is(label, source, row))
            case PathAtom(regex, _, _):
                atoms.append(PathAtom(regex, source, apart(atom.target)))
    return atoms, equal


def _chained(body: Sequence[BodyAtom], patterns: Sequence[str]) -> list[str]:
    """Patterns that begin where the one before ends go on from there."""
    chains: list[str] = []
    for number, (atom, pattern) in enumerate(zip(body, patterns, strict=True)):
        node = _node(atom.terms[0])
        goes_on = number > 0 and node != "()" and chains[-1].endswith(node)
        if goes_on and pattern.startswith(node):
            chains[-1] += pattern.removeprefix(node)
        else:
            chains.append(pattern)
    return chains


def _pattern(atom: BodyAtom, derived: frozenset[str], style: Style) -> str:
    source, target = map(_node, atom.terms)
    match atom:
        case Is(label, vertex):
            return f"{_node(vertex)[:-1]}:{label})"
        case AnyOf(choices):
            link = _edge_of_several(atom)
            if any(isinstance(choice, Back) for choice in choices):
                return f"{source}-{link}-{target}"
        case Atom(label, _, _) if label not in derived:
            link = f"[{atom.edge or ''}:{label}]"
        case Atom(label, _, _):
            link = f"/<~{label}>/"
        case Closure(label, _, _, sign):
            link = f"/<{_regex(Step(label), derived)}{sign}>/"
        case PathAtom(regex, _, _):
            link = f"/<{_regex(regex, derived)}>/"
    return f"{target}<-{link}-{source}" if style.leftward else f"{source}-{link}->{target}"


def _edge_of_several(atom: AnyOf) -> str:
    """``[e:a|b {n = 2}]``."""
    labels = [label for choice in atom.choices for label in steps(choice)]
    of = f":{'|'.join(dict.fromkeys(labels))}" if labels else ""
    tests = ", ".join(condition_text(test).removeprefix("_.") for test in atom.tests)
    return f"[{atom.edge or ''}{of}{f' {{{tests}}}' if tests else ''}]"


def _node(term: Term) -> str:
    assert not isinstance(term, Const)
    return "()" if term.name == "_" else f"({term.name})"


def _regex(regex: Regex, derived: frozenset[str]) -> str:
    match regex:
        case Step(label):
            return f"~{label}" if label in derived else f":{label}"
        case AnyBut((), None):
            return "_"
        case AnyBut(forwards, backwards):
            but = [*map(":{}".format, forwards or ()), *map(":{}^".format, backwards or ())]
            return f"({' | '.join(but)})!"
        case Back(part):
            return f"({_regex(part, derived)})^"
        case Seq(parts):
            return " ".join(_closed(part, derived) for part in parts)
        case Alt(parts):
            return " + ".join(f"({_regex(part, derived)})" for part in parts)
        case Repeat(part, least, most):
            return f"{_closed(part, derived)}{_times(least, most)}"


def _closed(regex: Regex, derived: frozenset[str]) -> str:
    inside = _regex(regex, derived)
    return inside if isinstance(regex, Step) else f"({inside})"


def _times(least: int, most: int | None) -> str:
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
    if most is None:
        return f"*{{{least}..}}"
    return f"*{{{least}}}" if least == most else f"*{{{least}..{most}}}"
