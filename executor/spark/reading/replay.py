"""Finite inputs as a stream: read, checked, sorted by time over all files, cut into slices.

The edges of a stream that is declared to be out of order keep the order of their files
(:mod:`headrace.executor.spark.reading.replay_order`).

Spark's file source takes whole files, in the order of their modification times. So the edges that a
plan reads are *spooled* once: one Parquet file (a *slice*) for each micro-batch, with rising
modification times, and with its digest in the manifest. Edges of stored graphs have time 0, so they
come first. The last slice ends with a row without a stream, which marks the end of the input.

The manifest is written last. A spool without a manifest comes from a run that was killed while it
read; it is written again.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ....algebra.plan import PhysicalPlan
from ....algebra.plan_parts import PlanStream
from ....algebra.remedy import Remedy
from ....catalog.edges import EdgeFile, EdgeFileError, RejectedRowError, check_not_empty, read
from ....catalog.model import PropertyType, VertexType
from ...scans import OWN_TIME, Field, scan_inputs
from ...values import ARROW_TYPES
from ...watermarks import in_disorder, streams_read
from ..exchange.columns import SQL_TYPES, properties_of
from ..host.errors import DamagedError, InputError, OtherQueryError
from ..host.files import digest_of, read_sealed, write_sealed, written_aside
from ..host.storage import translate_storage_errors
from .fingerprint import Inputs, check_unchanged, fingerprint
from .rejected import RejectedRows, Tally
from .replay_order import ORDER, ReplayOrder
from .time_sort import TimeSorter, slices_by_time, slices_of_sizes

ReadProgress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes of all files."""

FIRST_SLICE = 4_096
"""The number of edges in the first slice, which is small so that first results come early."""
LARGEST_SLICE = 65_536
_MANIFEST = "_manifest.json"
_VERSION = 2
_MTIME_OF_FIRST = 1_000_000_000
"""The modification time of the first slice in seconds; Spark needs times that rise, and no more."""


@dataclass(frozen=True, slots=True)
class Spool:
    """The edges that a plan reads as slices, in their order of arrival.

    Attributes:
        folder: the folder of the slices.
        vertex_type: the type of vertices in the slices.
        edges: the number of edges in the inputs.
        relevant: the number of edges with a label that the plan reads.
        rejected: the number of rows that are not edges.
        slice_ends: at position ``i`` the number of relevant edges in the first ``i + 1`` slices.
        properties: the columns of properties (:mod:`headrace.executor.spark.exchange.columns`)
            with their types.
        digests: the SHA-256 of each slice; empty in a spool of an earlier version.
    """

    folder: Path
    vertex_type: VertexType
    edges: int
    relevant: int
    rejected: int
    slice_ends: tuple[int, ...]
    properties: tuple[tuple[str, PropertyType], ...] = ()
    digests: tuple[str, ...] = ()

    @property
    def ddl(self) -> str:
        """The schema of the slices, for Spark."""
        vertex = SQL_TYPES[self.vertex_type]
        edge = f"stream string, label string, src {vertex}, trg {vertex}, ts bigint"
        return ", ".join([edge, *(f"{name} {SQL_TYPES[kind]}" for name, kind in self.properties)])

    def slice(self, number: int) -> Path:
        """The file of a slice."""
        return self.folder / f"edges-{number:08}.parquet"

    @translate_storage_errors()
    def check(self, since: int) -> None:
        """Compares the slices from number ``since`` on with their digests.

        Sets their modification times again, since a copy of the folder may have lost them.

        Raises:
            DamagedError: if a slice differs or is missing.
            StorageError: if a slice cannot be read.
        """
        for number in range(since, len(self.slice_ends)):
            file = self.slice(number)
            if not file.exists():
                raise DamagedError(file)
            if self.digests and digest_of(file) != self.digests[number]:
                raise DamagedError(file)
            _order(file, number)


