"""The sources of patterns, and the names of labels in them.

A label of a stream in ON becomes ``stream.label``, which refers to this stream only. A label of a
query in ON becomes the predicate that the query derives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...algebra.regex import Symbol
from ...algebra.window import Window
from ..parsing.windows import WindowText
from ..query.atoms import Location
from ..query.condition_text import label_set_text
from ..query.errors import QueryError, listed
from ..query.regular_query import LabelSet, Leaf, Rule, WindowClause
from .errors import LATER
from .names import Names
from .syntax import Name


@dataclass(frozen=True, slots=True)
class StreamSource:
    """A stream under a window; without a name, the stream that has the label."""

    stream: str | None = None
    window: Window | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DerivedSource:
    """The constructed edges of a query: the predicate of each label, and an optional window."""

    predicates: Mapping[str, str]
    window: Window | None = None


Source = StreamSource | DerivedSource
DEFAULT_SOURCE = StreamSource()
ANY_LABEL = ""
"""The key of all labels of a stream, where other keys are names of labels."""


@dataclass(slots=True)
class Reads:
    """The labels that a query reads from streams, and their windows.

    Attributes:
        time_unit: the time unit of windows.
        names: the assigned names.
        labels: the edge labels read from streams, without the names of the streams.
        has_unit: whether any window is written with a unit.
        label_sets: the label sets by predicate.
        leaves: the labels read under a second window, by predicate.
        rules: the rules of derived edges under a window.
    """

    time_unit: str
    names: Names
    labels: set[str] = field(default_factory=set)
    has_unit: bool = False
    label_sets: dict[str, LabelSet] = field(default_factory=dict)
    leaves: dict[str, Leaf] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    _own: dict[tuple[str, Window | None], str] = field(default_factory=dict)
    _windows: dict[str, dict[str, Window | None]] = field(default_factory=dict)
    _places: dict[str, Location] = field(default_factory=dict)
    _tested: dict[str, dict[str, dict[Window | None, Name]]] = field(default_factory=dict)

    def stream(self, name: Name, written: WindowText | None) -> StreamSource:
        """The source of ``ON name WINDOW ...``.

        Raises:
            QueryError: E-WINDOW if the window is invalid.
        """
        self._places.setdefault(name.text, name.at)
        return StreamSource(name.text, self.window(written))

    def window(self, written: WindowText | None) -> Window | None:
        """The window in ticks.

        Raises:
            QueryError: E-WINDOW for an invalid window.
        """
        if written is None:
            return None
        self.has_unit |= written.has_unit
        return written.window(self.time_unit)

    def predicate(self, label: Name, source: Source) -> str:
        """The name of a label of a source in a rule.

        Raises:
            QueryError: E-UNKNOWN if a query constructs no such label.
        """
        if isinstance(source, DerivedSource):
            return self._rewindowed(_constructed(label, source), source.window, label.at)
        self.labels.add(label.text)
        if source.stream is None:
            return label.text
        qualified = f"{source.stream}.{label.text}"
        windows = self._windows.setdefault(source.stream, {})
        first = windows.get(ANY_LABEL, windows.get(label.text, source.window))
        if first != source.window:
            return self._leaf(qualified, source.window)
        windows[label.text] = source.window
        return qualified

    def _leaf(self, label: str, window: Window | None) -> str:
        """The predicate of an input label or label set under a second window."""
        if (label, window) not in self._own:
            name = self._own[label, window] = self.names.fresh(f"{label}[{window or ''}]")
            self.leaves[name] = Leaf(label, window)
        return self._own[label, window]

    def _rewindowed(self, predicate: str, window: Window | None, at: Location) -> str:
        """The predicate of derived edges under a window."""
        if window is None:
            return predicate
        if (predicate, window) not in self._own:
            name = self._own[predicate, window] = self.names.fresh(f"{predicate}[{window}]")
            self.rules.append(Rule.renaming(name, predicate, at, window))
        return self._own[predicate, window]

    def steps(self, labels: LabelSet, at: Location, source: Source) -> tuple[Symbol, ...]:
        """The predicate of a label set of a stream, or the predicates of its derived labels."""
        if isinstance(source, DerivedSource):
            named = source.predicates
            return tuple(
                Symbol(self._rewindowed(named[label], source.window, at), inverse)
                for label, inverse in labels.among(named)
            )
        name = self._label_set(replace(labels, stream=source.stream))
        if source.stream is None:
            return (Symbol(name),)
        windows = self._windows.setdefault(source.stream, {})
        if {*windows.values()} - {source.window}:
            return (Symbol(self._leaf(name, source.window)),)
        windows[ANY_LABEL] = source.window
        return (Symbol(name),)

    def _label_set(self, labels: LabelSet) -> str:
        for name, named in self.label_sets.items():
            if named == labels:
                return name
        name = self.names.fresh(label_set_text(labels))
        self.label_sets[name] = labels
        return name

    def vertices(self, label: Name, source: Source) -> str:
        """The name of a label of vertices in a rule.

        The label is one of the stream in ON if that is a stream of vertices, else one of a stored
        graph. Vertices of constructed edges also have labels of a stored graph.
        """
        if isinstance(source, DerivedSource) or source.stream is None:
            return label.text
        tested = self._tested.setdefault(source.stream, {})
        tested.setdefault(label.text, {}).setdefault(source.window, label)
        return f"{source.stream}.{label.text}"

    def clauses(self) -> tuple[WindowClause, ...]:
        """A window clause for each stream, or for each window of its labels.

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
        """The windows of streams of which only vertex labels are read."""
        windows_by_stream: dict[str, dict[str, Window | None]] = {}
        for stream, tested in self._tested.items():
            for label, windows in tested.items() if stream not in self._windows else ():
                first, *others = windows
                if others:
                    again = windows[others[0]]
                    raise LATER["two windows"].error(again.at, again.text)
                windows_by_stream.setdefault(stream, {})[label] = first
        return windows_by_stream


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
