"""The open rows of AGGREGATE: what a batch writes follows the batch, and nothing is lost."""

from __future__ import annotations

import base64
import copy
import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanStream
from headrace.algebra.values import PropertyType
from headrace.catalog.model import Catalog, LabelStatistics, Stream
from headrace.costmodel import CostModel
from headrace.executor.batch import FOREVER
from headrace.executor.local import Edge, run_plan
from headrace.executor.spark.exchange.packing import partition_keys
from headrace.executor.spark.exchange.wire import RowWire
from headrace.executor.spark.state.metadata import PartitionMetadata
from headrace.executor.spark.state.open_rows import FIRST_OF_OPEN_ROWS, FORMAT, OpenRows
from headrace.executor.stages import Flow
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options
from tests.executor.spark.chain import Blobs, Chain
from tests.oracles.judgement import End, Line, mismatches, without_ends, wrong_reports
from tests.oracles.query import text
from tests.properties.plans import THOROUGH, optimized, plans_of
from tests.properties.test_deletions import deleting
from tests.strategies.amount import examples
from tests.strategies.queries import Case
from tests.strategies.roots import root_cases

EARLIER = Path(__file__).parent / "earlier" / "open_rows.json"
"""The state that commit adb33be9 left after three batches, whose open rows are one blob of JSON."""
ALL_TYPES: frozenset[PropertyType] = frozenset({"string", "integer", "number", "boolean"})
LETTERS = {str: "s", int: "i", float: "n", bool: "b"}
VALUES = st.sampled_from([None, "", "a", "1", 0, 1, 1.0, 0.5, True, False])

Changed = list[tuple[tuple[Any, ...], int, Any]]
"""A key, the begin of its row (-1: the row ended), and its value."""


def changes_of(keys: int) -> st.SearchStrategy[Changed]:
    """Changes of one batch; each key is changed at most a few times."""
    key = st.tuples(*[VALUES] * keys)
    return st.lists(st.tuples(key, st.integers(-1, 9), VALUES), max_size=6)


def table_of(wire: RowWire, changes: Changed) -> pa.Table:
    rows = []
    for key, since, value in changes:
        values = (*key, value if since >= 0 else None)
        row = {f"{LETTERS[type(v)]}{j}": v for j, v in enumerate(values) if v is not None}
        rows.append({"port": 0, "ts": max(0, since), "exp": FOREVER if since >= 0 else 0, **row})
    return pa.Table.from_pylist(rows, wire.schema)


def rows_in(wire: RowWire, keys: int, rows: pa.Table) -> dict[tuple[str, ...], tuple[int, str]]:
    """The open rows by key; values as text, where 1, 1.0, True and "1" differ."""
    found = {}
    for row in rows.to_pylist():
        assert row["exp"] == 77
        values = [
            repr(next((row[name] for name in wire.columns_of(j) if row[name] is not None), None))
            for j in range(keys + 1)
        ]
        assert tuple(values[:keys]) not in found
        found[tuple(values[:keys])] = row["ts"], values[keys]
    return found


@pytest.mark.parametrize("keys", [0, 1, 2])
def test_the_last_change_of_each_key_counts(keys: int) -> None:
    wire = RowWire([Flow(0, 0, keys + 1, "stay")], ALL_TYPES)

    @given(batches=st.lists(changes_of(keys), max_size=20))
    @examples(40)
    def holds(batches: list[Changed]) -> None:
        store, metadata = Blobs(), PartitionMetadata()
        expected: dict[tuple[str, ...], tuple[int, str]] = {}
        for changes in batches:
            metadata = PartitionMetadata.from_json(metadata.to_json())
            rows = OpenRows(wire, keys, store, metadata.open_rows)
            rows.append(table_of(wire, changes))
            metadata = replace(metadata, open_rows=rows.directory)
            for key, since, value in changes:
                name = tuple(map(repr, key))
                expected.pop(name, None)
                if since >= 0:
                    expected[name] = since, repr(value)
            assert rows_in(wire, keys, rows.rows(77)) == expected
            assert sorted(store) == [blob.number for blob in rows.blobs]
        rows = OpenRows(wire, keys, store, metadata.open_rows)
        rows.clear()
        assert not store
        assert not rows.is_stored

    holds()


def test_each_change_is_written_a_few_times() -> None:
    wire = RowWire([Flow(0, 0, 2, "stay")], ALL_TYPES)
    store = Writes()
    rows = OpenRows(wire, 1, store, PartitionMetadata().open_rows)
    random, batches, each = Random(1), 400, 20
    for number in range(batches):
        keys = [f"key {random.randrange(5_000)}" for _ in range(each)]
        rows.append(table_of(wire, [((key,), number, random.random()) for key in keys]))
    assert len(rows.blobs) <= 10
    once = rows.blobs[0].size / rows.blobs[0].rows
    assert sum(store.written) <= 12 * once * batches * each


def test_a_later_format_is_refused() -> None:
    wire = RowWire([Flow(0, 0, 1, "stay")], ALL_TYPES)
    directory = replace(PartitionMetadata().open_rows, version=FORMAT + 1)
    with pytest.raises(ValueError, match="continue with the version that wrote"):
        OpenRows(wire, 0, Blobs(), directory)


# -- through the stages of a plan ------------------------------------------------------------------

