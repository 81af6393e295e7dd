"""The experiment on regret: plans, answers, measurements and statistics; times are not checked."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

from bench.corpus import STREAMS, cut_of
from bench.corpus.cuts import Cut, Row, cut
from bench.corpus.labels import by_past, contacts
from bench.json_lines import rows_of
from bench.regret.answers import Answer, Collector, TooManyAnswersError
from bench.regret.candidates import DEFAULT, candidates, requested, sampled
from bench.regret.forms import form, mirrors
from bench.regret.job import Job, Settings
from bench.regret.kinds import kind_of
from bench.regret.known import MEASURED, no_figures, priced
from bench.regret.measure import catalog_of, comparison, measure_query
from bench.regret.prices import proportions
from bench.regret.report import write_report, written_over_chosen
from bench.regret.runs import batches_of, run
from bench.regret.series import Series, measure_all
from bench.regret.statistics import is_narrow, kendall, median_interval, quantile
from bench.regret.workload import workload
from headrace.algebra.physical import HashJoin, SemiJoin
from headrace.executor.batch import Batch
from headrace.executor.dictionary import Dictionary
from headrace.languages import parse
from headrace.optimizer import SearchResult
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

QUICK = Settings(rounds=1, most_rounds=1, limit=20.0, query_limit=10.0)
TRIANGLE = "Answer(x, y, z) <- a2q(x, y), c2a(y, z), c2q(z, x)."
CLOSURE = "Answer(x, y) <- x (a2q/c2a)+ y."
MIXED = "Answer(x, z) <- x (a2q/c2a)+ y, c2q(y, z)."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small cut of the bundled MathOverflow slice, as files."""
    path = tmp_path_factory.mktemp("cut")
    _bundled("mathoverflow", 5_000).write(path)
    return path


def _bundled(name: str, edges: int | None = None) -> Cut:
    own = cut_of(name, None, edges)
    assert own is not None
    return own


def _search(folder: Path, text: str, window: str = "10d") -> SearchResult:
    options = PlanningOptions(window=window, slide="1d")
    request = PlanRequest(text, catalog=catalog_of(folder, "second"), options=options)
    return optimize(request).optimization


# -- streams and queries ------------------------------------------------------------------------


def test_labels_are_derived_from_the_past() -> None:
    messages = [("a", "b", 1), ("a", "b", 2), ("b", "a", 3), ("a", "b", 4), ("a", "c", 5)]
    labels = [row[2] for row in by_past(messages)]
    assert labels == ["opens", "repeats", "replies", "replies", "opens"]
    met = [("a", "b", 20), ("b", "a", 40), ("a", "b", 80), ("a", "c", 80)]
    assert [row[2] for row in contacts(met)] == ["meets", "stays", "returns", "meets"]


def test_a_cut_is_sorted_and_numbers_its_vertices() -> None:
    rows: list[Row] = [("x", "y", "a", 30, {}), ("y", "z", "a", 10, {}), ("z", "x", "b", 20, {})]
    stored = {"x": ("person", {"age": 7}), "w": ("person", {"age": 8})}
    whole = cut("s", rows, [("1h", "1h")], count=2, at=0.9, vertices=stored)
    assert [(e.src, e.trg, e.ts) for e in whole.edges] == [(0, 1, 20), (1, 2, 30)]
    assert [(v.id, v.label) for v in whole.vertices] == [(1, "person")]


@pytest.mark.parametrize("name", [name for name, stream in STREAMS.items() if stream.bundled])
def test_a_bundled_stream_has_sixty_queries_that_depend_on_the_seed_alone(name: str) -> None:
    own = _bundled(name)
    queries = workload(own, 1)
    assert len({query.name for query in queries}) == len(queries) >= 60
    assert queries == workload(own, 1)
    texts = {query.text for query in workload(own, 2)}
    drawn = [query for query in queries if query.kind in ("path", "pattern", "mixed")]
    assert sum(query.text not in texts for query in drawn) > len(drawn) / 2
    for query in queries:
        parse(query.text + "\nWINDOW 10s", "rq")


