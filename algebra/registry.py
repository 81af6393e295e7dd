"""Tables that a layer of Headrace keeps of operators, one entry by each operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
Entry = TypeVar("Entry")


class Registry(dict[K, V]):
    """Entries by operator, each added once, where it is defined.

    A plain dictionary for those that read it. ``del registry[key]`` takes an entry out again.

    >>> costs: Registry[str, Callable[[float], float]] = Registry()
    >>> @costs.add("UNION")
    ... def _(rate: float) -> float:
    ...     return rate * 0.5
    >>> costs["UNION"](3.0)
    1.5
    """

    def add(self, *keys: K) -> Callable[[Entry], Entry]:
        """A decorator that adds what it decorates under every key.

        Raises:
            ValueError: if there is an entry already.
        """

        def added(entry: Entry) -> Entry:
            for key in keys:
                if key in self:
                    raise ValueError(f"there is an entry for {key} already")
                self[key] = entry  # type: ignore[assignment]
            return entry

        return added
