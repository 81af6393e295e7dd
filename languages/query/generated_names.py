"""Names that a front end made up: no label of a catalog is ever taken for one of them.

A front end sees to it that such a name stands nowhere in its text. Which labels there are besides,
only a catalog knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import replace
from itertools import count

from ...algebra import regex
from ...catalog.model import Catalog
from .checks import aliases, predicates
from .regular_query import (
    Atom,
    EdgeAtom,
    Output,
    RegularQuery,
    Rule,
    VertexAtom,
    Witnessed,
    with_labels,
)


def first_free(base: str, taken: Set[str]) -> str:
    """``base``, or ``base_2``, ...: the first that is not taken."""
    names = (base if number == 1 else f"{base}_{number}" for number in count(1))
    return next(name for name in names if name not in taken)


def labels_of(catalog: Catalog) -> frozenset[str]:
    """All that a query may call the labels of a catalog's streams."""
    own = {(name, label) for name, stream in catalog.streams.items() for label in stream.labels}
    return frozenset({label for _, label in own} | {f"{name}.{label}" for name, label in own})


def apart_from_labels(query: RegularQuery, catalog: Catalog) -> RegularQuery:
    """The query with other generated names in place of those that are labels of the catalog."""
    labels = labels_of(catalog)
    clashing = query.generated & labels
    if not clashing:
        return query
    taken = {*labels, *query.generated, *_names(query.rules)}
    new: dict[str, str] = {}
    for name in sorted(clashing):
        new[name] = first_free(name, taken)
        taken.add(new[name])

    def called(name: str) -> str:
        return new.get(name, name)

    return replace(
        query,
        rules=tuple(renamed(rule, called) for rule in query.rules),
        answer=called(query.answer),
        label_sets=tuple((called(name), labels) for name, labels in query.label_sets),
        leaves=tuple(
            (called(name), replace(leaf, label=_base(leaf.label, query, called)))
            for name, leaf in query.leaves
        ),
        labels=tuple((label, called(predicate)) for label, predicate in query.labels),
        generated=frozenset(map(called, query.generated)),
    )


def renamed(rule: Rule, called: Callable[[str], str], *, vertices: bool = False) -> Rule:
    """The rule with other names of predicates and labels of edges, of ``vertices`` too if so."""

    def atom(of: Atom) -> Atom:
        if isinstance(of, VertexAtom):
            return with_labels(of, called) if vertices else of
        alias = None if of.alias is None else called(of.alias)
        if isinstance(of, EdgeAtom):
            return replace(with_labels(of, called), alias=alias)
        path = regex.substitute(of.regex, lambda s: regex.Symbol(called(str(s.ref)), s.inverse))
        return replace(of, regex=path, alias=alias)

    def output(of: Output) -> Output:
        return replace(of, path=called(of.path)) if isinstance(of, Witnessed) else of

    return replace(
        rule,
        head=called(rule.head),
        body=tuple(map(atom, rule.body)),
        properties=tuple((name, output(of)) for name, of in rule.properties),
    )


def _base(label: str, query: RegularQuery, called: Callable[[str], str]) -> str:
    """What a leaf is a window over: a set of labels, or a label."""
    return called(label) if label in dict(query.label_sets) else label


def _names(rules: Iterable[Rule]) -> set[str]:
    rules = tuple(rules)
    read = {name for rule in rules for atom in rule.body for name in predicates(atom)}
    return read | {rule.head for rule in rules} | aliases(rules).keys()
