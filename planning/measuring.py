"""The catalog that a query is planned with: declared, measured, or assumed.

In: a request and its query. Out: a catalog with statistics of every stream that the query reads,
and warnings about the input. A stream is opened if it has a label of the query. A stream whose
labels stand only in its rows is opened if no other stream has some label of the query. The rows
read of a stream and the time for them are bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from ..algebra.deadline import Deadline
from ..catalog.defaults import DEFAULT_STATISTICS, DEFAULT_STORED, DEFAULT_STREAM, default_catalog
from ..catalog.model import Catalog, LabelStatistics, Stream
from ..languages.query.regular_query import RegularQuery
from ..languages.translation.labels_read import (
    Reads,
    input_labels,
    orders_vertices,
    reads,
    vertex_labels,
)
from .errors import UsageError
from .requests import PlanRequest

if TYPE_CHECKING:
    from ..catalog import Measurement

T = TypeVar("T")
MEASURING = 0.5
"""The share of a request's time in which its streams may be measured."""
SAMPLING_SECONDS = 20.0
"""The longest time to sample the rows of a stream."""
LONGEST_SECONDS = 60.0
"""After this time without any row of a stream, planning fails."""
_POLL_SECONDS = 0.05


def time_unit_of(request: PlanRequest) -> str:
    """The unit of time of a request's catalog, or of its inputs."""
    if request.catalog is not None:
        return request.catalog.time_unit
    return request.inputs[0].time_unit if request.inputs else request.time_unit


def catalog_of(
    request: PlanRequest, query: RegularQuery, deadline: Deadline
) -> tuple[Catalog, tuple[str, ...]]:
    """The catalog to plan with, and warnings about it.

    Raises:
        UsageError: if a stream that the query reads cannot be.
        OutOfTimeError: if the time is over before anything of a stream could be read.
    """
    if request.catalog is not None:
        return _with_statistics(request.catalog, query, deadline)
    if not request.inputs and not request.stored:
        return _assumed_catalog(request, query, input_labels(query)), ()
    return _of_inputs(request, query, deadline)


def _assumed_catalog(request: PlanRequest, query: RegularQuery, labels: Iterable[str]) -> Catalog:
    streams = [clause.stream for clause in query.windows if clause.stream is not None]
    found = default_catalog(labels, streams, vertex_labels(query))
    typed = {n: replace(s, vertex_type=request.vertex_type) for n, s in found.streams.items()}
    return replace(found, streams=typed, time_unit=time_unit_of(request))


def _of_inputs(
    request: PlanRequest, query: RegularQuery, deadline: Deadline
) -> tuple[Catalog, tuple[str, ...]]:
    """The catalog of files without a catalog, measured."""
    from ..catalog import measured_catalog
    from ..catalog.schema_inference import files_with_times

    labels = input_labels(query)
    wanted = {*labels, *vertex_labels(query)}
    (catalog, measurements), timed = _in_time(
        "",
        deadline,
        lambda enough: (
            measured_catalog(request.inputs, request.stored, labels=wanted, enough=enough),
            files_with_times(request.stored),
        ),
    )
    doubts = [
        f"{file.path}: its column ts is not read: a stored graph is valid always" for file in timed
    ]
    for measurement in measurements:
        doubts += doubts_of(measurement, query, by_options=True)
    unseen = tuple(label for label in labels if not _has(catalog, label))
    if not request.inputs:
        assumed = _assumed_catalog(request, query, unseen)
        return replace(catalog, streams={**assumed.streams, **catalog.streams}), tuple(doubts)
    labelled = all(file.label is not None for file in request.inputs)
    any_label = bool(query.label_sets) and not labelled
    whole = measurements[0].complete and not (any_label and measurements[0].more_labels)
    if whole or not (unseen or any_label):
        # The sample has every label of the input.
        named = {n: replace(s, open_labels=False) for n, s in catalog.streams.items()}
        return replace(catalog, streams=named), tuple(doubts)
    # The input may have labels that the sample does not show.
    open_stream = replace(catalog.streams[DEFAULT_STREAM], open_labels=True)
    if unseen:
        doubts.append(f"not among the first {measurements[0].rows:,} edges: {', '.join(unseen)}")
    known_streams = {**catalog.streams, DEFAULT_STREAM: open_stream}
    return replace(catalog, streams=known_streams), tuple(doubts)


