"""The experiments of thesis 6.5: plans, measurements and reports; times are not checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from bench.figures.points import EXPERIMENTS, FULL, SHORT, Experiment, points_of
from bench.figures.report import reports, write_reports
from bench.figures.results import read
from bench.figures.series import Series, measure_all
from bench.figures.shapes import (
    NAMES,
    PATH_PLANS,
    STAR_PLANS,
    along,
    has_joins_and_paths,
    is_join_tree,
    join,
    text,
)
from bench.json_lines import rows_of
from headrace.algebra.physical import Coalesce

CONSOLE = Console(quiet=True)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest form of all experiments, measured."""
    out = tmp_path_factory.mktemp("figures") / "rows.jsonl"
    for experiment in EXPERIMENTS:
        measure_all(Series(experiment, out, SHORT, "test"), CONSOLE)
    return out


@pytest.mark.parametrize(
    ("experiment", "count", "named", "cheapest"),
    [
        ("trees", 15, STAR_PLANS, ["Q3s"]),
        ("paths", 14, PATH_PLANS, ["Q2p", "Q3p", "Q5p", "Q6p", "Q4p", "Q7p", "Q1p"]),
    ],
)
def test_plans_come_out_of_the_memo_and_the_thesis_model_orders_them(
    experiment: Experiment, count: int, named: dict[str, object], cheapest: list[str]
) -> None:
    points = points_of(experiment, FULL)
    assert len({point.name for point in points}) == len(points) == count
    assert {point.series for point in points} == {*named, ""}
    ordered = sorted(points, key=lambda point: point.costs()["thesis"])
    assert ordered[0].series == cheapest[0], "the cheapest of all plans"
    assert [point.series for point in ordered if point.series][: len(cheapest)] == cheapest


def test_operators_are_measured_without_the_coalesce_above_them() -> None:
    points = points_of("operators", SHORT)
    for point in points:
        assert not any(isinstance(node.operator, Coalesce) for node in point.priced.plan.nodes)
        costs = point.costs()
        assert costs["thesis"] > 0 < costs["saturating"]
    roots = {point.priced.plan.nodes[-1].op for point in points}
    assert roots == {"TO_KERNEL", "HASH_JOIN", "S_PATH"}


def test_shapes_have_a_text_with_the_names_of_their_inputs() -> None:
    texts = {name: text(shape) for shape, name in NAMES.items()}
    assert texts["Q3s"] == "(((a b) c) d)"
    assert texts["Q6p"] == "P[(P[a·b] c)+]"
    assert len(set(texts.values())) == len(texts)


def test_shapes_with_other_operators_are_no_plans_of_the_thesis() -> None:
    assert all(map(has_joins_and_paths, NAMES))
    assert [name for shape, name in NAMES.items() if is_join_tree(shape)] == list(STAR_PLANS)
    union = ("MERGE_UNION", "a", "b")
    for shape in (union, join(union, "c"), along("0+", union), along("0·1", "a", join("b", union))):
        assert not has_joins_and_paths(shape)


def test_all_plans_of_an_experiment_give_one_answer(file: Path) -> None:
    for done in read(file, "")[1:]:
        answers = {digest for result in done.results for digest in result.answers}
        assert len(answers) == 1
        assert all(len(result.answers) == 1 for result in done.results)
        assert min(result.intervals for result in done.results) > 0


def test_operators_are_counted_after_the_window_has_filled(file: Path) -> None:
    runs = [row for row in rows_of(file) if row["experiment"] == "paths"]
    for row in runs:
        rates = {node["shape"]: node["rate"] for node in row["nodes"] if node["kind"] == "WSCAN"}
        assert rates == {"a": 2, "b": 4, "c": 6}, "thesis rates divided by the scale"
        assert row["edges"] == SHORT.seconds * 12
        (root,) = [node for node in row["nodes"] if node["shape"] == row["point"]][-1:]
        assert 0 < root["rate"] * SHORT.seconds < row["results"]
        assert 0 < sum(node["us"] for node in row["nodes"]) < row["cpu_us"]


def test_measurements_go_on_where_they_ended(file: Path, tmp_path: Path) -> None:
    lines = file.read_text("utf-8").splitlines()
    part = tmp_path / "part.jsonl"
    part.write_text("\n".join(lines[:-2]) + '\n{"label": "te', "utf-8")
    series = Series("paths", part, SHORT, "test")
    assert measure_all(series, CONSOLE, minutes=0) == 0
    assert measure_all(series, CONSOLE) == 2
    assert measure_all(series, CONSOLE) == 0
    assert measure_all(replace(series, size=replace(SHORT, rounds=2)), CONSOLE) == 14
    ids = [(row["experiment"], row["point"], row["round"]) for row in rows_of(part)]
    assert len(ids) == len(set(ids)) == len(lines) + 14


def test_reports_compare_measured_and_estimated_costs(file: Path, tmp_path: Path) -> None:
    pages = reports(file, "test")
    assert set(pages) == set(EXPERIMENTS)
    for name in (*STAR_PLANS, *PATH_PLANS):
        assert f"| {name}: " in pages["trees" if name.endswith("s") else "paths"]
    assert "| `thesis` | Q2p Q3p Q5p Q6p Q4p Q7p Q1p |" in pages["paths"]
    assert "highest at 500/500" in pages["operators"]
    write_reports(file, "", tmp_path / "pages")
    plots = list((tmp_path / "pages").glob("*.svg"))
    assert len(plots) == 5
    for plot in plots:
        assert plot.read_text("utf-8").startswith("<svg")
        assert any(f"({plot.name})" in page for page in pages.values())
    assert reports(file, "another version") == {}
