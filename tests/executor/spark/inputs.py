"""Random cases as files: several formats, several files, some of them out of order."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from headrace.catalog.edges import EdgeFile
from tests.oracles.snapshot import Edge
from tests.strategies.queries import Case


def inputs_of(case: Case, folder: Path, seed: int) -> dict[str, list[EdgeFile]]:
    """Writes the edges of a case to files, up to two for each stream."""
    random = Random(seed)
    stream_of = {label: source.stream for label, source in case.query.sources}
    dealt: dict[tuple[str, int], list[Edge]] = defaultdict(list)
    for stream in stream_of.values():
        dealt[stream, 0] = []
    for edge in case.edges:
        # An edge whose label no stream of the query has is read by no scan input.
        stream = stream_of.get(edge.label, next(iter(stream_of.values())))
        dealt[stream, random.randrange(2)].append(edge)
    inputs: dict[str, list[EdgeFile]] = defaultdict(list)
    for (stream, number), edges in dealt.items():
        random.shuffle(edges)
        # Edges of equal ts may come in any order: the results are the same.
        path = folder / f"{stream}-{number}"
        inputs[stream].append(random.choice([_csv, _json, _parquet])(path, edges, case.integers))
    return dict(inputs)


def _csv(path: Path, edges: list[Edge], integers: bool) -> EdgeFile:
    def field(value: object) -> str:
        return '"' + str(value).replace('"', '""') + '"'

    rows = [",".join(map(field, (e.src, e.trg, e.label, e.ts))) for e in edges]
    path = path.with_suffix(".csv.gz")
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(["src,trg,label,ts", *rows]) + "\n")
    return EdgeFile(str(path), "csv", vertex_type="integer" if integers else "string")


def _json(path: Path, edges: list[Edge], integers: bool) -> EdgeFile:
    path = path.with_suffix(".jsonl")
    rows = [{"src": e.src, "trg": e.trg, "label": e.label, "ts": e.ts} for e in edges]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) or "\n")
    return EdgeFile(str(path), "json", vertex_type="integer" if integers else "string")


def _parquet(path: Path, edges: list[Edge], integers: bool) -> EdgeFile:
    path = path.with_suffix(".parquet")
    vertex = pa.int64() if integers else pa.string()
    columns = {
        "src": pa.array([e.src for e in edges], vertex),
        "trg": pa.array([e.trg for e in edges], vertex),
        "label": pa.array([e.label for e in edges], pa.string()),
        "ts": pa.array([e.ts for e in edges], pa.int64()),
    }
    pq.write_table(pa.table(columns), path)
    return EdgeFile(str(path), "parquet", vertex_type="integer" if integers else "string")
