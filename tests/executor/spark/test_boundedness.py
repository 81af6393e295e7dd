"""State stays bounded on a stream of ever new vertices: ten windows need no more than two.

Driven in this process; operators, dictionary, metadata, logs and snapshots are as on Spark.
"""

from __future__ import annotations

import json
from random import Random

import pytest

from headrace.algebra.logical import PathSemantics
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanStream
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.executor.local import Edge
from headrace.executor.spark.state import snapshot
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options
from tests.executor.spark.chain import Chain

WINDOW = 40
BATCH = 10
LABEL = LabelStatistics(rate=1.0, distinct_src=90.0, distinct_trg=90.0, vertices=90.0)

JOIN = "Answer(x, z) <- a(x, y), b(y, z). WINDOW 40"
PATH = "Answer(x, y) <- x (a/b)+ y. WINDOW 40 SLIDE 8"
# A snapshot's compressed size goes with how full its tables were when it was taken: over 24 windows
# of the path here between 20 and 33 thousand bytes, up and down.
COMPRESSED = {"snapshots", "bytes in the store"}
CASES = {
    "join": JOIN,
    "path": PATH,
    "simple path": PATH,
    "aggregate": "Answer(x, count(*) as n, max(z) as last) <- a(x, y), b(y, z). WINDOW 40",
    "report": f"{JOIN} EMIT ON EXIT EVERY 8",
    "rewindow": "R(x, z) <- a(x, y), b(y, z). Answer(x, y) <- R[WINDOW 20]+(x, y). WINDOW 40",
    "join over deletions": JOIN,
    "path over deletions": PATH,
}
LONG = ("aggregate", "path over deletions", "report", "join over deletions")


def planned(name: str) -> PhysicalPlan:
    stream = Stream("input", {"a": LABEL, "b": LABEL}, deletions=name.endswith("deletions"))
    catalog = Catalog({"input": stream})
    streams = (PlanStream(name="input", labels=("a", "b")),)
    semantics = PathSemantics.SIMPLE if name.startswith("simple") else PathSemantics.ARBITRARY
    logical = translate(parse(CASES[name]), catalog, semantics=semantics)
    model = CostModel(catalog=catalog, parallelism=2)
    return Optimizer(model, Options(parallelism=2)).optimize(logical, streams, "second").plan


def edges(windows: int, *, deletions: bool) -> list[Edge]:
    """Edges whose vertices occur for some ticks and never again."""
    random = Random(3)
    made: list[Edge] = []
    for ts in range(windows * WINDOW):
        for _ in range(2):
            src = ts + random.randrange(4)
            made.append(
                (f"vertex {src}", f"vertex {src + random.randint(1, 3)}", random.choice("ab"), ts)
            )
        if deletions and made and ts % 3 == 0:
            src_, trg, label, *_ = random.choice(made[-20:])
            made.append((src_, trg, label, ts, "input", {"op": "-"}))
    return made


def sizes(plan: PhysicalPlan, windows: int, *, deletions: bool) -> list[dict[str, int]]:
    """The sizes of all state after each batch, over all stages and partitions."""
    chain = Chain(plan, seed=1)
    chain.another_worker(gone=True)
    found = []
    rows = edges(windows, deletions=deletions)
    for start in range(0, windows * WINDOW, BATCH):
        chain.batch([row for row in rows if start <= row[3] < start + BATCH])
        reports = [json.loads(report) for report in chain.reports]
        done = [own for report in reports for own in report["operators"].values()]
        found.append(
            {
                "entries": sum(own["state_entries"] for own in done),
                "bytes": sum(own["state_bytes"] for own in done),
                "vertices": sum(report["vertices"] for report in reports),
                "blobs": sum(report["blobs"] for report in reports),
                "values in the store": sum(map(len, chain.logs.values())),
                "bytes in the store": sum(
                    len(b) for log in chain.logs.values() for b in log.values()
                ),
                "snapshots": sum(report["snapshot_bytes"] for report in reports),
                "metadata": sum(map(len, chain._metadata.values())),
            }
        )
    return found


def largest(found: list[dict[str, int]], first: int, last: int) -> dict[str, int]:
    """The largest value of each size between two windows."""
    per = WINDOW // BATCH
    part = found[first * per : last * per]
    return {what: max(own[what] for own in part) for what in part[0]}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in CASES],
)
def test_state_is_bounded_on_a_stream_of_ever_new_vertices(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "LEAST_WORK", 50)
    monkeypatch.setattr(snapshot, "BYTES_PER_WORK", 1 << 60)
    found = sizes(planned(name), 10, deletions=name.endswith("deletions"))
    early, late = largest(found, 2, 4), largest(found, 8, 10)
    assert min(early.values()) > 0 or name == "rewindow", "where there are no snapshots"
    grown = {
        what: (early[what], late[what])
        for what in early
        if late[what] > (2.0 if what in COMPRESSED else 1.3) * early[what]
    }
    assert not grown
