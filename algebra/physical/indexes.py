"""Indexes of inputs that several operators of one stage hold together.

In: the operators of a stage. Out: which of them share an index. The executor builds what this
module says, and the optimizer charges for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from .base import PhysicalOperator
from .joins import HashJoin, Horizon
from .moves import Exchange, ToKernel

Side = tuple[int, int]
"""A node and the position of one of its inputs."""
StageNode = tuple[int, PhysicalOperator, Sequence[int]]
"""The id of a node, its operator, and the ids of its inputs."""


class IndexForm(NamedTuple):
    """What two operators over one input have to agree on to share an index.

    Attributes:
        width: the number of columns.
        keys: the columns by which rows are looked up, in ascending order. Joins may name them in
            another order.
        horizon: the time until which rows are held, if that may be before their expiry.
        is_bag: whether each copy of a row can be taken back.
    """

    width: int
    keys: tuple[int, ...]
    horizon: Horizon | None
    is_bag: bool


@lru_cache(maxsize=4096)
def index_forms(operator: PhysicalOperator) -> tuple[IndexForm, ...]:
    """The index of each input of an operator; empty for an operator that shares none."""
    if not isinstance(operator, HashJoin):
        return ()
    shared = frozenset(operator.bindings[0]).intersection(operator.bindings[1])
    horizons = operator.horizon or (None, None)
    return tuple(
        [
            IndexForm(
                len(binding),
                tuple([column for column, v in enumerate(binding) if v in shared]),
                horizon,
                operator.update_pattern is not None,
            )
            for binding, horizon in zip(operator.bindings, horizons, strict=True)
        ]
    )


def shared_sides(nodes: Iterable[StageNode]) -> list[tuple[IndexForm, tuple[Side, ...]]]:
    """The shared indexes of a stage, each with the two or more sides that read it.

    Args:
        nodes: the nodes of the stage, in topological order.
    """
    sides: dict[tuple[int, IndexForm], list[Side]] = {}
    for node, operator, inputs in nodes:
        for position, read in enumerate(zip(inputs, index_forms(operator), strict=False)):
            sides.setdefault(read, []).append((node, position))
    return [(form, tuple(of)) for (_, form), of in sides.items() if len(of) > 1]


def shared_sides_of_plan(
    nodes: Sequence[tuple[PhysicalOperator, Sequence[int]]],
) -> list[tuple[IndexForm, tuple[Side, ...]]]:
    """The shared indexes of all stages of a plan.

    The stage of a node is the largest number of exchanges on a path to it. An exchange above
    TO_KERNEL does not count, since rows are distributed as they are packed.

    Args:
        nodes: operators with the positions of their inputs, each after its inputs.
    """
    stages: list[int] = []
    of_stage: dict[int, list[StageNode]] = {}
    for node, (operator, inputs) in enumerate(nodes):
        moves = isinstance(operator, Exchange) and not isinstance(nodes[inputs[0]][0], ToKernel)
        stages.append(max([stages[i] for i in inputs], default=0) + moves)
        of_stage.setdefault(stages[node], []).append((node, operator, inputs))
    return [shared for stage in of_stage.values() for shared in shared_sides(stage)]