# -- plans --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        TRIANGLE,
        CLOSURE,
        "Answer(x, w) <- a2q(x, y) as e, c2a(y, z), c2q(z, w) as f, e.ts < f.ts.",
        "Answer(x, z) <- x (a2q|c2a) y, c2q(y, z), a2q(x, w).",
    ],
)
def test_forms_fold_exactly_the_mirror_images(folder: Path, text: str) -> None:
    plans = list(_search(folder, text).plans.ranked())
    by_form = {form(plan): mirrors(plan) for plan in plans}
    assert len(by_form) < len(plans)
    for name, images in by_form.items():
        assert sum(form(plan) == name for plan in plans) == images


def test_a_join_of_equal_inputs_has_one_form_with_each_output(folder: Path) -> None:
    forwards = _search(folder, "Answer(x, z) <- a2q(x, y), a2q(y, z).").plan
    backwards = _search(folder, "Answer(z, x) <- a2q(x, y), a2q(y, z).").plan
    assert form(forwards) != form(backwards)


def test_sampled_plans_have_different_forms_and_depend_on_the_seed_alone(folder: Path) -> None:
    search = _search(folder, "Answer(x, y) <- x a2q/c2a/c2q/a2q y.")
    drawn = sampled(search, 10, 3)
    assert len({form(plan) for plan in drawn}) == len(drawn) == 10
    assert drawn == sampled(search, 10, 3)
    assert drawn != sampled(search, 10, 4)


def test_candidates_begin_with_the_chosen_plan_and_have_costs_of_each_model(folder: Path) -> None:
    plans = candidates(TRIANGLE, catalog_of(folder, "second"), ("10d", "1d"), 1).plans
    roles = [role for plan in plans.values() for role in plan.roles]
    assert "chosen saturating" in next(iter(plans.values())).roles
    assert {"chosen saturating", "chosen thesis", "as written", "best", "sampled"} == set(roles)
    costs = [set(plan.costs()) for plan in plans.values()]
    assert all("saturating" in models for models in costs)
    # The triangle has three join trees, the last join of each perhaps a semi-join, and a join of
    # all atoms at once. Of the plans that are drawn, those with COALESCE below a join are plans of
    # `saturating` alone.
    assert sum("thesis" in models for models in costs) == 7


def test_a_plan_is_priced_by_its_own_estimates_as_the_search_priced_it(folder: Path) -> None:
    catalog = catalog_of(folder, "second")
    planned = optimize(requested(MIXED, catalog, ("10d", "1d"), "saturating"))
    estimates = {
        group.estimate.relation.identity: group.estimate
        for group in planned.optimization.space.groups()
        if group.estimate.relation is not None
    }
    plans = candidates(MIXED, catalog, ("10d", "1d"), 1).plans.values()
    of_search = [plan for plan in plans if "saturating" in plan.by_model]
    assert len(of_search) > 4
    for plan in of_search:
        costs = priced(plan.by_model["saturating"], estimates, planned.cost_model)
        assert costs == pytest.approx(plan.costs()["saturating"])


def test_measured_rows_replace_estimates_in_the_prices_of_all_plans(folder: Path) -> None:
    catalog, window = catalog_of(folder, "second"), ("2d", "1d")
    found = candidates(CLOSURE, catalog, window, 1)
    with no_figures(catalog) as figures:
        assert not figures.plan_again(found, CLOSURE, window)
        for candidate in found.plans.values():
            labels = {stream.name: stream.labels for stream in candidate.plan.streams}
            figures.keep(
                candidate.plan, run(candidate.plan, batches_of(catalog, labels), 20, fill=0)
            )
        assert figures.plan_again(found, CLOSURE, window)
    costs = [plan.costs() for plan in found.plans.values() if "sampled" in plan.roles]
    assert all(one[MEASURED] != pytest.approx(one["saturating"], rel=1e-3) for one in costs)
    assert sum(f"chosen {MEASURED}" in plan.roles for plan in found.plans.values()) == 1


def test_kinds_tell_joins_by_shared_variables_and_paths_by_repetition(folder: Path) -> None:
    plan = _search(folder, TRIANGLE).plan
    joins = [node.id for node in plan.nodes if isinstance(node.operator, HashJoin | SemiJoin)]
    assert [kind_of(plan, node) for node in joins] == [
        "join on one variable",
        "join that closes a cycle",
    ]
    path = _search(folder, "Answer(x, y) <- x a2q+ y.").plan
    assert "S_PATH, closure" in [kind_of(path, node.id) for node in path.nodes]


