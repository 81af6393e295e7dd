"""The document of a catalog, as YAML files and REST bodies hold it.

In: Python values parsed from YAML or JSON. Out: a `Catalog`, and back. pydantic validates the
document here; every other module may assume a valid catalog.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ..algebra import durations
from ..algebra.window import LONGEST_WINDOW
from .model import (
    ROLES,
    Catalog,
    PropertyType,
    SampleFile,
    Stream,
    VertexType,
    View,
    roles_of,
)
from .shape_errors import DocumentPath, PlacedError, did_you_mean, shape_errors
from .sinks_document import SinkName, SinkShape, sink_document
from .source_document import SourceShape, merges_by_default, source_document
from .statistics_document import (
    MOST_JOINT_ENTRIES,
    JointShape,
    Shape,
    StatisticsShape,
    Text,
    check_joint,
    joint_document,
    statistics_document,
)


class CatalogError(ValueError):
    """An invalid catalog; the message has the file, the place and the expected value.

    ``place`` is the path to the entry through the document.
    """

    def __init__(self, message: str, place: DocumentPath = ()) -> None:
        super().__init__(message)
        self.place = place


class _Stream(Shape):
    source: SourceShape | None = None
    columns: dict[Text, Text] = Field(default_factory=dict)
    label: Text | None = None
    open_labels: bool = False
    vertex_type: VertexType = "string"
    delay: int = 0
    idle: int | None = None
    deletions: bool = False
    stored: bool = False
    vertices: bool = False
    merge: bool | None = None
    properties: dict[Text, PropertyType] = Field(default_factory=dict)
    labels: dict[Text, StatisticsShape] = Field(default_factory=dict)

    @field_validator("delay", mode="before")
    @classmethod
    def _ticks(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError("expected a length of time, as 1h")
        unit = info.context if isinstance(info.context, str) else "second"
        ticks = durations.ticks(value, unit) if isinstance(value, str) else value
        if ticks < 0:
            raise ValueError("expected a length of time that is not negative")
        if ticks > LONGEST_WINDOW:
            raise ValueError("expected a length of time of at most 2^62 time units")
        return ticks

    @field_validator("idle", mode="before")
    @classmethod
    def _milliseconds(cls, value: object) -> object:
        if value is None or not isinstance(value, str) or value.strip().isdigit():
            raise ValueError("expected a length of time with its unit, as 10m")
        milliseconds = durations.ticks(value, "millisecond")
        if not milliseconds:
            raise ValueError("expected a length of time that is not zero")
        return milliseconds

    @model_validator(mode="after")
    def _rates_fit(self) -> _Stream:
        for label, statistics in self.labels.items():
            if self.stored and statistics.population is None:
                raise PlacedError(
                    ("labels", label), "expected population, since the graph is stored"
                )
            if self.stored and statistics.rate:
                raise PlacedError(("labels", label), "a stored graph has a population and no rate")
            if not self.stored and statistics.rate is None:
                raise PlacedError(("labels", label), "expected rate, in edges per time unit")
            if not self.stored and statistics.population is not None:
                raise PlacedError(
                    ("labels", label), "only a stored graph (stored: true) has a population"
                )
        if self.stored and self.deletions:
            raise PlacedError(("deletions",), "a stored graph does not change")
        if self.stored and self.merge:
            raise PlacedError(("merge",), "rows without times have no newest one")
        if self.stored and self.delay:
            raise PlacedError(("delay",), "a stored graph has no times, and so no delay")
        if self.stored and "ts" in self.columns:
            raise PlacedError(
                ("columns", "ts"),
                "a stored graph has no times and is valid always; give the column another name "
                "among the properties, or leave stored out",
            )
        if self.label is not None and self.labels and self.label not in self.labels:
            raise PlacedError(
                ("labels",), f"expected statistics of {self.label}, the stream's label"
            )
        return self

    @model_validator(mode="after")
    def _graphs_fit(self) -> _Stream:
        source = None if self.source is None else self.source.source()
        if source is None or not source.of_graphs:
            return self
        if self.label is not None:
            raise PlacedError(("label",), "nodes and relationships of events have their own labels")
        if source.path_labels:
            raise PlacedError(
                ("source", "path"), "nodes and relationships of events have their own labels"
            )
        allowed = (*self.properties, *(["ts"] if source.layout == "seraph" else []))
        for name in self.columns:
            if name not in allowed:
                raise PlacedError(
                    ("columns", name), "the layout of the events says where they have it"
                )
        return self

    @model_validator(mode="after")
    def _properties_fit(self) -> _Stream:
        roles, every = roles_of(self.vertices), "vertex" if self.vertices else "edge"
        for name in self.properties:
            if name in (*roles, *ROLES):
                raise PlacedError(
                    ("properties", name),
                    f"it is not a property: every {every} has it; give the property another "
                    "name, and its column in columns",
                )
        names = (*roles, *self.properties)
        for name in self.columns:
            if name not in names:
                raise PlacedError(
                    ("columns", name),
                    f"it is neither one of {', '.join(roles)} nor among the properties of the "
                    f"stream{did_you_mean(name, names)}",
                )
        for label, statistics in self.labels.items():
            described: dict[str, Mapping[str, object]] = {
                "distinct_properties": statistics.distinct_properties,
                "properties": statistics.properties,
            }
            for entry, entry_names in described.items():
                for name in entry_names:
                    if name not in self.properties and name != "ts":
                        raise PlacedError(
                            ("labels", label, entry, name),
                            "it is not among the properties of the stream"
                            + did_you_mean(name, self.properties),
                        )
        return self

    def value(self, name: str) -> Stream:
        """The stream."""
        source = None if self.source is None else self.source.source()
        by_default = merges_by_default(source, self.stored)
        return Stream(
            name=name,
            labels=MappingProxyType({k: s.value(self.stored) for k, s in self.labels.items()}),
            source=source,
            columns=MappingProxyType(dict(self.columns)),
            label=self.label,
            open_labels=self.open_labels,
            vertex_type=self.vertex_type,
            delay=self.delay,
            idle_ms=self.idle,
            deletions=self.deletions,
            stored=self.stored,
            vertices=self.vertices,
            merge=by_default if self.merge is None else self.merge,
            properties=MappingProxyType(dict(self.properties)),
        )


class _View(Shape):
    query: Text | None = None
    file: Text | None = None
    language: Text | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> _View:
        if (self.query is None) == (self.file is None):
            raise ValueError("expected the text of a query, or the file that holds it")
        return self

    def value(self) -> View:
        return View(self.query or "", self.file, self.language)


class _Sample(Shape):
    file: Text
    digest: Text


class _Catalog(Shape):
    time_unit: Annotated[Text, AfterValidator(durations.unit)] = "second"
    streams: dict[Text, _Stream] = Field(min_length=1)
    views: dict[Text, _View] = Field(default_factory=dict)
    joint: Annotated[list[JointShape], Field(max_length=MOST_JOINT_ENTRIES)] = Field(
        default_factory=list
    )
    sample: _Sample | None = None
    sinks: dict[SinkName, SinkShape] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _views_are_no_streams(self) -> _Catalog:
        for name in self.views:
            if name in self.streams:
                raise PlacedError(("views", name), "it is the name of a stream")
        return self

    @model_validator(mode="after")
    def _joint_fits(self) -> _Catalog:
        if self.joint:
            streams = {name: stream.value(name) for name, stream in self.streams.items()}
            check_joint([one.value() for one in self.joint], streams)
        return self


def from_document(document: object) -> Catalog:
    """Reads a catalog from the values of its document.

    Raises:
        CatalogError: if the document is not a valid catalog.
    """
    if not isinstance(document, Mapping):
        raise CatalogError("expected a mapping with time_unit and streams")
    try:
        shape = _Catalog.model_validate(document, context=document.get("time_unit"))
    except ValidationError as error:
        raise _readable(error) from error
    streams = {name: stream.value(name) for name, stream in shape.streams.items()}
    views = {name: view.value() for name, view in shape.views.items()}
    joint = tuple(one.value() for one in shape.joint)
    file = None if shape.sample is None else SampleFile(shape.sample.file, shape.sample.digest)
    sinks = {name: sink.value(name) for name, sink in shape.sinks.items()}
    return Catalog(
        MappingProxyType(streams),
        shape.time_unit,
        MappingProxyType(views),
        joint,
        file,
        sinks=MappingProxyType(sinks),
    )


def to_document(catalog: Catalog) -> dict[str, Any]:
    """The document of a catalog, without entries that have their default value."""
    document: dict[str, Any] = {
        "time_unit": catalog.time_unit,
        "streams": {
            name: _stream_document(stream, catalog.time_unit)
            for name, stream in catalog.streams.items()
        },
    }
    if catalog.views:
        document["views"] = {name: _view_document(view) for name, view in catalog.views.items()}
    if catalog.joint:
        document["joint"] = joint_document(catalog)
    if catalog.sample_file is not None:
        file = catalog.sample_file
        document["sample"] = {"file": file.path, "digest": file.digest}
    if catalog.sinks:
        document["sinks"] = {name: sink_document(sink) for name, sink in catalog.sinks.items()}
    return document


def _view_document(view: View) -> dict[str, Any]:
    document = {"query": view.query} if view.file is None else {"file": view.file}
    return document | ({} if view.language is None else {"language": view.language})


def _stream_document(stream: Stream, time_unit: str) -> dict[str, Any]:
    document: dict[str, Any] = {}
    if stream.source is not None:
        document["source"] = source_document(stream.source)
    if stream.columns:
        document["columns"] = dict(stream.columns)
    if stream.label is not None:
        document["label"] = stream.label
    for name in ("open_labels", "deletions", "stored", "vertices"):
        if getattr(stream, name):
            document[name] = True
    if stream.merge != merges_by_default(stream.source, stream.stored):
        document["merge"] = stream.merge
    if stream.vertex_type != "string":
        document["vertex_type"] = stream.vertex_type
    if stream.delay:
        document["delay"] = durations.text(stream.delay, time_unit)
    if stream.idle_ms is not None:
        document["idle"] = durations.text(stream.idle_ms, "millisecond")
    if stream.properties:
        document["properties"] = dict(stream.properties)
    if stream.labels:
        document["labels"] = {
            label: statistics_document(statistics, stream.stored)
            for label, statistics in stream.labels.items()
        }
    return document


def _readable(error: ValidationError) -> CatalogError:
    errors = error.errors()
    first, *_ = shape_errors(errors, _Catalog)
    # A path may have three types; pydantic reports an error for each, under internal names.
    of_path = ("source", "path")
    if first.place[2:4] == of_path and any(one["loc"][2:4] == of_path for one in errors):
        return CatalogError(
            "expected a path, a list of paths, or a mapping of label to paths", first.place[:4]
        )
    return CatalogError(first.message, first.place)