LABEL = LabelStatistics(rate=1.0, distinct_src=9e3, distinct_trg=9e3, vertices=9e3)
COUNTS = "Answer(x, count(*) as n, min(y) as least, max(y) as most) <- a(x, y). WINDOW 100000"
REPORT = "Answer(x, y) <- a(x, y). WINDOW 100000 EMIT ON EXIT EVERY 10000"


class Writes(Blobs):
    """A store that counts the bytes of each value that is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[int] = []

    def put(self, number: int, blob: bytes) -> None:
        super().put(number, blob)
        self.written.append(len(blob))


def planned(query: str) -> PhysicalPlan:
    catalog = Catalog({"input": Stream("input", {"a": LABEL})})
    logical = translate(parse(query), catalog)
    streams = (PlanStream(name="input", labels=("a",)),)
    model = CostModel(catalog=catalog, parallelism=1)
    return Optimizer(model, Options()).optimize(logical, streams, "second").plan


@pytest.mark.long
@pytest.mark.parametrize("query", [COUNTS, REPORT])
def test_a_small_batch_after_a_large_state_writes_little(query: str) -> None:
    chain = Chain(planned(query))
    chain.another_worker(gone=True)
    store = Writes()
    chain.logs[0, partition_keys(1)[0]] = store
    random = Random(3)
    chain.batch([(f"source {i}", f"target {random.randrange(9)}", "a", 0) for i in range(8_000)])
    chain.batch([("one", "more", "a", 1)])
    state = sum(map(len, store.values()))
    if query == COUNTS:
        assert sum(len(b) for n, b in store.items() if n >= FIRST_OF_OPEN_ROWS) > 60_000
    for ts in range(2, 32):
        store.written.clear()
        chain.batch([(f"source {random.randrange(8_000)}", f"new {ts}", "a", ts) for _ in range(3)])
        (metadata,) = chain._metadata.values()
        assert sum(store.written) + len(metadata) < min(16_000, state / 4)
        assert len(store) < 40


@pytest.mark.long
@given(
    case=root_cases(),
    seed=st.integers(0, 999),
    partitions=st.integers(1, 3),
    whats=st.lists(st.sampled_from(["batch", "batch", "hop", "aborted"]), min_size=4, max_size=30),
    deletions=st.booleans(),
)
@examples(40)
def test_random_aggregates_continue_whatever_happens_between_batches(
    case: Case, seed: int, partitions: int, whats: list[str], deletions: bool
) -> None:
    note(text(case.query))
    of = deleting(case, seed)
    if not deletions:
        of = replace(of, streams=frozenset(), deletions=())
    rows, size = of.rows(), 1 + seed % 4
    options = replace(THOROUGH, parallelism=partitions)
    for plan in plans_of(optimized(case, options, deletions=of.streams), most=2, seed=seed):
        chain = Chain(plan, seed)
        chain.another_worker(gone=True)
        done = 0
        for what in whats:
            following = rows[done : done + size]
            if what == "hop":
                chain.another_worker(gone=True)
            elif what == "aborted":
                aborted(chain, following)
            else:
                chain.batch(following)
                done += len(following)
        chain.batch(rows[done:])
        chain.another_worker(gone=True)
        chain.end()
        said = [
            Line(r.bindings, r.ts, r.exp) if r.exp >= 0 else End(r.bindings, r.ts)
            for r in chain.results
        ]
        if case.query.emit is None:
            assert not mismatches(of.truth, without_ends(said))
        else:
            lines = [line for line in said if isinstance(line, Line)]
            assert len(lines) == len(said)
            assert not list(wrong_reports(of.truth, lines))


def aborted(chain: Chain, rows: list[Edge]) -> None:
    """Processes a batch whose results and state Spark does not commit, as when a worker dies."""
    metadata, logs = copy.deepcopy(chain._metadata), copy.deepcopy(chain.logs)
    results = len(chain.results)
    chain.batch(rows)
    chain._metadata, chain.logs = metadata, logs
    del chain.results[results:]


@pytest.mark.long
def test_open_rows_of_an_earlier_version_continue() -> None:
    earlier = json.loads(EARLIER.read_text("utf-8"))
    plan = PhysicalPlan.from_json(json.dumps(earlier["plan"]))
    edges: list[Edge] = [tuple(edge) for edge in earlier["edges"]]
    chain = Chain(plan)
    chain.another_worker(gone=True)
    for partition in earlier["partitions"]:
        place = partition["stage"], partition["key"]
        assert partition["metadata"]["remembers"]
        chain._metadata[place] = json.dumps(partition["metadata"])
        for number, data in partition["log"].items():
            chain.logs[place].put(int(number), base64.b85decode(data))
    for start in range(60, 120, 20):
        chain.batch(edges[start : start + 20])
        for place, log in chain.logs.items():
            metadata = PartitionMetadata.from_json(chain._metadata[place])
            assert not metadata.remembers
            stored = {n for n in log if n < 0 or n >= FIRST_OF_OPEN_ROWS}
            assert stored == {blob["number"] for blob in asdict(metadata.open_rows)["blobs"]}
        chain.another_worker(gone=True)
    chain.end()
    before = [(tuple(bindings), ts, exp) for bindings, ts, exp in earlier["results"]]
    after = [(r.bindings, r.ts, r.exp) for r in chain.results]
    expected = [(r.bindings, r.ts, r.exp) for r in run_plan(plan, edges)]
    assert Counter(before + after) == Counter(expected)
