"""Long streams: state grows, is released, and is reused many times."""

import pytest

from headrace.executor.encoding import encode
from headrace.executor.local import LocalRun
from headrace.executor.scans import scan_inputs
from tests.oracles.judgement import Line
from tests.oracles.query import Query, Source, Vertex
from tests.oracles.snapshot import Truth
from tests.properties.plans import optimized, plans_of
from tests.properties.running import judge, lines_of, record_batch
from tests.strategies.amount import MORE
from tests.strategies.named import NAMED
from tests.strategies.queries import Case, input_labels
from tests.strategies.streams import long_stream

SEEDS = range(max(MORE, 1))
LENGTH = 400


def _case(name: str, seed: int) -> Case:
    labels = input_labels(NAMED[name])
    windows = [Source("s", 8, 1), Source("s", 7, 3), Source("t", 12, 4), Source("t", 3, 2)]
    chosen = [windows[(seed + i) % 4] for i in range(len(labels))]
    integers = seed % 2 == 1
    vertices: tuple[Vertex, ...] = tuple(range(9)) if integers else tuple("abcdefghi")
    stream = long_stream(seed, labels, vertices, LENGTH, pace=1.5)
    return Case(Query(NAMED[name], tuple(zip(labels, chosen, strict=True))), stream, integers)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMED)
def test_plans_give_the_results_of_the_oracle_over_long_streams(name: str, seed: int) -> None:
    case = _case(name, seed)
    truth = Truth(case.query, case.edges)
    assert any(map(truth.at, truth.changes))
    for plan, batch_rows in zip(plans_of(optimized(case), 3, seed), (1, 7, 100), strict=False):
        judge(truth, plan, lines_of(case, plan, batch_rows))


@pytest.mark.parametrize("name", NAMED)
def test_operators_keep_no_state_when_nothing_is_valid(name: str) -> None:
    case = _case(name, 0)
    for plan in plans_of(optimized(case), 4):
        run = LocalRun(plan)
        run.push([record_batch(case.query, case.edges)])
        assert sum(counters.state_entries for counters in run.counters.values()) > 0
        end = case.edges[-1].ts + 20
        run.pipeline.purge(end)
        run.dictionary.purge(end)
        held = {node: counters.state_entries for node, counters in run.counters.items()}
        assert {node: entries for node, entries in held.items() if entries} == {}
        assert run.dictionary.entries == 0


@pytest.mark.parametrize("name", NAMED)
def test_state_is_rebuilt_from_the_edges_still_valid(name: str) -> None:
    case = _case(name, 1)
    truth = Truth(case.query, case.edges)
    cut = LENGTH // 2
    before, after = case.edges[:cut], case.edges[cut:]
    longest = max(source.range for source in case.query.source.values())
    valid = tuple(edge for edge in before if edge.ts + longest > before[-1].ts)
    for plan in plans_of(optimized(case), 3):
        first, second = LocalRun(plan), LocalRun(plan)
        lines = [*first.results(first.push([record_batch(case.query, before)]))]
        again = record_batch(case.query, valid)
        second.pipeline.replay(
            {
                scan_input.node: encode(scan_input, scan_input.select(again), second.dictionary)
                for scan_input in scan_inputs(plan)
            }
        )
        lines += second.results(second.push([record_batch(case.query, after)]))
        judge(truth, plan, [Line(r.bindings, r.ts, r.exp) for r in lines])
