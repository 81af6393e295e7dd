"""Pipelines against the meaning of plans on snapshots, in batches of any size."""

from collections.abc import Iterable
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.physical import (
    Coalesce,
    FilterRows,
    HashJoin,
    MergeUnion,
    PairPath,
    PhysicalOperator,
    ProjectColumns,
    SPath,
    WindowScan,
)
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanError
from headrace.executor.batch import Batch
from headrace.executor.dictionary import Dictionary
from headrace.executor.encoding import encode
from headrace.executor.local import Edge, LocalRun, Result, run_plan
from headrace.executor.pipeline import Pipeline, StageInput, StageNode
from tests.executor.plans import answer, path_over, plan_of, plans
from tests.strategies.amount import examples

A, B = regex.Symbol(0), regex.Symbol(1)
PATTERNS = st.sampled_from(
    [
        regex.plus(regex.alternation([A, B])),
        regex.concat([A, regex.star(B)]),
        regex.plus(regex.concat([A, regex.Symbol(1, inverse=True)])),
    ]
)
GAPS = st.sampled_from([0] * 6 + [1] * 6 + [2, 2, 3, 12])
CHAIN = HashJoin(((0, 1), (1, 2)), (0, 2))


@st.composite
def streams(draw: st.DrawFn, vertices: str = "abcd", longest: int = 30) -> list[Edge]:
    vertex = st.sampled_from(vertices)
    events = draw(
        st.lists(st.tuples(vertex, vertex, st.sampled_from("abcz"), GAPS), max_size=longest)
    )
    times = np.cumsum([gap for *_, gap in events]).tolist()
    return [(src, trg, label, ts) for (src, trg, label, _), ts in zip(events, times, strict=True)]


def snapshot(results: Iterable[Result], t: int) -> set[tuple[str | int, ...]]:
    return {result.bindings for result in results if result.ts <= t < result.exp}


@given(plan=plans(PATTERNS), edges=streams())
@examples(200)
def test_random_plans_have_the_right_snapshots(plan: PhysicalPlan, edges: list[Edge]) -> None:
    note(plan.to_json())
    runs = {rows: list(run_plan(plan, edges, rows)) for rows in (1, 7, 1_000)}
    for t in range(edges[-1][3] + 12 if edges else 0):
        expected = answer(plan, edges, t)
        for rows, results in runs.items():
            assert snapshot(results, t) == expected, f"at {t} in batches of {rows}"
    for results in runs.values():
        assert [r.ts for r in results] == sorted(r.ts for r in results)


def test_a_document_runs_as_the_plan() -> None:
    plan = plan_of([(WindowScan("s", "a", 5, 1), ()), (path_over(regex.plus(A)), (0,))])
    edges: list[Edge] = [("x", "y", "a", 0), ("y", "z", "a", 3)]
    again = PhysicalPlan.from_json(plan.to_json())
    assert list(run_plan(again, edges)) == [
        Result(("x", "y"), 0, 5),
        Result(("y", "z"), 3, 8),
        Result(("x", "z"), 3, 5),
    ]


def test_strings_and_integers_stay_apart() -> None:
    """Two streams of different vertex types meet in one plan; "1" is not 1."""
    plan = plan_of(
        [
            (WindowScan("words", "a", 9, 1), ()),
            (WindowScan("numbers", "a", 9, 1), ()),
            (MergeUnion(), (0, 1)),
            (path_over(regex.plus(A)), (2,)),
        ],
        {"numbers": "integer"},
    )
    edges: list[Edge] = [
        ("1", "2", "a", 0, "words"),
        (2, 3, "a", 1, "numbers"),
        ("2", "3", "a", 2, "words"),
    ]
    for rows in (1, 3):
        assert set(run_plan(plan, edges, rows)) == {
            Result(("1", "2"), 0, 9),
            Result((2, 3), 1, 10),
            Result(("2", "3"), 2, 11),
            Result(("1", "3"), 2, 9),
        }


def test_a_filter_reads_a_column_of_mixed_types() -> None:
    plan = plan_of(
        [
            (WindowScan("words", "a", 9, 1), ()),
            (WindowScan("numbers", "a", 9, 1), ()),
            (MergeUnion(), (0, 1)),
            (FilterRows("c0 < 5 OR c0 = '7'"), (2,)),
        ],
        {"numbers": "integer"},
    )
    edges: list[Edge] = [
        ("1", "x", "a", 0, "words"),
        (1, 2, "a", 0, "numbers"),
        (7, 2, "a", 0, "numbers"),
        ("7", "x", "a", 0, "words"),
    ]
    assert {r.bindings for r in run_plan(plan, edges)} == {(1, 2), ("7", "x")}


