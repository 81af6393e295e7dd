"""Random queries of which some rules have ``DIFFERENT EDGES``, made from queries of any kind.

A path beside atoms of its labels gets a bound, as other paths are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from tests.oracles.query import (
    Alt,
    AnyBut,
    Back,
    BodyAtom,
    Closure,
    Not,
    PathAtom,
    Regex,
    Repeat,
    Rule,
    Seq,
    Step,
    steps,
)
from tests.oracles.snapshot import labels_of
from tests.strategies.queries import Case


def different(case: Case, seed: int, *, longest: int = 12, bounded: bool = False) -> Case:
    """The case over a shorter stream, with groups of atoms that match different edges.

    The last rule has one. With ``bounded``, all paths of these groups have bounds.
    """
    random = Random(seed)
    last = len(case.query.rules) - 1
    rules = tuple(
        _grouped(rule, random, bounded) if k == last or random.random() < 0.5 else rule
        for k, rule in enumerate(case.query.rules)
    )
    return replace(case, query=replace(case.query, rules=rules), edges=case.edges[:longest])


def _grouped(rule: Rule, random: Random, bounded: bool) -> Rule:
    body, group = _group(rule.body, random, bounded)
    negated = tuple(_part(part, random, bounded) for part in rule.negated)
    return replace(rule, body=body, different=group, negated=negated)


def _part(part: Not, random: Random, bounded: bool) -> Not:
    body, group = _group(part.body, random, bounded)
    return replace(part, body=body, different=group)


def _group(
    body: tuple[BodyAtom, ...], random: Random, bounded: bool
) -> tuple[tuple[BodyAtom, ...], tuple[int, int] | None]:
    """The body, and the atoms whose edges differ: mostly all of them."""
    begin, end = 0, len(body)
    if random.random() < 0.3:
        begin, end = sorted(random.sample(range(len(body) + 1), 2))
    named = [atom for atom in body[begin:end] if isinstance(atom, Closure) and atom.alias]
    if named:
        return body, None
    group = [_bounded(atom, body[begin:end], bounded) for atom in body[begin:end]]
    return (*body[:begin], *group, *body[end:]), (begin, end)


def _bounded(atom: BodyAtom, group: Sequence[BodyAtom], bounded: bool) -> BodyAtom:
    """A path with bounds, if some other atom may match its edges."""
    if isinstance(atom, Closure):
        regex: Regex = Repeat(Step(atom.label), 1, None)
    elif isinstance(atom, PathAtom):
        regex = atom.regex
    else:
        return atom
    others = {label for other in group if other is not atom for label in labels_of(other)}
    apart = others.isdisjoint(steps(regex)) and not _has_any(regex)
    apart = apart and not any(_reads_any(other) for other in group)
    if apart and not bounded:
        return atom
    return PathAtom(_with_bound(regex), atom.source, atom.target)


def _reads_any(atom: BodyAtom) -> bool:
    match atom:
        case PathAtom(regex):
            return _has_any(regex)
        case _:
            return any(map(_has_any, getattr(atom, "choices", ())))


def _has_any(regex: Regex) -> bool:
    match regex:
        case AnyBut():
            return True
        case Back(part) | Repeat(part):
            return _has_any(part)
        case Seq(parts) | Alt(parts):
            return any(map(_has_any, parts))
        case _:
            return False


def _with_bound(regex: Regex) -> Regex:
    match regex:
        case Repeat(part, least, most):
            return Repeat(_with_bound(part), least, max(least, 1) + 1 if most is None else most)
        case Back(part):
            return Back(_with_bound(part))
        case Seq(parts) | Alt(parts):
            return type(regex)(tuple(map(_with_bound, parts)))
        case _:
            return regex
