"""The interface of logical operators, and expressions of operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Literal, TypeVar

from ..combinations import Form
from ..hashing import HashedOnce
from ..notation import InputNames

I = TypeVar("I", bound=int)  # noqa: E741 - a reference to an input: a group or a position


class PathSemantics(StrEnum):
    """Which paths count: any, those that repeat no vertex, or those that repeat no edge."""

    ARBITRARY = "arbitrary"
    SIMPLE = "simple"
    TRAIL = "trail"


VertexPaths = Literal[PathSemantics.ARBITRARY, PathSemantics.SIMPLE]
"""The semantics of paths over pairs of vertices. Trails, which tell edges apart, are an operator of
their own."""


class LogicalOperator(HashedOnce):
    """An operator of the algebra: a frozen dataclass without its inputs."""

    __slots__ = ()

    op: ClassVar[str]
    """The name of the operator."""
    names_inputs: ClassVar[bool] = False
    """Whether the arguments in one line name the inputs."""

    @property
    def by_partition(self) -> bool:
        """Whether the result depends on how the rows of the inputs lie over partitions."""
        return False

    @property
    def form(self) -> Form | None:
        """The form of queries that the operator is for; None if it goes with every feature."""
        return None

    def canonical(self, inputs: tuple[I, ...]) -> tuple[LogicalOperator, tuple[I, ...]]:
        """The form of the operator and its inputs in which equal ones are equal."""
        return self, inputs

    def width(self, inputs: Sequence[int]) -> int:
        """The number of columns, given those of the inputs."""
        return inputs[0]

    def arguments(self, names: InputNames) -> str:
        """The arguments in one line of text for people."""
        return ""


@dataclass(frozen=True, slots=True)
class LogicalExpression:
    """An operator with its input expressions: a query in the Streaming Graph Algebra.

    ``name`` is the relation's name in the query, and ``columns`` are the query's names of its
    columns (empty if unknown), for people to read.
    """

    operator: LogicalOperator
    inputs: tuple[LogicalExpression, ...] = ()
    name: str | None = field(default=None, compare=False)
    columns: tuple[str, ...] = field(default=(), compare=False)

    @property
    def width(self) -> int:
        """The number of columns of the result."""
        return self.operator.width([e.width for e in self.inputs])


@dataclass(frozen=True, slots=True)
class LogicalQuery:
    """A whole query: its expression and the names of the answer's columns.

    ``warnings`` are lines for people to read; ``semantics`` is the semantics of all its paths.
    """

    expression: LogicalExpression
    columns: tuple[str, ...]
    warnings: tuple[str, ...] = field(default=(), compare=False)
    semantics: PathSemantics = PathSemantics.ARBITRARY
