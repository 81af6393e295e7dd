"""The shares of a multiway join over several partitions, by which each receives the fewest rows.

The partitions are cells of a hypercube, as in Afrati and Ullman, *Optimizing joins in a map-reduce
environment*, EDBT 2010: a variable is a dimension and has a *share*, its number of parts. A row of
an atom has copies in the cells that agree with it in the atom's variables. The shares should
multiply to the number of partitions, and let each partition receive few rows: these are what an
EXCHANGE sends and a join inserts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod

from ..algebra.joins import join_variables
from ..algebra.physical import MultiwayJoin
from ..algebra.properties import Cells
from .characteristics import Characteristics

Shares = Mapping[int, int]
"""The number of parts of each variable that is a dimension."""


def with_shares(
    join: MultiwayJoin, inputs: Sequence[Characteristics], partitions: int
) -> MultiwayJoin:
    """The join with shares by which a partition receives few rows.

    Two shared variables begin with two parts each. As long as there are partitions for it, a
    variable gets one more part. Each step takes the variables with which a partition receives the
    fewest rows.

    Args:
        join: the join, with two or more shared variables.
        inputs: the characteristics of its inputs, over all partitions.
        partitions: the number of partitions, at least 4.
    """
    load = _Load(join, inputs)
    variables = sorted(join_variables(join.bindings))
    shares: Shares = min([{x: 2, y: 2} for x, y in combinations(variables, 2)], key=load)
    while True:
        larger = [{**shares, v: shares.get(v, 1) + 1} for v in variables]
        possible = [one for one in larger if prod(one.values()) <= partitions]
        if not possible:
            return replace(join, shares=tuple(sorted(shares.items())))
        shares = min(possible, key=load)


class _Load:
    """The rows per time unit that a partition receives, if values are spread evenly."""

    def __init__(self, join: MultiwayJoin, inputs: Sequence[Characteristics]) -> None:
        self._rates = [rows.arrival_rate for rows in inputs]
        self._uses: list[list[dict[int, int]]] = [[] for _ in inputs]
        for read, binding in zip(join.reads, join.bindings, strict=True):
            self._uses[read].append({v: column for column, v in enumerate(binding)})

    def __call__(self, shares: Shares) -> float:
        parts = tuple(shares.values())
        load = 0.0
        for rate, uses in zip(self._rates, self._uses, strict=True):
            coordinates = dict.fromkeys([tuple([use.get(v) for v in shares]) for use in uses])
            load += rate * Cells(parts, tuple(coordinates)).copied
        return load
