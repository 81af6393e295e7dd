"""The checks that every Regular Query must pass, in any language.

In: rules and windows as parsed. Out: a `RegularQuery` with warnings, which has an answer, is safe,
and not recursive (thesis Definition 14). The checks of edge names are in
:mod:`headrace.languages.query.edge_checks`, those of columns in
:mod:`headrace.languages.query.value_columns`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from operator import attrgetter, itemgetter

from ...algebra import regex
from ...algebra.regex import Regex
from .answers import check_alike
from .atoms import Atom, BinaryAtom, EdgeAtom, Location, PathAtom, Variable, variables_of
from .conditions import conjuncts, connected, named_edges, unified
from .disjoint_sets import DisjointSets
from .edge_checks import check_edges
from .errors import QueryError, line_of, listed
from .limits import check_limits
from .path_columns import check_paths_and_lists
from .predicates import derived_by, parts_by, predicates, read_by
from .regular_query import (
    LabelSet,
    Leaf,
    Property,
    RegularQuery,
    Rule,
    WindowClause,
)
from .returned_paths import path_columns
from .shortest_paths import shortest_paths
from .value_columns import check_columns


def checked_query(
    rules: Sequence[Rule],
    windows: Sequence[WindowClause],
    time_unit: str | None = None,
    warnings: Sequence[str] = (),
    *,
    answer: str | None = None,
    label_sets: Sequence[tuple[str, LabelSet]] = (),
    leaves: Sequence[tuple[str, Leaf]] = (),
    labels: Sequence[tuple[str, str]] = (),
    generated: Iterable[str] = (),
) -> RegularQuery:
    """Checks rules and windows, and returns their query.

    Without ``answer`` the answer is determined from the rules. ``label_sets``, ``leaves``,
    ``labels`` and ``generated`` are those of :class:`RegularQuery`.

    Raises:
        QueryError: E-ARITY, E-EDB, E-SAFE, E-PROPERTY, E-REC, E-ANSWER, E-ORDER or E-WINDOW.
    """
    _check_names(rules)
    check_edges(rules, derived_by(rules))
    _check_arity(rules)
    _check_safety(rules)
    order = evaluation_order(rules)
    answer = answer or _answer(rules)
    _check_inner_paths(rules, answer)
    check_columns(rules, order)
    for head in dict.fromkeys(rule.head for rule in rules):
        check_alike([rule for rule in rules if rule.head == head])
    check_paths_and_lists(rules, order)
    check_limits(rules)
    _check_windows(windows)
    all_warnings = (
        *warnings,
        *_paths_without_edges(rules),
        *_crosses(rules),
        *_unused(rules, [answer, *dict(labels).values()], order),
        *_odd_slides(windows),
    )
    sets = tuple(sorted(label_sets, key=itemgetter(0)))
    own = tuple(sorted(leaves, key=itemgetter(0)))
    plain = [rule for rule in rules if rule.window is None]
    windowed = sorted((rule for rule in rules if rule.window is not None), key=attrgetter("head"))
    every = (*plain, *windowed)
    return RegularQuery(
        every,
        answer,
        tuple(windows),
        all_warnings,
        time_unit,
        label_sets=sets,
        leaves=own,
        labels=tuple(labels),
        generated=frozenset(generated),
    )


def words(atom: BinaryAtom) -> Regex:
    """The regular expression of the paths or edges that an atom matches."""
    return atom.regex if isinstance(atom, PathAtom) else regex.alternation(atom.labels)


def evaluation_order(rules: Sequence[Rule]) -> tuple[str, ...]:
    """All predicates, each after its dependencies (line 2 of SGQParser).

    Raises:
        QueryError: E-REC if there is no such order.
    """
    try:
        return tuple(TopologicalSorter(_dependencies(rules)).static_order())
    except CycleError as error:
        # graphlib's cycle goes from dependency to dependent, and repeats its first node at the end.
        cycle = error.args[1][::-1]
    parts = parts_by(rules)
    negated = {part.predicate for rule in rules for part in rule.negated}
    through_not = not negated.isdisjoint(cycle)
    if not parts.isdisjoint(cycle):
        start = next(k for k, name in enumerate(cycle) if name not in parts)
        circle = [*cycle[start:-1], *cycle[:start]]
        cycle = [name for name in (*circle, circle[0]) if name not in parts]
    heads = [rule for rule in rules if rule.head in cycle]
    rule = heads[0] if heads else _rule_of_alias(rules, cycle)
    name = rule.head if rule.head in cycle else cycle[0]
    turn = cycle.index(name)
    shown = [*cycle[turn:-1], *cycle[:turn], name] if turn else cycle
    if len(shown) > 12:
        shown = [*shown[:10], "...", name]
    if through_not:
        raise QueryError(
            "E-REC",
            f"the rule of {name} depends on itself through `not`: {' <- '.join(shown)}",
            at=rule.location,
            text=name,
            hint="a rule that holds where it does not hold has no answer; negate other rules only",
        ) from None
    raise QueryError(
        "E-REC",
        f"the rule of {name} depends on itself: {' <- '.join(shown)}",
        at=rule.location,
        text=name,
        hint="repetition is written as a closure, as follows+(x, y)",
    ) from None


def _dependencies(rules: Sequence[Rule]) -> Mapping[str, Sequence[str]]:
    graph: dict[str, dict[str, None]] = {}
    for rule in rules:
        dependencies = graph.setdefault(rule.head, {})
        for atom in rule.body:
            if isinstance(atom, BinaryAtom) and atom.alias is not None:
                dependencies[atom.alias] = None
                graph.setdefault(atom.alias, {}).update(dict.fromkeys(predicates(atom)))
            else:
                dependencies.update(dict.fromkeys(predicates(atom)))
        dependencies.update(dict.fromkeys(part.predicate for part in rule.parts))
    return {name: tuple(dependencies) for name, dependencies in graph.items()}


def _rule_of_alias(rules: Sequence[Rule], cycle: Sequence[str]) -> Rule:
    return next(
        rule
        for rule in rules
        for atom in rule.body
        if isinstance(atom, BinaryAtom) and atom.alias in cycle
    )


def _check_names(rules: Sequence[Rule]) -> None:
    """Checks that a name given by ``as`` names one path, and is not the head of a rule."""
    heads = {rule.head for rule in rules}
    meanings: dict[str, tuple[type, Regex]] = {}
    for rule in rules:
        for atom in rule.body:
            if not isinstance(atom, BinaryAtom) or atom.alias is None:
                continue
            taken = atom.alias in heads
            meaning = (type(atom), words(atom))
            if taken or meanings.setdefault(atom.alias, meaning) != meaning:
                raise QueryError(
                    "E-EDB",
                    f"the name is already {'the head of a rule' if taken else 'another path'}",
                    at=atom.location,
                    text=atom.alias,
                    hint="choose another name after `as`, or leave it out",
                )


def _check_arity(rules: Sequence[Rule]) -> None:
    first: dict[str, Rule] = {}
    for rule in rules:
        other = first.setdefault(rule.head, rule)
        if len(other.variables) != len(rule.variables):
            raise QueryError(
                "E-ARITY",
                f"the head has {len(rule.variables)} variables here and "
                f"{len(other.variables)} in line {other.location.line}",
                at=rule.location,
                text=rule.head,
                hint="rules of one head are alternatives and need the same columns",
            )


def _check_inner_paths(rules: Sequence[Rule], answer: str) -> None:
    """Checks that the predicates that rules read have no columns of paths but shortest ones."""
    used = read_by(rules)
    for rule in rules:
        if rule.head == answer and rule.head not in used:
            continue
        shortest = shortest_paths(rule.body)
        for name, of in path_columns(rule).items():
            if of.path in shortest:
                continue
            raise QueryError(
                "E-PATHVAR",
                "only the answer returns paths",
                at=of.location or rule.location,
                text=name,
                hint=f"name the path in the rule of {answer}, or let the head have its two ends",
            )


def _check_safety(rules: Sequence[Rule]) -> None:
    optional = {part.predicate for rule in rules for part in rule.optional}
    for rule in rules:
        bound = set(variables_of(rule.body))
        if rule.head in optional:
            bound |= named_edges(rule.body).keys()
        bound |= {name for name, _ in rule.properties}
        bound |= {of.name for of in rule.missing if isinstance(of, Variable)}
        for name in rule.variables:
            if name not in bound:
                raise QueryError(
                    "E-SAFE",
                    f"{name} is in the head of {rule.head}, and no atom of its body binds it",
                    at=rule.location,
                    text=rule.head,
                    hint=f"the body binds {listed(sorted(bound))}" if bound else "",
                )


def _answer(rules: Sequence[Rule]) -> str:
    heads = list(dict.fromkeys(rule.head for rule in rules))
    for name in ("Answer", "Ans"):
        for head in sorted(heads, key=lambda h: h != name):
            if head.casefold() == name.casefold():
                return head
    used = read_by(rules)
    ends = [head for head in heads if head not in used]
    if len(ends) == 1:
        return ends[0]
    raise QueryError(
        "E-ANSWER",
        f"no rule is called Answer, and no other rule reads {listed(ends)}",
        at=rules[-1].location,
        text=rules[-1].head,
        hint=f"add a rule, as Answer(x, y) <- {ends[-1]}(x, y).",
    )


def _check_windows(windows: Sequence[WindowClause]) -> None:
    seen: set[tuple[str | None, str | None]] = set()
    for clause in windows:
        for label in clause.labels or (None,):
            target = (clause.stream, label)
            if target in seen:
                what = "all other streams" if clause.stream is None else clause.stream
                raise QueryError(
                    "E-WINDOW",
                    "it has a window already",
                    at=clause.location,
                    text=what if label is None else f"{what} ({label})",
                    hint="leave one of the two clauses out",
                )
            seen.add(target)


def _paths_without_edges(rules: Sequence[Rule]) -> Iterator[str]:
    for rule in rules:
        for atom in rule.body:
            if isinstance(atom, PathAtom) and atom.regex == regex.EPSILON:
                reason = "it fits only a path without edges, and there is none"
                yield line_of("W-EMPTY", atom.location, "", reason)


def _crosses(rules: Sequence[Rule]) -> Iterator[str]:
    for rule in rules:
        parts = _parts(unified(rule))
        if parts > 1:
            yield line_of(
                "W-CROSS",
                rule.location,
                rule.head,
                f"{parts} parts of the body share no variable, "
                "so each combination of their rows is an answer",
                "share a variable between them if that is not meant",
            )


def _parts(rule: Rule) -> int:
    """The number of connected components of the body; shared variables and equal properties
    connect atoms."""
    parts = len(rule.body)
    together: DisjointSets[int] = DisjointSets()
    first: dict[str | int, int] = {}
    equal = connected(conjuncts(rule.conditions))
    for place, atom in enumerate(rule.body):
        shared: list[str | int] = [*variables_of([atom])]
        shared += (number for number, pair in enumerate(equal) if _gives(atom, pair))
        for one in shared:
            parts -= together.merge(first.setdefault(one, place), place)
    return parts


def _gives(atom: Atom, references: Iterable[Variable | Property]) -> bool:
    """Whether any of the references is to an end of an atom, or to a property of its row."""
    names = set(variables_of([atom]))
    if isinstance(atom, EdgeAtom) and atom.edge is not None:
        names.add(atom.edge)
    return any((r.edge if isinstance(r, Property) else r.name) in names for r in references)


def _unused(rules: Sequence[Rule], answers: Sequence[str], order: Sequence[str]) -> Iterator[str]:
    dependencies = _dependencies(rules)
    needed = set(answers)
    for name in reversed(order):
        if name in needed:
            needed.update(dependencies.get(name, ()))
    places: dict[str, list[Location]] = {}
    for rule in rules:
        places.setdefault(rule.head, []).append(rule.location)
    for head, locations in places.items():
        if head not in needed:
            what = "the rule is" if len(locations) == 1 else "its rules are"
            yield line_of("W-UNUSED", locations[0], head, f"{what} not needed for {answers[0]}")


def _odd_slides(windows: Sequence[WindowClause]) -> Iterator[str]:
    for clause in windows:
        if not clause.window.divides:
            yield line_of(
                "W-SLIDE",
                clause.location,
                clause.stream or "WINDOW",
                f"the slide of {clause.window.slide} does not divide "
                f"the window of {clause.window.range}",
            )
