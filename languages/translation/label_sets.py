"""Sets of labels, ``_`` and ``!(a|^b)``, expanded into the labels of a catalog.

A query names the excluded labels. The catalog provides the others, for streams that list all their
labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from operator import itemgetter

from ...algebra import regex
from ...algebra.deadline import NO_DEADLINE, Deadline
from ...algebra.regex import Symbol
from ...algebra.remedy import Remedy
from ...algebra.window import Window
from ...catalog.model import Catalog, Stream
from ..query.atoms import Atom, EdgeAtom, Location, PathAtom
from ..query.condition_text import label_set_text
from ..query.conditions import edges_referenced
from ..query.errors import QueryError, line_of, suggestion
from ..query.predicates import derived_by, read_by
from ..query.regular_query import LabelSet, Leaf, RegularQuery, Rule

MOST_LABELS = 10_000
"""The number of labels that the sets of one path or edge may expand to, at most."""


def expanded(
    query: RegularQuery, catalog: Catalog, deadline: Deadline = NO_DEADLINE
) -> tuple[RegularQuery, tuple[str, ...]]:
    """The query with the labels of the catalog in place of its sets of labels, and warnings.

    A set becomes an alternation in a path, and several labels of an edge.

    Raises:
        QueryError: E-LABELS for a stream with open labels, or an empty label set of an edge whose
            properties are referenced, E-UNKNOWN for an unknown stream, E-SIZE for too many
            labels.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    if not query.label_sets:
        return query, ()
    sets = dict(query.label_sets)
    windows = {name: leaf for name, leaf in query.leaves if leaf.label in sets}
    sets |= {name: sets[leaf.label] for name, leaf in windows.items()}
    read = read_by(query.rules)
    labels = {label for stream in catalog.streams.values() for label in stream.labels}
    derived = derived_by(query.rules)
    expansion = _Expansion(
        catalog, sets, read, (read - sets.keys()) | labels | derived, windows, deadline
    )
    rules = tuple(map(expansion.of_rule, query.rules))
    leaves = {n: leaf for n, leaf in query.leaves if n not in windows} | expansion.leaves
    whole = replace(
        query,
        rules=rules,
        label_sets=(),
        leaves=tuple(sorted(leaves.items(), key=itemgetter(0))),
    )
    return whole, tuple(dict.fromkeys(expansion.warnings))


def with_steps(rule: Rule, steps_of: Callable[[str, Location], tuple[Symbol, ...]]) -> Rule:
    """The rule with several labels in place of one.

    ``steps_of`` returns the labels for a label at a place. In a path the labels become an
    alternation, in an edge the labels that may match.
    """

    def turned(label: Symbol, at: Location) -> Iterator[Symbol]:
        for one in steps_of(str(label.ref), at):
            yield Symbol(one.ref, one.inverse != label.inverse)

    def atom(of: Atom) -> Atom:
        match of:
            case EdgeAtom():
                labels = [one for label in of.labels for one in turned(label, of.location)]
                return replace(of, labels=tuple(dict.fromkeys(labels)))
            case PathAtom():
                path = regex.substitute(
                    of.regex, lambda s: regex.alternation(turned(s, of.location))
                )
                return replace(of, regex=path)
            case _:
                return of

    return replace(rule, body=tuple(map(atom, rule.body)))


