"""Random queries of three or more atoms, which a multiway join can compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from tests.oracles.query import Atom, BodyAtom, Closure, Rule, Var
from tests.strategies.properties import PROPERTIES, with_columns, with_edges, with_values
from tests.strategies.queries import INTEGER_VERTICES, TEXT_VERTICES, Case, cases_of

Shape = tuple[tuple[str, str], ...]

SHAPES: dict[str, Shape] = {
    "triangle": (("x", "y"), ("y", "z"), ("z", "x")),
    "triangle of one direction": (("x", "y"), ("y", "z"), ("x", "z")),
    "square": (("x", "y"), ("y", "z"), ("z", "w"), ("w", "x")),
    "triangle with an edge twice": (("x", "y"), ("y", "z"), ("z", "x"), ("y", "x")),
    "triangle with a pendant": (("x", "y"), ("y", "z"), ("z", "x"), ("x", "w")),
    "diamond": (("x", "y"), ("y", "z"), ("x", "z"), ("x", "w"), ("w", "z")),
}
FORESTS: dict[str, Shape] = {
    "chain": (("x", "y"), ("y", "z"), ("z", "w")),
    "chain of four": (("x", "y"), ("y", "z"), ("z", "w"), ("w", "v")),
    "star": (("x", "y"), ("x", "z"), ("x", "w")),
    "star of both directions": (("y", "x"), ("x", "z"), ("w", "x"), ("x", "v")),
    "chain with a branch": (("x", "y"), ("y", "z"), ("y", "w"), ("w", "v")),
    "parallel edges": (("x", "y"), ("x", "y"), ("y", "z")),
    "chain with a loop": (("x", "x"), ("x", "y"), ("y", "z")),
}


@st.composite
def joined_rules(draw: st.DrawFn, shapes: Mapping[str, Shape]) -> tuple[Rule, ...]:
    """A rule over a shape of few labels, in which a closure or a derived predicate may be an
    atom."""
    shape = shapes[draw(st.sampled_from(sorted(shapes)))]
    labels = ["a", "b"][: draw(st.integers(1, 2))]
    body: list[BodyAtom] = []
    for source, target in shape:
        turned = draw(st.integers(0, 4)) == 0
        ends = (Var(target), Var(source)) if turned else (Var(source), Var(target))
        body.append(Atom(draw(st.sampled_from(labels)), *ends))
    first = body[0]
    assert isinstance(first, Atom)
    rules: list[Rule] = []
    match draw(st.sampled_from(["edges", "edges", "closure", "predicate"])):
        case "closure":
            body[0] = Closure(first.label, first.source, first.target)
        case "predicate":
            steps = (Atom("a", Var("x"), Var("m")), Atom("b", Var("m"), Var("y")))
            rules.append(Rule("d", ("x", "y"), steps))
            body[0] = replace(first, label="d")
    variables = sorted({name for pair in shape for name in pair})
    head = draw(st.lists(st.sampled_from(variables), min_size=1, max_size=4, unique=True))
    return (*rules, Rule("Answer", tuple(head), tuple(body)))


def cyclic_cases(longest: int = 24) -> st.SearchStrategy[Case]:
    """A cyclic query over few vertices; half of the queries compare properties of edges."""
    return joined_cases(SHAPES, longest)


def forest_cases(longest: int = 18) -> st.SearchStrategy[Case]:
    """A query without a cycle over few vertices; half of them compare properties of edges."""
    return joined_cases(FORESTS, longest)


@st.composite
def joined_cases(draw: st.DrawFn, shapes: Mapping[str, Shape], longest: int) -> Case:
    """A query of one of some shapes over few vertices; half of them compare properties."""
    pool: Sequence[str | int] = draw(st.sampled_from([TEXT_VERTICES, INTEGER_VERTICES]))
    pool = pool[-draw(st.sampled_from([2, 3, 3])) :]
    rules = draw(joined_rules(shapes))
    compares = draw(st.booleans())
    if compares:
        answer = draw(with_edges(rules[-1], ["a", "b"], pool))
        rules = (*rules[:-1], draw(with_columns(answer)))
    case: Case = draw(cases_of(rules, pool, longest, ["a", "b"]))
    if not compares:
        return case
    query = replace(case.query, properties=tuple(PROPERTIES.items()))
    return replace(case, query=query, edges=draw(with_values(case.edges)))
