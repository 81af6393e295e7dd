"""A stopped run over two partitions continues, for what regular queries lack."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headrace.executor.batch import FOREVER
from headrace.executor.spark.host.errors import CancelledError
from headrace.executor.spark.report import Progress
from headrace.executor.spark.results.sinks import ToFolder
from headrace.executor.spark.run import RunOptions, run
from tests.executor.spark.inputs import inputs_of
from tests.oracles.conditions import Prop
from tests.oracles.judgement import End, Line, without_ends
from tests.oracles.query import (
    Atom,
    Derived,
    Not,
    Optional,
    PathAtom,
    Query,
    Rule,
    Seq,
    Source,
    Step,
    Var,
    plus,
)
from tests.oracles.roots import Agg, Emit, First
from tests.oracles.snapshot import Truth
from tests.properties.plans import optimized, read_back
from tests.properties.running import judge
from tests.properties.test_eager_aggregates import BEFORE_ALONE
from tests.properties.test_partial_aggregates import is_partial
from tests.strategies.queries import Case
from tests.strategies.streams import long_stream

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(300)]

X, Y, Z, N = Var("x"), Var("y"), Var("z"), Var("n")
SOURCES = (("a", Source("s", 6, 2)), ("b", Source("s", 6, 2)))
COUNT = (("n", Agg("count")),)
BUSY = Rule("Busy", ("x", "n"), (Atom("a", X, Y),), (), COUNT, first=First((("n", True),), 2))
PARTS = Rule(
    "Answer", ("x", "y", "n", "z"), (Derived("Busy", (X, N)), Atom("b", X, Y)),
    negated=(Not((Atom("a", Y, X),)),), optional=(Optional((Atom("a", Y, Z),)),),
)  # fmt: skip
FAR = Rule(
    "Answer", ("x", "y", "z", "n"),
    (PathAtom(plus(Step("a")), X, Y, "P", "shortest", over=(Z,)),), (),
    (("n", Prop("P", "length")),), negated=(Not((Atom("b", Y, X),)),),
)  # fmt: skip
TWICE = Rule("Answer", ("x", "y"), (PathAtom(plus(Seq((Step("a"), Step("a")))), X, Y),))
PAIRS = Rule("Answer", ("x", "n"), (Atom("a", X, Y), Atom("b", Y, Z)), (), COUNT)

QUERIES: dict[str, tuple[Query, frozenset[str]]] = {
    "not, optional and the first rows": (
        Query((BUSY, PARTS), SOURCES),
        frozenset({"ANTI_JOIN", "LEFT_JOIN", "TOP_K", "AGGREGATE"}),
    ),
    "shortest paths": (
        Query((FAR,), SOURCES, emit=Emit("snapshot", 3)),
        frozenset({"SHORTEST_PATH", "ANTI_JOIN"}),
    ),
    "trails": (Query((TWICE,), SOURCES, paths="trail"), frozenset({"TRAIL_PATH"})),
    "aggregates before a join": (
        Query((PAIRS,), SOURCES, emit=Emit("snapshot", 3)),
        frozenset({"AGGREGATE", "HASH_JOIN"}),
    ),
}


def _lines(folder: Path, period: int) -> Iterator[Line | End]:
    """The lines of the result files in their order."""
    for file in sorted(folder.glob("part-*.jsonl")):
        for line in map(json.loads, file.read_text("utf-8").splitlines()):
            row = tuple(line["bindings"].values())
            if "at" in line:
                yield Line(row, line["at"], line["at"] + period)
            elif line.get("op") == "-":
                yield End(row, line["ts"])
            else:
                yield Line(row, line["ts"], FOREVER if line["exp"] is None else line["exp"])


@pytest.mark.parametrize("name", QUERIES)
def test_a_stopped_run_over_partitions_continues(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    query, operators = QUERIES[name]
    case = Case(query, long_stream(2, ("a", "b"), ("0", "1", "2", "3"), 36, 1.2))
    options = replace(BEFORE_ALONE, parallelism=2)
    found = optimized(case, options)
    plan = found.plan
    if name == "aggregates before a join":
        plan = next(filter(is_partial, found.plans.sample(60, 1)))
    assert operators <= {node.op for node in plan.nodes}
    assert any(node.op == "EXCHANGE" for node in plan.nodes)
    inputs = inputs_of(case, tmp_path, 3)
    output, options_of_run = ToFolder(tmp_path / "out"), RunOptions(largest_slice=14)

    def stop(progress: Progress) -> None:
        if progress.batch == 1:
            raise CancelledError("No more of this.")

    with pytest.raises(CancelledError):
        run(read_back(plan), inputs, output, options_of_run, spark=spark, on_progress=stop)
    report = run(read_back(plan), inputs, output, options_of_run, spark=spark)
    assert report.resumed
    assert report.batches > 1
    period = query.emit.every if query.emit else 0
    lines = without_ends(_lines(tmp_path / "out", period))
    assert len(lines) > 5
    judge(Truth(query, case.edges), plan, lines)
