"""MULTIWAY_JOIN: the multiway join of three or more atoms, with deletions or without."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np

from ...algebra.joins import join_variables
from ...algebra.physical import MultiwayJoin, indexes_of
from ..batch import Batch, IntArray, merge_order
from ..cells import coordinates_of
from ..dictionary import Dictionary
from ..kernels import multiway as kernel
from ..kernels import relations as held
from ..kernels import stops
from ..kernels.tables import EMPTY, capacity_for, enlarged
from ..partitions import Partition
from .base import Holding, Results, Swept, drive
from .condition import Condition, checks_of
from .join import held_until

_SMALLEST = 64

Index = tuple[int, tuple[int, ...]]
"""A relation and the one or two columns of an index."""


class RelationStore(Swept):
    """The rows of several relations, with their indexes.

    Args:
        widths: the number of columns of each relation.
        indexes: the indexes, sorted.
        bag: whether each copy of a row can be taken back.
    """

    def __init__(self, widths: Sequence[int], indexes: Sequence[Index], *, bag: bool) -> None:
        super().__init__(np.zeros(held.HEADER_FIELDS, np.int64))
        self.widest = max(widths)
        self.header[held.IS_BAG] = bag
        self.header[held.AFTER] = self.widest
        relations = [relation for relation, _ in indexes]
        counts = [relations.count(relation) for relation in range(len(widths))]
        self._most_indexes = max(counts)
        self._widths: IntArray = np.array(widths, np.int64)
        self._first_index: IntArray = np.cumsum([0, *counts], dtype=np.int64)
        self._keys: IntArray = np.array([(*columns, EMPTY)[:2] for _, columns in indexes], np.int64)
        self.arrays = self._new_arrays(_SMALLEST)

    def _new_arrays(self, capacity: int) -> held.Relations:
        fields = self.widest + held.FIELDS + self._most_indexes
        heads = np.empty((capacity_for(capacity * self._most_indexes), held.HEAD_FIELDS), np.int64)
        heads[:, held.FIRST] = EMPTY
        return held.Relations(
            self.header,
            np.empty((capacity, fields), np.int64),
            np.full((capacity_for(capacity), 2), EMPTY, np.int64),
            heads,
            self._widths,
            self._first_index,
            self._keys,
        )

    def purge(self, now: int) -> None:
        """Drops expired rows; the new arrays have room for at least twice the others."""
        old = self.arrays
        count, lasting, latest = held.count_valid(old, now)
        self.arrays = self._new_arrays(max(_SMALLEST, 2 * count))
        line = np.empty((self.widest, 1), np.int64)
        held.copy_valid(old, self.arrays, line, now)
        self._swept(now, lasting, latest)

    @property
    def nbytes(self) -> int:
        """Bytes of memory allocated for state."""
        return sum(array.nbytes for array in self.arrays)


class MultiwayOperator(Holding):
    """Holds the valid rows of all inputs, each once, and extends each arriving row.

    Raises:
        PlanError: if the residual is not on the allow-list.
    """

    def __init__(
        self,
        join: MultiwayJoin,
        widths: Sequence[int],
        dictionary: Dictionary | None = None,
        partition: Partition | None = None,
    ) -> None:
        self._dictionary = dictionary or Dictionary()
        indexes = indexes_of(join)
        self._store = RelationStore(widths, indexes, bag=join.update_pattern is not None)
        self._stores = (self._store,)
        self._reads = join.reads
        self._horizons = join.horizons or (None,) * len(join.reads)
        self._width = len(join.output)
        self._residual: Condition | None = None
        variables = 1 + max(v for binding in join.bindings for v in binding)
        written = list(join.output)
        if join.residual is not None:
            self._residual = Condition(join.residual, variables, self._dictionary)
            written += [v for v in self._residual.columns if v not in written]
            self._looked_at = [written.index(v) for v in self._residual.columns]
        self._further = len(written) - self._width
        place = partition or Partition()
        own = _own_parts(join, place)
        checks = _checks(join, own)
        self._program = _program(join, indexes, variables, written, checks)
        self._hashes = _Hashes(join, own, self._dictionary)
        levels = len(join.bindings)
        of_variables = [np.zeros(variables, np.int64) for _ in range(2)]
        self._work = kernel.Work(*of_variables, *[np.zeros(levels, np.int64) for _ in range(5)])
        self._h: IntArray = np.zeros(kernel.HEADER_FIELDS, np.int64)
        self._h[kernel.DELTA] = EMPTY
        self._h[kernel.LEVELS] = levels - 1

    def _until(self, number: int, batch: Batch) -> IntArray:
        """The time until which each row of an input can match: the latest for any of its atoms."""
        atoms = zip(self._reads, self._horizons, strict=True)
        horizons = {horizon for read, horizon in atoms if read == number}
        if None in horizons:
            return batch.exp
        latest = [held_until(batch, horizon, self._dictionary) for horizon in horizons]
        return functools.reduce(np.maximum, latest)

    def process(self, inputs: Sequence[Batch], wanted: bool) -> Batch:
        """A row for each combination of matching rows that are valid together."""
        arriving = _merged(inputs, list(map(self._until, range(len(inputs)), inputs)))
        if not len(arriving.ts):
            return Batch.empty(self._width)
        h, store = self._h, self._store
        values = kernel.Values(self._dictionary.table, self._hashes.of(inputs))
        results = Results(self._width, wanted, self._further)

        def advance() -> int:
            return kernel.advance(
                h, store.arrays, self._program, self._work, arriving, values, results.buffer
            )

        def take() -> None:
            written = int(h[kernel.OUT])
            chosen = None
            if self._residual is not None and wanted and written:
                chosen = self._residual.mask(results.buffer[self._looked_at, :written])
            results.take(written, chosen=chosen)
            h[kernel.OUT] = 0

        h[kernel.ROW] = 0
        drive(
            advance,
            {
                stops.SWEEP_DUE: lambda: store.purge(int(arriving.ts[h[kernel.ROW]])),
                stops.OUT_FULL: take,
            },
        )
        take()
        return results.batch()


def _merged(inputs: Sequence[Batch], until: Sequence[IntArray]) -> kernel.Arriving:
    """The rows of all inputs by ts, each with the number of its input and until when it is held."""
    widest = max(batch.width for batch in inputs)
    filled = [(k, batch) for k, batch in enumerate(inputs) if len(batch)]
    if len(filled) == 1 and filled[0][1].width == widest:
        number, batch = filled[0]
        relation = np.full(len(batch), number, np.int64)
        return kernel.Arriving(batch.columns, batch.ts, batch.exp, until[number], relation)
    rows = sum(len(batch) for _, batch in filled)
    columns = np.zeros((widest, rows), np.int64)
    if not rows:
        none = np.empty(0, np.int64)
        return kernel.Arriving(columns, none, none, none, none)
    order = merge_order([batch for _, batch in filled])
    begin = 0
    for _, batch in filled:
        columns[: batch.width, begin : begin + len(batch)] = batch.columns
        begin += len(batch)
    relation = np.concatenate([np.full(len(batch), k, np.int64) for k, batch in filled])
    return kernel.Arriving(
        np.ascontiguousarray(columns[:, order]),
        np.concatenate([batch.ts for _, batch in filled])[order],
        np.concatenate([batch.exp for _, batch in filled])[order],
        np.concatenate([until[k] for k, _ in filled])[order],
        relation[order],
    )


def _shared_columns(join: MultiwayJoin, atom: int) -> tuple[int, ...]:
    """The columns of an atom whose variables other atoms have too."""
    shared = join_variables(join.bindings)
    return tuple([c for c, v in enumerate(join.bindings[atom]) if v in shared])


def _program(
    join: MultiwayJoin,
    indexes: Sequence[Index],
    variables: int,
    written: Sequence[int],
    checks: IntArray,
) -> kernel.Program:
    """The join as arrays."""
    atoms = range(len(join.bindings))
    shared = join_variables(join.bindings)
    levels = np.full((len(atoms), len(atoms) - 1, kernel.LEVEL_FIELDS), EMPTY, np.int64)
    ready = np.full((len(atoms), variables), kernel.UNBOUND, np.int64)
    for delta in atoms:
        ready[delta, list(join.bindings[delta])] = EMPTY
        bound = shared.intersection(join.bindings[delta])
        waiting = [atom for atom in atoms if atom != delta]
        level = 0
        for variable in (None, *join.orders[delta]):
            if variable is not None:
                bound |= {variable}
                ready[delta, variable] = level
            stage = [a for a in waiting if shared.intersection(join.bindings[a]) <= bound]
            for place, atom in enumerate(stage, start=level):
                columns = _shared_columns(join, atom)
                relation = join.reads[atom]
                levels[delta, place, kernel.ATOM] = atom
                levels[delta, place, kernel.PROBE] = indexes.index((relation, columns))
                before = [c for c in columns if join.bindings[atom][c] != variable]
                if variable is not None and len(columns) == 2:
                    listed = indexes.index((relation, (before[0],)))
                    levels[delta, place, kernel.LIST] = listed
                levels[delta, place, kernel.BEGIN] = level
                levels[delta, place, kernel.END] = level + len(stage)
            waiting = [atom for atom in waiting if atom not in stage]
            level += len(stage)
    owner = np.full(variables, EMPTY, np.int64)
    of_atom = np.full((len(atoms), max(map(len, join.bindings))), EMPTY, np.int64)
    for atom, binding in enumerate(join.bindings):
        of_atom[atom, : len(binding)] = binding
        for variable in set(binding) - shared:
            owner[variable] = atom
    return kernel.Program(
        np.array(join.reads, np.int64),
        of_atom,
        levels,
        ready,
        owner,
        np.array(written, np.int64),
        checks,
    )


@dataclass(frozen=True, slots=True)
class _OwnPart:
    """A variable whose values in the results of a partition lie in one of several parts."""

    variable: int
    part: int
    parts: int


def _own_parts(join: MultiwayJoin, place: Partition) -> list[_OwnPart]:
    """The parts of the results of a partition: own values, or the cell of a hypercube."""
    if join.own is not None:
        return [_OwnPart(join.own, place.partition, place.partitions)]
    here = coordinates_of(place.partition, [parts for _, parts in join.shares])
    return [_OwnPart(v, at, parts) for (v, parts), at in zip(join.shares, here, strict=True)]


def _checks(join: MultiwayJoin, own: Sequence[_OwnPart]) -> IntArray:
    """The checks that the kernel makes as soon as their variables are bound: whether values lie in
    the partition's own parts, and parts of the residual."""
    checks = [(kernel.OWN, o.variable, o.variable, o.part, o.parts) for o in own]
    if join.residual is not None:
        checks += [(*check, 0) for check in checks_of(join.residual)]
    return np.array(checks, np.int64).reshape(len(checks), kernel.CHECK_FIELDS)


class _Hashes:
    """The hashes of the values that decide to which partition a result belongs, by their codes.

    A hash is taken modulo the least common multiple of all numbers of parts. A code may pass to
    another value once all rows with it have expired; the rows with the new value then arrive, and
    its hash replaces the old one.
    """

    def __init__(self, join: MultiwayJoin, own: Sequence[_OwnPart], dictionary: Dictionary) -> None:
        self._columns = {
            (read, binding.index(o.variable))
            for read, binding in zip(join.reads, join.bindings, strict=True)
            for o in own
            if o.variable in binding
        }
        self._dictionary = dictionary
        self._modulus = lcm(*[o.parts for o in own])
        self._of_code: IntArray = np.empty(0, np.int64)

    def of(self, inputs: Sequence[Batch]) -> IntArray:
        """The hashes after these rows have arrived."""
        for read, column in sorted(self._columns):
            codes = inputs[read].columns[column]
            if len(codes):
                if len(self._of_code) < len(self._dictionary.table):
                    self._of_code = enlarged(self._of_code, len(self._dictionary.table))
                self._of_code[codes] = self._dictionary.partitions(codes, self._modulus)
        return self._of_code
