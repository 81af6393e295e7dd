"""The interface of physical operators, and the table of all operators."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar, Literal, Self, TypeVar

from ..hashing import HashedOnce
from ..notation import InputNames
from ..properties import (
    ANY,
    SINGLE,
    Convention,
    Distribution,
    Spread,
    UpdatePattern,
    distributions,
)
from ..registry import Registry
from ..values import PropertyType, StreamTypes, Types

WithDeletions = Literal["with_deletions"] | None
"""Null where rows are never retracted before they expire."""

Repeats = Literal["dropped", "passed", "derived", "derived anew", "extended"]
"""What an operator does with rows that repeat others: it drops them, passes those of its input on,
emits a row for each derivation from the rows of its inputs, or for each derivation from the
different rows of its inputs (``derived anew``), or for each growth of the validity of a row of its
first input (``extended``)."""

Conventions = tuple[tuple[Convention, Convention], ...]
"""Pairs: the convention of an operator's inputs, and the convention of its result over them."""

BY_KERNELS: Conventions = ((Convention.KERNEL, Convention.KERNEL),)
IN_SQL: Conventions = ((Convention.SPARK_SQL, Convention.SPARK_SQL),)


class PhysicalOperator(HashedOnce):
    """An operator of a plan: a frozen dataclass of JSON-able fields, one of them ``op``.

    The methods are the laws of the operator. The optimizer plans by them, and the executor checks
    every plan by them anew. A method that checks raises ValueError with the reason.
    """

    __slots__ = ()

    conventions: ClassVar[Conventions] = BY_KERNELS
    holds_state: ClassVar[bool] = True
    """Whether rows are held from one micro-batch to the next."""
    names_inputs: ClassVar[bool] = False
    """Whether the arguments in one line name the inputs."""
    reads_cells: ClassVar[bool] = False
    """Whether the operator reads rows that have copies in the cells of a hypercube."""
    reads_retractions: ClassVar[bool] = True
    """Whether the operator, or its variant for deletions, reads rows that may be retracted."""

    @property
    def op(self) -> str:
        """The stable name of the operator in plan documents."""
        raise NotImplementedError

    # -- rows and columns -------------------------------------------------------------------

    def check_bounds(self, inputs: int) -> None:
        """Checks the sizes and numbers in the operator's own fields.

        Args:
            inputs: how many inputs the operator reads.
        """

    def output_width(self, inputs: Sequence[int]) -> int:
        """Checks the operator against its inputs, and returns the number of output columns.

        Args:
            inputs: the number of columns of each input.
        """
        return one_input(inputs)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        """The types of the values in each output column, given those of the inputs."""
        return inputs[0]

    def new_types(self) -> frozenset[PropertyType]:
        """The types of the values that the operator computes, without those of its inputs."""
        return frozenset()

    def input_names(self, position: int, own: Sequence[str], width: int) -> tuple[str, ...]:
        """The names of the columns of an input, for people.

        Args:
            position: the position of the input.
            own: the names of the output columns.
            width: the number of columns of the input.

        Returns:
            An empty name for a column whose name does not follow from those of the output.
        """
        return tuple(own)

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        """The names of the output columns that follow from those of the inputs, for people.

        Args:
            inputs: the names of the columns of each input.
            width: the number of output columns.

        Returns:
            An empty name for a column whose name does not follow.
        """
        names = tuple(inputs[0]) if inputs else ()
        return names if len(names) == width else ("",) * width

    def retention(self) -> int:
        """The time units for which the operator needs an input row after its expiry."""
        return 0

    @property
    def lookback(self) -> int:
        """The time units before the present from which the operator's state has to be rebuilt.

        The retention of the operators above it counts from then.
        """
        return 0

    @property
    def coalesces(self) -> bool:
        """Whether the result is coalesced, however the inputs are."""
        return False

    def keeps_coalesced(self, widths: Sequence[int]) -> bool:
        """Whether the result is coalesced if the input is."""
        return False

    def reads_every_row(self, position: int) -> bool:
        """Whether each row of an input counts, so that no repeated row may be dropped below."""
        return False

    def repeats(self, widths: Sequence[int]) -> Repeats:
        """The rule for rows whose validity lies within that of earlier rows of their value."""
        if self.coalesces:
            return "dropped"
        return "passed" if self.keeps_coalesced(widths) else "derived"

    # -- distribution -----------------------------------------------------------------------

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """The law: how the result lies over several partitions, given how the inputs lie.

        Raises:
            ValueError: if the operator would give wrong rows over such inputs.
        """
        return inputs[0]

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """The distributions of the inputs that the optimizer tries, the preferred ones first.

        The optimizer leaves out distributions that the law refuses.
        """
        return product(*(distributions(width, parallelism=2) for width in widths))

    @property
    def least_partitions(self) -> int:
        """The number of partitions without which the operator would lose rows."""
        return 1

    # -- deletions --------------------------------------------------------------------------

    def update_pattern_over(self, inputs: Collection[UpdatePattern]) -> UpdatePattern:
        """The update pattern of the result over inputs of such patterns.

        Raises:
            ValueError: if the operator does not support inputs with these update patterns.
        """
        return UpdatePattern.WITH_DELETIONS if self.retracted(inputs) else UpdatePattern.APPEND_ONLY

    def retracted(self, inputs: Collection[UpdatePattern]) -> bool:
        """Whether rows of an input may be retracted.

        Raises:
            ValueError: if the rows include deletions that are not expanded into retractions.
        """
        if UpdatePattern.MARKED in inputs:
            raise ValueError(f"{self.op} cannot tell which rows a deletion retracts")
        return UpdatePattern.WITH_DELETIONS in inputs

    def over_deletions(self) -> PhysicalOperator:
        """The operator that computes the same over an input with deletions."""
        return self

    @property
    def final(self) -> bool:
        """Whether the operator gives a row only when it is final, and so never retracts one."""
        return False

    @property
    def marks(self) -> bool:
        """Whether the operator scans a stream with deletions."""
        return False

    @property
    def ends_deletions(self) -> bool:
        """Whether the operator reads retractions and gives final rows.

        The input has to be coalesced, so that each value has at most one valid row.
        """
        return False

    # -- notation ---------------------------------------------------------------------------

    def arguments(self, names: InputNames) -> str:
        """The arguments in one line of text for people."""
        return ""

    def relation(self, below: Sequence[str]) -> str | None:
        """The name of the rows in a path over them, from the names of the inputs: ``(a⋈b)``."""
        return None


