"""The entry of a stream's source in the document of a catalog.

In: Python values parsed from YAML or JSON. Out: a `Source`, and back.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from .model import FILE_FORMATS, LIVE_FORMATS, Layout, Source
from .shape_errors import PlacedError
from .sinks_document import OptionText
from .statistics_document import Shape, Text


class SourceShape(Shape):
    """The source of a stream in a document."""

    format: Text
    path: Text | list[Text] | dict[Text, Text | list[Text]] = Field(default_factory=list)
    options: dict[str, OptionText] = Field(default_factory=dict)
    follow: bool = False
    value: Literal["json", "csv", "graph"] | None = None
    fields: list[Text] = Field(default_factory=list)
    layout: Layout | None = None

    @property
    def paths(self) -> list[tuple[str | None, str]]:
        """(label, path) of each path, in the order of the document."""
        groups = self.path.items() if isinstance(self.path, dict) else [(None, self.path)]
        return [
            (label, path)
            for label, group in groups
            for path in ([group] if isinstance(group, str) else group)
        ]

    @model_validator(mode="after")
    def _one_label_each(self) -> SourceShape:
        paths = [path for _, path in self.paths]
        for path in paths:
            if paths.count(path) > 1:
                raise PlacedError(("path",), f"{path} is given twice")
        return self

    @field_validator("format")
    @classmethod
    def _format(cls, name: str) -> str:
        formats = (*FILE_FORMATS, *LIVE_FORMATS)
        if name not in formats:
            raise ValueError(f"{name} is not a known format; expected one of {', '.join(formats)}")
        return name

    @model_validator(mode="after")
    def _live(self) -> SourceShape:
        if self.follow and self.format not in FILE_FORMATS:
            raise PlacedError(
                ("follow",),
                f"it is for folders of files: {', '.join(FILE_FORMATS)}; {self.format} is live "
                "already",
            )
        if (self.value is not None or self.fields) and self.format in FILE_FORMATS:
            raise ValueError("value and fields are for messages, and not for files")
        if self.fields and self.value != "csv":
            raise PlacedError(("fields",), "only messages of CSV (value: csv) have fields in order")
        if self.layout is not None and not self.source().of_graphs:
            raise PlacedError(
                ("layout",),
                "only events that are graphs have one: format: graph of files, or value: graph of "
                "messages",
            )
        return self

    def source(self) -> Source:
        """The source."""
        return Source(
            self.format,
            tuple(path for _, path in self.paths),
            MappingProxyType(dict(self.options)),
            MappingProxyType({path: label for label, path in self.paths if label is not None}),
            self.follow,
            self.value,
            tuple(self.fields),
            self.layout or "seraph",
        )


def merges_by_default(source: Source | None, stored: bool) -> bool:
    """Whether a stream without an entry ``merge`` merges its elements."""
    return source is not None and source.of_graphs and not stored


def source_document(source: Source) -> dict[str, Any]:
    """The entry of a source, without entries that have their default value."""
    document: dict[str, Any] = {"format": source.format}
    if source.path_labels:
        grouped: dict[str, list[str]] = {}
        for path in source.path:
            grouped.setdefault(source.path_labels[path], []).append(path)
        document["path"] = {label: _one_or_all(paths) for label, paths in grouped.items()}
    elif source.path:
        document["path"] = _one_or_all(list(source.path))
    if source.options:
        document["options"] = dict(source.options)
    if source.follow:
        document["follow"] = True
    if source.value is not None:
        document["value"] = source.value
    if source.fields:
        document["fields"] = list(source.fields)
    if source.layout != "seraph":
        document["layout"] = source.layout
    return document


def _one_or_all(paths: list[str]) -> str | list[str]:
    return paths[0] if len(paths) == 1 else paths