# -- answers ------------------------------------------------------------------------------------


def _answer(*batches: list[tuple[int, int, int]], most: int = 100) -> Answer:
    """The answer of rows of one column: value, ts, exp."""
    dictionary, collector = Dictionary(), Collector(1, most)
    for rows in batches:
        values, ts, exp = (np.array(column, np.int64) for column in zip(*rows, strict=True))
        codes = dictionary.encode(pa.array(values), exp)
        collector.add(Batch(codes[None, :], ts, exp), dictionary)
    return collector.answer()


def test_answers_are_equal_if_they_are_so_at_every_instant() -> None:
    one = _answer([(7, 1, 5), (8, 1, 2)], [(7, 3, 9), (7, 20, 21)])
    # Other rows, an interval in two parts, other codes of the values.
    same = _answer([(8, 1, 2), (7, 1, 9)], [(7, 2, 3), (7, 20, 21)])
    parts = _answer([(8, 1, 2)], [(7, 1, 4), (7, 4, 9), (7, 20, 21)])
    assert one.digest == same.digest == parts.digest
    assert len(one) == 3
    gap = _answer([(8, 1, 2)], [(7, 1, 4), (7, 5, 9), (7, 20, 21)])
    other = _answer([(8, 1, 2)], [(6, 1, 9), (7, 20, 21)])
    assert one.digest not in (gap.digest, other.digest)
    assert gap.before(4).digest == one.before(4).digest
    assert gap.before(5).digest != one.before(5).digest
    nested = _answer([(7, 1, 30), (7, 2, 3), (7, 25, 40)])
    assert (len(nested), nested.exp.tolist()) == (1, [40])


def test_an_answer_above_the_limit_is_an_error() -> None:
    rows = [(value, 0, 1) for value in range(11)]
    assert len(_answer(rows, most=11)) == 11
    with pytest.raises(TooManyAnswersError):
        _answer(rows, most=10)


def test_runs_compare_answers_up_to_the_instant_that_they_reached(folder: Path) -> None:
    search = _search(folder, CLOSURE)
    calls = batches_of(catalog_of(folder, "second"), {"input": ("a2q", "c2a")})
    whole = run(search.plan, calls, 60, answer_rows=10**6, fill=0)
    assert whole.answer is not None
    assert len(whole.answer) > 100
    assert not whole.stopped
    assert whole.counters is not None
    assert whole.counters[search.plan.root].rows_out == whole.results
    plans = {form(plan): plan for plan in search.plans.ranked()}
    assert len(plans) > 2
    for plan in plans.values():
        assert comparison(whole.answer, run(plan, calls, 60, answer_rows=10**6)) == "same"
    stopped = run(search.plan, calls, 0.0, answer_rows=10**6)
    assert stopped.stopped == "time"
    assert stopped.answer is not None
    assert len(stopped.answer) < len(whole.answer)
    assert comparison(whole.answer, stopped) == "same before the cap"
    shorter = _search(folder, CLOSURE, "5d").plan
    for limit in (60.0, 0.0):
        other = run(shorter, calls, limit, answer_rows=10**6)
        assert comparison(whole.answer, other) == "different"


# -- measurements -------------------------------------------------------------------------------


