"""Where patterns look for their edges, and what labels are called there.

A label of a stream that ON names becomes ``stream.label``, so that no other stream is meant
by it; a label of a query in ON becomes the predicate that the query derives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from algebra.regex import Symbol
from algebra.window import Window
from languages.errors import QueryError, listed
from languages.gcore.faults import LATER
from languages.gcore.names import Names
from languages.gcore.syntax import Name, WindowText
from languages.label_sets import label_set_text
from languages.regular_query import LabelSet, Location, WindowClause
from languages.windows import window_of


@dataclass(frozen=True, slots=True)
class StreamSource:
    """A stream under a window; without a name the one that has the label."""

    stream: str | None = None
    window: Window | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DerivedSource:
    """What a query constructs: the predicate of each label."""

    predicates: Mapping[str, str]


Source = StreamSource | DerivedSource
DEFAULT_SOURCE = StreamSource()
ANY_LABEL = ""
"""Stands for all labels of a stream, beside the names of some."""


@dataclass(slots=True)
class Reads:
    """The labels that a query reads from streams, and under which windows."""

    time_unit: str
    names: Names
    labels: set[str] = field(default_factory=set)
    has_unit: bool = False
    label_sets: dict[str, LabelSet] = field(default_factory=dict)
    _windows: dict[str, dict[str, Window | None]] = field(default_factory=dict)
    _places: dict[str, Location] = field(default_factory=dict)
    _tested: dict[str, dict[str, dict[Window | None, Name]]] = field(default_factory=dict)

    def stream(self, name: Name, written: WindowText | None) -> StreamSource:
        """The source of ``ON name WINDOW ...``.

        Raises:
            QueryError: E-WINDOW if the window is none.
        """
        self._places.setdefault(name.text, name.at)
        if written is None:
            return StreamSource(name.text)
        lengths = (written.range, *([written.slide] if written.slide else []))
        self.has_unit |= any(length.has_unit for length in lengths)
        return StreamSource(name.text, window_of(written.range, written.slide, self.time_unit))

    def predicate(self, label: Name, source: Source) -> str:
        """What a label of a source is called in a rule.

        Raises:
            QueryError: E-UNKNOWN if a query constructs no such label, E-LATER if a stream's
                is read under two windows.
        """
        if isinstance(source, DerivedSource):
            return _constructed(label, source)
        self.labels.add(label.text)
        if source.stream is None:
            return label.text
        windows = self._windows.setdefault(source.stream, {})
        if windows.setdefault(label.text, source.window) != source.window or (
            ANY_LABEL in windows and windows[ANY_LABEL] != source.window
        ):
            raise LATER["two windows"].error(label.at, label.text)
        return f"{source.stream}.{label.text}"

    def steps(self, labels: LabelSet, at: Location, source: Source) -> tuple[Symbol, ...]:
        """A set of labels of a source: the predicate of it, or of each of what is derived.

        Raises:
            QueryError: E-LATER if labels of a stream are read under two windows.
        """
        if isinstance(source, DerivedSource):
            return tuple(
                Symbol(predicate, inverse)
                for inverse, left_out in ((False, labels.forward), (True, labels.backward))
                if left_out is not None
                for label, predicate in source.predicates.items()
                if label not in left_out
            )
        whole = replace(labels, stream=source.stream)
        if source.stream is not None:
            windows = self._windows.setdefault(source.stream, {})
            if {*windows.values(), source.window} != {source.window}:
                raise LATER["two windows"].error(at, label_set_text(labels))
            windows[ANY_LABEL] = source.window
        for name, known in self.label_sets.items():
            if known == whole:
                return (Symbol(name),)
        name = self.names.fresh(label_set_text(whole))
        self.label_sets[name] = whole
        return (Symbol(name),)

    def vertices(self, label: Name, source: Source) -> str:
        """What a label of vertices is called in a rule.

        It is one of the stream that ON names if that is a stream of vertices, else of a stored
        graph, as it is of vertices of what a query constructs.
        """
        if isinstance(source, DerivedSource) or source.stream is None:
            return label.text
        tested = self._tested.setdefault(source.stream, {})
        tested.setdefault(label.text, {}).setdefault(source.window, label)
        return f"{source.stream}.{label.text}"

    def clauses(self) -> tuple[WindowClause, ...]:
        """A window clause for each stream, or for each window that labels of it have.

        Raises:
            QueryError: E-LATER if a label of vertices is read under two windows.
        """
        clauses: list[WindowClause] = []
        for stream, windows in {**self._of_vertices(), **self._windows}.items():
            at = self._places[stream]
            different = list(dict.fromkeys(windows.values()))
            for window in different:
                if window is not None:
                    labels = tuple(label for label, own in windows.items() if own == window)
                    some = labels if len(different) > 1 else ()
                    clauses.append(WindowClause(window, stream, some, at))
        return tuple(clauses)

    def _of_vertices(self) -> dict[str, dict[str, Window | None]]:
        """The windows of streams of which labels of vertices alone are read: of a stream of
        edges, they say nothing of its window."""
        found: dict[str, dict[str, Window | None]] = {}
        for stream, tested in self._tested.items():
            for label, windows in tested.items() if stream not in self._windows else ():
                first, *others = windows
                if others:
                    again = windows[others[0]]
                    raise LATER["two windows"].error(again.at, again.text)
                found.setdefault(stream, {})[label] = first
        return found


def _constructed(label: Name, source: DerivedSource) -> str:
    predicate = source.predicates.get(label.text)
    if predicate is None:
        raise QueryError(
            "E-UNKNOWN",
            "the query in ON constructs no such edges",
            at=label.at,
            text=label.text,
            hint=f"it constructs {listed(list(source.predicates))}",
        )
    return predicate
