"""Each benchmark starts and counts right; times are not checked."""

from __future__ import annotations

import json
from itertools import islice
from math import comb, factorial, inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bench import (
    anti_joins,
    bound_paths,
    eager_aggregates,
    first_result,
    kernels,
    paired,
    planning,
    search,
    semi_joins,
    shared_indexes,
    sharing,
    simple_paths,
    top_k,
)
from bench.corpus import cut_of
from bench.measuring import Spread, timed
from bench.queries import TABLE_4_2, TABLE_5_1, cases
from bench.regret.measure import catalog_of as regret_catalog_of
from bench.running import measured
from bench.streams import DAY, Uniform, catalog_of, files, load, slides
from headrace.executor.local import run_plan
from headrace.rules.implementation import IMPLEMENTATIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROLES = ("src", "trg", "label", "ts")
CASES = {case.name: case for case in cases()}


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert document["machine"]["cores"] >= 1
    return document


def test_cases_have_every_query_of_the_tables_and_every_aim() -> None:
    assert {f"Table 4.2 {name}" for name in TABLE_4_2} <= set(CASES)
    assert {f"Table 5.1 {name}" for name in TABLE_5_1} <= set(CASES)
    assert len(CASES) == len(cases())
    aims = {name: case.aim_ms for name, case in CASES.items() if case.aim_ms is not None}
    assert {ms for name, ms in aims.items() if name.startswith("Table")} == {50.0}
    assert aims["chain 12, all kept"] == aims["chain 12, ends kept"] == 150.0
    assert aims["clique 6 (star, all kept)"] == 100.0
    assert aims["clique 8 (star, all kept)"] == 2000.0
    assert CASES["star 16, two kept, 1 s"].budget_ms == 1000.0


