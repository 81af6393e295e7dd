"""Bodies of rules while they are parsed, and the rules of their negated and optional parts.

In: a body with its parts. Out: a negation or an optional part for each, and a rule with its atoms
and conditions. The head of that rule has the variables that the part shares with the body; of an
optional part also its other variables, and the properties that the rule reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from ..query.atoms import Atom, Location, PathAtom, Variable, variables_of
from ..query.conditions import named_edges, references
from ..query.errors import QueryError, listed
from ..query.regular_query import Condition, Negation, OptionalPart, Property, Rule
from .rules import ANONYMOUS, with_names_for_anonymous, with_numbered_groups
from .steps import MARK, Steps

Reference = Variable | Property
_UNNAMED = re.compile(r"_\d+")
"""The variables that stand for ``_`` in a query that is printed."""


@dataclass(frozen=True, slots=True)
class Body:
    """Atoms with their warnings, conditions and steps, and the negated and optional parts."""

    atoms: tuple[Atom, ...]
    warnings: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    steps: Steps = ()
    negated: tuple[Part, ...] = ()
    optional: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """What follows `not` or `optional`, and the place of that word."""

    body: Body
    at: Location


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a body, and their rules with those of the parts inside them.

    ``variables`` are the variables that optional parts add to those of the body.
    """

    negated: tuple[Negation, ...] = ()
    optional: tuple[OptionalPart, ...] = ()
    rules: tuple[Rule, ...] = ()
    variables: tuple[str, ...] = ()


def local_variables(body: Body) -> frozenset[str]:
    """The variables in the negated and optional parts of a body."""
    parts = [part.body for part in (*body.negated, *body.optional)]
    own = {name for part in parts for name in variables_of(part.atoms)}
    return frozenset(own).union(*map(local_variables, parts))


def parts_of(
    body: Body, atoms: Sequence[Atom], outside: Set[str], read: Iterable[Reference]
) -> Parts:
    """The parts of a body.

    Args:
        body: the body.
        atoms: its atoms, with names for their anonymous variables.
        outside: the variables of the bodies around this one.
        read: what the head and the conditions of the body refer to.

    Raises:
        QueryError: E-SAFE if a part shares no variable with the body, or one with a body further
            outside alone; E-EDB for the name of an edge of an optional part that is taken;
            E-PROPERTY for an edge or path of an optional part outside the part.
    """
    bound = dict.fromkeys(v for v in variables_of(body.atoms) if v != ANONYMOUS.name)
    around = {*outside, *variables_of(atoms)}
    read = tuple(read)
    _check_names(body, {*around, *named_edges(atoms)}, read)
    optional: list[OptionalPart] = []
    negated: list[Negation] = []
    rules: list[Rule] = []
    for part in body.optional:
        shared = _shared(part, "optional", bound, outside)
        added = [
            name
            for name in _variables(part.body)
            if name not in bound and (Variable(name) in read or not _UNNAMED.fullmatch(name))
        ]
        edges = _edges(part.body)
        columns = [
            of
            for of in dict.fromkeys(read)
            if isinstance(of, Property) and (of.edge in edges or of.edge in added)
        ]
        head = f"{MARK}optional {part.at}"
        rules += _rules(head, part, (*shared, *added), around, columns)
        own: list[Reference] = [*map(Variable, shared), *map(Variable, added), *columns]
        optional.append(OptionalPart(head, tuple(own), len(shared), part.at))
        bound |= dict.fromkeys(added)
        around |= set(added)
    for part in body.negated:
        shared = _shared(part, "not", bound, outside)
        head = f"{MARK}not {part.at}"
        negated.append(Negation(head, shared, part.at))
        rules += _rules(head, part, shared, around, ())
    added = [name for name in bound if name not in set(variables_of(atoms))]
    return Parts(tuple(negated), tuple(optional), tuple(rules), tuple(added))


def _rules(
    head: str,
    part: Part,
    variables: Sequence[str],
    around: Set[str],
    columns: Sequence[Property],
) -> Iterable[Rule]:
    """The rule of a part, and those of the parts inside it; ``columns`` are its properties."""
    named = with_names_for_anonymous(part.body.atoms, around | local_variables(part.body))
    named = with_numbered_groups(named)
    conditions = part.body.conditions
    read = [of for condition in conditions for of in references(condition)]
    inner = parts_of(part.body, named, around, (*read, *columns))
    properties = tuple([(f"{of.edge}.{of.name}", of) for of in columns])
    yield Rule(
        head,
        (*variables, *[name for name, _ in properties]),
        named,
        part.at,
        conditions,
        properties,
        negated=inner.negated,
        optional=inner.optional,
    )
    yield from inner.rules


def _shared(part: Part, word: str, bound: Iterable[str], outside: Set[str]) -> tuple[str, ...]:
    """The variables of a part that the body around it binds."""
    bound = list(bound)
    own = dict.fromkeys(variables_of(part.body.atoms))
    shared = tuple(name for name in own if name in bound)
    if not shared:
        kind = "negated" if word == "not" else "optional"
        raise QueryError(
            "E-SAFE",
            f"the {kind} part shares no variable with the atoms beside it",
            at=part.at,
            text=word,
            hint=f"let it have one of {listed(bound)}"
            if bound
            else f"write an atom that is not {kind} before it, as likes(x, y)",
        )
    beyond = [name for name in own if name in outside and name not in bound]
    if beyond:
        raise QueryError(
            "E-SAFE",
            f"{beyond[0]} is of a part further outside, and no atom beside this `{word}` has it",
            at=part.at,
            text=word,
            hint=f"let an atom beside it have {beyond[0]}, or rename it if it is another one",
        )
    return shared


def _variables(body: Body) -> list[str]:
    """The variables of an optional part that have names, those of inner optional parts included."""
    own = dict.fromkeys(v for v in variables_of(body.atoms) if v != ANONYMOUS.name)
    for part in body.optional:
        own |= dict.fromkeys(_variables(part.body))
    return list(own)


def _edges(body: Body) -> set[str]:
    """The names of the edges of a body, those of its optional parts included."""
    return set(named_edges(body.atoms)).union(*(_edges(part.body) for part in body.optional))


def _check_names(body: Body, taken: Set[str], read: Sequence[Reference]) -> None:
    """Checks the names of the edges and paths of the optional parts of a body."""
    names = set(taken)
    for part in body.optional:
        edges = _edges(part.body)
        for name in sorted(edges & (names | set(_variables(part.body)))):
            if not name.startswith(MARK):
                raise QueryError(
                    "E-EDB",
                    "the name is already that of a vertex or an edge in this rule",
                    at=part.at,
                    text=name,
                    hint="choose another name after `as`",
                )
        names |= edges
        paths = {atom.alias for atom in part.body.atoms if isinstance(atom, PathAtom)}
        for of in read:
            if isinstance(of, Variable) and of.name in edges | paths:
                raise QueryError(
                    "E-PROPERTY",
                    f"{of.name} is an edge or a path of an optional part, which may be missing",
                    at=part.at,
                    text=of.name,
                    hint="use its ends, or a property of the edge, as e.amount",
                )