@dataclass(slots=True)
class _Expansion:
    """Expands the label sets of a query.

    Attributes:
        catalog: the catalog of the labels.
        sets: the label sets by predicate.
        read: the predicates that the rules read.
        taken: all names in use.
        windows: the label sets under windows of their own, by predicate.
        deadline: the time limit of the expansion.
        leaves: the new labels under the windows of such sets, by predicate.
        warnings: the warnings so far.
    """

    catalog: Catalog
    sets: Mapping[str, LabelSet]
    read: Set[str]
    taken: set[str]
    windows: Mapping[str, Leaf]
    deadline: Deadline
    leaves: dict[str, Leaf] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    _steps: dict[str, tuple[Symbol, ...]] = field(default_factory=dict)

    def of_rule(self, rule: Rule) -> Rule:
        self.deadline.check("sets of labels were written out")
        for atom in rule.body:
            if isinstance(atom, PathAtom):
                self._check_size(atom)
        expanded_rule = with_steps(rule, self._steps_of)
        referenced = edges_referenced(rule)
        for before, atom in zip(rule.body, expanded_rule.body, strict=True):
            if isinstance(atom, EdgeAtom) and not atom.labels and atom.edge in referenced:
                assert isinstance(before, EdgeAtom)
                raise QueryError(
                    "E-LABELS",
                    "it leaves out all labels, so its edges have no properties",
                    at=atom.location,
                    text=label_set_text(self.sets[str(before.refs[0])]),
                )
        return expanded_rule

    def _steps_of(self, name: str, at: Location) -> tuple[Symbol, ...]:
        return self._of(name, at) if name in self.sets else (Symbol(name),)

    def _check_size(self, atom: PathAtom) -> None:
        sets = [s for s in regex.symbols(atom.regex) if s.ref in self.sets]
        count = sum(len(self._of(str(symbol.ref), atom.location)) for symbol in sets)
        if count > MOST_LABELS:
            shown = label_set_text(self.sets[str(sets[0].ref)])
            raise _too_many_labels("the path's sets of labels stand", count, atom.location, shown)

    def _of(self, name: str, at: Location) -> tuple[Symbol, ...]:
        """The labels of a set, each with its direction."""
        if name not in self._steps:
            self._steps[name] = self._looked_up(self.sets[name], at)
            if name in self.windows:
                self._steps[name] = tuple(
                    self._windowed(step, self.windows[name].window) for step in self._steps[name]
                )
        return self._steps[name]

    def _looked_up(self, labels: LabelSet, at: Location) -> tuple[Symbol, ...]:
        shown = label_set_text(labels)
        candidates: list[tuple[Stream, str]] = []
        for stream in self._streams(labels, at):
            self.deadline.check("sets of labels were written out")
            candidates += [(stream, label) for label in _labels_of(stream, at, shown)]
        walked = {False: labels.forward, True: labels.backward}
        without = {
            inverse: frozenset(names) for inverse, names in walked.items() if names is not None
        }
        most = sum(len(candidates) - len(left_out) for left_out in without.values())
        if most > MOST_LABELS:
            raise _too_many_labels("it stands", most, at, shown)
        everything = sorted({label for _, label in candidates})
        names = {name for one in candidates for name in _names_of(*one)}
        for label in (*(labels.forward or ()), *(labels.backward or ())):
            if label not in names:
                self.warnings.append(
                    line_of(
                        "W-UNUSED",
                        at,
                        shown,
                        f"no stream has the label {label}, which is left out",
                        suggestion(label, everything, "they are"),
                    )
                )
        symbols = [
            Symbol(self._name(labels, stream, label), inverse)
            for inverse, left_out in without.items()
            for stream, label in candidates
            if left_out.isdisjoint(_names_of(stream, label))
        ]
        if not symbols:
            reason = "it leaves out all labels"
            self.warnings.append(line_of("W-EMPTY", at, shown, reason))
        return tuple(symbols)

    def _windowed(self, step: Symbol, window: Window | None) -> Symbol:
        name = f"{step.ref}[{window}]"
        while name in self.taken and self.leaves.get(name) != Leaf(str(step.ref), window):
            name += "_"
        self.taken.add(name)
        self.leaves[name] = Leaf(str(step.ref), window)
        return replace(step, ref=name)

    def _streams(self, labels: LabelSet, at: Location) -> list[Stream]:
        streams = self.catalog.streams
        if labels.stream is None:
            return [streams[name] for name in sorted(streams) if not streams[name].vertices]
        if labels.stream in streams:
            return [streams[labels.stream]]
        raise QueryError(
            "E-UNKNOWN",
            "no stream has this name",
            at=at,
            text=labels.stream,
            hint=suggestion(labels.stream, streams, "the streams are"),
        )

    def _name(self, labels: LabelSet, stream: Stream, label: str) -> str:
        """The name of a label in a rule; the name that the query uses elsewhere, if any."""
        qualified = f"{stream.name}.{label}"
        if len(self.catalog.streams_of(label)) > 1 or qualified in self.read:
            return qualified
        return label if labels.stream is None or label in self.read else qualified


def _labels_of(stream: Stream, at: Location, text: str) -> list[str]:
    listed_labels = list(stream.labels) or ([stream.label] if stream.label else [])
    if stream.open_labels or not listed_labels:
        raise QueryError(
            "E-LABELS",
            f"the stream {stream.name} may have labels that the catalog does not list, "
            "so the set is not known",
            at=at,
            text=text,
            hint="write the labels that are meant, as a|b, or a catalog that lists all of them, "
            "without open_labels",
            remedies=(Remedy("measure", "measure such a catalog"),),
        )
    return sorted(listed_labels)


def _names_of(stream: Stream, label: str) -> tuple[str, str]:
    """The names by which a query may call a label of a stream."""
    return label, f"{stream.name}.{label}"


def _too_many_labels(what: str, count: int, at: Location, text: str) -> QueryError:
    return QueryError(
        "E-SIZE",
        f"{what} for {count:,} labels, and a query can be planned over {MOST_LABELS:,}",
        at=at,
        text=text,
        hint="write the labels that are meant, as a|b",
    )
