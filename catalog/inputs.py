"""Edge files from paths or catalog streams, and a measured catalog from edge files.

In: a stream of a catalog, or paths as on the command line (`FILE` or `LABEL=FILE`). Out: the
`EdgeFile`s to read, or a `Catalog` with their layout and measured statistics.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType

from .defaults import DEFAULT_STREAM, VERTEX_STREAM
from .edges import EdgeFile, EdgeFileError, format_of
from .joint import joint_of
from .lines import Progress, cannot_be_read
from .measurement import ROWS, Measurement, measure_files
from .model import FILE_FORMATS, ROLES, Catalog, Source, Stream, VertexType
from .schema_inference import inferred_schema

_HIDDEN = (".", "_")
STORED_STREAM = "stored"
"""The name of the stored graph of a measured catalog."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of files without a catalog.

    Attributes:
        fields: the fields of CSV without a header; None for a file with a header.
        columns: the file's names of roles, where they differ.
        separator: the character between fields; None: a tab for ``.tsv``, else a comma.
        time_unit: the unit of ``ts``.
        vertex_type: the type of vertices.
    """

    fields: tuple[str, ...] | None = None
    separator: str | None = None
    time_unit: str = "second"
    vertex_type: VertexType = "string"
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @staticmethod
    def of(
        columns: str | None = None,
        separator: str | None = None,
        time_unit: str = "second",
        vertex_type: VertexType = "string",
    ) -> Layout:
        """The layout of the options ``--columns src,trg,ts --sep ' '``.

        Names in their order are those of a file without a header; an unused field may have any
        name, such as ``_``. ``src=from,trg=to`` says which columns of a file fill the roles.
        ``\\t`` is a tab.

        Raises:
            EdgeFileError: if ``src`` or ``trg`` is not among the columns, a name occurs twice, or
                an unknown role is given a column.
        """
        tab = None if separator is None else separator.replace("\\t", "\t")
        if columns is None:
            return Layout(None, tab, time_unit, vertex_type)
        if "=" in columns:
            return Layout(None, tab, time_unit, vertex_type, _columns_of_roles(columns))
        fields = tuple(name.strip() for name in columns.split(","))
        for role in ("src", "trg"):
            if role not in fields:
                raise EdgeFileError(
                    f"columns {columns!r}: {role} is missing; name the fields of the file in "
                    "their order, as src,trg,ts"
                )
        for role in ROLES:
            if fields.count(role) > 1:
                raise EdgeFileError(f"columns {columns!r}: {role} is given twice")
        return Layout(fields, tab, time_unit, vertex_type)


def _columns_of_roles(columns: str) -> Mapping[str, str]:
    """The columns of roles in ``src=from,trg=to,ts``; a role without a column has its own name."""
    named: dict[str, str] = {}
    for part in columns.split(","):
        role, sign, name = (text.strip() for text in part.partition("="))
        if role not in ROLES or (sign and not name):
            raise EdgeFileError(
                f"columns {columns!r}: {part.strip()!r} does not say which column of the file is "
                f"{', '.join(ROLES[:-1])} or {ROLES[-1]}; write it as src=NAME"
            )
        if role in named:
            raise EdgeFileError(f"columns {columns!r}: {role} is given twice")
        named[role] = name or role
    return MappingProxyType(named)


def files_of_inputs(
    inputs: Sequence[str], layout: Layout | None = None, *, stored: bool = False
) -> tuple[EdgeFile, ...]:
    """The files of inputs; an input is a path, folder or glob, with or without ``LABEL=``.

    Raises:
        EdgeFileError: if a path matches no file.
    """
    layout = layout or Layout()
    files = []
    for text in inputs:
        label, path = _split(text)
        for file_path in _expanded(path):
            files.append(
                EdgeFile(
                    file_path,
                    format_of(file_path),
                    label,
                    layout.columns,
                    header=layout.fields is None,
                    names=layout.fields,
                    separator=layout.separator or _separator_of(file_path),
                    time_unit=layout.time_unit,
                    vertex_type=layout.vertex_type,
                    stored=stored,
                )
            )
    return tuple(files)


def files_of_stream(stream: Stream, time_unit: str) -> tuple[EdgeFile, ...]:
    """The files of a stream that the catalog describes.

    CSV options: ``sep`` or ``delimiter``, and ``header`` (default ``true``).

    Raises:
        EdgeFileError: if the stream has no source, or its source is live or matches no files.
    """
    source = stream.source
    if source is None:
        raise EdgeFileError(f"stream {stream.name}: it has no source")
    if source.live:
        raise EdgeFileError(
            f"stream {stream.name}: {source.format!r} is not a file format; "
            f"files are {', '.join(FILE_FORMATS)}"
            if source.format not in FILE_FORMATS
            else f"stream {stream.name}: its folder is followed, so it has no end"
        )
    return tuple(
        replace(
            layout_of(stream, path, time_unit),
            path=file_path,
            separator=_declared_separator(source) or _separator_of(file_path),
        )
        for path in source.path
        for file_path in _expanded(path)
    )


def layout_of(stream: Stream, path: str, time_unit: str) -> EdgeFile:
    """The layout of a file under a ``path`` of a stream's source.

    A format that is not a file format is read as CSV.

    Raises:
        EdgeFileError: if the options are invalid.
    """
    source = stream.source
    assert source is not None
    options = {name.lower(): value for name, value in source.options.items()}
    return EdgeFile(
        path,
        FILE_FORMATS.get(source.format, "csv"),
        source.path_labels.get(path, stream.label),
        MappingProxyType(dict(stream.columns)),
        header=options.get("header", "true").lower() == "true",
        separator=_declared_separator(source) or _separator_of(path),
        time_unit=time_unit,
        vertex_type=stream.vertex_type,
        deletions=stream.deletions,
        stored=stream.stored,
        vertices=stream.vertices,
        properties=stream.properties,
        layout=source.layout,
        origin="catalog",
    )


def _declared_separator(source: Source) -> str | None:
    """The separator that a source declares, if any."""
    options = {name.lower(): value for name, value in source.options.items()}
    separator = options.get("sep", options.get("delimiter"))
    return None if separator is None else separator.replace("\\t", "\t")


def stream_of_files(name: str, files: Sequence[EdgeFile], measurement: Measurement) -> Stream:
    """The catalog's description of files as one stream.

    Raises:
        EdgeFileError: if the files have different layouts: a stream of a catalog has one format,
            and a label for each of its files or for none.
    """
    first = files[0]
    for other in files:
        if _layout(other) != _layout(first):
            raise EdgeFileError(
                f"{first.path} and {other.path} are laid out differently; a stream of a catalog "
                "has one format, and a label for each file or for none"
            )
    options: dict[str, str] = {}
    if first.format == "csv":
        if first.separator != ",":
            options["sep"] = first.separator
        if not first.header:
            options["header"] = "false"
    columns = dict(first.columns)
    if first.names is not None:
        used = {*first.roles, *first.properties} - ({"ts"} if first.stored else set())
        columns = {name: f"_c{i}" for i, name in enumerate(first.names) if name in used}
    labels = {f.path: f.label for f in files if f.label is not None}
    one_label = next(iter(labels.values())) if len(set(labels.values())) == 1 else None
    return Stream(
        name=name,
        labels=MappingProxyType(dict(measurement.statistics)),
        source=Source(
            first.format,
            tuple(dict.fromkeys(f.path for f in files)),
            MappingProxyType(options),
            MappingProxyType({} if one_label else labels),
        ),
        columns=MappingProxyType(columns),
        label=one_label,
        open_labels=measurement.more_labels,
        vertex_type=first.vertex_type,
        deletions=first.deletions,
        stored=first.stored,
        vertices=first.vertices,
        properties=first.properties,
    )


def measured_catalog(
    files: Sequence[EdgeFile],
    stored: Sequence[EdgeFile] = (),
    *,
    rows: int = ROWS,
    now: datetime | None = None,
    strict: bool = False,
    on_progress: Progress | None = None,
    labels: Collection[str] = (),
    enough: Callable[[], bool] | None = None,
    sample: bool = True,
) -> tuple[Catalog, tuple[Measurement, ...]]:
    """A catalog of files without one, and the measurements of its statistics.

    ``files`` become the stream ``input``. ``stored`` files become the stored graph ``stored``, or,
    if their rows are vertices, ``vertices``. Further columns become properties
    (:mod:`headrace.catalog.schema_inference`). A column ``op`` of a stream declares deletions.
    Arguments and errors are those of :func:`headrace.catalog.measurement.measure_files`.

    Raises:
        EdgeFileError: if there are no files, or they cannot be read.
    """
    streams: dict[str, Stream] = {}
    measurements = []
    edges = [file for file in stored if not file.vertices]
    of_vertices = [file for file in stored if file.vertices]
    for name, group in (
        (DEFAULT_STREAM, files),
        (STORED_STREAM, edges),
        (VERTEX_STREAM, of_vertices),
    ):
        if group:
            schema = inferred_schema(group)
            deletions = name == DEFAULT_STREAM and schema.deletions
            described = [
                replace(file, properties=schema.properties, deletions=file.deletions or deletions)
                for file in group
            ]
            measurement = measure_files(
                described,
                rows=rows,
                now=now,
                strict=strict,
                on_progress=on_progress,
                labels=labels,
                enough=enough,
                sample=sample,
            )
            measurement = replace(measurement, warnings=(*schema.warnings, *measurement.warnings))
            measurements.append(measurement)
            streams[name] = stream_of_files(name, described, measurement)
    if not streams:
        raise EdgeFileError("no input: name at least one file of edges")
    time_unit = (*files, *stored)[0].time_unit
    ends = {name: m.ends for name, m in zip(streams, measurements, strict=True)}
    joint = joint_of(tuple(streams.values()), ends)
    samples = {
        name: measurement.sample
        for name, measurement in zip(streams, measurements, strict=True)
        if measurement.sample is not None
    }
    catalog = Catalog(
        MappingProxyType(streams), time_unit, joint=joint, samples=MappingProxyType(samples)
    )
    return catalog, tuple(measurements)


def _split(text: str) -> tuple[str | None, str]:
    """Splits ``LABEL=PATH``; an existing path that contains ``=`` has no label."""
    label, sign, path = text.partition("=")
    if not sign or not label or os.sep in label or os.path.exists(text):
        return None, text
    return label.strip(), path


def _expanded(path: str) -> list[str]:
    """The files that match a path, sorted by name, without hidden files."""
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return _files_in(path)
        return [path]
    except (FileNotFoundError, NotADirectoryError):
        matches = [f for f in glob.glob(path, recursive=True) if not os.path.isdir(f)]
    except OSError as error:
        raise cannot_be_read(path, error) from error
    if not matches:
        raise EdgeFileError(f"{path}: the file does not exist")
    return sorted(matches)


def _files_in(folder: str) -> list[str]:
    """All files in a folder and its subfolders, without hidden ones."""
    paths: list[str] = []

    def refuse(error: OSError) -> None:
        raise cannot_be_read(str(error.filename), error)

    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(_HIDDEN)]
        paths += [os.path.join(place, name) for name in files if not name.startswith(_HIDDEN)]
    if not paths:
        raise EdgeFileError(f"{folder}: the folder has no files")
    return sorted(paths)


def _separator_of(path: str) -> str:
    return "\t" if path.lower().removesuffix(".gz").endswith(".tsv") else ","


def _layout(file: EdgeFile) -> tuple[object, ...]:
    return (
        file.format,
        file.label is None,
        tuple(sorted(file.columns.items())),
        file.header,
        file.names,
        file.separator if file.format == "csv" else None,
        file.time_unit,
        file.vertex_type,
        file.deletions,
        file.stored,
        file.vertices,
    )
