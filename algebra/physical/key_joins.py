"""What semi-join, anti-join and left join share: the second input is looked up by a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from .. import notation
from ..properties import BROADCAST, SINGLE, Distribution, hashed
from .base import PhysicalOperator, require


class KeyJoin(PhysicalOperator):
    """A join of two inputs by a key: the variables that both of them bind.

    The fields of a subclass are ``bindings`` and ``variables``, as in
    :class:`headrace.algebra.physical.AntiJoin`.
    """

    __slots__ = ()
    bindings: tuple[tuple[int, ...], tuple[int, ...]]
    variables: tuple[str, ...]

    names_inputs: ClassVar[bool] = True
    article: ClassVar[str]
    """The operator in a message: ``an anti-join``."""

    @property
    def shared(self) -> tuple[int, ...]:
        """The variables that both inputs bind, the key, in the order of the first input."""
        return tuple([v for v in self.bindings[0] if v in self.bindings[1]])

    def check_columns(self, inputs: Sequence[int]) -> None:
        """Checks that each column of each input has a variable of its own.

        Raises:
            ValueError: with the problem.
        """
        require(len(inputs) == 2, f"{self.article} has two inputs")
        for width, binding in zip(inputs, self.bindings, strict=True):
            require(len(binding) == width, f"{len(binding)} variables for {width} columns")
            require(len(set(binding)) == width, "a variable occurs twice in one input")

    def input_names(self, position: int, own: Sequence[str], width: int) -> tuple[str, ...]:
        return tuple([self.variables[v] for v in self.bindings[position]])

    def input_distributions(self, widths: Sequence[int]) -> Iterator[tuple[Distribution, ...]]:
        """Hashed on each shared variable, copies of the second input, both on one partition."""
        left, right = self.bindings
        for variable in self.shared:
            yield hashed(left.index(variable)), hashed(right.index(variable))
        for column in range(widths[0]):
            yield hashed(column), BROADCAST
        yield SINGLE, BROADCAST
        yield BROADCAST, BROADCAST
        yield SINGLE, SINGLE

    def relation(self, below: Sequence[str]) -> str | None:
        """``(a▷b)``."""
        return f"({notation.SYMBOLS[self.op].join(below)})"
