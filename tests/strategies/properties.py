"""Random queries over properties of edges: conditions, and properties in the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from hypothesis import strategies as st

from headrace.algebra.values import PropertyType
from tests.oracles.conditions import Calc, Compare, Expr, Lit, Prop, Scalar, Vert
from tests.oracles.query import Atom, Is, Rule, Var, Vertex
from tests.oracles.snapshot import Edge
from tests.strategies.derived import with_derived
from tests.strategies.edges import with_forms
from tests.strategies.queries import (
    INTEGER_VERTICES,
    TEXT_VERTICES,
    Case,
    bodies,
    cases_of,
    input_labels,
    rules,
)

PROPERTIES: dict[str, PropertyType] = {"n": "integer", "r": "number", "s": "string", "b": "boolean"}
"""The properties of all edges of such cases, with their types."""

VALUES: dict[str, list[Scalar]] = {
    "n": [None, 0, 1, 2, 2, 5],
    "r": [None, 0.0, 1.0, 2.0, 0.5],
    "s": [None, "u", "v", ""],
    "b": [None, True, False],
}
SIGNS = ["=", "<>", "<", "<=", ">", ">="]


@st.composite
def property_cases(
    draw: st.DrawFn, longest: int = 24, *, aggregates: bool = False, derived: bool = True
) -> Case:
    """A query of any kind whose rules name edges, compare properties and return them.

    ``aggregates``: the answer may read the aggregates of other rules. ``derived``: the answer may
    read heads with values.
    """
    pool: Sequence[Vertex] = draw(st.sampled_from([TEXT_VERTICES, INTEGER_VERTICES]))
    pool = pool[-draw(st.sampled_from([2, 3, 3])) :]
    drawn = draw(st.one_of(of_edges(pool), of_edges(pool), rules(pool)))
    labels = input_labels(drawn)
    answers = [rule for rule in drawn if rule.head == "Answer"]
    found = []
    for rule in drawn:
        named = draw(with_edges(rule, labels, pool))
        if rule.head == "Answer" and len(answers) == 1:
            named = draw(with_columns(named))
        found.append(named)
    if draw(st.booleans()):
        found = [draw(with_forms(rule, labels)) for rule in found]
    if derived and len(answers) == 1 and (aggregates or draw(st.integers(0, 2)) == 0):
        found = draw(with_derived(found, labels, pool, aggregates))
    case = draw(cases_of(tuple(found), pool, longest, labels))
    edges = draw(with_values(case.edges))
    query = replace(case.query, properties=tuple(PROPERTIES.items()))
    return replace(case, query=query, edges=edges)


@st.composite
def of_edges(draw: st.DrawFn, pool: Sequence[Vertex]) -> tuple[Rule, ...]:
    """One rule over few edges, and perhaps a derived predicate."""
    labels = ["a", "b"][: draw(st.integers(1, 2))]
    body = [
        Atom(draw(st.sampled_from(labels)), atom.terms[0], atom.terms[1])
        for atom in draw(bodies(labels, pool, most=3))
    ]
    terms = [term for atom in body for term in atom.terms]
    variables = list(dict.fromkeys(term.name for term in terms if isinstance(term, Var)))
    head = draw(st.lists(st.sampled_from(variables), min_size=1, max_size=3, unique=True))
    answer = Rule("Answer", tuple(head), tuple(body))
    if draw(st.integers(0, 4)):
        return (answer,)
    step = Atom(body[0].label, Var("x"), Var("y"))
    return Rule("d", ("x", "y"), (step,)), replace(
        answer, body=(replace(body[0], label="d"), *body[1:])
    )


@st.composite
def with_values(draw: st.DrawFn, edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """Edges with values of properties, some of which are missing."""
    row = st.fixed_dictionaries({name: st.sampled_from(VALUES[name]) for name in VALUES})
    rows = draw(st.lists(row, min_size=len(edges), max_size=len(edges)))
    return tuple(
        replace(edge, properties=tuple((k, v) for k, v in values.items() if v is not None))
        for edge, values in zip(edges, rows, strict=True)
    )


@st.composite
def with_edges(draw: st.DrawFn, rule: Rule, labels: Sequence[str], pool: Sequence[Vertex]) -> Rule:
    """The rule with names for some of its edges, and conditions."""
    body = [
        replace(atom, edge=f"e{i}")
        if isinstance(atom, Atom) and atom.label in labels and draw(st.integers(0, 3))
        else atom
        for i, atom in enumerate(rule.body)
    ]
    edges = [atom.edge for atom in body if isinstance(atom, Atom) and atom.edge]
    terms = [t for a in rule.body for t in a.terms]
    vertices = sorted({t.name for t in terms if isinstance(t, Var)} - {"_"})
    count = draw(st.sampled_from([0, 1, 1, 1, 2, 3]))
    rows = [t.name for a in rule.body if isinstance(a, Is) and isinstance(t := a.vertex, Var)]
    conditions = [draw(conditions_over(edges, vertices, pool, rows)) for _ in range(count)]
    return replace(rule, body=tuple(body), conditions=tuple(conditions))


@st.composite
def with_columns(draw: st.DrawFn, rule: Rule) -> Rule:
    """The rule with properties among the columns of its head."""
    edges = [atom.edge for atom in rule.body if isinstance(atom, Atom) and atom.edge]
    edges += [atom.row for atom in rule.body if isinstance(atom, Is) and atom.row]
    if not edges:
        return rule
    of = st.builds(Prop, st.sampled_from(edges), st.sampled_from([*PROPERTIES, "ts"]))
    chosen = draw(st.lists(of, max_size=2))
    columns = tuple((f"p{i}", one) for i, one in enumerate(chosen))
    variables = (*rule.variables, *(name for name, _ in columns))
    return replace(rule, variables=variables, properties=columns)


@st.composite
def conditions_over(
    draw: st.DrawFn,
    edges: Sequence[str],
    vertices: Sequence[str],
    pool: Sequence[Vertex],
    rows: Sequence[str] = (),
) -> Compare:
    """A comparison of vertices, edges and properties; ``rows`` are variables that have some."""
    kinds = ["vertices", "vertex", "number", "number", "apart", "string", "boolean", "edges"]
    kinds += ["joined", "joined", *draw(st.sampled_from([(), (), ("text",), ("test",)]))]
    if not edges:
        kinds = [kind for kind in kinds if kind not in ("edges", *(() if rows else kinds[2:]))]
    kind = draw(st.sampled_from(kinds))
    sign = draw(st.sampled_from(SIGNS))
    equality = draw(st.sampled_from(["=", "<>"]))
    named = (*edges, *rows)
    edge = st.sampled_from(named) if named else st.nothing()
    match kind:
        case "vertices" if vertices:
            one, other = draw(st.sampled_from(vertices)), draw(st.sampled_from(vertices))
            return Compare(Vert(one), draw(st.sampled_from([sign, "<>", "<=", "="])), Vert(other))
        case "vertex" if vertices:
            value = Lit(draw(st.sampled_from(pool)))
            vertex = Vert(draw(st.sampled_from(vertices)))
            pair = (vertex, value) if draw(st.booleans()) else (value, vertex)
            return Compare(pair[0], draw(st.sampled_from([sign, "<>"])), pair[1])
        case "number":
            return Compare(draw(_numbers(named)), sign, draw(_numbers(named)))
        case "text":
            return Compare(
                draw(_texts(named)), draw(st.sampled_from([sign, "<>"])), draw(_texts(named))
            )
        case "test":
            return Compare(
                draw(_tests(named)), draw(st.sampled_from(["=", "<>", "<>"])), Lit(False)
            )
        case "apart":
            apart = Calc("-", (Prop(draw(edge), "ts"), Prop(draw(edge), "ts")))
            return Compare(Calc("abs", (apart,)), draw(st.sampled_from([sign, "<="])), Lit(2))
        case "string":
            string = st.one_of(
                st.sampled_from(["u", "v", ""]).map(Lit), st.builds(Prop, edge, st.just("s"))
            )
            return Compare(Prop(draw(edge), "s"), sign, draw(string))
        case "boolean":
            truth = st.one_of(st.booleans().map(Lit), st.builds(Prop, edge, st.just("b")))
            return Compare(Prop(draw(edge), "b"), sign, draw(truth))
        case "joined":
            name = draw(st.sampled_from([*PROPERTIES, "ts"]))
            return Compare(Prop(draw(edge), name), "=", Prop(draw(edge), name))
        case "edges":
            same = st.sampled_from(edges)
            return Compare(Vert(draw(same)), equality, Vert(draw(same)))
        case _:
            return Compare(Lit(1), sign, Lit(draw(st.integers(0, 2))))


@cache
def _numbers(edges: tuple[str, ...], depth: int = 2) -> st.SearchStrategy[Expr]:
    leaves: st.SearchStrategy[Expr] = st.one_of(
        st.builds(Prop, st.sampled_from(edges), st.sampled_from(["n", "r", "ts"])),
        st.builds(Prop, st.sampled_from(edges), st.sampled_from(["n", "r", "ts"])),
        st.sampled_from([0, 1, 2, 0.5, -1]).map(Lit),
    )
    if depth == 0:
        return leaves
    part = _numbers(edges, depth - 1)
    return st.one_of(
        *[leaves] * 6,
        st.builds(lambda s, a, b: Calc(s, (a, b)), st.sampled_from("+-*/"), part, part),
        st.one_of(
            part.map(lambda p: Calc("abs", (p,))),
            st.builds(_call, st.sampled_from(["TIME_PART", "TIME_START"]), part, _TICK, _PERIODS),
        ),
        st.builds(_call, st.sampled_from(["MODULO", "DIVIDE"]), part, part),
        st.builds(_call, st.sampled_from(["ROUND_NEAREST", "SIGN_OF"]), part),
        st.builds(_call, st.just("TEXT_SIZE"), _texts(edges, depth - 1)),
        st.builds(_call, st.just("FIRST_NOT_NULL"), _integers(edges), _integers(edges)),
        st.builds(
            _call, st.just("CASE_WHEN"), _tests(edges, 0), _integers(edges), _integers(edges)
        ),
    )


def _call(function: str, *parts: Expr) -> Expr:
    return Calc(function, parts)


def _literals(*values: str | int) -> st.SearchStrategy[Expr]:
    return st.sampled_from(values).map(Lit)


_TICK = _literals(3_600_000_000)
"""The microseconds of an hour."""
_PERIODS = _literals("hour", "day", "month")
_EXPRESSIONS = _literals("u", "[^u]*", "(?i)v|u+", "(?i)[a-z ]*")


@cache
def _integers(edges: tuple[str, ...]) -> st.SearchStrategy[Expr]:
    properties = st.builds(Prop, st.sampled_from(edges), st.sampled_from(["n", "n", "ts"]))
    return st.one_of(properties, st.sampled_from([0, 1, 2]).map(Lit))


@cache
def _texts(edges: tuple[str, ...], depth: int = 1) -> st.SearchStrategy[Expr]:
    of_edge: st.SearchStrategy[Expr] = st.builds(Prop, st.sampled_from(edges), st.just("s"))
    leaves = st.one_of(of_edge, of_edge, st.sampled_from(["u", "V", "1"]).map(Lit))
    if depth <= 0:
        return leaves
    return st.one_of(
        leaves,
        st.builds(_call, st.sampled_from(["TO_UPPER", "TEXT_TRIM"]), leaves),
        st.builds(_call, st.just("TEXT_JOIN"), leaves, leaves),
        st.builds(_call, st.just("TEXT_LEFT"), leaves, _integers(edges)),
        st.builds(_call, st.just("AS_TEXT"), _numbers(edges, 0)),
        st.builds(_call, st.just("CASE_WHEN"), _tests(edges, 0), leaves, leaves),
    )


@cache
def _tests(edges: tuple[str, ...], depth: int = 1) -> st.SearchStrategy[Expr]:
    """Conditions as truth values."""
    compared = st.sampled_from(["EQUAL", "UNEQUAL", "LESS", "AT_MOST"])
    text = st.sampled_from(["TEXT_CONTAINS", "TEXT_STARTS", "TEXT_ENDS"])
    leaves: st.SearchStrategy[Expr] = st.one_of(
        st.builds(Prop, st.sampled_from(edges), st.just("b")),
        st.builds(_call, compared, _numbers(edges, 0), _numbers(edges, 0)),
        st.builds(_call, text, _texts(edges, 0), _texts(edges, 0)),
        st.builds(_call, st.just("IS_NOT_NULL"), _numbers(edges, depth)),
        st.builds(_call, st.just("IS_NOT_NULL"), _texts(edges, depth)),
    )
    if depth <= 0:
        return leaves
    return st.one_of(
        leaves,
        st.builds(_call, st.just("LOGICAL_NOT"), leaves),
        st.builds(_call, st.just("TEXT_MATCHES"), _texts(edges, 0), _EXPRESSIONS),
        st.builds(_call, st.sampled_from(["ALL_TRUE", "ANY_TRUE"]), leaves, leaves),
    )
