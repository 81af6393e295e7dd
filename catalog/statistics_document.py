"""The statistics in the document of a catalog: of labels, of properties, and joint ones.

In: Python values parsed from YAML or JSON. Out: the statistics of :mod:`headrace.catalog.model`,
and back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    field_validator,
    model_validator,
)

from .model import (
    Catalog,
    End,
    Frequency,
    Joint,
    LabelStatistics,
    PropertyStatistics,
    RateHistogram,
    Stream,
)
from .shape_errors import PlacedError, did_you_mean

MOST_ENTRIES = 1_000
"""The most entries of a list of frequencies, quantiles or rates."""
MOST_JOINT_ENTRIES = 10_000
"""The most joint statistics of a catalog."""
_ROUNDING = 1e-3
"""The sum of shares may exceed 1 by this, since shares are rounded."""


def no_truth(value: object) -> object:
    """Refuses a boolean, which pydantic would read as a number.

    Raises:
        ValueError: for a boolean.
    """
    if isinstance(value, bool):
        raise ValueError("expected a number")
    return value


Count = Annotated[float, BeforeValidator(no_truth), Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, BeforeValidator(no_truth), Field(ge=0, le=1, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1)]
Finite = Annotated[float, BeforeValidator(no_truth), Field(allow_inf_nan=False)]
Whole = Annotated[int, BeforeValidator(no_truth)]
_Value = (
    StrictBool
    | Annotated[int, Field(strict=True)]
    | Annotated[float, Field(strict=True, allow_inf_nan=False)]
    | Annotated[str, Field(strict=True)]
)
_Frequencies = Annotated[list[tuple[_Value, Share]], Field(max_length=MOST_ENTRIES)]


class Shape(BaseModel):
    """A part of a document; refuses unknown entries."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Line(dict[str, Any]):
    """An entry of a document that is written in one line."""


class _Rates(Shape):
    start: Whole
    part: Annotated[Whole, Field(ge=1)]
    rates: Annotated[list[Count], Field(min_length=1, max_length=MOST_ENTRIES)]

    def value(self) -> RateHistogram:
        return RateHistogram(self.start, self.part, tuple(self.rates))


