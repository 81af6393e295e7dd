"""The signs of operators, and names of relations in one short word.

The operators write their arguments themselves (``arguments`` of :mod:`headrace.algebra.logical` and
:mod:`headrace.algebra.physical`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import notation
from ..algebra.notation import SYMBOLS
from ..algebra.physical import PhysicalOperator

__all__ = ["SYMBOLS", "joined_inputs", "relation", "step_name"]

_LONGEST_NAME = 32


def joined_inputs(
    bindings: Sequence[Sequence[int]],
    output: Sequence[int],
    inputs: Sequence[str],
    sign: str = "⋈",
) -> str:
    """``G1(v0,v1) ⋈ G2(v1,v2) → v0,v2``: a join over the names of its inputs."""
    name = notation.variable_names(())
    sides = [
        f"{below}({','.join(map(name, side))})"
        for below, side in zip(inputs, bindings, strict=True)
    ]
    return f"{f' {sign} '.join(sides)} → {','.join(map(name, output))}"


def relation(operator: PhysicalOperator, inputs: Sequence[str | None]) -> str | None:
    """The name of an operator's rows in a path over them, made of their labels: ``(a⋈b)``.

    None if the name is not short."""
    below = [name for name in inputs if name is not None]
    if len(below) < len(inputs):
        return None
    name = operator.relation(below)
    return name if name is not None and len(name) <= _LONGEST_NAME else None


def step_name(label: str | None, position: int) -> str:
    """The name of an input in a path: its own name, or else its position among the inputs."""
    return label if label is not None else f"[{position + 1}]"
