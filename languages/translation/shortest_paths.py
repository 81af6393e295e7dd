"""Shortest paths: a predicate for each of them, with columns for the values that its rule reads.

In: the rules of a query. Out: rules without shortest paths, but for a rule of each path, whose
head has the two ends and the values. Other rules read it as any derived predicate with values. A
shortest path of which nothing is read is any path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

from ...algebra import regex
from ...algebra.aggregates import IGNORING_REPEATS, AggregateCall
from ...algebra.combinations import Feature
from ...algebra.lengths import longest, of_length, up_to
from ...algebra.logical import Aggregate, Compute, PathSemantics
from ...algebra.logical.roots import EVENT_REPORTS
from ...algebra.path_values import PathValue
from ...algebra.regex import Regex
from ...algebra.scalar import Column, Literal
from ...catalog.model import Catalog
from ..query.atoms import Atom, DerivedAtom, PathAtom, Variable
from ..query.conditions import conjuncts, key, references_in_rule, rule_with_references
from ..query.errors import QueryError
from ..query.predicates import derived_by, first_free, read_by
from ..query.regular_query import (
    Aggregated,
    Comparison,
    Condition,
    Emit,
    Output,
    Property,
    RegularQuery,
    Rule,
    Value,
    Witnessed,
)
from ..query.shortest_paths import LENGTH, NODES, PLACE, RELATIONSHIPS
from .generated_names import labels_of
from .relations import Relation, over, union

LONGEST: Final = 16
"""The most steps of a shortest path whose length is kept at every instant."""

_VALUES: Final[dict[str, PathValue]] = {
    LENGTH: "length",
    RELATIONSHIPS: "path",
    NODES: "nodes",
    PLACE: "place",
}
_ENDS = Variable("x"), Variable("y")
_MEMBERS = Variable("u"), Variable("v")
_OVER: Final[tuple[tuple[PathValue, ...], ...]] = ((), ("node",), ("start", "end"))
"""The values of a member of a path, by the number of terms that an atom has for it."""


def with_shortest_paths(query: RegularQuery, catalog: Catalog) -> RegularQuery:
    """The query with a predicate for each shortest path of which its rule reads a value.

    Raises:
        QueryError: E-LATER with DIFFERENT EDGES; E-SHORTEST without EMIT, for a path that may have
            more than :data:`LONGEST` steps, or of which more is read than its length.
    """
    if not any(isinstance(a, PathAtom) and a.shortest for rule in query.rules for a in rule.body):
        return query
    taken = {*labels_of(catalog), *read_by(query.rules), *derived_by(query.rules)}
    rules: list[Rule] = []
    for rule in query.rules:
        body: list[Atom] = []
        read: dict[Property, Variable] = {}
        for number, atom in enumerate(rule.body):
            if not isinstance(atom, PathAtom) or atom.shortest is None:
                body.append(atom)
                continue
            if atom.different is not None:
                raise QueryError(
                    "E-LATER",
                    "shortest paths with DIFFERENT EDGES are not supported yet",
                    at=atom.location,
                    text=atom.shortest,
                    hint="read the shortest path in a rule of its own",
                )
            name = atom.path or f"\n{number}"
            values = _values_read(rule, atom)
            if not values and not atom.over:
                body.append(replace(atom, shortest=None, path=None))
                continue
            head = first_free(atom.path or "shortest", taken)
            taken.add(head)
            terms = (*_ENDS, *_MEMBERS[: len(atom.over)])
            path = replace(atom, source=terms[0], target=terms[1], path=head, over=terms[2:])
            if query.emit is None or not query.emit.at_multiples:
                path = _bounded(path, values, _most(rule, name), query.emit)
            columns = tuple((value, Property(head, value)) for value in values)
            names = (*(term.name for term in terms), *values)
            rules.append(Rule(head, names, (path,), atom.location, properties=columns))
            variables = [Variable(key(Property(name, value))) for value in values]
            read |= dict(zip((Property(name, v) for v in values), variables, strict=True))
            body.append(DerivedAtom(head, (*atom.terms, *variables), atom.location))
        rules.append(_reading(replace(rule, body=tuple(body)), read))
    return replace(query, rules=tuple(rules))


def check_any_paths(atom: PathAtom, semantics: PathSemantics) -> None:
    """Checks that any paths count.

    Raises:
        QueryError: E-LATER.
    """
    if semantics is not PathSemantics.ARBITRARY:
        raise QueryError(
            "E-LATER",
            f"shortest paths are not supported with the path semantics {semantics} yet",
            at=atom.location,
            text=str(atom.shortest),
            hint="run the query with the path semantics arbitrary: a shortest path of a closure "
            "of labels, as knows+, repeats neither vertices nor edges",
        )


def least_lengths(words: Regex, path: Callable[[Regex], Relation]) -> Relation:
    """The least length of the paths of each pair: of each length the pairs that are connected.

    ``words`` are of bounded lengths; ``path`` returns the pairs of the words of an expression.
    """
    lengths: list[Relation] = []
    for length in range(1, (longest(words) or 0) + 1):
        of_this = of_length(words, length)
        if not isinstance(of_this, regex.Nothing):
            compute = Compute((Column(0), Column(1), Literal(length)))
            pairs = path(of_this)
            lengths.append(over(compute, [pairs], (*pairs.types, "integer")))
    whole = reduce(union, lengths)
    least = Aggregate((0, 1), (AggregateCall("min", 2),), (0, 1, 2), retracts=True)
    return over(least, [whole], whole.types)


def values_of(rule: Rule) -> tuple[PathValue, ...]:
    """The values in the head of the rule of a shortest path, after the two ends."""
    path = shortest_path_of([rule])
    assert path is not None
    of_path = (_VALUES[of.name] for _, of in rule.properties if isinstance(of, Property))
    return *_OVER[len(path.over)], *of_path


def shortest_path_of(rules: Sequence[Rule]) -> PathAtom | None:
    """The atom of the rule of a shortest path; None for the rules of another predicate."""
    atom = rules[0].body[0]
    return atom if isinstance(atom, PathAtom) and atom.shortest is not None else None


def _values_read(rule: Rule, atom: PathAtom) -> tuple[str, ...]:
    """The values of a path that its rule reads.

    A sum or count reads each of all paths, and each place on a path of which the atom binds the
    vertices or steps.
    """
    read = {r.name for r in references_in_rule(rule) if _is_of(r, atom)}
    returned = any(isinstance(of, Witnessed) and of.path == atom.path for _, of in rule.properties)
    counted = _counts_each(rule)
    if returned or (atom.shortest == "all shortest" and counted):
        read.add(RELATIONSHIPS)
    if atom.over and counted:
        read.add(PLACE)
    return tuple(value for value in _VALUES if value in read)


def _counts_each(rule: Rule) -> bool:
    """Whether two equal bindings give another aggregate than one does."""
    called = [of.function for _, of in rule.properties if isinstance(of, Aggregated)]
    return any(function not in IGNORING_REPEATS for function in called)


def _is_of(reference: Variable | Property, atom: PathAtom) -> bool:
    return isinstance(reference, Property) and reference.edge == atom.path


def _reading(rule: Rule, read: dict[Property, Variable]) -> Rule:
    """The rule with variables in place of the values of its paths."""

    def new(of: Variable | Property) -> Value:
        return read.get(of, of) if isinstance(of, Property) else of

    def column(of: Output) -> Output:
        if isinstance(of, Witnessed):
            return read.get(Property(of.path, RELATIONSHIPS), of)
        return of

    rule = rule_with_references(rule, new)
    return replace(rule, properties=tuple((name, column(of)) for name, of in rule.properties))


def _bounded(
    atom: PathAtom, values: Iterable[str], most: int | None, emit: Emit | None
) -> PathAtom:
    """The path with words of a bounded length alone, for an answer at every instant."""
    whole = longest(atom.regex)
    most = whole if most is None else most if whole is None else min(most, whole)
    length_alone = tuple(values) == (LENGTH,) and not atom.over
    if length_alone and most is not None and most <= LONGEST:
        return replace(atom, regex=up_to(atom.regex, most))
    if emit is not None and emit.events is not None:
        raise QueryError(
            "E-LATER",
            EVENT_REPORTS.refusal(Feature.SHORTEST),
            at=atom.location,
            text=str(atom.shortest),
            hint=f"{EVENT_REPORTS.hint}, or read length(p) alone, of at most {LONGEST} steps",
        )
    hint = "report after a period, as EMIT SNAPSHOT EVERY 1h, or "
    if not length_alone:
        raise QueryError(
            "E-SHORTEST",
            "the steps of a shortest path are given at the multiples of a period",
            at=atom.location,
            text=str(atom.shortest),
            hint=f"{hint}read length(p) alone",
        )
    raise QueryError(
        "E-SHORTEST",
        f"shortest paths of more than {LONGEST} steps are given at the multiples of a period",
        at=atom.location,
        text=str(atom.shortest),
        hint=f"{hint}bound the length, as knows{{1,4}} or length(p) <= 4",
    )


def _most(rule: Rule, name: str) -> int | None:
    """The bound that the conditions of a rule put on the length of a path, if they do."""
    return min(_bounds(rule.conditions, Property(name, LENGTH)), default=None)


def _bounds(conditions: Iterable[Condition], length: Property) -> Iterator[int]:
    for condition in conjuncts(conditions):
        match condition:
            case Comparison(left, ("<" | "<=" | "=") as sign, Literal(int() as most)):
                if left == length:
                    yield max(most - (sign == "<"), 0)
            case Comparison(Literal(int() as most), (">" | ">=" | "=") as sign, right):
                if right == length:
                    yield max(most - (sign == ">"), 0)
