"""The types of vertices, and the meaning of a constant compared with a vertex."""

import pytest

from headrace.algebra.plan_parts import PlanStream
from headrace.catalog.model import Catalog, Stream
from headrace.costmodel import CostModel
from headrace.executor.local import Edge, run_plan
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer
from tests.properties.catalogs import ALIKE

Rows = list[tuple[str | int, ...]]


def _answers(query: str, edges: list[Edge], **vertex_types: str) -> Rows:
    """All bindings ever reported; label ``a`` is of stream ``s``, ``b`` of ``t``."""
    labels = {"s": "a", "t": "b"}
    streams = {
        name: Stream(
            name, {labels[name]: ALIKE}, vertex_type="integer" if kind == "int" else "string"
        )
        for name, kind in vertex_types.items()
    }
    catalog = Catalog(streams)
    of_plan = tuple(
        PlanStream(name=s.name, labels=tuple(s.labels), vertex_type=s.vertex_type)
        for s in streams.values()
    )
    logical = translate(parse(query), catalog)
    found = Optimizer(CostModel(catalog=catalog)).optimize(logical, of_plan)
    every = [found.plan, *found.plans.sample(5, seed=1)]
    answers = [sorted({r.bindings for r in run_plan(p, edges)}, key=repr) for p in every]
    assert all(answer == answers[0] for answer in answers)
    return answers[0]


def test_a_number_in_a_query_is_the_text_of_a_text_vertex() -> None:
    edges: list[Edge] = [("1", "2", "a", 0, "s"), ("01", "3", "a", 0, "s")]
    assert _answers("Answer(x) <- a(1, x). WINDOW 5", edges, s="text") == [("2",)]
    assert _answers('Answer(x) <- a("01", x). WINDOW 5', edges, s="text") == [("3",)]


def test_a_text_in_a_query_is_the_number_of_a_number_vertex() -> None:
    edges: list[Edge] = [(1, 2, "a", 0, "s"), (-(2**63), 2**63 - 1, "a", 0, "s")]
    assert _answers('Answer(x) <- a("1", x). WINDOW 5', edges, s="int") == [(2,)]
    assert _answers(f"Answer(x) <- a({-(2**63)}, x). WINDOW 5", edges, s="int") == [(2**63 - 1,)]


def test_a_text_and_a_number_are_never_one_vertex() -> None:
    edges: list[Edge] = [("1", "2", "a", 0, "s"), (2, 3, "b", 0, "t"), (1, 1, "b", 0, "t")]
    joined = "Answer(x, y, z) <- a(x, y), b(y, z). WINDOW 5"
    assert _answers(joined, edges, s="text", t="int") == []
    both = "R(x, y) <- a(x, y). R(x, y) <- b(x, y). Answer(x, y) <- R+(x, y). WINDOW 5"
    assert _answers(both, edges, s="text", t="int") == sorted(
        [("1", "2"), (2, 3), (1, 1)], key=repr
    )


@pytest.mark.parametrize("path", ["a{3,2}", "a{0}", "a{0,0}", "(a{2,1})*", "a{0}|a{0,0}*"])
def test_a_language_without_words_with_edges_has_no_answers(path: str) -> None:
    edges: list[Edge] = [("1", "1", "a", 0, "s"), ("1", "2", "a", 0, "s")]
    assert _answers(f"Answer(x, y) <- x {path} y. WINDOW 5", edges, s="text") == []
    joined = f"Answer(x, y) <- a(x, y). Answer(x, y) <- x {path} y, a(x, y). WINDOW 5"
    assert _answers(joined, edges, s="text") == [("1", "1"), ("1", "2")]
