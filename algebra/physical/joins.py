"""The join."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from .. import notation, predicate_syntax
from ..hashing import hashed_once
from ..notation import InputNames
from ..properties import BROADCAST, NOTHING, SINGLE, Distribution, Spread, distributions, hashed
from ..untrusted import MOST_VARIABLES, WIDEST, at_most, between
from ..values import StreamTypes, Types
from .base import JoinsHeldRows, WithDeletions, hashed_by, registered, require

Horizon = tuple[int, int]
"""A column that holds a time, and the time units after it in which matching rows can arrive."""

FURTHEST = 2**62
"""The exclusive limit of the bound of a horizon, in time units."""


def named_variables(
    bindings: Sequence[tuple[int, ...]],
    output: Sequence[int],
    variables: Sequence[str],
    columns: Sequence[str],
) -> tuple[str, ...]:
    """The names of a join's variables, after the names of its output columns.

    A variable that is not in the output keeps its own name, with a prime if it is in use. A
    variable without a name has an empty one.
    """
    names = {v: columns[k] for k, v in reversed(list(enumerate(output))) if columns[k]}
    for variable in range(1 + max((v for binding in bindings for v in binding), default=-1)):
        if variable not in names:
            own = variables[variable] if variable < len(variables) else ""
            names[variable] = notation.apart(own, names.values()) if own else ""
    return tuple([names[v] for v in sorted(names)])


def names_from_inputs(
    variables: Sequence[str], bindings: Sequence[tuple[int, ...]], inputs: Sequence[Sequence[str]]
) -> tuple[str, ...]:
    """The variables of a join; those without a name have the name of a column that they bind.

    Args:
        variables: the names of the variables; empty ones are replaced.
        bindings: the variables of the columns of each atom.
        inputs: the names of the columns of each atom.
    """
    names = list(variables)
    for binding, columns in zip(bindings, inputs, strict=True):
        for variable, column in zip(binding, columns, strict=True):
            if not names[variable]:
                names[variable] = notation.apart(column, names)
    return tuple(names)


def written_horizons(
    bindings: Sequence[tuple[int, ...]],
    horizons: Sequence[Horizon | None] | None,
    name: Callable[[int], str],
) -> str:
    """``  held to e.ts + 10``: the horizons; empty without any."""
    if horizons is None:
        return ""
    held = [
        f"{name(binding[horizon[0]])} {'-' if horizon[1] < 0 else '+'} {abs(horizon[1])}"
        for binding, horizon in zip(bindings, horizons, strict=True)
        if horizon is not None
    ]
    return f"  held to {', '.join(held)}"


@registered
@hashed_once
@dataclass(frozen=True, slots=True)
class HashJoin(JoinsHeldRows):
    """Symmetric hash join of two inputs on the variables that both bind.

    Without a shared variable the join is the cross product. Over a stream with deletions the join
    retracts results, and holds all rows until they expire.

    Attributes:
        bindings: ``bindings[k][j]`` is the variable of column ``j`` of input ``k``.
        output: the variables of the output columns.
        variables: the names of the variables, for people.
        residual: a condition that two joined rows satisfy, as SQL over columns ``c0``, ``c1``, ...
            that stand for the variables; null joins all pairs.
        horizon: for each input a column with a time, and a bound in time units. A row of the input
            matches no row that arrives on the other side more than the bound after the time in the
            column, so the join then drops the row. Null holds the rows until they expire.
        update_pattern: the variant for inputs with deletions; null without deletions.
    """

    bindings: tuple[tuple[int, ...], tuple[int, ...]]
    output: tuple[int, ...]
    variables: tuple[str, ...] = field(default=(), compare=False)
    residual: str | None = field(default=None, hash=False)
    horizon: tuple[Horizon | None, Horizon | None] | None = field(default=None, hash=False)
    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["HASH_JOIN"] = "HASH_JOIN"

    names_inputs: ClassVar[bool] = True

    def named(self, columns: tuple[str, ...]) -> HashJoin:
        """The join with variables named after the names of its output columns."""
        names = named_variables(self.bindings, self.output, self.variables, columns)
        return replace(self, variables=names)

    def named_by_inputs(self, inputs: Sequence[Sequence[str]]) -> HashJoin:
        """The join with names for the variables that have none, from the columns of its inputs."""
        names = names_from_inputs(self.variables, self.bindings, inputs)
        return replace(self, variables=names)

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        return tuple(self.variables[v] for v in self.output)

    def check_bounds(self, inputs: int) -> None:
        """Checks the residual, and the numbers of columns and variables."""
        if self.residual is not None:
            _ = predicate_syntax.checked(self.residual)
        for listed in (*self.bindings, self.output, self.variables):
            at_most(len(listed), WIDEST, "columns")
        bound = [v for binding in self.bindings for v in binding]
        between(bound, 0, MOST_VARIABLES, "a variable")

    def output_width(self, inputs: Sequence[int]) -> int:
        require(len(inputs) == 2, "a join has two inputs")
        bound = {v for binding in self.bindings for v in binding}
        for width, binding in zip(inputs, self.bindings, strict=True):
            require(len(binding) == width, f"{len(binding)} variables for {width} columns")
            require(len(set(binding)) == width, "a variable occurs twice in one input")
        require(set(self.output) <= bound, "an output variable is not bound")
        if self.residual is not None:
            tree = predicate_syntax.checked(self.residual, 1 + max(bound, default=-1))
            looked_at = predicate_syntax.columns_of(tree)
            require(looked_at <= bound, "the residual looks at an unbound variable")
        for width, side in zip(inputs, self.horizon or (None, None), strict=True):
            there = side is None or (0 <= side[0] < width and abs(side[1]) < FURTHEST)
            require(there, "a horizon names a column that does not exist, or no bound")
        return len(self.output)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        of_variable = {
            variable: types
            for binding, side in zip(self.bindings, inputs, strict=True)
            for variable, types in zip(binding, side, strict=True)
        }
        return tuple(of_variable[variable] for variable in self.output)

    def input_names(self, position: int, own: Sequence[str], width: int) -> tuple[str, ...]:
        return tuple(self.variables[v] for v in self.bindings[position])

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """Copies of one side, both sides on one partition, or both hashed on a shared variable."""
        left, right = inputs
        if NOTHING in (left, right):
            return NOTHING
        if left == right and left in (SINGLE, BROADCAST):
            return left
        first, second = (
            frozenset(binding[column] for column in side.columns)
            for binding, side in zip(self.bindings, inputs, strict=True)
        )
        if BROADCAST in (left, right):
            other, variables = (right, second) if left == BROADCAST else (left, first)
            if other.spread is not Spread.HASH:
                return other
        else:
            lie = f"its inputs lie {left} and {right}"
            require(bool(first & second), f"{lie}, so that rows to be joined may lie apart")
            variables = first | second
        return hashed_by([i for i, variable in enumerate(self.output) if variable in variables])

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """Hashed on each shared variable, copies of either side, both on one partition."""
        left, right = self.bindings
        for variable in sorted(set(left) & set(right)):
            yield hashed(left.index(variable)), hashed(right.index(variable))
        for other in distributions(widths[1], 2):
            yield BROADCAST, other
        for other in distributions(widths[0], 2):
            if other != BROADCAST:
                yield other, BROADCAST
        yield SINGLE, SINGLE

    def over_deletions(self) -> HashJoin:
        """The variant for deletions, which holds all rows until they expire."""
        return replace(self, horizon=None, update_pattern="with_deletions")

    def arguments(self, names: InputNames) -> str:
        """``x,y ⋈ y,z → x,z  on y  where x < z  held to x + 10``."""
        name = notation.variable_names(self.variables)
        joined = notation.joined(self.bindings, self.output, name)
        return (
            joined
            + notation.where(self.residual, name)
            + written_horizons(self.bindings, self.horizon, name)
        )

    def relation(self, below: Sequence[str]) -> str | None:
        """``(a⋈b)``."""
        return f"({'⋈'.join(below)})"
