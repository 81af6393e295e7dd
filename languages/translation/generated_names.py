"""Generated names, which must differ from every label of the catalog, and names of columns.

A parser chooses names that do not occur in the text, but does not know the labels of the catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...catalog.model import Catalog
from ..query.predicates import derived_by, first_free, read_by, with_predicates
from ..query.regular_query import RegularQuery, Rule


def labels_of(catalog: Catalog) -> frozenset[str]:
    """All names by which a query may refer to labels of a catalog."""
    own = {(name, label) for name, stream in catalog.streams.items() for label in stream.labels}
    return frozenset({label for _, label in own} | {f"{name}.{label}" for name, label in own})


def apart_from_labels(query: RegularQuery, catalog: Catalog) -> RegularQuery:
    """The query with new names in place of generated names that are labels of the catalog."""
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
        rules=tuple(with_predicates(rule, called) for rule in query.rules),
        answer=called(query.answer),
        label_sets=tuple((called(name), labels) for name, labels in query.label_sets),
        leaves=tuple(
            (called(name), replace(leaf, label=_base(leaf.label, query, called)))
            for name, leaf in query.leaves
        ),
        labels=tuple((label, called(predicate)) for label, predicate in query.labels),
        generated=frozenset(map(called, query.generated)),
    )


def _base(label: str, query: RegularQuery, called: Callable[[str], str]) -> str:
    """The label or label set under the window of a leaf."""
    return called(label) if label in dict(query.label_sets) else label


def _names(rules: Sequence[Rule]) -> set[str]:
    return read_by(rules) | derived_by(rules)


def column_names(names: Sequence[str]) -> tuple[str, ...]:
    """Column names; a repeated variable of the head gets a number: ``x``, ``x_2``."""
    taken = set(names)
    count = dict.fromkeys(names, 0)
    columns: list[str] = []
    for name in names:
        count[name] += 1
        column = name if count[name] == 1 else f"{name}_{count[name]}"
        while count[name] > 1 and column in taken:
            count[name] += 1
            column = f"{name}_{count[name]}"
        taken.add(column)
        columns.append(column)
    return tuple(columns)
