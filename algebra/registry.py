"""Tables of a layer of Headrace with one entry for each operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
Entry = TypeVar("Entry")


class Registry(dict[K, V]):
    """Entries by operator, each set once, where it is defined.

    Readers use the registry as a dictionary. ``del registry[key]`` removes an entry.

    >>> costs: Registry[str, Callable[[float], float]] = Registry()
    >>> costs["UNION"] = lambda rate: rate * 0.5
    >>> @costs.add("FILTER", "PROJECT")
    ... def _(rate: float) -> float:
    ...     return rate * 0.1
    >>> costs["UNION"](3.0), costs["FILTER"](20.0)
    (1.5, 2.0)
    """

    def __setitem__(self, key: K, entry: V) -> None:
        if key in self:
            raise ValueError(f"there is an entry for {key} already")
        super().__setitem__(key, entry)

    def add(self, *keys: K) -> Callable[[Entry], Entry]:
        """A decorator that registers a function or class as the entry of every key.

        Raises:
            ValueError: if there is an entry already.
        """

        def added(entry: Entry) -> Entry:
            for key in keys:
                self[key] = entry  # type: ignore[assignment]
            return entry

        return added
