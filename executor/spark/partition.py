"""One micro-batch of one partition: the work of a stage, without Spark.

In: packed leaf rows, the partition's small head and the store of its log. Out: blocks of
results, then a report; the new head.

A partition's rows are sorted by ts and run through the in-process
:class:`executor.pipeline.Pipeline`, whose state is in memory
(:mod:`executor.spark.index_home`) and is rebuilt from the log
(:mod:`executor.spark.window_log`) when it is not at hand.
"""

from __future__ import annotations

import json
import resource
import sys
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from algebra.plan import PhysicalPlan
from executor.batch import FOREVER, Batch
from executor.dictionary import Dictionary
from executor.leaves import Leaf, leaves
from executor.partitioned import pipeline_of
from executor.pipeline import Pipeline
from executor.placement import Place
from executor.spark.head import Head, totals
from executor.spark.index_home import IndexHome
from executor.spark.names import column_names
from executor.spark.packing import ROWS, arrow_bytes, table_of, wire_schema
from executor.spark.processor import REPORT, RESULTS
from executor.spark.time_sort import sorted_by_ts
from executor.spark.window_log import BlobStore, WindowLog
from executor.stages import stages_of

_FIRST_CHUNK = 1_024
_LARGEST_CHUNK = 65_536
_RESULTS_PER_CHUNK = 500_000
_BLOCK_ROWS = 131_072


@dataclass(slots=True)
class Index:
    """A partition's operators with their state, and the codes of vertices in it."""

    pipeline: Pipeline
    dictionary: Dictionary

    @staticmethod
    def empty(plan: PhysicalPlan) -> Index:
        """Operators that have seen nothing."""
        dictionary = Dictionary()
        (stage,) = stages_of(plan)
        return Index(pipeline_of(plan, stage, dictionary, Place()), dictionary)

    def batches(self, inputs: Sequence[Leaf], rows: pa.Table) -> dict[int, Batch]:
        """Rows (leaf, src, trg, ts) as what the pipeline takes."""
        if self.pipeline.now is not None:
            self.dictionary.tick(self.pipeline.now)
        number = rows["leaf"].to_numpy()
        batches = {}
        for i, leaf in enumerate(inputs):
            own = rows.filter(pa.array(number == i)) if len(inputs) > 1 else rows
            if own.num_rows:
                edges = _typed(own, leaf).combine_chunks().to_batches()[0]
                batches[leaf.node] = leaf.encode(edges, self.dictionary)
        return batches


_INDEXES: IndexHome[Index] = IndexHome()  # a worker process has one, for all its tasks


class PartitionBatch:
    """What a stage does with the rows of one partition in one batch.

    ``head`` is the partition's small value before the batch and, when :meth:`run` is at
    its end, after it.
    """

    def __init__(self, plan: str, run: str, partition: int, head: str | None) -> None:
        self._plan = PhysicalPlan.from_json(plan)
        self._leaves = leaves(self._plan)
        self._place = (run, partition)
        self.head = Head() if head is None else Head.from_json(head)

    def run(self, frames: Iterable[pd.DataFrame], blobs: BlobStore) -> Iterator[pd.DataFrame]:
        """Blocks of results as they are found, at last the report."""
        head = self.head
        log = WindowLog(self._leaves, blobs, head.directory)
        index = _INDEXES.take(self._place, head.token)
        rebuilt = index is None and head.token != ""
        if index is None:
            index = self._rebuilt(log, head.now)
        started = index.pipeline.counters

        rows, late = _in_order(_arrived(frames, wire_schema(self._leaves)), head.now)
        now, results = head.now, 0
        for chunk in _chunks(rows):
            now = int(chunk.rows["ts"][-1].as_py())
            found = index.pipeline.process(index.batches(self._leaves, chunk.rows))[self._plan.root]
            chunk.results = len(found)
            results += len(found)
            yield from _blocks(found, self._plan, index.dictionary)
        log.append(rows, now)

        self.head = Head(
            token=uuid.uuid4().hex,
            now=now,
            edges=head.edges + rows.num_rows,
            results=head.results + results,
            late=head.late + late,
            rebuilt=head.rebuilt + rebuilt,
            operators=totals(head.operators, started, index.pipeline.counters),
            directory=log.directory,
        )
        _INDEXES.keep(self._place, self.head.token, index)
        told = report(self.head, index, self._place[1])
        yield _output(REPORT, 0, json.dumps(told).encode())

    def _rebuilt(self, log: WindowLog, now: int) -> Index:
        """The index made anew from the input that is still valid."""
        index = Index.empty(self._plan)
        kept = log.rows(now)
        if kept.num_rows:
            index.pipeline.replay(index.batches(self._leaves, kept))
        return index


