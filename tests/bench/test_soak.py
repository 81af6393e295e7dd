"""Fault injection by kills: a short run, and the comparison with an undisturbed run."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from bench.soak import CASES, Case, Round, compared, lines_of, soak, stream, validity
from headrace.executor.local import run_plan
from tests.executor.spark.test_roots import planned


@pytest.mark.soak
@pytest.mark.spark
def test_a_run_whose_workers_are_killed_has_the_undisturbed_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests of restarts kill drivers and JVMs."""
    case = Case("Answer(x, count(*) as n) <- a(x, y), b(y, z) WINDOW 100", "ab", 600, 40, 1)
    monkeypatch.setitem(CASES, "short", case)
    stream(case, 5, tmp_path / "edges.csv")
    with (tmp_path / "edges.csv").open() as file:
        edges = [(x, y, label, int(ts)) for x, y, label, ts in list(csv.reader(file))[1:]]
    plan = planned(case.query, parallelism=1)
    undisturbed = Counter(
        json.dumps({"bindings": {"n": n, "x": x}, "exp": exp, "ts": ts})
        for (x, n), ts, exp in run_plan(plan, edges)
    )
    rounds = soak(
        3,
        5,
        60,
        cases=["short"],
        kinds=["worker"],
        moments=["staged"],
        first=[],
        batch=100,
        undisturbed_lines={"short": undisturbed},
    )
    (done,) = rounds
    assert done.wrong == []
    assert done.lines >= len(undisturbed) > 100
    assert done.kills["worker"] >= 1


def test_streams_are_the_same_for_a_seed(tmp_path: Path) -> None:
    for name in ("first", "second"):
        stream(CASES["join"], 4, tmp_path / name)
    text = (tmp_path / "first").read_text()
    assert text == (tmp_path / "second").read_text()
    assert len(text.splitlines()) == CASES["join"].edges + 1
    stream(Case("", "a", 3, 2, 1), 1, tmp_path / "short")
    assert len((tmp_path / "short").read_text().splitlines()) == 4


def line(x: str, ts: int, exp: int) -> str:
    return f'{{"bindings": {{"x": "{x}"}}, "exp": {exp}, "ts": {ts}}}'


def test_torn_repeated_and_lost_lines_are_reported(tmp_path: Path) -> None:
    (tmp_path / "part-0").write_text(line("1", 0, 5) + "\n" + line("1", 5, 9) + "\n")
    (tmp_path / "part-1").write_text(line("2", 1, 4) + "\n" + '{"bindings": {"x"')
    (tmp_path / "_headrace").mkdir()
    lines, torn = lines_of(tmp_path)
    assert lines == Counter([line("1", 0, 5), line("1", 5, 9), line("2", 1, 4)])
    assert [words.split()[0] for words in torn] == ["part-1", "part-1"]
    assert sorted(validity(lines).values()) == [[(0, 9)], [(1, 4)]]

    expected = Counter([line("1", 0, 9), line("2", 1, 4)])
    other = Round("q")
    compared(other, lines, expected)
    assert (other.wrong, other.identical) == ([], False), "the same answers in other lines"
    twice = Round("q")
    compared(twice, expected + Counter([line("2", 1, 4)]), expected)
    assert "1 lines too often" in twice.wrong[0]
    lost = Round("q")
    compared(lost, Counter([line("1", 0, 9)]), expected)
    assert lost.wrong == ["a snapshot differs"]
