"""Deletions through stages and partitions, from files to result lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headrace.executor.batch import FOREVER
from tests.api.command import Commands
from tests.executor.spark.chain import Chain
from tests.oracles.judgement import End, Line, mismatches, without_ends
from tests.oracles.query import Atom, Query, Rule, Source, Step, Var, plus, text
from tests.oracles.query import PathAtom as Along
from tests.oracles.snapshot import Edge, Truth
from tests.properties.plans import THOROUGH, optimized, plans_of
from tests.properties.running import shown
from tests.properties.test_deletions import deleting
from tests.strategies.amount import examples
from tests.strategies.existence import existence_cases
from tests.strategies.queries import Case, cases


@pytest.mark.long
@given(
    case=cases() | existence_cases(),
    seed=st.integers(0, 9_999),
    partitions=st.integers(1, 3),
    size=st.integers(1, 9),
    hops=st.integers(0, 3),
)
@examples(30)
def test_plans_over_deletions_and_stages_equal_the_oracle(
    case: Case, seed: int, partitions: int, size: int, hops: int
) -> None:
    """Workers are lost; indexes are rebuilt from logs that have the deletions too."""
    note(text(case.query))
    of = deleting(case, seed)
    options = replace(THOROUGH, parallelism=partitions)
    rows = of.rows()
    for plan in plans_of(optimized(case, options, deletions=of.streams), most=3, seed=seed):
        chain = Chain(plan, seed)
        for number, start in enumerate(range(0, len(rows), size)):
            if hops and number % hops == 0:
                chain.another_worker(gone=number % (2 * hops) == 0)
            chain.batch(rows[start : start + size])
        chain.end()
        said = [
            Line(r.bindings, r.ts, r.exp) if r.exp >= 0 else End(r.bindings, r.ts)
            for r in chain.results
        ]
        wrong = mismatches(of.truth, without_ends(said))
        assert not wrong, f"{[str(w) for w in wrong[:5]]}\n{shown(plan)}"


QUERY = Query(
    (
        Rule(
            "Answer",
            ("x", "z"),
            (
                Along(plus(Step("a")), Var("x"), Var("y")),
                Atom("b", Var("y"), Var("z")),
            ),
        ),
    ),
    (("a", Source("input", 30, 5)), ("b", Source("input", 30, 5))),
)


def _events() -> tuple[list[Edge], list[Edge]]:
    random = Random(11)
    edges, deletions = [], []
    for ts in range(150):
        source, target = random.sample("pqrstu", 2)
        edges.append(Edge(ts, source, target, random.choice("aab")))
        if ts % 4 == 0:
            gone = random.choice(edges[-12:])
            deletions.append(Edge(ts, gone.src, gone.trg, gone.label))
    return edges, deletions


def _said(lines: Iterable[Mapping[str, Any]]) -> list[Line | End]:
    return [
        End(tuple(line["bindings"].values()), line["ts"])
        if line.get("op") == "-"
        else Line(
            tuple(line["bindings"].values()),
            line["ts"],
            FOREVER if line["exp"] is None else line["exp"],
        )
        for line in lines
    ]


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_deletions_in_a_file_become_retractions_in_lines(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A column ``op`` marks deletions; the plan has two partitions."""
    edges, deletions = _events()
    rows = [(e.ts, e, "+") for e in edges] + [(d.ts, d, "-") for d in deletions]
    Random(3).shuffle(rows)
    lines = [f"{e.src},{e.trg},{e.label},{ts},{op}" for ts, e, op in rows]
    source = tmp_path / "edges.csv"
    source.write_text("\n".join(["src,trg,label,ts,op", *lines]) + "\n")
    out = tmp_path / "out.jsonl"
    done = Commands(capsys)(
        "run", text(QUERY), "--input", source, "--output", out, "--parallelism", "2"
    )
    assert done.code == 0, done.err
    said = _said(map(json.loads, out.read_text().splitlines()))
    assert any(isinstance(line, End) for line in said)
    truth = Truth(QUERY, tuple(edges), tuple(deletions))
    assert not [str(w) for w in mismatches(truth, without_ends(said))][:5]
