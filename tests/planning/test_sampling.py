"""Planning with a sample of the stream: other estimates, equal answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headrace.catalog import dump, files_of_inputs, load, measured_catalog
from headrace.catalog.model import Catalog
from headrace.documents.explained import explain_document
from headrace.executor.local import Edge, run_plan
from headrace.planning.planner import Planned, optimize
from headrace.planning.requests import PlanningOptions, PlanRequest

QUERIES = (
    "Answer(x, y) <- x a+ y.",
    "Answer(x, y) <- x a/b*/a y.",
    "Answer(x, y) <- x (a/b)+ y.",
    "Answer(x, z) <- a(x, y), b(y, z), a(z, x).",
    "Answer(x, y) <- x a+ y, b(y, x).",
)


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, str, str, int]]:
    random = np.random.default_rng(1)
    ends = np.minimum(random.zipf(1.5, size=(1200, 2)), 40)
    return [
        (f"v{x}", f"v{y}", str(random.choice(["a", "b"])), k // 3) for k, (x, y) in enumerate(ends)
    ]


@pytest.fixture(scope="module")
def catalog(
    rows: list[tuple[str, str, str, int]], tmp_path_factory: pytest.TempPathFactory
) -> Catalog:
    path = tmp_path_factory.mktemp("sampling") / "in.csv"
    path.write_text("src,trg,label,ts\n" + "".join(f"{','.join(map(str, r))}\n" for r in rows))
    return measured_catalog(files_of_inputs([str(path)]))[0]


def planned(catalog: Catalog, query: str, **options: object) -> Planned:
    window = PlanningOptions(window="20s", **options)  # type: ignore[arg-type]
    return optimize(PlanRequest(query, catalog=catalog, options=window))


@pytest.mark.parametrize("query", QUERIES)
def test_plans_with_and_without_a_sample_give_equal_answers(
    catalog: Catalog, rows: list[tuple[str, str, str, int]], query: str
) -> None:
    edges: list[Edge] = [(src, trg, label, ts) for src, trg, label, ts in rows]
    with_sample = planned(catalog, query)
    without = planned(replace(catalog, samples={}), query)
    assert with_sample.cost_model.sampler is not None
    assert with_sample.cost_model.sampler.estimated > 0
    assert without.cost_model.sampler is None
    one, other = (
        {(r.bindings, t) for r in run_plan(p.plan, edges) for t in range(r.ts, r.exp)}
        for p in (with_sample, without)
    )
    assert one == other
    assert one


def test_the_same_sample_gives_the_same_plan(catalog: Catalog) -> None:
    for query in QUERIES:
        assert planned(catalog, query).plan == planned(catalog, query).plan


def test_the_thesis_model_reads_no_sample(catalog: Catalog) -> None:
    shown = explain_document(planned(catalog, QUERIES[0], cost_model="thesis"))
    assert "sampling" not in shown


def test_explain_shows_the_estimates_from_the_sample(catalog: Catalog) -> None:
    shown = explain_document(planned(catalog, QUERIES[0]))
    sampling = shown["sampling"]
    assert sampling["estimates"] == 1
    assert sampling["ms"] > 0
    assert set(sampling["standard_errors"]) <= {str(node["id"]) for node in shown["plan"]["nodes"]}
    assert sampling["standard_errors"]


def test_a_stored_sample_is_read(catalog: Catalog, tmp_path: Path) -> None:
    dump(catalog, tmp_path / "c.yaml")
    query = QUERIES[3]
    assert planned(load(tmp_path / "c.yaml"), query).plan == planned(catalog, query).plan


def test_a_missing_sample_is_a_warning(catalog: Catalog, tmp_path: Path) -> None:
    dump(catalog, tmp_path / "c.yaml")
    (tmp_path / "c.sample.npz").unlink()
    outcome = planned(load(tmp_path / "c.yaml"), QUERIES[0])
    assert outcome.cost_model.sampler is None
    assert any("c.sample.npz" in warning for warning in outcome.warnings)
    assert outcome.plan == planned(replace(catalog, samples={}), QUERIES[0]).plan
