"""What is compared: queries over cuts of real streams, with a window.

The labels of a cut are ``a``, ``b`` and ``c``; the cyclic patterns read all edges as ``a``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from bench.corpus import cut_of
from bench.queries import TABLE_5_1
from headrace.algebra.durations import ticks
from headrace.algebra.window import Window
from headrace.executor.batch import IntArray

LABELS: Final = {
    "mathoverflow": ("a2q", "c2a", "c2q"),
    "collegemsg": ("opens", "replies", "repeats"),
}
"""The labels of each stream that are read as a, b and c."""
PATTERNS: Final = {
    "triangle": "Answer(x, y, z) <- a(x, y), a(y, z), a(z, x).\n",
    "4-clique": "Answer(x, y, z, w) <- a(x, y), a(x, z), a(x, w), a(y, z), a(y, w), a(z, w).\n",
}
QUERIES: Final = {
    **{name: text.format(a="a", b="b", c="c") for name, text in TABLE_5_1.items()},
    **PATTERNS,
}


@dataclass(frozen=True, slots=True)
class Job:
    """One query over one cut.

    Attributes:
        stream: a name in :data:`LABELS`.
        edges: the number of edges of the cut.
        range: the range of the window, such as ``30d``.
        slide: its slide.
        query: a name in :data:`QUERIES`.
        batch: the edges that are handed over at once.
    """

    stream: str
    edges: int
    range: str
    slide: str
    query: str
    batch: int

    @property
    def window(self) -> Window:
        """The window in seconds."""
        return Window(ticks(self.range, "second"), ticks(self.slide, "second"))


def edges_of(job: Job, data: Path | None) -> IntArray:
    """The edges of a job by time: rows of label (0 to 2), source, target, and validity.

    Raises:
        ValueError: if there is no folder, and no bundled slice of the stream.
    """
    cut = cut_of(job.stream, data, job.edges)
    if cut is None:
        raise ValueError(f"{job.stream} is not bundled; give the folder of data sets with --data")
    labels = {label: code for code, label in enumerate(LABELS[job.stream])}
    rows = np.array([(labels[e.label], e.src, e.trg, e.ts, e.ts) for e in cut.edges], np.int64)
    window = job.window
    rows[:, 4] = rows[:, 3] // window.slide * window.slide + window.range
    if job.query in PATTERNS:
        rows[:, 0] = 0
    return rows