@pytest.mark.soak
def test_measurements_go_on_where_they_ended(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    queries = ("Table 4.2 Q11", "square")
    series = Series(None, out, ("mathoverflow",), queries, 1, "one", None, 2_000, QUICK)
    console = Console(quiet=True)
    assert measure_all(series, console, minutes=0) == 0
    assert measure_all(replace(series, queries=queries[:1]), console) == 1
    with out.open("a", encoding="utf-8") as file:
        file.write('{"label": "one", "stream": "mathoverf')  # a process ended in the middle
    assert measure_all(series, console) == 1
    assert measure_all(series, console) == 0
    rows = list(rows_of(out))
    assert [row["query"] for row in rows] == list(queries)
    for row in rows:
        assert row["status"] == "ok", row
        assert {plan["agrees"] for plan in row["plans"]} == {"same"}
        assert row["compared"]["chosen saturating"]["ratio"] > 0
        assert all(o["rate"] >= 1 for o in row["operators"] if o["rate"] is not None)
    report = write_report([out], tmp_path / "report" / "regret.md")
    assert "| chosen saturating | 2 |" in report
    assert "## Version one" in report
    for plot in (tmp_path / "report").glob("*.svg"):
        assert plot.read_text("utf-8").startswith("<svg")
        assert f"({plot.name})" in report


def test_times_over_costs_are_compared_within_a_query() -> None:
    """The middle one of three costs is right, another is too high by a half; a fourth plan is slow,
    and a fifth was measured once."""

    def plan(cost: float, *times: float, stopped: str = "") -> dict[str, object]:
        costs = {DEFAULT: [9.0, cost], MEASURED: [9.0, 2 * cost]}
        return {"costs": costs, "times": times, "stopped": stopped}

    plans = [plan(1, 1, 1), plan(1, 1.2, 1.2), plan(1.5, 1, 1), plan(9, 3, 3), plan(1, 1)]
    lines = proportions([{"plans": plans}, {"plans": plans[:2]}])
    of_default, of_measured, of_rounds = lines[-3:]
    assert (
        of_default == f"| time over cost, {DEFAULT} | 3 | 0.67 | 0.67 | 0.67 | 1.20 | 1.20 | 1.20 |"
    )
    assert of_measured == of_default.replace(DEFAULT, MEASURED)
    assert of_rounds.count("| 1.00 ") == 6


def test_a_plan_that_ended_a_process_is_left_out_of_the_next(folder: Path) -> None:
    plan = _search(folder, TRIANGLE).plan
    job = Job(str(folder), TRIANGLE, (("10d", "1d"),), 0, "second", 1, QUICK, (form(plan),))
    announced: list[str] = []
    try:
        row = measure_query(job, announced.append)
    finally:
        gc.unfreeze()
    assert row["status"] == "ok", row
    assert [p["stopped"] for p in row["plans"] if p["form"] == form(plan)] == ["killed"]
    assert announced
    assert form(plan) not in announced
    assert row["compared"]["chosen saturating"]["ratio"] == 10.0


# -- statistics ---------------------------------------------------------------------------------


def test_kendall_equals_values_by_hand() -> None:
    assert kendall([1, 2, 3], [10, 20, 30]) == 1
    assert kendall([1, 2, 3], [30, 20, 10]) == -1
    # By hand: of ten pairs eight agree and two do not.
    assert kendall([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]) == pytest.approx(0.6)
    # Tau-b with ties, the example of scipy.stats.kendalltau.
    assert kendall([12, 2, 1, 12, 2], [1, 4, 7, 1, 0]) == pytest.approx(-0.47140452079103173)
    assert kendall([1, 1, 1], [1, 2, 3]) is None
    infinite = float("inf")
    assert kendall([1, 2, 3], [1, infinite, infinite]) == pytest.approx(2 / 6**0.5)
    assert kendall([1, 3, 2], [1.0, 2.0, 2.1], margin=0.1) == 1, "the last two are not decided"


def test_intervals_of_medians_have_their_confidence() -> None:
    assert median_interval([1.0] * 5) == (0.0, float("inf"))
    assert median_interval([6, 5, 4, 3, 2, 1]) == (1, 6), "1 - 2 / 2^6 = 0.97"
    assert median_interval(list(range(1, 10))) == (2, 8), "1 - 20 / 2^9 = 0.96"
    assert is_narrow([1.0, 1.01, 1.02, 1.0, 1.03, 1.04], 0.05)
    assert not is_narrow([1.0, 1.01, 1.02, 1.0, 1.03, 1.2], 0.05)
    values = list(range(1, 101))
    assert [quantile(values, part) for part in (0.5, 0.95, 1.0)] == [50, 95, 100]
    assert quantile([4.0], 0.5) == 4.0


def test_the_plan_as_written_is_compared_with_the_chosen_one() -> None:
    ratio = {"low": 1.0, "high": 1.0, "rounds": 6}
    row = {
        "compared": {
            "chosen saturating": {"ratio": 1.5, **ratio},
            "as written": {"ratio": 1.2, **ratio},
        }
    }
    assert written_over_chosen(row, "saturating") == pytest.approx(0.8)
    assert written_over_chosen(row, "thesis") is None