def test_filters_on_a_scan_belong_to_the_scan_input() -> None:
    plan = plan_of(
        [
            (WindowScan("s", "a", 9, 1), ()),
            (FilterRows("c0 <> c1"), (0,)),
            (FilterRows("c1 = 'y'"), (1,)),
            (CHAIN, (2, 0)),
        ]
    )
    run = LocalRun(plan)
    assert [scan_input.node for scan_input in run._scan_inputs] == [0, 2]
    edges: list[Edge] = [("x", "y", "a", 0), ("y", "y", "a", 1), ("y", "z", "a", 1)]
    assert set(run_plan(plan, edges)) == {Result(("x", "y"), 1, 9), Result(("x", "z"), 1, 9)}


def test_a_scan_alone_is_a_plan() -> None:
    plan = plan_of([(WindowScan("s", "a", 9, 4), ())])
    assert list(run_plan(plan, [("x", "y", "a", 5), ("x", "y", "b", 6)])) == [
        Result(("x", "y"), 5, 13)
    ]
    filtered = plan_of([(WindowScan("s", "a", 9, 4), ()), (FilterRows("c0 = 'x'"), (0,))])
    edges: list[Edge] = [("x", "y", "a", 5), ("y", "x", "a", 6)]
    assert [r.bindings for r in run_plan(filtered, edges)] == [("x", "y")]


def test_nodes_that_the_root_does_not_read_do_not_run() -> None:
    plan = plan_of([(SCAN, ()), (SCAN, ()), (Coalesce(), (1,)), (Coalesce(), (0,))])
    run = LocalRun(plan)
    push(run, [("x", "y", "a", 0)])
    assert set(run.counters) == {0, 3}


def test_an_operator_may_read_an_input_twice() -> None:
    plan = plan_of([(WindowScan("s", "a", 9, 1), ()), (CHAIN, (0, 0)), (CHAIN, (1, 1))])
    edges: list[Edge] = [(f"v{i}", f"v{i + 1}", "a", i) for i in range(5)]
    assert list(run_plan(plan, edges)) == [Result(("v0", "v4"), 3, 9), Result(("v1", "v5"), 4, 10)]


SHARED = plan_of(
    [
        (WindowScan("s", "a", 10, 2), ()),
        (WindowScan("s", "b", 6, 1), ()),
        (path_over(regex.plus(A)), (0,)),
        (CHAIN, (2, 1)),
        (MergeUnion(), (2, 3)),
        (Coalesce(), (4,)),
        (HashJoin(((0, 1), (1, 2)), (2, 0, 1)), (5, 2)),
        (ProjectColumns((1, 0)), (6,)),
    ]
)


def random_edges(seed: int, length: int, vertices: int, pace: int, fresh: int = 0) -> list[Edge]:
    """``fresh`` new vertices come with each time unit, and as many are never seen again."""
    random = Random(seed)
    edges: list[Edge] = []
    for i in range(length):
        ts = i // pace
        src, trg = (f"v{ts * fresh + random.randrange(vertices)}" for _ in range(2))
        edges.append((src, trg, random.choice("ab"), ts))
    return edges


@given(edges=streams(), split=st.integers(0, 30))
@examples(60)
def test_replaying_the_valid_input_restores_a_pipeline(edges: list[Edge], split: int) -> None:
    before = [edge for edge in edges if edge[3] < split]
    after = [edge for edge in edges if edge[3] >= split]
    went_on, restored = LocalRun(SHARED), LocalRun(SHARED)
    list(push(went_on, before))
    rows = {}
    for scan_input in restored._scan_inputs:
        batch = encode(scan_input, scan_input.select(record_batch(before)), restored.dictionary)
        rows[scan_input.node] = batch.take(batch.exp > split)
    restored.pipeline.replay(rows)
    assert all(c.rows_in == c.rows_out == 0 for c in restored.pipeline.counters.values())
    restored.pipeline.purge(split)
    went_on.pipeline.purge(split)
    assert sizes(restored) == sizes(went_on)
    assert sorted(push(restored, after)) == sorted(push(went_on, after))


def record_batch(edges: list[Edge]) -> pa.RecordBatch:
    names = ["src", "trg", "label", "ts"]
    types = [pa.string(), pa.string(), pa.string(), pa.int64()]
    columns = [pa.array([e[i] for e in edges], t) for i, t in enumerate(types)]
    return pa.RecordBatch.from_arrays(columns, names=names)


def push(run: LocalRun, edges: list[Edge]) -> list[Result]:
    return list(run.results(run.push([record_batch(edges)])))


def sizes(run: LocalRun) -> dict[int, int]:
    return {node: c.state_entries for node, c in run.pipeline.counters.items()}