@translate_storage_errors()
def spool(
    folder: Path,
    plan: PhysicalPlan,
    inputs: Inputs,
    rejected: Path,
    *,
    strict: bool = False,
    on_read: ReadProgress | None = None,
    largest_slice: int = LARGEST_SLICE,
    slice_length: int | None = None,
    begun: bool = False,
) -> Spool:
    """Reads the inputs into ``folder``, unless ``folder`` has a finished spool.

    Args:
        folder: the folder of the slices; emptied first if a killed run left it unfinished.
        plan: the plan; the spool keeps the labels and properties that it reads.
        inputs: the files by stream, with an entry for every stream of the plan.
        rejected: the file for rows that are not edges, as JSON lines; created with the first one.
        strict: whether a row that is not an edge stops the run.
        on_read: called with the progress of reading.
        largest_slice: the largest number of edges in a micro-batch; the first ones are smaller, so
            that first results come early.
        slice_length: cuts slices at multiples of this number of time units instead.
        begun: whether the run has taken slices already; then an unfinished spool is an error,
            since new slices might have other sizes.

    Raises:
        InputError: if a file cannot be read, a stream has no file, or, with ``strict``, a row is
            no edge.
        OtherQueryError: if the folder has a spool of other inputs.
        DamagedError: if the manifest is damaged, or is missing and the run has ``begun``.
        StorageError: if the spool cannot be written.
    """
    described = fingerprint(inputs)
    opened = _opened(folder)
    if opened is not None:
        manifest, finished = opened
        if manifest["inputs"] != json.loads(json.dumps(described)):
            raise OtherQueryError(
                f"{folder.parent} was started on other input files, or these have changed since.",
                "Give the same files as before.",
                Remedy("checkpoint", "start anew with another checkpoint"),
            )
        return finished
    if begun and not (folder / _MANIFEST).exists():
        raise DamagedError(folder / _MANIFEST)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    replay = Replay(folder, plan, inputs)
    writer = _SliceWriter(folder, in_order=not in_disorder(plan))
    with RejectedRows(rejected) as aside:
        slices = replay.slices(aside, largest_slice, slice_length, strict=strict, on_read=on_read)
        ends = tuple(writer.write(slices))
        check_unchanged(described, inputs)
    finished = Spool(
        folder,
        replay.vertex_type,
        replay.edges,
        replay.relevant,
        replay.rejected,
        ends,
        tuple((column, kind) for (_, kind), column in replay.properties.items()),
        tuple(writer.digests),
    )
    manifest = {
        **{k: v for k, v in asdict(finished).items() if k != "folder"},
        "version": _VERSION,
        "inputs": described,
    }
    write_sealed(folder / _MANIFEST, manifest)
    return finished


def _opened(folder: Path) -> tuple[dict[str, Any], Spool] | None:
    """The manifest and spool in ``folder``; None if there is no finished spool."""
    try:
        manifest = read_sealed(folder / _MANIFEST)
    except FileNotFoundError:
        return None
    try:
        if manifest["version"] != _VERSION:
            return None
        numbers = {k: manifest[k] for k in ("vertex_type", "edges", "relevant", "rejected")}
        properties = tuple((name, kind) for name, kind in manifest["properties"])
        ends = tuple(manifest["slice_ends"])
        digests = tuple(manifest.get("digests", ()))
    except (LookupError, TypeError, AttributeError) as error:
        raise DamagedError(folder / _MANIFEST) from error
    finished = Spool(folder, slice_ends=ends, properties=properties, digests=digests, **numbers)
    return manifest, finished


