"""Explains the validation errors of pydantic.

In: the errors of pydantic and the validated model. Out: the place, the expected value, and the name
that was probably meant. Catalogs, bodies of REST requests and options share these messages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

DocumentPath = tuple[str | int, ...]


class PlacedError(ValueError):
    """An error that a validator of a model raises for one of its entries, at ``place``."""

    def __init__(self, place: DocumentPath, message: str) -> None:
        super().__init__(message)
        self.place = place


@dataclass(frozen=True, slots=True)
class ShapeError:
    """An error of a document: the path to the entry, and the message."""

    place: DocumentPath
    message: str


def shape_errors(
    errors: Sequence[ErrorDetails], model: type[BaseModel] | None = None, *, skipped: int = 0
) -> tuple[ShapeError, ...]:
    """The explained errors; unknown entries come first, since they explain other errors.

    Args:
        errors: the errors of pydantic, at least one.
        model: the validated model, whose entries are suggested for unknown names.
        skipped: the number of leading steps of each place to leave out, which lead to the model.
    """
    ordered = sorted(errors, key=lambda error: error["type"] != "extra_forbidden")
    return tuple(
        ShapeError(place, _message(error, place, model))
        for error in ordered
        for place in [_place(error)[skipped:]]
    )


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """``; did you mean window?`` if ``names`` has a similar name, else empty."""
    by_folded = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), by_folded, 1)
    return f"; did you mean {by_folded[close[0]]}?" if close else ""


def entries(model: type[BaseModel] | None, place: DocumentPath) -> tuple[str, ...]:
    """The names of the allowed entries of a part of a document; empty for a free mapping."""
    kind: object = model
    for step in place:
        kind = _inside(kind, step)
    shape = _model_of(kind)
    return () if shape is None else tuple(shape.model_fields)


def _place(error: ErrorDetails) -> DocumentPath:
    """The place of an error; a `PlacedError` adds its own place inside the validated part."""
    cause = error.get("ctx", {}).get("error")
    place = error["loc"] + (cause.place if isinstance(cause, PlacedError) else ())
    return tuple(step for step in place if step != _OF_A_KEY)


def _message(error: ErrorDetails, place: DocumentPath, model: type[BaseModel] | None) -> str:
    value, context = error["input"], error.get("ctx", {})
    if error["type"] == "extra_forbidden":
        *parents, name = place
        names = entries(model, tuple(parents))
        there = f"; the entries are {', '.join(names)}" if names else ""
        return f"no such entry is known{did_you_mean(str(name), names) or there}"
    if error["type"] == "value_error":
        return _of_validator(str(context.get("error", "")), value)
    explain = _EXPECTED.get(error["type"])
    message = explain(context) if explain else "expected another value"
    if error["type"] != "missing" and isinstance(value, str | int | float):
        message += f", got {_shown(value)}"
    if error["type"] == "string_pattern_mismatch" and (description := _description(model, place)):
        message += f" ({description})"
    if error["type"] == "literal_error" and isinstance(value, str):
        message += did_you_mean(value, _quoted(str(context["expected"])))
    return message


def _description(model: type[BaseModel] | None, place: DocumentPath) -> str | None:
    """The description of a field of a model."""
    *parents, name = place
    kind: object = model
    for step in parents:
        kind = _inside(kind, step)
    shape = _model_of(kind)
    field = None if shape is None else shape.model_fields.get(str(name))
    return None if field is None else field.description


def _of_validator(message: str, value: object) -> str:
    """The message of a validator of a model, or of Typer's for the choices of an option."""
    choice = re.fullmatch(r"'.*' is not one of ('.*')\.", message, re.DOTALL)
    if choice is None or not isinstance(value, str):
        if isinstance(value, str | int | float) and (not value or str(value) not in message):
            return f"{message}, got {_shown(value)}"
        return message
    expected = _quoted(choice[1])
    return f"expected {_either(expected)}, got {_shown(value)}{did_you_mean(value, expected)}"


def _quoted(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"'([^']*)'", text))


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _shown(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


_OF_A_KEY = "[key]"
"""The step that pydantic adds for an invalid name of an entry."""

_EXPECTED: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {
        "missing": lambda _: "it is missing",
        **dict.fromkeys(("float_type", "float_parsing"), lambda _: "expected a number"),
        "finite_number": lambda _: "expected a finite number",
        **dict.fromkeys(
            ("int_type", "int_parsing", "int_from_float", "int_parsing_size"),
            lambda _: "expected a whole number",
        ),
        **dict.fromkeys(
            ("string_type", "string_unicode"),
            lambda _: "expected text; put it in quotes if it looks like something else",
        ),
        "string_too_short": lambda _: "expected some text",
        "string_too_long": lambda c: f"expected at most {c['max_length']:,} characters",
        "string_pattern_mismatch": lambda c: f"expected text of the form {c['pattern']}",
        **dict.fromkeys(("bool_type", "bool_parsing"), lambda _: "expected true or false"),
        **dict.fromkeys(
            ("dict_type", "model_type", "model_attributes_type", "mapping_type"),
            lambda _: "expected a mapping",
        ),
        **dict.fromkeys(("list_type", "tuple_type"), lambda _: "expected a list"),
        "too_short": lambda _: "expected at least one",
        "too_long": lambda c: f"expected at most {c['max_length']:,} entries",
        "literal_error": lambda c: f"expected {_either(_quoted(str(c['expected'])))}",
        "greater_than": lambda c: f"expected more than {_number(c['gt'])}",
        "greater_than_equal": lambda c: f"expected at least {_number(c['ge'])}",
        "less_than": lambda c: f"expected less than {_number(c['lt'])}",
        "less_than_equal": lambda c: f"expected at most {_number(c['le'])}",
    }
)


def _inside(kind: object, step: str | int) -> object:
    """The type of one entry of a type."""
    shape = _model_of(kind)
    if shape is not None:
        field = shape.model_fields.get(str(step))
        return None if field is None else field.annotation
    for one in _alternatives(kind):
        arguments = get_args(one)
        if get_origin(one) in (dict, list, tuple) and arguments:
            return arguments[1] if get_origin(one) is dict else arguments[0]
    return None


def _model_of(kind: object) -> type[BaseModel] | None:
    for one in _alternatives(kind):
        if isinstance(one, type) and issubclass(one, BaseModel):
            return one
    return None


def _alternatives(kind: object) -> list[object]:
    """The types of a union, each without its annotations."""
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [one for part in get_args(kind) for one in _alternatives(part)]
    return [kind]