def test_state_and_dictionary_are_bounded_while_vertices_change() -> None:
    run = LocalRun(SHARED)
    seen: list[tuple[int, int, int]] = []
    for ts in range(0, 600, 2):
        edges = [e for e in STEADY if ts <= e[3] < ts + 2]
        push(run, edges)
        counters = run.pipeline.counters.values()
        state = sum(c.state_bytes for c in counters), sum(c.state_entries for c in counters)
        seen.append((*state, run.dictionary.nbytes))
        assert run.dictionary.entries < 200
    early, late = seen[10:60], seen[60:]
    for size in range(3):
        assert max(s[size] for s in late) <= 2 * max(s[size] for s in early)
    run.pipeline.purge(10_000)
    run.dictionary.purge(10_000)
    assert set(sizes(run).values()) == {0}
    assert run.dictionary.entries == 0


STEADY = random_edges(5, 6_000, 30, 10, fresh=3)


def test_time_alone_releases_state() -> None:
    """A stream that falls silent: ticks without rows free what expires."""
    run = LocalRun(SHARED)
    push(run, random_edges(6, 300, 10, 30))
    assert sum(sizes(run).values()) > 100
    for now in range(10, 60):
        run.pipeline.process({}, now)
    assert set(sizes(run).values()) == {0}


def test_rows_into_a_node_are_the_rows_out_of_its_inputs() -> None:
    run = LocalRun(SHARED)
    found = push(run, random_edges(7, 200, 6, 20))
    counters = run.counters
    assert set(counters) == set(range(8))
    assert counters[7].rows_out == len(found) > 0
    for node in SHARED.nodes[2:]:
        assert counters[node.id].rows_in == sum(counters[i].rows_out for i in node.inputs)
    assert counters[5].rows_out <= counters[5].rows_in
    assert all(counters[i].state_entries > 0 < counters[i].state_bytes for i in (2, 3, 5, 6))
    assert counters[4].rows_out == counters[4].rows_in
    assert (counters[4].dropped, counters[4].state_entries, counters[4].state_bytes) == (0, 0, 0)


def test_stages_have_the_results_of_the_whole_plan() -> None:
    """The shared path runs in a stage of its own, whose rows feed the rest."""
    edges = random_edges(8, 200, 6, 20)
    expected = list(run_plan(SHARED, edges, 50))
    run = LocalRun(SHARED)
    dictionary = run.dictionary
    nodes = [StageNode(n.id, n.operator, n.inputs) for n in SHARED.nodes[2:]]
    first = Pipeline(nodes[:1], [StageInput(0, 2)], [2], dictionary)
    rest = Pipeline(nodes[1:], [StageInput(2, 2), StageInput(1, 2)], [7], dictionary)
    found: list[Result] = []
    for start in range(0, len(edges), 50):
        part = record_batch(edges[start : start + 50])
        a, b = (
            encode(scan_input, scan_input.select(part), dictionary)
            for scan_input in run._scan_inputs
        )
        found += run.results(rest.process({**first.process({0: a}), 1: b})[7])
    assert sorted(found) == sorted(expected)  # rows of one ts may come in another order


def test_the_output_may_be_read_inside_the_stage_too() -> None:
    nodes = [StageNode(1, Coalesce(), (0,)), StageNode(2, CHAIN, (1, 1))]
    one = np.array([[1, 2], [2, 3]], np.int64)
    batch = Batch(one, np.array([0, 1]), np.array([9, 9]))
    pipeline = Pipeline(nodes, [StageInput(0, 2)], [1], Dictionary())
    assert len(pipeline.process({0: batch})[1]) == 2
    assert pipeline.counters[2].rows_out == 1
    restored = Pipeline(nodes, [StageInput(0, 2)], [1], Dictionary())
    restored.replay({0: batch})
    assert restored.counters[2].state_entries == pipeline.counters[2].state_entries == 4


def test_arrays_may_be_read_only_or_strided() -> None:
    pipeline = Pipeline([StageNode(1, Coalesce(), (0,))], [StageInput(0, 2)], [1], Dictionary())
    columns = np.arange(8, dtype=np.int64).reshape(4, 2).T
    ts = np.array([0, 9, 1, 9, 2, 9, 3, 9], np.int64)[::2]
    ts.flags.writeable = False
    result = pipeline.process({0: Batch(columns, ts, ts + 5)})[1]
    assert result.columns.tolist() == columns.tolist()
    assert result.exp.tolist() == [5, 6, 7, 8]


SCAN = WindowScan("s", "a", 5, 1)