class DeletionVariant(PhysicalOperator):
    """An operator with a variant of its own over inputs with deletions.

    The field ``update_pattern`` says which variant it is.
    """

    __slots__ = ()
    update_pattern: WithDeletions

    def update_pattern_over(self, inputs: Collection[UpdatePattern]) -> UpdatePattern:
        """As the inputs; final rows are never retracted."""
        retracted = self.retracted(inputs)
        if retracted is not (self.update_pattern is not None):
            raise ValueError(f"{self.op} is {'not ' * retracted}made for deletions")
        kept = retracted and not self.final
        return UpdatePattern.WITH_DELETIONS if kept else UpdatePattern.APPEND_ONLY

    def over_deletions(self) -> Self:
        """The variant for deletions."""
        variant: Any = self
        changed: Self = replace(variant, update_pattern="with_deletions")
        return changed

    @property
    def ends_deletions(self) -> bool:
        """Whether it is the variant for deletions, and gives final rows."""
        return self.final and self.update_pattern is not None


class JoinsHeldRows(DeletionVariant):
    """A join that holds each row of an input once, without deletions."""

    __slots__ = ()

    def repeats(self, widths: Sequence[int]) -> Repeats:
        """A row that repeats one that is held changes nothing, except over deletions."""
        if self.update_pattern is not None:
            return DeletionVariant.repeats(self, widths)
        return "derived anew"


class PassesRows(PhysicalOperator):
    """An operator whose rows are those of its one input, in other places or at other times."""

    __slots__ = ()

    def relation(self, below: Sequence[str]) -> str | None:
        """The name of the input."""
        return below[0]

    def repeats(self, widths: Sequence[int]) -> Repeats:
        """Rows that repeat others are passed on, unless the operator coalesces."""
        return "dropped" if self.coalesces else "passed"


OPERATORS: Registry[str, type[PhysicalOperator]] = Registry()
"""All physical operators by their names in plan documents."""

O = TypeVar("O", bound=PhysicalOperator)  # noqa: E741 - an operator


def registered(operator: type[O]) -> type[O]:
    """Adds a dataclass of an operator to :data:`OPERATORS`, by the default of its field ``op``."""
    fields: Any = operator
    return OPERATORS.add(fields.__dataclass_fields__["op"].default)(operator)


# -- for the laws of operators ----------------------------------------------------------------


def require(holds: bool, problem: str) -> None:
    """Raises ValueError with the problem unless the condition holds."""
    if not holds:
        raise ValueError(problem)


def one_input(inputs: Sequence[int]) -> int:
    """The width of the only input."""
    require(len(inputs) == 1, "it has one input")
    return inputs[0]


def require_columns(columns: Collection[int], width: int) -> None:
    """Raises ValueError unless every column is below the width."""
    require(all(0 <= column < width for column in columns), "its input has no such column")


def moved(below: Distribution, columns: Sequence[int]) -> Distribution:
    """The distribution of rows whose column ``i`` was column ``columns[i]``."""
    if below.spread is not Spread.HASH:
        return below
    return hashed_by([i for i, column in enumerate(columns) if column in below.columns])


def hashed_by(columns: Sequence[int]) -> Distribution:
    """The distribution hashed by each of the columns; without columns, rows lie anywhere."""
    return Distribution(Spread.HASH, tuple(columns)) if columns else ANY


def together(below: Distribution, what: str) -> Distribution:
    """Returns the distribution, after a check that it puts equal rows on one partition.

    Raises:
        ValueError: if the rows lie anywhere.
    """
    if below == ANY:
        raise ValueError(f"the rows of a {what} may lie on several partitions")
    return below


def on_one_or_hashed(columns: Collection[int]) -> Iterator[tuple[Distribution, ...]]:
    """One input on a single partition, or hashed by one of the columns."""
    yield (SINGLE,)
    for column in sorted(columns):
        yield (hashed_by((column,)),)
