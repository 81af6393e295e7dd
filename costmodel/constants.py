"""The parameters of the formulas: cost constants and assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite


@dataclass(frozen=True, slots=True)
class Constants:
    """The costs of elementary actions, which the thesis finds empirically (6.3.2, 6.5.1).

    The defaults of the kernels were measured by ``headrace calibrate`` on the machine that
    docs/cost-model.md names; ``network`` and ``convert`` are orders of magnitude. Calibration on
    another machine replaces all of them. Only their ratios decide which plan is cheapest.

    Attributes:
        push: microseconds to pass a row on (C_O in the thesis).
        evaluate: microseconds to evaluate a predicate (C_sigma).
        hash_update: microseconds to update a hash table (U_h).
        hash_probe: microseconds to probe a hash table (P_h).
        queue_update: microseconds to update a priority queue (U_pq).
        queue_probe: microseconds to probe a priority queue (P_pq).
        network: microseconds to move one byte of a row to another partition.
        convert: microseconds to hand one byte of a row from Spark SQL to the compiled operators.

    Raises:
        ValueError: if a constant is negative or not finite.
    """

    push: float = 0.00483
    evaluate: float = 0.0163
    hash_update: float = 0.0229
    hash_probe: float = 0.0267
    queue_update: float = 0.00289
    queue_probe: float = 0.000899
    network: float = 0.01
    convert: float = 0.01

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0):
                raise ValueError(
                    f"cost constant {name} is {value}: it must be finite and not negative"
                )


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The assumptions of the cost model for facts that the catalog does not have.

    ``longest_path``: m of formula 7, for relations whose longest path is unknown.
    ``vertices``: the cap of n in formula 12; None takes the relation's own number of vertices.
    ``cap_distinct``: whether ``thesis`` caps distinct counts of intermediate results by their
    population. ``saturating`` never does: its counts are those of the domain.
    ``loading``: the time units over which the one-time cost of loading stored graphs is spread.

    Raises:
        ValueError: if ``longest_path`` or ``vertices`` is below 1, or ``loading`` not positive.
    """

    longest_path: int = 10
    vertices: float | None = None
    cap_distinct: bool = True
    loading: float = 1e7

    def __post_init__(self) -> None:
        if self.longest_path < 1:
            raise ValueError(f"longest_path is {self.longest_path}: a path has at least one edge")
        if self.vertices is not None and not self.vertices >= 1:
            raise ValueError(f"vertices is {self.vertices}: it must be at least 1")
        if not (isfinite(self.loading) and self.loading > 0):
            raise ValueError(f"loading is {self.loading}: it must be a length of time")