class Replay:
    """Reads the files of a plan's streams once, and gives the edges in slices.

    Attributes:
        vertex_type: the type of vertices in the slices.
        properties: the column of each property that the plan reads.
        edges: the number of edges in the inputs.
        relevant: the number of edges with a label that the plan reads.
        rejected: the number of rows that are not edges.

    The numbers are complete with the first slice, since the inputs are sorted.
    """

    def __init__(self, folder: Path, plan: PhysicalPlan, inputs: Inputs) -> None:
        """``folder`` is for sorted runs of large inputs, ``inputs`` the files by stream."""
        self._runs = folder / "_runs"
        self.properties = properties_of(scan_inputs(plan))
        self._files = tuple(_files(plan, inputs))
        self._labels = {
            stream: pa.array(sorted({s.label for _, s in plan.scans if s.stream == stream}))
            for stream in {scan.stream for _, scan in plan.scans}
        }
        types = {stream.vertex_type for stream in plan.streams}
        # One column holds the vertices of all streams; a scan input reads integers out of text.
        self.vertex_type: VertexType = types.pop() if len(types) == 1 else "string"
        self._arrival = ReplayOrder(streams_read(plan)) if in_disorder(plan) else None
        self.edges = self.relevant = self.rejected = 0

    def slices(
        self,
        rejected: RejectedRows,
        largest_slice: int = LARGEST_SLICE,
        slice_length: int | None = None,
        *,
        strict: bool = False,
        on_read: ReadProgress | None = None,
    ) -> Iterator[pa.Table]:
        """Yields the slices; :func:`spool` describes the arguments and errors.

        The columns are stream, label, src, trg, ts and those of :attr:`properties`. If a stream may
        be out of order, rows without a label move the watermark, and rows with the ts
        :data:`headrace.executor.batch.FOREVER` end their stream.
        """
        vertex = ARROW_TYPES[self.vertex_type]
        name = pa.dictionary(pa.int32(), pa.string())
        edge = {"stream": name, "label": name, "src": vertex, "trg": vertex, "ts": pa.int64()}
        columns = {column: ARROW_TYPES[kind] for (_, kind), column in self.properties.items()}
        schema = pa.schema({**edge, **columns})
        by = "ts"
        if self._arrival is not None:
            by = ORDER
            schema = schema.append(pa.field(ORDER, pa.int64()))
        sorter = TimeSorter(schema, self._runs, by=by)
        for rows in self._relevant_rows(rejected, strict, on_read):
            sorter.add(rows.cast(schema))
        if self._arrival is not None and self.relevant:
            for end in self._arrival.ends(schema):
                sorter.add(end)
        if slice_length is None:
            cut = slices_of_sizes(sorter.sorted(), _slice_sizes(largest_slice))
        else:
            cut = slices_by_time(sorter.sorted(), slice_length, by)
        for table in cut:
            yield table if self._arrival is None else table.drop_columns([ORDER])
        shutil.rmtree(self._runs, ignore_errors=True)

    def _relevant_rows(
        self, rejected: RejectedRows, strict: bool, on_read: ReadProgress | None
    ) -> Iterator[pa.Table]:
        """Yields the edges with a label that the plan reads; counts edges and rejected rows.

        For a stream out of order the other edges are yielded too, with stream and ts alone: they
        move the watermark.
        """
        self._check_not_empty()
        sizes = [os.path.getsize(file.path) for _, file in self._files]
        tallies = {stream: Tally() for stream, _ in self._files}
        for position, (stream, file) in enumerate(self._files):
            order = None if self._arrival is None else self._arrival.file(stream)
            report = _shifted(on_read, sum(sizes[:position]), sum(sizes))
            try:
                for batch in read(file, strict=strict, on_progress=report):
                    self.edges += batch.edges.num_rows
                    self.rejected += rejected.write(map(asdict, batch.rejected))
                    tallies[stream].add(batch)
                    is_read = pc.is_in(batch.edges["label"], self._labels[stream])
                    kept = batch.edges.filter(is_read)
                    self.relevant += kept.num_rows
                    if order is not None:
                        rows = with_stream(batch.edges, stream, self.properties)
                        yield order.placed(rows, is_read)
                    elif kept.num_rows:
                        yield with_stream(kept, stream, self.properties)
            except EdgeFileError as error:
                raise InputError(str(error)) from error
            except RejectedRowError as error:
                raise InputError(
                    f"A row is not an edge: {error}",
                    "Mend it.",
                    Remedy("strict", "run without stopping at such rows"),
                ) from error

        for stream, tally in tallies.items():
            tally.check(stream)

    def _check_not_empty(self) -> None:
        for stream in dict.fromkeys(stream for stream, _ in self._files):
            try:
                check_not_empty([file for name, file in self._files if name == stream])
            except EdgeFileError as error:
                raise InputError(f"The stream {stream!r} has no rows: {error}") from error


