"""Operators that look at one row at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Final, Literal

from .. import notation, predicate_syntax, scalar
from ..hashing import hashed_once
from ..notation import InputNames
from ..properties import ANY, BROADCAST, DIVIDED, NOTHING, Distribution, Spread, distributions
from ..untrusted import WIDEST, at_most, between
from ..values import ColumnType, PropertyType, StreamTypes, Types
from .base import (
    BY_KERNELS,
    IN_SQL,
    Conventions,
    PhysicalOperator,
    hashed_by,
    moved,
    one_input,
    registered,
    require,
    require_columns,
)


@registered
@hashed_once
@dataclass(frozen=True, slots=True)
class FilterRows(PhysicalOperator):
    """Keeps the rows that satisfy ``predicate``, SQL over columns ``c0``, ``c1``, ..."""

    predicate: str
    op: Literal["FILTER"] = "FILTER"

    holds_state: ClassVar[bool] = False

    @property
    def conventions(self) -> Conventions:  # type: ignore[override]
        """Without SQL if the predicate has functions that Spark SQL has not."""
        return IN_SQL + BY_KERNELS if predicate_syntax.in_sql(self.predicate) else BY_KERNELS

    def check_bounds(self, inputs: int) -> None:
        _ = predicate_syntax.checked(self.predicate)

    def keeps_coalesced(self, widths: Sequence[int]) -> bool:
        return True

    def arguments(self, names: InputNames) -> str:
        """``x = y``."""
        return notation.condition(self.predicate, names.columns[0])

    def relation(self, below: Sequence[str]) -> str | None:
        """``σ(a)``."""
        return f"σ({below[0]})"


@registered
@dataclass(frozen=True, slots=True)
class MergeUnion(PhysicalOperator):
    """Merges its inputs by ts; does not coalesce."""

    op: Literal["UNION"] = "UNION"

    holds_state: ClassVar[bool] = False

    def output_width(self, inputs: Sequence[int]) -> int:
        require(len(set(inputs)) == 1, "the inputs of a union have unequal widths")
        return inputs[0]

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        """The types of either input."""
        return tuple(frozenset().union(*columns) for columns in zip(*inputs, strict=True))

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """The distribution that all inputs share; copies are united with copies only."""
        below = [each for each in inputs if each != NOTHING]
        if not below:
            return NOTHING
        if all(each == below[0] for each in below):
            return below[0]
        require(BROADCAST not in below, "some inputs are on every partition, others are not")
        if any(each.spread is not Spread.HASH for each in below):
            return ANY
        common = frozenset.intersection(*(frozenset(each.columns) for each in below))
        return hashed_by(sorted(common))

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """Equal distributions of all inputs, or each input divided in any way."""
        for inputs in product(*(distributions(width, 2) for width in widths)):
            if len(set(inputs)) == 1 or all(each.spread in DIVIDED for each in inputs):
                yield inputs

    def relation(self, below: Sequence[str]) -> str | None:
        """``(a∪b)``."""
        return f"({'∪'.join(below)})"


@registered
@dataclass(frozen=True, slots=True)
class ProjectColumns(PhysicalOperator):
    """Output column ``i`` is input column ``columns[i]``; does not coalesce."""

    columns: tuple[int, ...]
    op: Literal["PROJECT"] = "PROJECT"

    conventions: ClassVar[Conventions] = IN_SQL + BY_KERNELS
    holds_state: ClassVar[bool] = False

    def check_bounds(self, inputs: int) -> None:
        at_most(len(self.columns), WIDEST, "columns")

    def output_width(self, inputs: Sequence[int]) -> int:
        require_columns(self.columns, one_input(inputs))
        return len(self.columns)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        return tuple(inputs[0][column] for column in self.columns)

    def input_names(self, position: int, own: Sequence[str], width: int) -> tuple[str, ...]:
        kept = dict(zip(reversed(self.columns), reversed(own), strict=True))
        return tuple(kept.get(k, "") for k in range(width))

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        return tuple(inputs[0][column] for column in self.columns)

    def keeps_coalesced(self, widths: Sequence[int]) -> bool:
        """As the input, if no column is dropped."""
        return set(self.columns) == set(range(widths[0]))

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """As the input, as long as a column hashed by stays."""
        return moved(inputs[0], self.columns)

    def arguments(self, names: InputNames) -> str:
        """``x,y → y,x``."""
        kept = notation.chosen(names.columns[0], self.columns)
        return f"{','.join(names.columns[0])} → {','.join(kept)}"

    def relation(self, below: Sequence[str]) -> str | None:
        """``^a`` where source and target change places, ``π(a)`` where one column is kept twice."""
        if self.columns == (1, 0):
            return f"^{below[0]}"
        return f"π({below[0]})" if self.columns in ((0, 0), (1, 1)) else None


@registered
@dataclass(frozen=True, slots=True)
class ComputeColumns(PhysicalOperator):
    """Output column ``i`` is ``values[i]``, SQL over columns ``c0``, ``c1``, ...

    A value that cannot be computed is missing; does not coalesce.
    """

    values: tuple[str, ...]
    op: Literal["COMPUTE"] = "COMPUTE"

    holds_state: ClassVar[bool] = False

    def output_width(self, inputs: Sequence[int]) -> int:
        width = one_input(inputs)
        for value in self.values:
            scalar.parsed(value, width)
        return len(self.values)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        """The types of the values over the columns of the input."""
        columns = inputs[0]
        values = [scalar.parsed(value, len(columns)) for value in self.values]
        return tuple(scalar.types(value, columns) or _UNKNOWN for value in values)

    def new_types(self) -> frozenset[PropertyType]:
        """The types of computed values and literals."""
        values = [scalar.parsed(value, 1 << 20) for value in self.values]
        computed = [value for value in values if not isinstance(value, scalar.Column)]
        numbers: frozenset[PropertyType] = frozenset({"integer", "number"})
        return numbers.union(*map(scalar.made_types, computed))

    def input_names(self, position: int, own: Sequence[str], width: int) -> tuple[str, ...]:
        """The names of the columns that are passed on."""
        kept = dict(zip(self.values, own, strict=True))
        return tuple(kept.get(f"c{k}", "") for k in range(width))

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        """Passed columns keep their names; computed ones are written out."""
        return tuple(notation.value(value, inputs[0]) for value in self.values)

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """As the input, as long as a column hashed by is passed on."""
        values = [scalar.parsed(value, 1 << 20) for value in self.values]
        columns = [v.position if isinstance(v, scalar.Column) else -1 for v in values]
        return moved(inputs[0], columns)

    def arguments(self, names: InputNames) -> str:
        """``x, x + 1``."""
        return notation.values(self.values, names)


_UNKNOWN: Final[frozenset[ColumnType]] = frozenset({"string"})
"""The type of a column without a known value."""


@registered
@dataclass(frozen=True, slots=True)
class EmptyRelation(PhysicalOperator):
    """A relation of ``width`` columns that never has a row."""

    width: int
    op: Literal["EMPTY"] = "EMPTY"

    holds_state: ClassVar[bool] = False
    coalesces: ClassVar[bool] = True

    def check_bounds(self, inputs: int) -> None:
        between([self.width], 0, WIDEST + 1, "the width")

    def output_width(self, inputs: Sequence[int]) -> int:
        require(not inputs, "it has no input")
        return self.width

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        return (frozenset(),) * self.width

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        return NOTHING
