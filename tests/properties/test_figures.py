"""The printed queries (thesis Figures 3.5, 3.6, 6.6, 6.7), from their text to their answers.

The queries run on generated streams, counted in hours so that windows of days are small. This
module writes their meaning once more, for the oracle.
"""

from random import Random

import pytest

from headrace.algebra.plan_parts import PlanStream
from headrace.catalog.model import Catalog, Stream
from headrace.costmodel import CostModel
from headrace.executor import local
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer
from tests.languages.gcore.examples import EXAMPLES, STREAMS
from tests.oracles.query import Atom, Closure, PathAtom, Query, Rule, Seq, Source, Step, Var, plus
from tests.oracles.snapshot import Edge, Truth
from tests.properties.catalogs import ALIKE
from tests.properties.plans import THOROUGH, plans_of
from tests.properties.running import judge, lines_of
from tests.strategies.amount import MORE
from tests.strategies.queries import Case

SOCIAL = Source("social_stream", 24)
HOURLY = Source("social_stream", 24, 1)
SHOP = Source("tx_stream", 720, 24)
INPUT = Source("input_stream", 100)
U, V, M, P, C = map(Var, ("u", "v", "m", "p", "c"))


def _posts(source: Source) -> tuple[tuple[str, Source], ...]:
    return tuple((label, source) for label in STREAMS["social_stream"].split())


MEANT = {
    "Figure 3.5": Query(
        (
            Rule(
                "RL",
                ("u", "v"),
                (Closure("follows", U, V), Atom("likes", U, M), Atom("posts", V, M)),
            ),
            Rule("Answer", ("u", "m"), (Closure("RL", U, V), Atom("posts", V, M))),
        ),
        _posts(HOURLY),
    ),
    "Figure 3.6": Query(
        (
            Rule("D", ("u", "v"), (Atom("follows", U, V),)),
            Rule("D", ("u", "v"), (Atom("likes", U, M), Atom("posts", V, M))),
            Rule("Answer", ("u", "p"), (Atom("D", U, V), Atom("purchase", V, P))),
        ),
        (*_posts(SOCIAL), ("purchase", SHOP)),
    ),
    "Figure 6.6": Query(
        (
            Rule(
                "Answer",
                ("u", "v"),
                (Atom("a", M, U), Atom("b", M, P), Atom("c", M, C), Atom("d", M, V)),
            ),
        ),
        tuple((label, INPUT) for label in "abcd"),
    ),
    "Figure 6.7": Query(
        (
            Rule(
                "Answer",
                ("u", "v"),
                (PathAtom(plus(Seq((Step("a"), Step("b"), Step("c")))), U, V),),
            ),
        ),
        tuple((label, INPUT) for label in "abc"),
    ),
}  # fmt: skip
DATA = {"Figure 3.5": 160, "Figure 3.6": 200, "Figure 6.6": 150, "Figure 6.7": 160}
"""The number of edges; the hours between them are random."""


def _edges(query: Query, count: int) -> tuple[Edge, ...]:
    random = Random(MORE)
    labels, vertices = [label for label, _ in query.sources], [f"v{n}" for n in range(7)]
    hour, found = 0, []
    longest = max(source.range for _, source in query.sources)
    for _ in range(count):
        hour += random.choice([0, 0, 0, 1, 1, 1, 1, 2, longest // 12])
        source, target = random.choice(vertices), random.choice(vertices)
        found.append(Edge(hour, source, target, random.choice(labels)))
    return tuple(found)


@pytest.mark.parametrize("figure", MEANT)
def test_plans_give_the_results_of_the_figure(figure: str) -> None:
    catalog = Catalog(
        {
            name: Stream(name, dict.fromkeys(labels.split(), ALIKE))
            for name, labels in STREAMS.items()
        },
        "hour",
    )
    streams = tuple(
        PlanStream(name=s.name, labels=tuple(s.labels)) for s in catalog.streams.values()
    )
    query = translate(parse(EXAMPLES[figure][0], "gcore", "hour"), catalog)
    found = Optimizer(CostModel(catalog=catalog), THOROUGH).optimize(query, streams, "hour")
    edges = _edges(MEANT[figure], DATA[figure])
    truth = Truth(MEANT[figure], edges)
    for plan in plans_of(found, most=6, seed=MORE):
        lines = lines_of(Case(truth.query, edges), plan, 7)
        assert len(lines) > 40
        judge(truth, plan, lines)


def test_edges_of_several_labels_name_their_label() -> None:
    query = translate(
        parse(
            "CONSTRUCT (x)-[:r]->(y), (y)-[:q]->(x) MATCH (x)-[:a]->(y) ON s WINDOW (5)", "gcore"
        ),
        catalog := Catalog({"s": Stream("s", {"a": ALIKE})}),
    )
    streams = (PlanStream(name="s", labels=("a",)),)
    found = Optimizer(CostModel(catalog=catalog), THOROUGH).optimize(query, streams, "second")
    assert query.columns == ("src", "label", "trg")
    for plan in plans_of(found, most=4):
        results = local.run_plan(plan, [("u", "v", "a", 3, "s"), ("v", "v", "a", 6, "s")], 1)
        assert {(r.bindings, r.ts, r.exp) for r in results} == {
            (("u", "r", "v"), 3, 8),
            (("v", "q", "u"), 3, 8),
            (("v", "r", "v"), 6, 11),
            (("v", "q", "v"), 6, 11),
        }