class _SliceWriter:
    """Writes the slices of a spool, with their digests."""

    def __init__(self, folder: Path, *, in_order: bool) -> None:
        self._folder = folder
        self._in_order = in_order
        self.digests: list[str] = []

    def write(self, tables: Iterable[pa.Table]) -> Iterator[int]:
        """Writes each table; yields the number of edges with a label so far."""
        end = 0
        for number, (table, is_last) in enumerate(_with_last(tables)):
            path = self._folder / f"edges-{number:08}.parquet"
            whole = _with_end(table) if is_last and self._in_order else table
            data = io.BytesIO()
            pq.write_table(whole, data, compression="zstd")
            with written_aside(path) as file:
                file.write(data.getbuffer())
            self.digests.append(hashlib.sha256(data.getbuffer()).hexdigest())
            _order(path, number)
            end += len(table) - table["label"].null_count
            yield end


def _order(path: Path, number: int) -> None:
    """Sets the modification time of a slice, by which Spark orders files."""
    os.utime(path, (_MTIME_OF_FIRST + number,) * 2)


def _with_last(tables: Iterable[pa.Table]) -> Iterator[tuple[pa.Table, bool]]:
    """Yields each table with whether it is the last one."""
    remaining = iter(tables)
    current = next(remaining, None)
    while current is not None:
        following = next(remaining, None)
        yield current, following is None
        current = following


def _with_end(table: pa.Table) -> pa.Table:
    """Adds the row without a stream that marks the end of the input."""
    at = table["ts"][-1]
    end = {
        field.name: pa.array([at if field.name == "ts" else None], field.type)
        for field in table.schema
    }
    return pa.concat_tables([table, pa.table(end, schema=table.schema)])


def _files(plan: PhysicalPlan, inputs: Inputs) -> Iterator[tuple[str, EdgeFile]]:
    """The files to read, in the plan's time unit and types of vertices."""
    read_streams = {scan.stream for _, scan in plan.scans}
    for stream in plan.streams:
        if stream.name not in read_streams:
            continue
        if not inputs.get(stream.name):
            raise InputError(
                f"The plan reads the stream {stream.name!r}, which has no input.",
                "Give its files in the catalog.",
                Remedy("input", "name them"),
            )
        for file in inputs[stream.name]:
            yield (
                stream.name,
                file_for(file, plan, stream),
            )


def file_for(file: EdgeFile, plan: PhysicalPlan, stream: PlanStream) -> EdgeFile:
    """The layout of a stream's file, limited to what a plan reads.

    It has only the properties that the plan uses, and no times for a stored graph.
    """
    return replace(
        file,
        stored=any(s.stream == stream.name and s.range is None for _, s in plan.scans),
        vertex_type=stream.vertex_type,
        time_unit=plan.time_unit,
        deletions=any(s.update_pattern for _, s in plan.scans if s.stream == stream.name),
        properties={name: kind for name, kind in stream.properties.items() if name != OWN_TIME},
    )


def _shifted(report: ReadProgress | None, before: int, total: int) -> ReadProgress | None:
    """Turns the progress in one file into progress over all files."""
    return None if report is None else lambda done, _: report(before + done, total)


def with_stream(edges: pa.RecordBatch, stream: str, properties: Mapping[Field, str]) -> pa.Table:
    """Edges in the columns of slices; a property that they lack is null."""
    columns = {name: edges[name] for name in ("label", "src", "trg", "ts")}
    columns["stream"] = pa.repeat(pa.scalar(stream), edges.num_rows)
    for (name, kind), column in properties.items():
        type_ = ARROW_TYPES[kind]
        present = name in edges.schema.names and edges.schema.field(name).type == type_
        columns[column] = edges[name] if present else pa.nulls(edges.num_rows, type_)
    order = ("stream", "label", "src", "trg", "ts", *properties.values())
    return pa.table({name: columns[name] for name in order})


def _slice_sizes(largest: int) -> Iterator[int]:
    """Sizes of slices: they double from :data:`FIRST_SLICE` to the largest."""
    growing = itertools.takewhile(lambda n: n < largest, (FIRST_SLICE << i for i in range(40)))
    return itertools.chain(growing, itertools.repeat(largest))