def report(head: Head, index: Index, partition: int) -> dict[str, Any]:
    """What a partition has counted so far, as JSON-able values."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "partition": partition,
        "now": head.now,
        "edges": head.edges,
        "results": head.results,
        "late": head.late,
        "rebuilt": head.rebuilt,
        "operators": {str(node): asdict(t) for node, t in head.operators.items()},
        "vertices": index.dictionary.entries,
        "blobs": len(head.directory.blobs),
        "blob_bytes": sum(blob.size for blob in head.directory.blobs),
        "peak_bytes": peak if sys.platform == "darwin" else peak * 1024,
    }


def _arrived(frames: Iterable[pd.DataFrame], schema: pa.Schema) -> pa.Table:
    """The rows of a batch, which come in several pieces, by rising ts."""
    packed = [rows for frame in frames for rows in frame[ROWS] if rows]
    tables = [table_of(rows).cast(schema) for rows in packed]
    if not tables:
        return schema.empty_table()
    return sorted_by_ts(pa.concat_tables(tables).combine_chunks())


def _typed(rows: pa.Table, leaf: Leaf) -> pa.Table:
    """The edges of a leaf; integers travel as text where other leaves have strings."""
    vertex = pa.int64() if leaf.vertex_type == "integer" else pa.string()
    return rows.select(["src", "trg", "ts"]).cast(
        pa.schema({"src": vertex, "trg": vertex, "ts": pa.int64()})
    )


def _in_order(rows: pa.Table, now: int) -> tuple[pa.Table, int]:
    """The rows from ``now`` on, and how many came too late for the order."""
    late = int(np.searchsorted(rows["ts"].to_numpy(), now, side="left"))
    return rows.slice(late), late


@dataclass(slots=True)
class _Chunk:
    """Rows to process at once; ``results`` is set when that is done."""

    rows: pa.Table
    results: int = 0


def _chunks(rows: pa.Table) -> Iterator[_Chunk]:
    """Cuts a batch so that the results of one piece fit in memory, as far as can be foreseen."""
    size, start = _FIRST_CHUNK, 0
    while start < rows.num_rows:
        chunk = _Chunk(rows.slice(start, size))
        yield chunk
        start += size
        fitting = size * _RESULTS_PER_CHUNK // max(1, chunk.results)
        size = max(1, min(fitting, 4 * size, _LARGEST_CHUNK))


def _blocks(found: Batch, plan: PhysicalPlan, dictionary: Dictionary) -> Iterator[pd.DataFrame]:
    names = [*column_names(plan.columns), "ts", "exp"]
    for start in range(0, len(found), _BLOCK_ROWS):
        part = slice(start, start + _BLOCK_ROWS)
        exp = found.exp[part]
        columns = [
            *(dictionary.decode(codes[part]) for codes in found.columns),
            pa.array(found.ts[part]),
            pa.array(exp, mask=exp == FOREVER),
        ]
        block = pa.RecordBatch.from_arrays(columns, names)
        yield _output(RESULTS, block.num_rows, arrow_bytes(block))


def _output(kind: str, rows: int, payload: bytes) -> pd.DataFrame:
    return pd.DataFrame({"kind": [kind], "rows": [rows], "payload": [payload]})