def doubts_of(measurement: Measurement, query: RegularQuery, *, by_options: bool) -> list[str]:
    """Warnings about files that were measured for a query.

    ``by_options`` says whether options describe the files, and not a catalog.
    """
    doubts = list(measurement.warnings)
    if measurement.numeric and orders_vertices(query):
        integers = "--vertex-type integer" if by_options else "vertex_type: integer in the catalog"
        doubts.append(
            "the query orders vertices, which are compared as text, and all those looked at are "
            f"whole numbers: 10 comes before 9; for an order of numbers say {integers}"
        )
    if measurement.rejected and not measurement.rows:
        first = measurement.rejected[0]
        doubts.append(f"none of the rows looked at is an edge; the first of them: {first}")
    return doubts


def _has(catalog: Catalog, label: str) -> bool:
    """Whether a stream has a label of edges, perhaps written ``stream.label``."""
    return any(_of(stream, label) in stream.labels for stream in _of_edges(catalog))


def _of_edges(catalog: Catalog) -> list[Stream]:
    return [stream for stream in catalog.streams.values() if not stream.vertices]


def _of(stream: Stream, label: str) -> str:
    """A label as the stream calls it."""
    if label in stream.labels:
        return label
    return label.removeprefix(f"{stream.name}.")


def _with_statistics(
    catalog: Catalog, query: RegularQuery, deadline: Deadline
) -> tuple[Catalog, tuple[str, ...]]:
    """Adds statistics to the streams of a catalog that declare none.

    Files that the query reads are measured; live sources get default statistics.
    """
    catalog = replace(catalog, streams={n: _of_live(s) for n, s in catalog.streams.items()})
    unknown = [stream for stream in catalog.streams.values() if _to_measure(stream)]
    if not unknown:
        return catalog, ()
    read = reads(query, catalog)
    measuring = _Measuring(query, catalog, read, deadline, any_label=bool(read.any_label))
    for stream in unknown:
        fixed = _fixed_labels(stream)
        if _is_named(stream, read) or (fixed and fixed & _wanted(stream, read)):
            measuring.measure(stream)
        elif fixed:
            assumed = DEFAULT_STORED if stream.stored else DEFAULT_STATISTICS
            measuring.declare(stream, dict.fromkeys(sorted(fixed), assumed))
        else:
            measuring.possible.append(stream)
    measuring.find_missing_labels()
    return measuring.catalog, tuple(measuring.doubts)


def _to_measure(stream: Stream) -> bool:
    return stream.source is not None and not stream.labels and not stream.live


def _of_live(stream: Stream) -> Stream:
    """Gives a live stream without declared statistics the default ones."""
    if not stream.live or stream.labels:
        return stream
    if stream.label is None:
        return replace(stream, open_labels=True)
    return replace(stream, labels={stream.label: DEFAULT_STATISTICS})


def _fixed_labels(stream: Stream) -> frozenset[str] | None:
    """The labels of a stream if its catalog names them all; None if only its rows tell them."""
    assert stream.source is not None
    if stream.label is not None:
        return frozenset({stream.label, *stream.source.path_labels.values()})
    if stream.source.path and all(p in stream.source.path_labels for p in stream.source.path):
        return frozenset(stream.source.path_labels.values())
    return None


def _wanted(stream: Stream, read: Reads) -> frozenset[str]:
    """The labels that a query may read from a stream."""
    labels = read.vertices if stream.vertices else read.labels
    return frozenset(_of(stream, label) for label in labels)


def _is_named(stream: Stream, read: Reads) -> bool:
    """Whether a query reads a stream, whatever labels the stream turns out to have."""
    if stream.vertices and read.properties & stream.properties.keys():
        return True
    if not stream.vertices and {None, stream.name} & read.any_label:
        return True
    labels = read.vertices if stream.vertices else read.labels
    qualified = any(label.startswith(f"{stream.name}.") for label in labels)
    return stream.name in read.streams or qualified


