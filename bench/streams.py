"""The streams of the benchmarks: MathOverflow, whole or the bundled slice, and generated ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headrace.catalog.edges import EdgeFile, read_all
from headrace.catalog.inputs import measured_catalog
from headrace.catalog.model import Catalog
from headrace.examples import mathoverflow

DAY = 86_400
LABELS = ("a2q", "c2a", "c2q")


def files(folder: Path | None) -> tuple[EdgeFile, ...]:
    """The files of MathOverflow in a folder, with their publisher's names; or the bundled ones."""
    if folder is None:
        bundled = Path(mathoverflow.__file__).parent
        return tuple(
            EdgeFile(str(bundled / f"{label}.csv.gz"), label=label, vertex_type="integer")
            for label in LABELS
        )
    return tuple(
        EdgeFile(
            str(folder / f"sx-mathoverflow-{label}.txt.gz"),
            label=label,
            header=False,
            names=("src", "trg", "ts"),
            separator=" ",
            vertex_type="integer",
        )
        for label in LABELS
    )


def load(which: tuple[EdgeFile, ...], days: int | None = None) -> pa.Table:
    """All edges sorted by ts, or those of the first days."""
    edges = pa.Table.from_batches([batch.edges for batch in read_all(which)])
    edges = edges.sort_by("ts")
    if days is not None and len(edges):
        first = edges["ts"][0].as_py() // DAY * DAY
        edges = edges.filter(pc.less(edges["ts"], first + days * DAY))
    return edges


def deleting(edges: pa.Table, share: float, within: int, seed: int = 1) -> pa.Table:
    """The edges, a random share of them deleted later, as rows of their own with ``op`` "-".

    Args:
        edges: the edges, sorted by ts.
        share: the part of the edges that is deleted.
        within: the longest time from an edge to its deletion, in seconds.
        seed: of the choice and of the times.
    """
    random = np.random.default_rng(seed)
    gone = edges.filter(pa.array(random.random(len(edges)) < share))
    later = pc.add(gone["ts"], pa.array(random.integers(1, within + 1, len(gone))))
    gone = gone.set_column(gone.schema.get_field_index("ts"), "ts", later)
    parts = [
        rows.append_column("op", pa.array([op] * len(rows)))
        for rows, op in ((edges, "+"), (gone, "-"))
    ]
    # Edges come before deletions of the same ts: "+" before "-".
    return pa.concat_tables(parts).sort_by([("ts", "ascending"), ("op", "ascending")])


def catalog_of(which: tuple[EdgeFile, ...]) -> Catalog:
    """The statistics of files, as ``headrace stats`` measures them."""
    return measured_catalog(which)[0]


def slides(edges: pa.Table, slide: int) -> Iterator[pa.RecordBatch]:
    """The edges of each slide that has any."""
    numbers = np.asarray(edges["ts"]) // slide
    ends = [*(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(edges)]
    start = 0
    for end in ends:
        if end > start:
            yield pa.Table.to_batches(edges.slice(start, end - start).combine_chunks())[0]
        start = end


@dataclass(frozen=True, slots=True)
class Uniform:
    """A stream of labels with fixed rates, its vertices drawn uniformly and independently.

    Attributes:
        rates: the edges per second by label; their ts are spread evenly.
        vertices: the number of vertices.
        seconds: the length of the stream.
        seed: of the random vertices.
        start: the first ts.
    """

    rates: Mapping[str, int]
    vertices: int
    seconds: int
    seed: int = 1
    start: int = 0

    def edges(self) -> pa.Table:
        """The stream sorted by ts (in seconds)."""
        random = np.random.default_rng(self.seed)
        parts = []
        for label, rate in self.rates.items():
            size = rate * self.seconds
            ends = random.integers(0, self.vertices, (2, size))
            ts = np.repeat(np.arange(self.start, self.start + self.seconds), rate)
            parts.append(
                pa.table(
                    {
                        "src": ends[0],
                        "trg": ends[1],
                        "label": pa.array([label] * size, pa.string()),
                        "ts": pa.array(ts, pa.int64()),
                    }
                )
            )
        return pa.concat_tables(parts).sort_by("ts")
