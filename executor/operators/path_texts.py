"""Paths as text: JSON of their steps, or of the vertices that they visit.

In: the steps of paths, one path after the other, as int64[3, steps]: the place of the vertex that a
step leaves among :func:`vertex_texts`, its symbol, and the place of the vertex that it enters.
Symbol 2 · input is a step over an edge of the input, 2 · input + 1 one against it. Path i ends
before step ``ends[i]``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..batch import IntArray
from ..dictionary import Dictionary
from ..json_text import json_lists, json_values
from ..kernels.path_tree import roll
from ..values import string_buffers


def step_names(labels: Sequence[str]) -> Any:
    """The name of each symbol as JSON: a label, with ``^`` in front where it is walked against."""
    names = [name for label in labels for name in (label, f"^{label}")]
    return pa.array([json.dumps(n, ensure_ascii=False) for n in names], pa.string())


def vertex_texts(dictionary: Dictionary, codes: IntArray) -> Any:
    """Vertices as JSON."""
    return json_values(dictionary.decode(codes))


def step_texts(vertices: Any, names: Any, steps: IntArray) -> Any:
    """Each step as JSON: ``["1","a","4"]``; ``names`` are :func:`step_names`."""
    parts: list[Any] = [
        pa.scalar("["),
        vertices.take(pa.array(steps[0])),
        pa.scalar(","),
        names.take(pa.array(steps[1])),
        pa.scalar(","),
        vertices.take(pa.array(steps[2])),
        pa.scalar("]"),
        pa.scalar(""),
    ]
    return pc.binary_join_element_wise(*parts)


def path_texts(vertices: Any, names: Any, steps: IntArray, ends: IntArray) -> Any:
    """Each path as JSON: ``[["1","a","4"],["4","^b","7"]]``; ``names`` are :func:`step_names`."""
    return json_lists(step_texts(vertices, names, steps), ends)


@dataclass(frozen=True, slots=True)
class Elements:
    """Elements of lists that kernels make (:mod:`headrace.executor.kernels.path_tree`).

    Attributes:
        codes: the code of each element.
        lengths: the bytes of its text.
        rolls: the rolled hash of its text.
        powers: the base of these hashes to the power of its length.
    """

    codes: IntArray
    lengths: IntArray
    rolls: IntArray
    powers: IntArray

    @staticmethod
    def of(elements: Sequence[tuple[Any, IntArray]]) -> Elements:
        """The elements of pairs of texts and their codes, one pair after the other."""
        # With one text more there is one.
        texts = pa.concat_arrays([*(texts for texts, _ in elements), pa.array([""])])
        starts, data = string_buffers(texts.cast(pa.large_string()))
        rolls, powers = np.empty((2, len(texts) - 1), np.int64)
        roll(starts[:-1], data, rolls, powers)
        codes: list[IntArray] = [np.empty(0, np.int64), *(codes for _, codes in elements)]
        return Elements(np.concatenate(codes), np.diff(starts[:-1]), rolls, powers)

    @property
    def arrays(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """The arrays, in the order of a kernel."""
        return self.codes, self.lengths, self.rolls, self.powers