class _PropertyStatistics(Shape):
    nulls: Share = 0.0
    common: _Frequencies = Field(default_factory=list)
    quantiles: Annotated[list[_Value], Field(max_length=MOST_ENTRIES)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _shares_fit(self) -> _PropertyStatistics:
        if self.nulls + _sum(self.common) > 1 + _ROUNDING:
            raise ValueError(
                "expected nulls and the shares of common values to be at most 1 in all"
            )
        return self

    @field_validator("quantiles")
    @classmethod
    def _ascending(cls, quantiles: list[Any]) -> list[Any]:
        if len(quantiles) == 1:
            raise ValueError("expected at least the smallest and the largest value")
        texts = sum(isinstance(value, str) for value in quantiles)
        if any(isinstance(v, bool) for v in quantiles) or texts not in (0, len(quantiles)):
            raise ValueError("expected all numbers, or all text")
        if any(one > other for one, other in pairwise(quantiles)):
            raise ValueError("expected ascending values")
        return quantiles

    def value(self) -> PropertyStatistics:
        quantiles = tuple(v for v in self.quantiles if not isinstance(v, bool))
        return PropertyStatistics(self.nulls, tuple(self.common), quantiles)


class StatisticsShape(Shape):
    """The statistics of a label."""

    rate: Count | None = None
    distinct_src: Count
    distinct_trg: Count
    vertices: Count | None = None
    distinct_pairs: Count | None = None
    degree_skew: Count | None = None
    longest_path: Annotated[int, Field(ge=1)] | None = None
    population: Count | None = None
    measured_at: str | None = None
    distinct_properties: dict[Text, Count] = Field(default_factory=dict)
    rates: _Rates | None = None
    frequent_src: _Frequencies = Field(default_factory=list)
    frequent_trg: _Frequencies = Field(default_factory=list)
    properties: dict[Text, _PropertyStatistics] = Field(default_factory=dict)

    @field_validator("frequent_src", "frequent_trg")
    @classmethod
    def _of_vertices(cls, frequent: list[Frequency]) -> list[Frequency]:
        if _sum(frequent) > 1 + _ROUNDING:
            raise ValueError("expected shares of at most 1 in all")
        # Vertices are listed as text, whether they are integers or strings.
        return [(str(vertex), share) for vertex, share in frequent]

    @model_validator(mode="after")
    def _fewest_vertices(self) -> StatisticsShape:
        ends = max(self.distinct_src, self.distinct_trg)
        if self.vertices is not None and self.vertices < ends:
            raise ValueError(f"expected vertices to be at least {ends:g}, the most at one end")
        return self

    def value(self, stored: bool) -> LabelStatistics:
        """The statistics, with the number of vertices of the larger end unless declared."""
        vertices = max(self.distinct_src, self.distinct_trg)
        return LabelStatistics(
            rate=self.rate or 0.0,
            distinct_src=self.distinct_src,
            distinct_trg=self.distinct_trg,
            vertices=vertices if self.vertices is None else self.vertices,
            distinct_pairs=self.distinct_pairs,
            degree_skew=self.degree_skew,
            longest_path=self.longest_path,
            population=self.population,
            measured_at=self.measured_at,
            distinct_properties=MappingProxyType(self.distinct_properties),
            rates=None if self.rates is None else self.rates.value(),
            frequent_src=tuple(self.frequent_src),
            frequent_trg=tuple(self.frequent_trg),
            properties=MappingProxyType({k: p.value() for k, p in self.properties.items()}),
        )


class JointShape(Shape):
    """The joint statistics of two ends, each [stream, label, src or trg]."""

    left: tuple[Text, Text, Literal["src", "trg"]]
    right: tuple[Text, Text, Literal["src", "trg"]]
    selectivity: Share
    shared: Count

    def value(self) -> Joint:
        """The joint statistics."""
        return Joint(self.left, self.right, self.selectivity, self.shared)


def check_joint(joint: Sequence[Joint], streams: Mapping[str, Stream]) -> None:
    """Checks that joint statistics fit the streams of their catalog.

    Raises:
        PlacedError: for an end that is not in the catalog, ends with vertices of different types,
            or a pair of ends that occurs twice.
    """
    seen: set[frozenset[End]] = set()
    for k, one in enumerate(joint):
        for side, (name, label, _) in (("left", one.left), ("right", one.right)):
            if name not in streams:
                raise PlacedError(
                    ("joint", k, side), f"{name} is not a stream{did_you_mean(name, streams)}"
                )
            labels = streams[name].labels
            if label not in labels:
                raise PlacedError(
                    ("joint", k, side),
                    f"{label} is not a label of {name}{did_you_mean(label, labels)}",
                )
        if streams[one.left[0]].vertex_type != streams[one.right[0]].vertex_type:
            raise PlacedError(("joint", k), "the vertices of the two streams have different types")
        if frozenset((one.left, one.right)) in seen:
            raise PlacedError(("joint", k), "these two ends are given twice")
        seen.add(frozenset((one.left, one.right)))


def statistics_document(statistics: LabelStatistics, stored: bool) -> dict[str, Any]:
    """The document of the statistics of a label, without entries that have their default value."""
    document: dict[str, Any] = {}
    for field in fields(statistics):
        value = getattr(statistics, field.name)
        if value is None or (stored and field.name == "rate"):
            continue
        if isinstance(value, tuple | Mapping) and not value:
            continue
        match value:
            case RateHistogram():
                value = Line(start=value.start, part=value.part, rates=_wholes(value.rates))
            case tuple():
                value = _frequencies(value)
            case Mapping():
                value = {
                    name: _property_document(one)
                    if isinstance(one, PropertyStatistics)
                    else _whole(one)
                    for name, one in value.items()
                }
        document[field.name] = _whole(value)
    return document


def joint_document(catalog: Catalog) -> list[Line]:
    """The document of the joint statistics of a catalog."""
    return [
        Line(
            left=list(one.left),
            right=list(one.right),
            selectivity=_whole(one.selectivity),
            shared=_whole(one.shared),
        )
        for one in catalog.joint
    ]


def _property_document(statistics: PropertyStatistics) -> Line:
    document = Line(nulls=_whole(statistics.nulls)) if statistics.nulls else Line()
    if statistics.common:
        document["common"] = _frequencies(statistics.common)
    if statistics.quantiles:
        document["quantiles"] = list(statistics.quantiles)
    return document


class Lines(list[Any]):
    """A list of a document that is written in one line."""


def _frequencies(frequencies: tuple[Frequency, ...]) -> Lines:
    return Lines([value, _whole(share)] for value, share in frequencies)


def _sum(frequencies: Sequence[Frequency]) -> float:
    return sum(share for _, share in frequencies)


def _wholes(values: Sequence[float]) -> list[Any]:
    return [_whole(value) for value in values]


def _whole(value: Any) -> Any:
    """Converts a whole float to an integer."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value
