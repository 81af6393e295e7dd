"""Random queries whose atoms form cycles, which a multiway join can compute."""

from __future__ import annotations

from collections.abc import Sequence
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


@st.composite
def cyclic_rules(draw: st.DrawFn) -> tuple[Rule, ...]:
    """A rule over a cycle of few labels, in which a closure or a derived predicate may be an
    atom."""
    shape = SHAPES[draw(st.sampled_from(sorted(SHAPES)))]
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


@st.composite
def cyclic_cases(draw: st.DrawFn, longest: int = 24) -> Case:
    """A cyclic query over few vertices; half of the queries compare properties of edges."""
    pool: Sequence[str | int] = draw(st.sampled_from([TEXT_VERTICES, INTEGER_VERTICES]))
    pool = pool[-draw(st.sampled_from([2, 3, 3])) :]
    rules = draw(cyclic_rules())
    compares = draw(st.booleans())
    if compares:
        answer = draw(with_edges(rules[-1], ["a", "b"], pool))
        rules = (*rules[:-1], draw(with_columns(answer)))
    case: Case = draw(cases_of(rules, pool, longest, ["a", "b"]))
    if not compares:
        return case
    query = replace(case.query, properties=tuple(PROPERTIES.items()))
    return replace(case, query=query, edges=draw(with_values(case.edges)))
