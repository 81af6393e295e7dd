"""Writes the memo's operators for people, over the names of groups.

Groups have columns and no variables: equal joins of different variables are one group. So the
columns of an expression are called v0, v1, ..., each expression on its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..algebra import logical, physical
from ..algebra.logical import LogicalOperator
from ..algebra.notation import InputNames, ends, where
from ..algebra.properties import Convention, RequiredProperties
from ..memo import GroupId
from ..optimizer.goals import Choice
from . import operators as notation


class Names:
    """Writes operators and properties; windows are lengths in a catalog's time unit."""

    def __init__(self, time_unit: str) -> None:
        self._time_unit = time_unit
        self._texts: dict[tuple[Hashable, tuple[GroupId, ...]], str] = {}
        self._required_texts: dict[RequiredProperties, str] = {}

    def over(self, operator: Hashable, groups: Sequence[GroupId]) -> str:
        """An operator over groups: ``UNION(G1, G2)``."""
        if isinstance(operator, Choice):
            operator = operator.operator
        key = operator, tuple(groups)
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = self.show(operator, tuple([f"G{g}" for g in groups]))
        return text

    def show(self, operator: Hashable, inputs: tuple[str, ...]) -> str:
        """``PATTERN[G1(v0,v1) ⋈ G2(v1,v2) → v0,v2]``, ``PATH[(G1·G2)+]``, ``UNION(G1, G2)``."""
        if isinstance(operator, Choice):
            operator = operator.operator
        assert isinstance(operator, LogicalOperator | physical.PhysicalOperator)
        text = self._arguments(operator, inputs)
        over = f"({', '.join(inputs)})" if inputs and not operator.names_inputs else ""
        return f"{operator.op}{f'[{text}]' if text else ''}{over}"

    def goal(self, group: GroupId, required: RequiredProperties) -> str:
        """A group and its required properties: ``G1``, ``G1[coalesced]``."""
        text = self.required(required)
        return f"G{group}[{text}]" if text else f"G{group}"

    def required(self, properties: Hashable) -> str:
        """The required properties, without defaults."""
        assert isinstance(properties, RequiredProperties)
        text = self._required_texts.get(properties)
        if text is None:
            text = self._required_texts[properties] = self._required(properties)
        return text

    def _required(self, properties: RequiredProperties) -> str:
        parts = ["coalesced"] if properties.coalesced else []
        if str(properties.distribution) != "any":
            parts.append(str(properties.distribution))
        parts += [str(properties.update_pattern)] if properties.update_pattern else []
        if properties.convention is not Convention.KERNEL:
            parts.append(str(properties.convention))
        return ", ".join(parts)

    def _arguments(
        self, operator: LogicalOperator | physical.PhysicalOperator, inputs: tuple[str, ...]
    ) -> str:
        match operator:
            case logical.Pattern():
                return notation.joined_inputs(operator.bindings, operator.output, inputs)
            case logical.MultiwayPattern():
                below = [inputs[read] for read in operator.reads]
                residual = None if operator.predicate is None else operator.predicate.sql
                return _joined(operator.bindings, operator.output, residual, below)
            case physical.MultiwayJoin():
                below = [inputs[read] for read in operator.reads]
                return _joined(operator.bindings, operator.output, operator.residual, below)
            case logical.FilteredPattern():
                return _joined(operator.bindings, operator.output, operator.predicate.sql, inputs)
            case physical.HashJoin():
                return _joined(operator.bindings, operator.output, operator.residual, inputs)
            case logical.AntiJoin() | physical.AntiJoin():
                return _joined(operator.bindings, operator.bindings[0], None, inputs, "▷")
            case logical.LeftJoin() | physical.LeftJoin():
                return _joined(operator.bindings, operator.output, None, inputs, "⟕")
            case physical.SemiJoin():
                return _joined(operator.bindings, operator.output, None, inputs, "⋉")
            case _:
                # Inputs are groups, whose columns have no names.
                columns = [ends(_columns_used(operator))] * len(inputs)
                text = operator.arguments(InputNames(inputs, columns, self._time_unit))
                return " ".join(text.split())


def _joined(
    bindings: Sequence[Sequence[int]],
    output: Sequence[int],
    residual: str | None,
    inputs: Sequence[str],
    sign: str = "⋈",
) -> str:
    """A join over groups, with its residual over the columns v0, v1, ..."""
    over = notation.joined_inputs(bindings, output, inputs, sign)
    return over + where(residual, "v{}".format).replace("  ", " ")


def _columns_used(operator: Hashable) -> int:
    """Names for all the columns that an operator of one input uses."""
    kept = getattr(operator, "columns", ())
    return max(2, 1 + max(kept, default=0)) if isinstance(kept, tuple) else 2