def test_search_counts_equal_the_formulas() -> None:
    chain = search.measure(CASES["chain 5, all kept"], repeats=1)
    # Three parts read large intermediate results in all of their joins, but a join of their atoms
    # at once has a least cost above that of their cheapest trees.
    assert (chain.groups, chain.expressions) == (15, (5**3 - 5) // 3 + 5)
    assert chain.logical_plans == 2**4 * 14
    clique = search.measure(CASES["clique 4 (star, all kept)"], repeats=1)
    assert (clique.groups, clique.expressions) == (15, 3**4 - 2**5 + 1 + 4)
    assert clique.logical_plans == factorial(6) // factorial(3)
    cycle = search.measure(CASES["cycle 4, all kept"], repeats=1)
    # All atoms may be joined at once, and each of four pairs of neighbours may be one atom. Parts
    # of three atoms are not joined at once, as their trees are cheaper.
    assert (cycle.groups, cycle.expressions) == (13, 4 * 9 + 4 + 1 + 4)
    assert cycle.logical_plans == 2**2 * comb(6, 3) + 1 + 4 * 2


def test_search_writes_its_rows_as_json(tmp_path: Path) -> None:
    out = tmp_path / "search.json"
    search.main(only="Qs", repeats=1, out=out)
    (row,) = _read(out)["rows"]
    assert row["name"] == "Qs"
    assert row["groups"] == 15
    assert row["stop_reason"] == "complete"


def test_chosen_plans_of_random_queries_have_the_least_shared_cost() -> None:
    rows = [sharing.measure(*query, parallelism=1) for query in sharing.patterns(8, seed=2)]
    compared = [row for row in rows if row is not None]
    assert compared
    assert all(1 - 1e-9 <= row.shared <= min(row.tree, sharing.ABOVE) for row in compared)


def test_the_best_known_plan_costs_at_least_the_optimum() -> None:
    from bench.queries import catalog, cost_model
    from headrace.languages import parse
    from headrace.languages.translation.canonical import translate
    from headrace.optimizer import Optimizer

    query = translate(parse(CASES["clique 5 (star, all kept)"].text, "rq"), catalog())
    found = Optimizer(cost_model("saturating")).optimize(query)
    known = search.best_known(query, cost_model("saturating"), float("inf"))
    assert found.cost <= known * (1 + 1e-9)
    assert known < found.canonical_cost


@pytest.mark.soak
def test_kernels_count_the_results_of_a_plain_run(tmp_path: Path) -> None:
    out = tmp_path / "kernels.json"
    kernels.main(days=3, only="Q5", pairs=1, out=out)
    rows = _read(out)["rows"]
    edges = load(files(None), days=3)
    plan = kernels.plan_of(kernels.QUERIES["Q5"], catalog_of(files(None)), "30d", "1d").plan
    plain = list(run_plan(plan, zip(*(edges[c].to_pylist() for c in ROLES), strict=True)))
    (chosen,) = [row for row in rows if row["plan"] == "chosen"]
    assert chosen["results"] == len(plain) > 0
    assert chosen["edges"] == len(edges)
    assert chosen["share"] == 1.0
    assert {row["plan"] for row in rows} <= {"canonical", "chosen"}


def test_bound_paths_are_measured_beside_unbound_ones(tmp_path: Path) -> None:
    out = tmp_path / "bound.json"
    bound_paths.main(days=3, only="hub", pairs=1, out=out)
    rows = _read(out)["rows"]
    assert {row["operators"] for row in rows} == {"S_PATH*", "HASH_JOIN PAIR_PATH*"}
    assert all(row["results"] > 0 and not row["same"] for row in rows)


@pytest.mark.soak
def test_semi_joins_are_measured_beside_joins(tmp_path: Path) -> None:
    out = tmp_path / "semi.json"
    rules = list(IMPLEMENTATIONS)
    semi_joins.main(days=3, only="two arms", rounds=1, out=out)
    assert list(IMPLEMENTATIONS) == rules
    star, reduction = _read(out)["rows"]
    assert "SEMI_JOIN" in star["operators"]
    assert "SEMI_JOIN" not in reduction["operators"]
    assert star["results"] > 0 < reduction["results"]
    semi_joins.main(days=3, only="two arms", rounds=1, deletions=0.3, out=out)
    (deleting, _) = _read(out)["rows"]
    assert "SEMI_JOIN" in deleting["operators"]
    assert "RETRACT" in deleting["operators"]
    assert deleting["results"] > star["results"], "retractions count"


@pytest.mark.soak
def test_anti_joins_and_left_joins_are_measured_beside_joins(tmp_path: Path) -> None:
    out = tmp_path / "anti.json"
    anti_joins.main(days=9, only="commented on", rounds=1, out=out)
    edges = load(files(None), days=9).to_pylist()
    keys = {edge["trg"] for edge in edges if edge["label"] == "c2q"}
    answers = [(edge["src"], edge["trg"]) for edge in edges if edge["label"] == "a2q"]
    (row,) = _read(out)["rows"]
    assert row["rows"] == sum(edge["label"] in ("a2q", "c2q") for edge in edges)
    assert row["joined"] >= len({answer for answer in answers if answer[1] in keys}) > 0
    assert row["unmatched"] >= len({answer for answer in answers if answer[1] not in keys}) > 0
    assert row["left_joined"] == row["joined"] + row["unmatched"]


def test_aggregates_before_joins_are_measured_beside_those_after() -> None:
    row = eager_aggregates.measure(*eager_aggregates.CASES[0], seconds=20, rounds=1)
    assert row.chosen
    assert row.lines > 0 < row.ratio.median


def test_shared_indexes_are_measured_beside_others(tmp_path: Path) -> None:
    out = tmp_path / "shared.json"
    shared_indexes.main(days=3, only="co-", rounds=1, out=out)
    (of_plan,) = _read(out)["rows"]
    shared_indexes.main(days=3, only="2 joins", rounds=1, out=out)
    (of_joins,) = _read(out)["rows"]
    assert of_joins["shared_bytes"] < 0.6 * of_joins["alone_bytes"]
    for row in (of_plan, of_joins):
        assert row["shared"] == 1
        assert row["results"] > 0


@pytest.mark.soak
def test_simple_paths_are_measured_beside_any_paths(tmp_path: Path) -> None:
    file, out = tmp_path / "edges.txt", tmp_path / "simple.json"
    file.write_text("1 2 0\n2 3 1\n3 1 2\n3 4 3\n4 4 9\n", "utf-8")
    simple_paths.main(file, only="three", out=out)
    any_paths, simple, trail = rows = _read(out)["rows"]
    assert [row["edges"] for row in rows] == [5, 5, 5]
    assert simple["operators"] == "SIMPLE_PATH"
    assert simple["results"] == 1 < any_paths["results"], "1 to 4"
    assert trail["operators"] == "TRAIL_PATH"
    assert simple["results"] < trail["results"] < any_paths["results"]
    assert {row["outcome"] for row in rows} == {"done"}


def test_the_first_rows_are_given_each_second() -> None:
    row = top_k.measure("uniform", rate=50, keys=20, window=3, first=4)
    assert (row.held, row.edges) == (150, 250)
    assert row.results == 4 * 7, "the report of the last second is not over"
    assert 0 < row.top_share < 1
    assert (row.plan, row.moved) == ("one partition", 0)
    settings = {"rate": 200, "keys": 100, "window": 3, "first": 2, "partitions": 2}
    several, whole = (top_k.measure("uniform", **settings, of_each=own) for own in (True, False))
    assert (several.plan, whole.plan) == ("each partition", "one partition")
    assert several.results == whole.results == 2 * 7
    assert 0 < several.moved < whole.moved


def test_slides_are_days_and_keep_every_edge() -> None:
    edges = load(files(None), days=4)
    days = list(slides(edges, DAY))
    assert sum(day.num_rows for day in days) == len(edges)
    numbers = [set((np.asarray(day["ts"]) // DAY).tolist()) for day in days]
    assert all(len(number) == 1 for number in numbers)
    assert len(set().union(*numbers)) == len(days)


def test_a_run_stops_after_its_limit() -> None:
    edges = load(files(None), days=4)
    plan = kernels.plan_of(kernels.QUERIES["a2q+"], catalog_of(files(None)), "30d", "1d").plan
    cut = measured(plan, list(slides(edges, DAY)), limit=0.0)
    assert len(cut.cpu) == 1
    assert not cut.done


def test_a_uniform_stream_has_its_rates() -> None:
    edges = Uniform({"a": 3, "b": 5}, vertices=10, seconds=4).edges()
    assert edges["ts"].to_pylist() == sorted([*range(4)] * 8)
    assert edges["label"].to_pylist().count("b") == 20
    assert set(edges["src"].to_pylist()) <= set(range(10))


def test_timed_runs_warm_up_and_repeats() -> None:
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0, 3)
    calls: list[int] = []
    done = timed(lambda: calls.append(1), 4, seconds=inf)
    assert len(calls) == 5, "one to warm up"
    assert done.cpu_ms.runs == done.wall_ms.runs == 4


@pytest.mark.soak
@pytest.mark.spark
def test_spark_runs_the_plan_over_the_whole_stream(spark: SparkSession) -> None:
    from bench.spark import measure

    plan = kernels.plan_of(kernels.QUERIES["Q5"], catalog_of(files(None)), "3d", "1d").plan
    row = measure(spark, "Q5", plan, files(None), "parquet")
    assert row.edges == len(load(files(None)))
    # How many updates say the same answer depends on how the stream is cut into batches.
    assert row.results > 0
    assert row.batches >= 1
    assert 0 < row.operators <= row.streaming


@pytest.mark.soak
def test_two_checkouts_are_compared_in_pairs(tmp_path: Path) -> None:
    out = tmp_path / "paired.json"
    here = str(Path(paired.__file__).parent.parent)
    paired.main(here, here, rounds=1, repeats=1, only="Q5", out=out)
    rows = _read(out)["rows"]
    pushes = [f"push Q5 by {rows}" for rows in ("1", "256", "16,384")]
    assert [row["name"] for row in rows] == ["search Table 5.1 Q5", "run Q5", *pushes]
    assert all(row["ratio"]["runs"] == 1 and row["before"] > 0 for row in rows)


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("run", ["", '{"bindings": {}, "ts": 1, "exp": 2}']),
        ("demo", ["Answer(x = 1)", "── Results on sixty days", "  x = 1   from 1 to 2"]),
        ("map", ["Using Spark", "RESULT Row(src=1)"]),
    ],
)
def test_the_first_result_is_the_first_line_with_one(kind: str, lines: list[str]) -> None:
    is_result = first_result.shows_result(kind)
    assert [line for line in lines if is_result(line)] == lines[-1:]


def test_times_until_the_first_result_are_compared_within_a_round() -> None:
    firsts = [
        first_result.First(kind, number, seconds, seconds, seconds)
        for number in (0, 1, 2)
        for kind, seconds in (("run", 3.0 + number), ("map", 2.0 * (1 + number)))
    ]
    table = first_result.table_of(firsts, ["map"])
    ratios = list(table.columns[-1].cells)
    assert ratios == ["0.92 (0.83-1.00)", "1.00 (1.00-1.00)"]


def test_planning_is_timed_with_and_without_the_sample(tmp_path: Path) -> None:
    cut = cut_of("mathoverflow", None, 6_000)
    assert cut is not None
    cut.write(tmp_path)
    catalog = regret_catalog_of(tmp_path, cut.time_unit)
    rows = list(islice(planning.planned_queries(cut, catalog, 1), 3))
    assert [row.query for row in rows] == ["Table 4.2 Q1", "Table 4.2 Q2", "Table 4.2 Q3"]
    assert all(row.estimates > 0 and row.sampling > 0 for row in rows)
    assert planning.shown(rows).row_count == 3
