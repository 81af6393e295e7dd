"""A sample of plans on real Spark: the result files have the oracle's results."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.edges import EdgeFile
from headrace.catalog.model import VertexType
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from tests.oracles.judgement import Line
from tests.oracles.query import Query, Source, Vertex
from tests.oracles.snapshot import Edge, Truth
from tests.properties.plans import optimized, plans_of, read_back
from tests.properties.running import judge
from tests.strategies.amount import MORE
from tests.strategies.named import NAMED
from tests.strategies.queries import TEXT_VERTICES, Case, input_labels
from tests.strategies.streams import long_stream

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

COLUMNS = ("src", "trg", "label", "ts")
QUICK = ["Qs"]
REST = [
    "Table 4.2 Q3",
    "Table 4.2 Q9",
    "Table 5.1 Q5",
    "Q4 of the paper",
    "Example 3",
    "path over an inverse",
]
SOAK = ["Table 4.2 Q10", "Table 5.1 Q7", "Qp", "Example 5", "square"]


def _csv(path: Path, edges: list[Edge], label: str) -> EdgeFile:
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("src", "trg", "ts"))
        writer.writerows((edge.src, edge.trg, edge.ts) for edge in edges)
    return EdgeFile(str(path), "csv", label=label)


def _json(path: Path, edges: list[Edge], label: str) -> EdgeFile:
    lines = [{"src": e.src, "trg": e.trg, "label": label, "ts": e.ts} for e in edges]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return EdgeFile(str(path), "json")


def _parquet(path: Path, edges: list[Edge], label: str) -> EdgeFile:
    columns = zip(*((e.src, e.trg, label, e.ts) for e in edges), strict=True)
    pq.write_table(pa.table(dict(zip(COLUMNS, map(list, columns), strict=True))), path)
    return EdgeFile(str(path), "parquet")


WRITERS = (_csv, _json, _parquet)


def _files(case: Case, folder: Path) -> dict[str, tuple[EdgeFile, ...]]:
    """The edges of each label in a file of its own, in all formats that are read."""
    found: dict[str, list[EdgeFile]] = {}
    kind: VertexType = "integer" if case.integers else "string"
    for i, (label, source) in enumerate(case.query.sources):
        edges = [edge for edge in case.edges if edge.label == label]
        file = WRITERS[i % 3](folder / f"edges-{label}", edges, label)
        found.setdefault(source.stream, []).append(replace(file, vertex_type=kind))
    return {stream: tuple(files) for stream, files in found.items()}


def _lines(folder: Path, columns: tuple[str, ...]) -> list[Line]:
    found = []
    for part in sorted(folder.glob("part-*.jsonl")):
        for text in part.read_text("utf-8").splitlines():
            line = json.loads(text)
            assert list(line) == ["bindings", "ts", "exp"]
            assert tuple(line["bindings"]) == columns
            found.append(Line(tuple(line["bindings"].values()), line["ts"], line["exp"]))
    return found


def _case(name: str, seed: int) -> Case:
    labels = input_labels(NAMED[name])
    windows = [Source("s", 8, 1), Source("s", 7, 3), Source("t", 12, 4), Source("s", 6, 2)]
    chosen = [windows[(seed + i) % 4] for i in range(len(labels))]
    integers = seed % 2 == 1
    vertices: tuple[Vertex, ...] = tuple(range(6)) if integers else TEXT_VERTICES
    stream = long_stream(seed, labels, vertices, 150, pace=1.5)
    return Case(Query(NAMED[name], tuple(zip(labels, chosen, strict=True))), stream, integers)


def _run(spark: SparkSession, case: Case, plan: PhysicalPlan, folder: Path) -> list[Line]:
    folder.mkdir()
    report = run(
        plan,
        _files(case, folder),
        ToFolder(folder / "out"),
        RunOptions(largest_slice=40),
        spark=spark,
    )
    lines = _lines(folder / "out", plan.columns)
    assert report.rejected == 0
    assert report.edges == len(case.edges)
    assert report.results == len(lines)
    assert report.batches > 2
    return lines


@pytest.mark.parametrize("seed", range(max(MORE, 1)))
@pytest.mark.parametrize(
    "name",
    [
        *QUICK,
        *(pytest.param(name, marks=pytest.mark.long) for name in REST),
        *(pytest.param(name, marks=pytest.mark.soak) for name in SOAK),
    ],
)
def test_results_on_spark(spark: SparkSession, tmp_path: Path, name: str, seed: int) -> None:
    case = _case(name, seed + [*QUICK, *REST, *SOAK].index(name))
    truth = Truth(case.query, case.edges)
    assert any(map(truth.at, truth.changes))
    found = optimized(case)
    plan = plans_of(found, 3, seed)[-1] if seed % 2 else found.plan
    judge(truth, plan, _run(spark, case, read_back(plan), tmp_path / "run"))