@pytest.mark.parametrize(
    ("operator", "widths", "problem"),
    [
        (SCAN, (), "a scan is an input of a pipeline"),
        (HashJoin(((0, 1), (1, 2)), (0,)), (2,), "two inputs"),
        (HashJoin(((0, 1), (1, 2)), (0,)), (2, 3), "2 variables for 3 columns"),
        (HashJoin(((0, 0), (0, 1)), (0,)), (2, 2), "a variable occurs twice"),
        (HashJoin(((0, 1), (1, 2)), (3,)), (2, 2), "an output variable is not bound"),
        (SPath(2, ((0, 1, False, 1),), (1,)), (2,), "an input that does not exist"),
        (SPath(2, ((0, 0, False, 5),), (1,)), (2,), "a state or an input"),
        (SPath(2, ((0, 0, False, 1),), (2,)), (2,), "a state or an input"),
        (SPath(2, ((0, 0, False, 1),), (0,)), (2,), "a state or an input"),
        (SPath(2, ((0, 0, False, 1), (1, 0, False, 0)), (1,)), (2,), "enters its start state"),
        (SPath(2, ((0, 0, False, 1),), (1,)), (3,), "made of pairs"),
        (PairPath(2, ((0, 0, False, 1),), (1,)), (2,), "an input of edges and an input of pairs"),
        (PairPath(2, ((0, 0, False, 1),), (1,)), (2, 3), "its last input has pairs"),
        (PairPath(2, ((0, 1, False, 1),), (1,)), (2, 2), "an input that does not exist"),
        (MergeUnion(), (2, 3), "unequal widths"),
        (ProjectColumns((2,)), (2,), "no such column"),
        (ProjectColumns((-1,)), (2,), "no such column"),
        (Coalesce(), (2, 2), "one input"),
        (FilterRows("reflect('x') = c0"), (2,), "not allowed"),
        (FilterRows("c2 = c0"), (2,), "not allowed"),
    ],
)
def test_a_plan_that_cannot_run_is_refused(
    operator: PhysicalOperator, widths: tuple[int, ...], problem: str
) -> None:
    inputs = [StageInput(i, width) for i, width in enumerate(widths)]
    node = StageNode(9, operator, tuple(range(len(widths))))
    with pytest.raises(PlanError, match=rf"node 9 \({operator.op}\): .*{problem}"):
        Pipeline([node], inputs, [9], Dictionary())


def test_a_stage_whose_parts_do_not_fit_is_refused() -> None:
    with pytest.raises(PlanError, match="node 1: an input is missing"):
        Pipeline([StageNode(1, Coalesce(), (0,))], [], [1], Dictionary())
    with pytest.raises(PlanError, match=r"node 0: .* used twice"):
        Pipeline([StageNode(0, Coalesce(), (0,))], [StageInput(0, 2)], [0], Dictionary())
    with pytest.raises(PlanError, match="node 7, an output, is not in the stage"):
        Pipeline([], [StageInput(0, 2)], [7], Dictionary())


def rows(*ts: int, width: int = 2) -> Batch:
    times = np.array(ts, np.int64)
    return Batch(np.zeros((width, len(ts)), np.int64), times, times + 5)


def test_input_out_of_order_is_refused() -> None:
    pipeline = Pipeline([StageNode(1, Coalesce(), (0,))], [StageInput(0, 2)], [1], Dictionary())
    with pytest.raises(ValueError, match="not sorted by ts"):
        pipeline.process({0: rows(5, 4)})
    with pytest.raises(ValueError, match="no such input: \\[3\\]; there are \\[0\\]"):
        pipeline.process({3: rows(1)})
    with pytest.raises(ValueError, match="input 0 has 2 columns, not 3"):
        pipeline.process({0: rows(1, width=3)})
    pipeline.process({0: rows(1, 6)})
    with pytest.raises(ValueError, match="goes back in time: a row of 5 after 6"):
        pipeline.process({0: rows(5)})
    pipeline.process({0: rows(6)}, now=9)
    with pytest.raises(ValueError, match="a row of 8 after 9"):
        pipeline.process({0: rows(8)})
    assert pipeline.now == 9


def test_integers_are_read_as_strings_but_strings_not_as_integers() -> None:
    words = plan_of([(SCAN, ())])
    assert [r.bindings for r in run_plan(words, [(1, 2, "a", 0)])] == [("1", "2")]
    numbers = plan_of([(SCAN, ())], {"s": "integer"})
    assert [r.bindings for r in run_plan(numbers, [(1, 2, "a", 0)])] == [(1, 2)]
    with pytest.raises(ValueError, match="stream 's' has integer vertices"):
        list(run_plan(numbers, [("1", "2", "a", 0)]))
