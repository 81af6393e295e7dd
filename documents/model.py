"""The base of all documents.

A document is an immutable pydantic model. Its fields are the members of the JSON, in their order.
OpenAPI describes the class, and the page is compiled against this description: the class names of
answers are public. Excluded fields are for renderings: they repeat other members of the JSON.
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
"""A member that is absent from the JSON if its value is None."""


def json_values(document: Document | Mapping[str, object]) -> Mapping[str, object]:
    """Returns a document as JSON values; the document of a plan has JSON values already."""
    return document.to_json() if isinstance(document, Document) else document


def json_text(document: Document | Mapping[str, object]) -> str:
    """Returns a document as indented JSON, with a newline at its end."""
    return json.dumps(json_values(document), indent=2, ensure_ascii=False) + "\n"


def finite(value: float) -> float | None:
    """Returns None for infinity, which JSON cannot write."""
    return None if isinf(value) else value