@dataclass(slots=True)
class _Measuring:
    """A catalog while its streams are measured."""

    query: RegularQuery
    catalog: Catalog
    read: Reads
    deadline: Deadline
    any_label: bool
    possible: list[Stream] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def declare(self, stream: Stream, labels: dict[str, LabelStatistics]) -> None:
        """Sets the labels of a stream."""
        self._put(replace(stream, labels=labels))

    def measure(self, stream: Stream) -> None:
        """Measures a stream.

        Raises:
            UsageError: if it cannot be read.
        """
        from ..catalog import files_of_stream, measure_files

        measurement = _in_time(
            f"stream {stream.name}",
            self.deadline,
            lambda enough: measure_files(
                files_of_stream(stream, self.catalog.time_unit),
                labels=_wanted(stream, self.read),
                enough=enough,
            ),
        )
        whole = measurement.complete and not measurement.more_labels
        known = whole or _fixed_labels(stream) is not None
        open_labels = stream.open_labels or (self.any_label and not known)
        self._put(replace(stream, labels=measurement.statistics, open_labels=open_labels))
        self.doubts += doubts_of(measurement, self.query, by_options=False)

    def find_missing_labels(self) -> None:
        """Measures the streams that may have labels of the query that no other stream has.

        Raises:
            UsageError: if one cannot be read, and a label is not found in any other.
        """
        # Choose before measuring any: a label of several streams is ambiguous, whatever the order.
        asked = [stream for stream in self.possible if self._missing(stream)]
        failed: list[tuple[Stream, UsageError]] = []
        for stream in asked:
            try:
                self.measure(stream)
            except UsageError as error:
                failed.append((stream, error))
        for stream, reason in failed:
            missing = self._missing(stream)
            if missing:
                raise UsageError(
                    reason.message,
                    code=reason.code,
                    hint=f"no other stream has {', '.join(missing)}, which the query reads; a "
                    "stream whose labels the catalog declares is not opened to look for them",
                )
            self.doubts.append(f"{reason.message} (it was looked into for labels of the query)")

    def _missing(self, like: Stream) -> Sequence[str]:
        """The labels of the query that no stream has; of vertices if ``like`` has vertices."""
        wanted = self.read.vertices if like.vertices else self.read.labels
        streams = [s for s in self.catalog.streams.values() if s.vertices == like.vertices]
        constructed = self._constructed() if not like.vertices else frozenset()
        return [
            label
            for label in sorted(wanted - constructed)
            if not any(_of(stream, label) in stream.labels for stream in streams)
        ]

    def _constructed(self) -> frozenset[str]:
        """The labels that views construct."""
        from ..languages.translation.views import queries_of_views

        return frozenset(
            name
            for view, (labels, _) in queries_of_views(self.catalog)
            for label in labels
            for name in (label, f"{view}.{label}")
        )

    def _put(self, stream: Stream) -> None:
        streams = {**self.catalog.streams, stream.name: stream}
        self.catalog = replace(self.catalog, streams=streams)


def _in_time(what: str, deadline: Deadline, work: Callable[[Callable[[], bool]], T]) -> T:
    """Runs ``work`` in a thread within the time of the request, and returns its result.

    The argument of ``work`` says whether it has read for long enough; ``what`` names the work in
    messages. A thread that waits for a file system that does not answer cannot be ended: it is
    abandoned.

    Raises:
        UsageError: if it fails, or takes longer than :data:`LONGEST_SECONDS`.
        OutOfTimeError: if the time of the request is over before.
    """
    from ..catalog import EdgeFileError

    where = f"{what}: " if what else ""
    begun = monotonic()
    results: list[T] = []
    errors: list[BaseException] = []

    def has_enough() -> bool:
        return monotonic() - begun > SAMPLING_SECONDS or deadline.passed(MEASURING) is not None

    def carry_out() -> None:
        try:
            results.append(work(has_enough))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=carry_out, name=f"measuring {what}", daemon=True)
    thread.start()
    while thread.is_alive() and monotonic() - begun < LONGEST_SECONDS:
        deadline.check("statistics were measured")
        thread.join(_POLL_SECONDS)
    if results:
        return results[0]
    if not errors:
        raise UsageError(
            f"{where}nothing more could be read of its files within {LONGEST_SECONDS:.0f} s",
            code="E-FILE",
            hint="look whether the file system answers; streams whose labels the catalog declares "
            "are not read to plan",
        )
    if isinstance(errors[0], EdgeFileError):
        raise UsageError(f"{where}{errors[0]}", code="E-FILE") from errors[0]
    raise errors[0]
