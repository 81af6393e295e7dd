"""The named sinks in the document of a catalog.

In: Python values parsed from YAML or JSON. Out: the sinks of :mod:`headrace.catalog.sinks`, and
back.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator, model_validator

from .shape_errors import PlacedError
from .sinks import KAFKA, SINK_FILES, NamedSink
from .statistics_document import Shape, Text

_OWN = ("checkpointlocation", "path")
"""Options that other entries, or Headrace itself, give."""


def option_text(value: object) -> object:
    """The text of an option: YAML parses `header: true` and `partition: 3` as other types."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


OptionText = Annotated[str, BeforeValidator(option_text)]
SinkName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")]


class SinkShape(Shape):
    """A named sink in a document."""

    format: Annotated[Text, Field(pattern=r"^[A-Za-z0-9_.$-]+$")]
    path: Text | None = None
    options: dict[str, OptionText] = Field(default_factory=dict, repr=False)
    packages: list[Annotated[str, Field(pattern=r"^[^\s:,]+:[^\s:,]+:[^\s:,]+$")]] = Field(
        default_factory=list
    )

    @field_validator("format")
    @classmethod
    def _not_text(cls, name: str) -> str:
        if name == "text":
            raise ValueError("text has one column, and results have several; json has them all")
        return name

    @model_validator(mode="after")
    def _fits_the_format(self) -> SinkShape:
        for name in self.options:
            if name.lower() in _OWN:
                entry = "path" if name.lower() == "path" else "the checkpoint of the run"
                raise PlacedError(("options", name), f"it is not an option here: {entry} says it")
        if self.format == "kafka":
            if self.path is not None:
                raise PlacedError(("path",), "a topic has no path; its name is the option topic")
            missing = [name for name in KAFKA if not self.options.get(name)]
            if missing:
                raise PlacedError(("options",), f"a sink of kafka needs {' and '.join(missing)}")
        elif self.format in SINK_FILES and self.path is None:
            raise PlacedError((), f"a sink of {self.format} needs path, the folder of its files")
        return self

    def value(self, name: str) -> NamedSink:
        """The sink with its name."""
        options = MappingProxyType(dict(self.options))
        return NamedSink(name, self.format, self.path, options, tuple(self.packages))


def sink_document(sink: NamedSink) -> dict[str, Any]:
    """The document of a sink, without entries that have their default value."""
    document: dict[str, Any] = {"format": sink.format}
    if sink.path is not None:
        document["path"] = sink.path
    if sink.options:
        document["options"] = dict(sink.options)
    if sink.packages:
        document["packages"] = list(sink.packages)
    return document
