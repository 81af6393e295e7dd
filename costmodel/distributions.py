"""Distributions of the values of a column, and the shares of rows that intervals select.

A distribution has the shares of common values, the share of missing ones, and quantiles of the
others. Between two quantiles values are taken as uniform, and values that are not common as equally
frequent. So the share of an interval is exact up to one part of the quantiles.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from ..algebra.scalar import Scalar
from ..algebra.values import PropertyType, VertexType
from ..catalog.model import Frequency, PropertyStatistics

Kind = Literal["string", "number", "boolean"]
"""The kinds of values; values of two kinds are neither equal nor ordered."""


def kind_of(value: Scalar) -> Kind:
    """The kind of a value."""
    if isinstance(value, str):
        return "string"
    return "boolean" if isinstance(value, bool) else "number"


@dataclass(frozen=True, slots=True)
class Distribution:
    """The distribution of the values of a column.

    Attributes:
        kind: the kind of the values.
        nulls: the share of rows without a value, from 0 to 1.
        common: the shares of the common values.
        rare: the share of each value that is not common.
        quantiles: ascending values that split the rows with a value into equal parts; may be empty.
    """

    kind: Kind
    nulls: float
    common: Mapping[Any, float]
    rare: float
    quantiles: tuple[Any, ...]

    def cells(self, points: Sequence[Scalar]) -> tuple[float, ...]:
        """The shares of the rows below, at and between some values.

        Args:
            points: ascending different values of the kind of the column.

        Returns:
            2·n + 1 shares for n points: below the first, at the first, between it and the second,
            and so on; their sum is 1 - ``nulls``.
        """
        whole = 1 - self.nulls
        shares: list[float] = []
        done = 0.0
        for number, point in enumerate(points, start=1):
            below = max(self._below(point, number / (len(points) + 1)), done)
            at = self._at(point)
            shares += [below - done, at]
            done = below + at
        shares.append(max(whole - done, 0.0))
        total = sum(shares)
        return tuple(share * whole / total for share in shares) if total else tuple(shares)

    def _at(self, point: Any) -> float:
        share = self.common.get(point)
        if share is not None:
            return share
        inside = not self.quantiles or self.quantiles[0] <= point <= self.quantiles[-1]
        return self.rare if inside else 0.0

    def _below(self, point: Any, place: float) -> float:
        """The share of values below a point; ``place`` assumes a part of the values not listed."""
        listed = sum(self.common.values())
        common = sum(share for value, share in self.common.items() if value < point)
        rest = max(1 - self.nulls - listed, 0.0)
        if not self.quantiles:
            return common + rest * place
        below = (1 - self.nulls) * self._part_below(point) - common
        return common + min(max(below, 0.0), rest)

    def _part_below(self, point: Any) -> float:
        """The part of the values below a point by the quantiles, from 0 to 1."""
        parts = len(self.quantiles) - 1
        k = bisect_left(self.quantiles, point)
        if k == 0:
            return 0.0
        if k > parts:
            return 1.0
        if self.quantiles[k] == point:
            return k / parts
        if self.kind != "number":
            return (k - 0.5) / parts
        low, high = self.quantiles[k - 1], self.quantiles[k]
        return float((k - 1 + (point - low) / (high - low)) / parts)


@lru_cache(maxsize=4096)
def of_property(
    statistics: PropertyStatistics, distinct: float, type_: PropertyType
) -> Distribution | None:
    """The distribution of a property with a number of distinct values; None without its values."""
    kind: Kind = type_ if type_ in ("string", "boolean") else "number"
    common = {value: share for value, share in statistics.common if kind_of(value) == kind}
    quantiles = tuple(q for q in statistics.quantiles if kind_of(q) == kind)
    if not common and not quantiles and not statistics.nulls:
        return None
    return _distribution(kind, statistics.nulls, common, distinct, quantiles)


@lru_cache(maxsize=4096)
def of_vertices(
    frequent: tuple[Frequency, ...], distinct: float, type_: VertexType
) -> Distribution:
    """The distribution of vertices, of which the frequent ones are listed as text."""
    if type_ == "string":
        return _distribution("string", 0.0, dict(frequent), distinct, ())
    numbers = {int(text): share for text, share in frequent if _is_whole(str(text))}
    return _distribution("number", 0.0, numbers, distinct, ())


def _distribution(
    kind: Kind,
    nulls: float,
    common: Mapping[Any, float],
    distinct: float,
    quantiles: tuple[Any, ...],
) -> Distribution:
    rest = max(1 - nulls - sum(common.values()), 0.0)
    rare = rest / max(distinct - len(common), 1.0)
    return Distribution(kind, nulls, MappingProxyType(dict(common)), rare, quantiles)


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()
