"""Steps of RQ that are no single label: sets of labels, and edges chosen by their properties.

While a text is read such a step is called by a *mark*, which no label can be called. At the end
a set of labels gets a name of its own in the query, and ``a[amount > 5]`` a rule; where the rule
that has it looks at the edge's other properties too, the conditions move there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from lark import Token

from algebra import regex
from algebra.regex import Regex
from languages.checks import aliases, predicates
from languages.conditions import edges_looked_at
from languages.errors import QueryError
from languages.label_sets import label_set_text
from languages.regular_query import (
    Comparison,
    Computed,
    EdgeAtom,
    LabelSet,
    Location,
    PathAtom,
    Property,
    Rule,
    Value,
    Variable,
)
from languages.rq_tokens import location_of, name_of
from languages.values_text import condition_text, name_text, value_text

_MARK = "\n"
_EDGE = "e"
_X, _Y = Variable("x"), Variable("y")


@dataclass(frozen=True, slots=True)
class Filtered:
    """The edges of a label, or of the mark of a set, that satisfy conditions over edge ``e``."""

    label: str
    conditions: tuple[Comparison, ...]
    at: Location


Step = LabelSet | Filtered
Steps = tuple[tuple[str, Step], ...]
"""Steps by their marks."""


@dataclass(frozen=True, slots=True)
class Filter:
    """``[amount > 5]`` while it is read."""

    comparisons: tuple[Comparison, ...]


def step_of(
    parts: Sequence[Token | Filter], left_out: Iterable[tuple[bool, str]] = ()
) -> tuple[str, Steps]:
    """What a path calls ``a``, ``_``, ``tx._`` or ``!``, perhaps with a filter behind it.

    That is the label itself, or the mark of the last of the steps that are given with it.
    ``left_out`` are the labels behind ``!``, each with whether it is walked backwards.
    """
    tokens = [part for part in parts if isinstance(part, Token)]
    steps: list[tuple[str, Step]] = []
    if tokens[-1].type in ("ANY", "BANG"):
        labels = _label_set(tokens, tuple(left_out))
        shown = label_set_text(labels)
        ref = _MARK + shown
        steps.append((ref, labels))
    else:
        ref = name_of(tokens[-1])
        shown = name_text(ref)
    for part in parts:
        if isinstance(part, Filter):
            inside = tuple(map(_of_edge, part.comparisons))
            text = f"{shown}[{' and '.join(map(condition_text, part.comparisons))}]"
            steps.append((_MARK + text, Filtered(ref, inside, location_of(tokens[0]))))
            ref = _MARK + text
    return ref, tuple(steps)


def finished(
    rules: Sequence[Rule], steps: Steps
) -> tuple[tuple[Rule, ...], tuple[tuple[str, LabelSet], ...]]:
    """The rules with names in place of marks, and the sets of labels by these."""
    known = dict(steps)
    if not known:
        return tuple(rules), ()
    rules = [_with_conditions(rule, known) for rule in rules]
    taken = {name for rule in rules for atom in rule.body for name in predicates(atom)}
    taken |= {rule.head for rule in rules} | aliases(rules).keys()
    names: dict[str, str] = {}
    whole: list[Rule] = []

    def name(mark: str) -> str:
        step = known.get(mark)
        if step is None:
            return mark
        if mark not in names:
            names[mark] = _free(mark.removeprefix(_MARK), taken)
            taken.add(names[mark])
            if isinstance(step, Filtered):
                atom = EdgeAtom(name(step.label), _X, _Y, step.at, _EDGE)
                whole.append(Rule(names[mark], ("x", "y"), (atom,), step.at, step.conditions))
        return names[mark]

    for rule in rules:
        whole.append(_renamed(rule, name))
    sets = [(names[mark], step) for mark, step in known.items() if mark in names]
    return tuple(whole), tuple((n, step) for n, step in sets if isinstance(step, LabelSet))


def _label_set(tokens: Sequence[Token], left_out: tuple[tuple[bool, str], ...]) -> LabelSet:
    stream = None
    if tokens[0].type == "STREAM":
        stream = tokens[0].removesuffix(".")
        stream = stream[1:-1].replace("``", "`") if stream.startswith("`") else stream
    if not left_out:
        return LabelSet(stream=stream)
    forward = tuple(dict.fromkeys(name for inverse, name in left_out if not inverse))
    backward = tuple(dict.fromkeys(name for inverse, name in left_out if inverse))
    return LabelSet(forward or None, backward or None, stream)


def _of_edge(comparison: Comparison) -> Comparison:
    """The comparison with properties of the edge in place of their bare names."""

    def value(of: Value) -> Value:
        match of:
            case Variable(name):
                return Property(_EDGE, name, comparison.location)
            case Property():
                raise QueryError(
                    "E-SYNTAX",
                    "in brackets the properties of the edge itself are meant, by their bare names",
                    at=of.location,
                    text=value_text(of),
                    hint=f"write {of.name}; conditions over several edges stand in the body",
                )
            case Computed(function, arguments):
                return Computed(function, tuple(map(value, arguments)))
            case _:
                return of

    return replace(comparison, left=value(comparison.left), right=value(comparison.right))


def _with_conditions(rule: Rule, known: dict[str, Step]) -> Rule:
    """The rule with the filters of the edges that it looks at among its conditions."""
    looked_at = edges_looked_at(rule)
    body, conditions = list(rule.body), list(rule.conditions)
    for number, atom in enumerate(body):
        if isinstance(atom, EdgeAtom) and atom.edge in looked_at:
            step = known.get(atom.predicate)
            if isinstance(step, Filtered):
                body[number] = replace(atom, predicate=step.label)
                conditions += [_renamed_edge(one, atom.edge or "") for one in step.conditions]
    return replace(rule, body=tuple(body), conditions=tuple(conditions))


def _renamed_edge(comparison: Comparison, edge: str) -> Comparison:
    def value(of: Value) -> Value:
        match of:
            case Property():
                return replace(of, edge=edge)
            case Computed(function, arguments):
                return Computed(function, tuple(map(value, arguments)))
            case _:
                return of

    return replace(comparison, left=value(comparison.left), right=value(comparison.right))


def _renamed(rule: Rule, name: Callable[[str], str]) -> Rule:
    def path(of: Regex) -> Regex:
        return regex.substitute(of, lambda s: regex.Symbol(name(str(s.ref)), s.inverse))

    return replace(
        rule,
        body=tuple(
            replace(atom, regex=path(atom.regex))
            if isinstance(atom, PathAtom)
            else replace(atom, predicate=name(atom.predicate))
            for atom in rule.body
        ),
    )


def _free(name: str, taken: set[str]) -> str:
    names = (f"{name}{'_' * number}" for number in range(len(taken) + 1))
    return next(one for one in names if one not in taken)
