"""The base of all documents.

A document is an immutable pydantic model: its fields are the members of the JSON, in their order,
and its class is what OpenAPI describes and the page is compiled against. So class names are public
where a route answers with them. Fields that are excluded are for renderings: they say again what
stands elsewhere in the JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isinf
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

Value = TypeVar("Value")


class Document(BaseModel):
    """A document, or a part of one."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    def to_json(self) -> dict[str, Any]:
        """The document as JSON values."""
        return self.model_dump(mode="json")


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


Optional = Annotated[
    Value | SkipJsonSchema[None],
    Field(exclude_if=lambda value: value is None, json_schema_extra=_without_default),
]
"""A member that the JSON leaves out where it is None."""


def json_values(document: Document | Mapping[str, object]) -> Mapping[str, object]:
    """A document as JSON values; that of a plan is of JSON values already."""
    return document.to_json() if isinstance(document, Document) else document


def json_text(document: Document | Mapping[str, object]) -> str:
    """A document as people and programs read it, ended by a newline."""
    return json.dumps(json_values(document), indent=2, ensure_ascii=False) + "\n"


def finite(value: float) -> float | None:
    """JSON has no infinity: null stands for it."""
    return None if isinf(value) else value
