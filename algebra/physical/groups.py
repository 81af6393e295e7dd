"""Operators that hold the valid rows, by value or by key."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, cast

from .. import notation
from ..aggregates import (
    COLLECTING,
    DEFINITIONS,
    IGNORING_REPEATS,
    PARTIAL_SUMS,
    AggregateCall,
    Call,
    Function,
    percentile_units,
)
from ..notation import InputNames
from ..properties import ANY, COPIED, Distribution, Spread, UpdatePattern
from ..values import LISTS, ColumnType, PropertyType, StreamTypes, Types
from .base import (
    DeletionVariant,
    PassesRows,
    WithDeletions,
    hashed_by,
    on_one_or_hashed,
    one_input,
    registered,
    require,
    require_columns,
    together,
)


@registered
@dataclass(frozen=True, slots=True)
class Rewindow(PassesRows):
    """Puts a window over the result of operators and coalesces it.

    A value that becomes valid at ``t`` stays in the result until
    ``floor(t / slide) * slide + range`` at most. The value gets a new window only after it has been
    invalid. ``range`` and ``slide`` are in time units.
    """

    range: int
    slide: int
    op: Literal["REWINDOW"] = "REWINDOW"

    coalesces: ClassVar[bool] = True

    def output_width(self, inputs: Sequence[int]) -> int:
        width = one_input(inputs)
        require(0 < self.slide <= self.range, "a window needs 0 < slide <= range")
        return width

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """Equal rows have to be on one partition."""
        return together(inputs[0], "value")

    def arguments(self, names: InputNames) -> str:
        """``window 30d slide 1d``."""
        return notation.window(self.range, self.slide, names.time_unit)


@registered
@dataclass(frozen=True, slots=True)
class AggregateRows(DeletionVariant):
    """One row for each combination of the columns ``keys`` among the different valid rows.

    A row is given when it is final, and never retracted, even over a stream with deletions. A row
    is final when its validity has ended or, with ``every``, when its instant has passed.

    With ``retracts`` a row is given once the instant of its begin has passed, and is retracted when
    its values change: an operator above reads the values of every instant.

    With ``partial`` each partition groups the rows that lie on it. The number of the partition
    follows the aggregates, so that the rows of two partitions differ. Partial rows are retracted,
    unless they are given for instants.

    Attributes:
        keys: the columns to group by.
        aggregates: pairs of a function and its column; a null column counts rows. `latest` has two
            columns, those of the values and of their times. A percentile has a number from 0 to 1
            too, of at most nine decimals.
        output: the output columns, as positions in the keys followed by the aggregates, and by the
            number of the partition in a partial row.
        every: the period in time units; rows are given for its multiples. Null gives rows for
            every instant.
        update_pattern: the variant for an input with deletions; null without deletions.
        retracts: true if rows are retracted when they end; null if they are given when final.
        partial: true for a row for the keys in each partition; null for one in all of them.
    """

    keys: tuple[int, ...]
    aggregates: tuple[Call, ...]
    output: tuple[int, ...]
    every: int | None = None
    update_pattern: WithDeletions = field(default=None, hash=False)
    retracts: Literal[True] | None = None
    partial: Literal[True] | None = None
    op: Literal["AGGREGATE"] = "AGGREGATE"

    coalesces: ClassVar[bool] = True

    @property
    def final(self) -> bool:
        """Whether it gives rows only when they are final."""
        return not self.retracts

    @property
    def lookback(self) -> int:
        """One tick: the changes of the present tick are open, and follow from earlier rows."""
        return int(self.retracts is True)

    @property
    def ends_deletions(self) -> bool:
        """Whether it is the variant for deletions: each value has at most one valid row."""
        return self.update_pattern is not None

    def update_pattern_over(self, inputs: Collection[UpdatePattern]) -> UpdatePattern:
        """With deletions if it ``retracts`` its rows, whatever the input has."""
        DeletionVariant.update_pattern_over(self, inputs)
        return UpdatePattern.WITH_DELETIONS if self.retracts else UpdatePattern.APPEND_ONLY

    def output_width(self, inputs: Sequence[int]) -> int:
        """The number of output columns."""
        width = one_input(inputs)
        columns = [column for call in self.calls for column in call.columns]
        require_columns([*self.keys, *columns], width)
        counted = all(call.function == "count" for call in self.calls if call.column is None)
        require(counted, "an aggregate other than count needs a column")
        timed = all((call.function == "latest") == (call.by is not None) for call in self.calls)
        require(timed, "latest needs the column of its times, and no other aggregate has one")
        of = [c.percentile for c in self.calls if DEFINITIONS[c.function].second == "percentile"]
        known = all(part is not None and percentile_units(part) is not None for part in of)
        require(known, "a percentile needs a number from 0 to 1 of at most nine decimals")
        count = len(self.keys) + len(self.aggregates) + (self.partial is True)
        require(
            all(0 <= i < count for i in self.output),
            "an output column is neither a key nor an aggregate",
        )
        require(self.every is None or self.every > 0, "the period of its rows is not positive")
        require(
            not self.retracts or self.every is None, "it gives rows for instants, or retracts them"
        )
        require(self.partial is not True or not self.collects, "no partial row has a list")
        sums = not self._functions.isdisjoint(PARTIAL_SUMS)
        require(not sums or self.partial is True, "a partial sum is for partial rows alone")
        if self.partial:
            final = self.every is not None
            require(final or self.retracts is True, "partial rows are retracted, or for instants")
            require(count - 1 in self.output, "partial rows need the number of their partition")
        return len(self.output)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        """The types of the keys, and of the results of the functions."""
        types = [inputs[0][key] for key in self.keys]
        for call in self.calls:
            result = DEFINITIONS[call.function].result
            if result == "integer" or call.column is None:
                types.append(_INTEGER)
            elif result == "list":
                types.append(frozenset(map(_list_of, inputs[0][call.column])))
            else:
                # A partial sum is text, and has the type of the sum for the operator that reads it.
                types.append(_NUMBER if result == "number" else inputs[0][call.column])
        types.append(_INTEGER)  # the partition
        return tuple(types[i] for i in self.output)

    @property
    def calls(self) -> tuple[AggregateCall, ...]:
        """The functions, each with its columns."""
        return tuple(map(AggregateCall.read, self.aggregates))

    @property
    def _functions(self) -> frozenset[Function]:
        return frozenset(call.function for call in self.calls)

    @property
    def _ignores_repeats(self) -> bool:
        return self._functions <= IGNORING_REPEATS and self.update_pattern is None

    @property
    def collects(self) -> bool:
        """Whether an aggregate is a list."""
        return not self._functions.isdisjoint(COLLECTING)

    def new_types(self) -> frozenset[PropertyType]:
        writes = self.collects or not self._functions.isdisjoint(PARTIAL_SUMS)
        of_texts: frozenset[PropertyType] = frozenset({"string"} if writes else ())
        return of_texts | {"integer", "number"}

    def input_names(self, position: int, own: Sequence[str], width: int) -> tuple[str, ...]:
        count = len(self.keys)
        names = {self.keys[i]: n for i, n in zip(self.output, own, strict=True) if i < count}
        return tuple(names.get(k, "") for k in range(width))

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        """Keys have the names of their columns; aggregates are written out."""
        (below,) = inputs
        calls = [notation.value(str(call), below) for call in self.calls]
        names = (*(below[key] for key in self.keys), *calls, notation.PARTITION)
        return tuple(names[i] for i in self.output)

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """The rows of a key lie together where one of its columns is hashed by.

        Partial rows may lie anywhere. But equal rows lie on one partition, unless a repeated value
        changes no aggregate and no row is retracted.
        """
        below = inputs[0]
        if self.partial and below.spread in COPIED:
            raise ValueError("copies of a row would count on several partitions")
        if self.partial and below == ANY and self._ignores_repeats:
            return ANY
        if below.spread is not Spread.HASH:
            return together(below, "value" if self.partial else "key")
        hashed = [i for i, key in enumerate(self.keys) if key in below.columns]
        if self.partial:
            return hashed_by([i for i, place in enumerate(self.output) if place in hashed])
        require(bool(hashed), f"its input is distributed by {below}, which hashes no key")
        return hashed_by([i for i, place in enumerate(self.output) if place in hashed])

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """On one partition, or hashed by a key that the result has.

        Partial: where the rows lie, or hashed by any column.
        """
        if self.partial:
            return iter([(ANY,), *((hashed_by((c,)),) for c in range(widths[0]))])
        keys = self.keys
        return on_one_or_hashed({key for key in keys if keys.index(key) in self.output})

    def arguments(self, names: InputNames) -> str:
        """``count(*) by x  every 1d``."""
        return notation.aggregates(
            self.keys,
            self.aggregates,
            self.output,
            self.every,
            names,
            marks=("partial",) if self.partial else ("retracts",) if self.retracts else (),
        )


def _list_of(kind: ColumnType) -> ColumnType:
    """The type of lists of values of a type; paths and lists in a list are text."""
    return LISTS.get(cast(PropertyType, kind), "strings")


_INTEGER: frozenset[ColumnType] = frozenset({"integer"})
_NUMBER: frozenset[ColumnType] = frozenset({"number"})
