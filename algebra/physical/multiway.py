"""The multiway join."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import ClassVar, Literal

from .. import notation, predicate_syntax
from ..hashing import hashed_once
from ..joins import connected_to, join_variables
from ..notation import InputNames
from ..properties import (
    ANY,
    BROADCAST,
    NOTHING,
    SINGLE,
    Cells,
    Distribution,
    Spread,
    hashed,
    in_cells,
)
from ..untrusted import (
    MOST_ATOMS,
    MOST_INPUTS,
    MOST_OPERATORS,
    MOST_VARIABLES,
    WIDEST,
    at_most,
    between,
)
from ..values import StreamTypes, Types
from .base import JoinsHeldRows, WithDeletions, hashed_by, registered, require
from .joins import FURTHEST, Horizon, named_variables, names_from_inputs, written_horizons

MANY_ATOMS = 12
"""The most atoms of a join of which all placements over several partitions are tried."""
MOST_HASHED = 8
"""The most variables on which the inputs of a join with more atoms are hashed."""


@registered
@hashed_once
@dataclass(frozen=True, slots=True)
class MultiwayJoin(JoinsHeldRows):
    """Joins three or more atoms at once: binds one variable after the other by intersection.

    Each arriving row takes the place of every atom that reads its input, and the other atoms
    extend it variable by variable. An input that several atoms read is held once. An atom shares
    one or two of its variables with other atoms.

    Attributes:
        reads: the input that each atom reads.
        bindings: ``bindings[k][j]`` is the variable of column ``j`` of atom ``k``.
        output: the variables of the output columns.
        orders: for each atom the order in which the shared variables of the other atoms are bound
            after a row of the atom.
        variables: the names of the variables, for people.
        own: with several partitions, a shared variable: each partition has copies of all inputs
            and reports the results whose value of the variable belongs to it. Null for all results.
        shares: with several partitions, pairs of a shared variable and a number of parts. The
            partitions are the cells of a hypercube with these dimensions: each partition has the
            rows of an atom that agree with its part in the atom's variables, and reports the
            results whose values are all in its parts. Empty without a hypercube.
        horizons: for each atom null, or a column with a time and a bound, as in HASH_JOIN: a row of
            the atom matches no row that arrives more than the bound after the time. A row is held
            until the last time of the atoms that read its input. Null holds rows until they expire.
        residual: a condition that every result satisfies, as SQL over columns ``c0``, ``c1``, ...
            that stand for the variables; null for none.
        update_pattern: the variant for inputs with deletions; null without deletions.
    """

    reads: tuple[int, ...]
    bindings: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    orders: tuple[tuple[int, ...], ...]
    variables: tuple[str, ...] = field(default=(), compare=False)
    own: int | None = field(default=None, hash=False)
    shares: tuple[tuple[int, int], ...] = field(default=(), hash=False)
    horizons: tuple[Horizon | None, ...] | None = field(default=None, hash=False)
    residual: str | None = field(default=None, hash=False)
    update_pattern: WithDeletions = field(default=None, hash=False)
    op: Literal["MULTIWAY_JOIN"] = "MULTIWAY_JOIN"

    names_inputs: ClassVar[bool] = True
    reads_cells: ClassVar[bool] = True

    def named(self, columns: tuple[str, ...]) -> MultiwayJoin:
        """The join with variables named after the names of its output columns."""
        names = named_variables(self.bindings, self.output, self.variables, columns)
        return replace(self, variables=names)

    def named_by_inputs(self, inputs: Sequence[Sequence[str]]) -> MultiwayJoin:
        """The join with names for the variables that have none, from the columns of its inputs."""
        names = names_from_inputs(
            self.variables, self.bindings, [inputs[read] for read in self.reads]
        )
        return replace(self, variables=names)

    def output_names(self, inputs: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
        return tuple(self.variables[v] for v in self.output)

    def check_bounds(self, inputs: int) -> None:
        """Checks the residual, and the numbers of atoms, columns and variables."""
        if self.residual is not None:
            _ = predicate_syntax.checked(self.residual)
        for atoms in (self.reads, self.bindings, self.orders):
            at_most(len(atoms), MOST_ATOMS, "atoms")
        for listed in (*self.bindings, *self.orders, self.output, self.variables):
            at_most(len(listed), WIDEST, "columns")
        at_most(len(self.shares), WIDEST, "shares")
        between([parts for _, parts in self.shares], 2, MOST_OPERATORS, "a share")
        between(self.reads, 0, MOST_INPUTS, "an input")
        bound = [v for listed in (*self.bindings, *self.orders) for v in listed]
        between(bound, 0, MOST_VARIABLES, "a variable")

    def output_width(self, inputs: Sequence[int]) -> int:
        atoms = len(self.bindings)
        require(atoms >= 3, "a multiway join has three or more atoms")
        require(len(self.reads) == len(self.orders) == atoms, "an atom has an input and an order")
        require(set(self.reads) == set(range(len(inputs))), "each input is read, and no other")
        for read, binding in zip(self.reads, self.bindings, strict=True):
            width = inputs[read]
            require(len(binding) == width, f"{len(binding)} variables for {width} columns")
            require(len(set(binding)) == width, "a variable occurs twice in one atom")
        shared = join_variables(self.bindings)
        for binding in self.bindings:
            own = shared & set(binding)
            require(1 <= len(own) <= 2, "an atom shares one or two variables with others")
        for binding, order in zip(self.bindings, self.orders, strict=True):
            own = shared & set(binding)
            require(set(order) == shared - own, "an order names the shared variables of others")
            require(len(set(order)) == len(order), "an order names a variable twice")
            bound = set(own)
            for variable in order:
                near = connected_to(self.bindings, variable)
                require(bool(near & bound), "an order binds a variable beside no bound one")
                bound.add(variable)
        horizons = self.horizons or (None,) * atoms
        require(len(horizons) == atoms, "each atom has a horizon, or none has")
        for binding, side in zip(self.bindings, horizons, strict=True):
            there = side is None or (0 <= side[0] < len(binding) and abs(side[1]) < FURTHEST)
            require(there, "a horizon names a column that does not exist, or no bound")
        require(self.own is None or self.own in shared, "the variable of own values is not shared")
        bound = {v for binding in self.bindings for v in binding}
        divided = {variable for variable, _ in self.shares}
        require(divided <= shared, "a variable of a share is not shared")
        require(len(divided) == len(self.shares), "a variable has two shares")
        require(self.own is None or not divided, "own values and shares exclude each other")
        require(set(self.output) <= bound, "an output variable is not bound")
        if self.residual is not None:
            tree = predicate_syntax.checked(self.residual, 1 + max(bound))
            looked_at = predicate_syntax.columns_of(tree)
            require(looked_at <= bound, "the residual looks at an unbound variable")
        return len(self.output)

    def column_types(self, inputs: Sequence[Types], streams: Mapping[str, StreamTypes]) -> Types:
        of_variable = {
            variable: types
            for read, binding in zip(self.reads, self.bindings, strict=True)
            for variable, types in zip(binding, inputs[read], strict=True)
        }
        return tuple(of_variable[variable] for variable in self.output)

    def input_names(self, position: int, own: Sequence[str], width: int) -> tuple[str, ...]:
        binding = self.bindings[self.reads.index(position)]
        return tuple(self.variables[v] for v in binding)

    def distribution(self, inputs: Sequence[Distribution]) -> Distribution:
        """The distribution of the results.

        The inputs are on one partition, or some are hashed on one variable and the others are
        copied to every partition. With ``own`` all inputs are copied, and the results are hashed on
        the variable. With ``shares`` each input is in the cells of its atoms.
        """
        if NOTHING in inputs:
            return NOTHING
        if self.shares:
            lie, wanted = " and ".join(map(str, inputs)), self._in_cells(len(inputs))
            require(tuple(inputs) == wanted, f"its inputs lie {lie}, and not in the cells")
            return ANY
        spreads = {below.spread for below in inputs}
        require(Spread.HYPERCUBE not in spreads, "its inputs lie in cells, and it has no shares")
        if self.own is not None:
            require(set(inputs) == {BROADCAST}, "own values need copies of all inputs")
            return hashed_by([i for i, variable in enumerate(self.output) if variable == self.own])
        if len(set(inputs)) == 1 and inputs[0] in (SINGLE, BROADCAST):
            return inputs[0]
        divided = [k for k, read in enumerate(self.reads) if inputs[read] != BROADCAST]
        if len(divided) == 1 and inputs[self.reads[divided[0]]].spread is not Spread.HASH:
            return inputs[self.reads[divided[0]]]
        hashed_on = [
            {self.bindings[k][column] for column in inputs[self.reads[k]].columns} for k in divided
        ]
        variables = set.intersection(*hashed_on)
        lie = " and ".join(map(str, inputs))
        require(bool(variables), f"its inputs lie {lie}, so that rows to be joined may lie apart")
        return hashed_by([i for i, variable in enumerate(self.output) if variable in variables])

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """Hashed on each variable where all atoms of an input have it in one column, copies of the
        other inputs; one input divided, and copies of the others; all on one partition. With
        ``shares`` the cells of the atoms. Of many atoms, only the variables that most atoms have
        are tried, for each placement takes time to price and nearly all inputs are copied."""
        if self.shares:
            yield self._in_cells(len(widths))
            return
        if self.own is not None:
            yield (BROADCAST,) * len(widths)
            return
        many = len(self.bindings) > MANY_ATOMS
        for variable in self._in_most_atoms() if many else sorted(join_variables(self.bindings)):
            lie = tuple([self._hashed_on(variable, position) for position in range(len(widths))])
            if set(lie) != {BROADCAST}:
                yield lie
        for position in () if many else range(len(widths)):
            if self.reads.count(position) == 1:
                for own in (ANY, *map(hashed, range(widths[position]))):
                    copies = [BROADCAST] * len(widths)
                    copies[position] = own
                    yield tuple(copies)
        yield (BROADCAST,) * len(widths)
        yield (SINGLE,) * len(widths)

    def _in_most_atoms(self) -> list[int]:
        """The first shared variables, those of the most atoms first."""
        atoms = Counter([variable for binding in self.bindings for variable in binding])
        shared = sorted(join_variables(self.bindings), key=lambda v: (-atoms[v], v))
        return shared[:MOST_HASHED]

    @property
    def least_partitions(self) -> int:
        """The number of cells."""
        return prod([parts for _, parts in self.shares])

    def cells(self, position: int) -> Cells:
        """The cells in which the rows of an input have copies; one use for each atom."""
        read = [b for r, b in zip(self.reads, self.bindings, strict=True) if r == position]
        uses = [
            tuple([b.index(variable) if variable in b else None for variable, _ in self.shares])
            for b in read
        ]
        return Cells(tuple([parts for _, parts in self.shares]), tuple(dict.fromkeys(uses)))

    def _in_cells(self, inputs: int) -> tuple[Distribution, ...]:
        return tuple([in_cells(self.cells(position)) for position in range(inputs)])

    def _hashed_on(self, variable: int, position: int) -> Distribution:
        """The input hashed by the column that all its atoms bind to a variable, or its copies."""
        read = [b for r, b in zip(self.reads, self.bindings, strict=True) if r == position]
        columns = {b.index(variable) if variable in b else -1 for b in read}
        column = columns.pop()
        return BROADCAST if columns or column < 0 else hashed(column)

    def over_deletions(self) -> MultiwayJoin:
        """The variant for deletions, which holds all rows until they expire."""
        return replace(self, horizons=None, update_pattern="with_deletions")

    def arguments(self, names: InputNames) -> str:
        """``x,y ⋈ y,z ⋈ x,z → x,y,z  on x,y,z  where x <> z  binding z / x / y``."""
        name = notation.variable_names(self.variables)
        joined = notation.joined(self.bindings, self.output, name)
        orders = " / ".join(",".join(map(name, order)) or "–" for order in self.orders)
        binding = f"  binding {orders}" if any(self.orders) else ""
        own = "" if self.own is None else f"  own {name(self.own)}"
        if self.shares:
            own = f"  cells {', '.join([f'{name(v)} in {parts}' for v, parts in self.shares])}"
        held = written_horizons(self.bindings, self.horizons, name)
        return f"{joined}{notation.where(self.residual, name)}{binding}{own}{held}"

    def relation(self, below: Sequence[str]) -> str | None:
        """``(a⋈b⋈c)``."""
        return f"({'⋈'.join(below[read] for read in self.reads)})"


def indexes_of(join: MultiwayJoin) -> list[tuple[int, tuple[int, ...]]]:
    """The indexes of a multiway join: the input, and the one or two columns of each.

    Each atom needs one over its shared columns, and one over each of two.
    """
    shared = join_variables(join.bindings)
    indexes: set[tuple[int, tuple[int, ...]]] = set()
    for read, binding in zip(join.reads, join.bindings, strict=True):
        columns = tuple([c for c, v in enumerate(binding) if v in shared])
        indexes.update((read, (column,)) for column in columns)
        indexes.add((read, columns))
    return sorted(indexes)
