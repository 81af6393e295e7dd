"""Planning with a sample of the stream: other estimates, equal answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headrace.catalog import dump, files_of_inputs, load, measured_catalog
from headrace.catalog.model import Catalog
from headrace.documents.explained import explain_document
from headrace.executor.local import Edge, LocalRun, run_plan
from headrace.executor.scans import property_column
from headrace.planning.planner import Planned, optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from headrace.running.measures import measured

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


def test_the_option_sample_leaves_the_sample_out(catalog: Catalog, tmp_path: Path) -> None:
    dump(catalog, tmp_path / "c.yaml")
    for known in (catalog, load(tmp_path / "c.yaml")):
        without = planned(known, QUERIES[0], sample=False)
        assert without.cost_model.sampler is None
        assert without.plan == planned(replace(catalog, samples={}), QUERIES[0]).plan


MEASURED = (
    *QUERIES,
    "Answer(x, y, z) <- a(x, y), b(y, z).",
    "Answer(x, z) <- a(x, y), b(y, z).",
    "Answer(x, y) <- x a|b y.",
    "Answer(x, z) <- a(x, y) as e, b(y, z), e.size >= 9, e.kind = 'k1'.",
    "Answer(x, z) <- a(x, y), b(y, z), x = 'v3'.",
    "Answer(x, z) <- a(x, y) as e, b(y, z) as f, e.ts < f.ts, f.ts - e.ts <= 3.",
    "Answer(x, z) <- a(x, y) as e, b(y, z) as f, e.size = f.size, e.size >= 9.",
    "Answer(x, y, z) <- a(x, y) as e, b(y, z) as f, e.size + 8 < f.size, x <> z.",
    "Answer(x, y) <- a(x, y) as e, b(y, z) as f, a(z, x) as g, e.size > f.size, f.kind <> g.kind.",
)


@pytest.mark.parametrize("query", MEASURED)
def test_estimated_rates_are_near_measured_ones(query: str, tmp_path: Path) -> None:
    """The edges come in bursts and repeat; large sizes have the kind k1."""
    random = np.random.default_rng(2)
    ends = np.minimum(random.zipf(1.3, size=(4000, 2)), 60)
    ts = np.sort(random.integers(0, 4000, 4000) ** 2 // 4000)
    sizes = random.integers(0, 12, 4000)
    table = pa.table(
        {
            "src": [f"v{x}" for x, _ in ends],
            "trg": [f"v{y}" for _, y in ends],
            "label": pa.array(random.choice(["a", "b"], 4000)),
            "ts": pa.array(ts),
            "size": pa.array(sizes),
            "kind": np.where(sizes >= 9, "k1", "k2").tolist(),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    catalog = measured_catalog(files_of_inputs([str(tmp_path / "in.parquet")]))[0]
    found = planned(catalog, query, slide="2s")
    plan = found.plan
    uncertain = explain_document(found)["sampling"]["standard_errors"]
    run = LocalRun(plan)
    names = ["src", "trg", "label", "ts", property_column("size"), property_column("kind")]
    edges = table.rename_columns(names).append_column("stream", pa.array(["input"] * 4000))
    run.push(edges.combine_chunks().to_batches())
    for node, values in measured(plan, run.counters, int(ts[-1]) + 1).items():
        error = values.q_errors.rate
        assert error is not None
        # An estimate whose standard error is above a half says itself that it may be farther off.
        most = 8 if uncertain.get(str(node), 0.0) > 0.5 else 4
        assert error < most, (plan.nodes[node].operator, values.rate, values.estimate.emitted_rate)


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
