"""The example queries on the bundled data, against the oracle at instants all over it."""

from pathlib import Path
from random import Random

import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.plan_parts import PlanStream
from headrace.catalog import load
from headrace.costmodel import CostModel
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, SearchResult
from tests.oracles.judgement import Line
from tests.oracles.snapshot import Edge, Truth
from tests.properties.running import judge, lines_of
from tests.strategies import examples
from tests.strategies.amount import MORE
from tests.strategies.queries import Case

INSTANTS = 8 * max(MORE, 1)


@pytest.fixture(scope="module")
def edges() -> tuple[Edge, ...]:
    return examples.edges()


def _optimized(text: Path) -> SearchResult:
    catalog = load(text.parent / "catalog.yaml")
    streams = tuple(
        PlanStream(name=s.name, labels=tuple(s.labels), properties=dict(s.properties))
        for s in catalog.streams.values()
    )
    query = translate(parse(text.read_text("utf-8"), time_unit=catalog.time_unit), catalog)
    return Optimizer(CostModel(catalog=catalog)).optimize(query, streams, catalog.time_unit)


def _instants(truth: Truth, lines: list[Line]) -> list[int]:
    """Instants at random, and some at and just before the ends of results."""
    random = Random(MORE)
    first = min(filter(None, truth.changes))  # what is stored is there since 0
    last = truth.changes[-1]
    chosen = [random.randint(first, last) for _ in range(INSTANTS // 2)]
    for _ in range(INSTANTS // 4):
        line = random.choice(lines)
        chosen += [random.choice([line.ts, line.ts - 1]), random.choice([line.exp, line.exp - 1])]
    return chosen


@pytest.mark.parametrize(
    "name",
    [pytest.param(q, marks=[pytest.mark.long] * (q in {"q5", "q6"})) for q in examples.QUERIES],
)
def test_chosen_and_canonical_plan_give_the_results_of_the_oracle(
    name: str, edges: tuple[Edge, ...]
) -> None:
    found = _optimized(examples.FOLDER / f"{name}.rq")
    truth = Truth(examples.QUERIES[name], edges)
    plans: dict[str, PhysicalPlan] = {p.digest: p for p in (found.plan, found.canonical_plan)}
    instants: list[int] = []
    for plan in plans.values():
        lines = lines_of(Case(truth.query, edges), plan, 2000)
        assert len(lines) > 500
        instants = instants or _instants(truth, lines)
        judge(truth, plan, lines, instants)


def test_several_windows_beside_stored_data() -> None:
    found = _optimized(examples.LDBC / "friends.rq")
    truth = Truth(examples.FRIENDS, examples.edges_of_friends())
    instants: list[int] = []
    for plan in {p.digest: p for p in (found.plan, found.canonical_plan)}.values():
        lines = lines_of(Case(truth.query, truth.edges), plan, 5000)
        assert len(lines) > 200
        instants = instants or _instants(truth, lines)
        judge(truth, plan, lines, instants)


@pytest.mark.parametrize("name", examples.WITH_PROPERTIES)
def test_chosen_and_canonical_plan_over_properties_give_the_results_of_the_oracle(
    name: str,
) -> None:
    example = examples.WITH_PROPERTIES[name]
    found = _optimized(example.text)
    truth = Truth(example.query, example.edges())
    instants: list[int] = []
    for plan in {p.digest: p for p in (found.plan, found.canonical_plan)}.values():
        lines = lines_of(Case(truth.query, truth.edges), plan, 2000)
        assert lines
        instants = instants or _instants(truth, lines)
        judge(truth, plan, lines, instants)
