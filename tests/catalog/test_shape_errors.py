"""Explained errors of pydantic have the place and the name that was probably meant."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from headrace.catalog.shape_errors import (
    PlacedError,
    ShapeError,
    did_you_mean,
    entries,
    shape_errors,
)


class Inner(BaseModel):
    """An entry of a mapping."""

    model_config = ConfigDict(extra="forbid")

    rate: Annotated[float, Field(gt=0, le=1000)] = 1.0
    kind: Literal["push", "pull"] = "push"


class Outer(BaseModel):
    """What is validated."""

    model_config = ConfigDict(extra="forbid")

    inner: dict[str, Inner] = Field(default_factory=dict)
    many: list[Inner] | None = None
    weights: dict[Literal["a", "b"], int] = Field(default_factory=dict)
    every: str = Field(default="1 hour", pattern=r"^\d+ hours?$", description='as "2 hours"')

    @model_validator(mode="after")
    def _short(self) -> Outer:
        if len(self.inner) > 1:
            raise PlacedError(("inner", "b"), "one is enough")
        return self


def errors_of(document: object) -> tuple[ShapeError, ...]:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(document)
    return shape_errors(caught.value.errors(), Outer)


@pytest.mark.parametrize(
    ("document", "place", "message"),
    [
        ({"innr": {}}, ("innr",), "no such entry is known; did you mean inner?"),
        (
            {"inner": {"a": {"x": 1}}},
            ("inner", "a", "x"),
            "no such entry is known; the entries are rate, kind",
        ),
        (
            {"many": [{"rat": 1}]},
            ("many", 0, "rat"),
            "no such entry is known; did you mean rate?",
        ),
        (
            {"inner": {"a": {"kind": "pul"}}},
            ("inner", "a", "kind"),
            "expected push or pull, got 'pul'; did you mean pull?",
        ),
        ({"inner": {"a": {"rate": 0}}}, ("inner", "a", "rate"), "expected more than 0, got 0"),
        (
            {"inner": {"a": {"rate": 2000}}},
            ("inner", "a", "rate"),
            "expected at most 1,000, got 2000",
        ),
        ({"weights": {"c": 1}}, ("weights", "c"), "expected a or b, got 'c'"),
        (
            {"every": "soon"},
            ("every",),
            r"""expected text of the form ^\d+ hours?$, got 'soon' (as "2 hours")""",
        ),
        ({"inner": {"a": {}, "b": {}}}, ("inner", "b"), "one is enough"),
        ([], (), "expected a mapping"),
    ],
)
def test_errors_say_where_and_what_was_expected(
    document: object, place: tuple[str | int, ...], message: str
) -> None:
    assert errors_of(document)[0] == ShapeError(place, message)


def test_an_unknown_name_comes_before_what_it_leaves_missing() -> None:
    class Needed(BaseModel):
        model_config = ConfigDict(extra="forbid")
        query: str

    with pytest.raises(ValidationError) as caught:
        Needed.model_validate({"qery": "x"})
    errors = shape_errors(caught.value.errors(), Needed)
    assert [error.place for error in errors] == [("qery",), ("query",)]
    assert errors[1].message == "it is missing"


def test_only_models_have_named_entries() -> None:
    assert entries(Outer, ("inner",)) == ()
    assert entries(Outer, ("nothing", "at", "all")) == ()
    assert entries(None, ()) == ()


def test_unlike_names_are_not_suggested() -> None:
    assert did_you_mean("xyz", ["rate", "kind"]) == ""
    assert did_you_mean("RATE", ["rate", "kind"]) == "; did you mean rate?"
