"""A printed query reads as the same query."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.algebra import regex
from headrace.algebra.regex import Regex
from headrace.algebra.scalar import Literal
from headrace.algebra.window import Window
from headrace.languages import parse
from headrace.languages.query.atoms import (
    Atom,
    Constant,
    EdgeAtom,
    Location,
    PathAtom,
    Term,
    Variable,
)
from headrace.languages.query.checks import checked_query
from headrace.languages.query.regular_query import (
    Both,
    Comparison,
    Computed,
    Either,
    Missing,
    Negated,
    Property,
    RegularQuery,
    Rule,
    Value,
    WindowClause,
)
from headrace.languages.rq import printer
from tests.algebra.regexes import regexes
from tests.languages.examples import EXAMPLES

NOWHERE = Location(1, 1)
LABELS = ("a", "likes", "has-creator", "as", "ON", "window", "a b", "x`y", "_", "Größe", "%", "1st")
VARIABLES = ("x", "y", "z", "_1", "_2", "as", "on", "Window", "señor")
STREAMS = ("s", "on", "window", "my stream", "s.t", "slide")

characters = st.characters(codec="utf-8") | st.sampled_from("'\"\\`%\n\t")
constants: st.SearchStrategy[Term] = st.one_of(
    st.text(characters, max_size=6), st.integers(-(10**18), 10**18)
).map(Constant)
terms: st.SearchStrategy[Term] = st.one_of(
    st.sampled_from(VARIABLES).map(Variable), st.sampled_from(VARIABLES).map(Variable), constants
)


@st.composite
def paths(draw: st.DrawFn, names: Sequence[str]) -> Regex:
    """A regex over some names, in the normal form."""
    step = {ref: draw(st.sampled_from(names)) for ref in (0, 1)}
    return regex.substitute(draw(regexes), lambda s: regex.Symbol(step[int(s.ref)], s.inverse))


@st.composite
def atoms(draw: st.DrawFn, names: Sequence[str], alias: str) -> Atom:
    """An atom over labels and predicates; a path of one forward step is an edge."""
    source, target = draw(terms), draw(terms)
    if draw(st.booleans()):
        return EdgeAtom.of(draw(st.sampled_from(names)), source, target, NOWHERE)
    path = draw(paths(names))
    name = draw(st.sampled_from([None, None, alias]))
    if isinstance(path, regex.Symbol) and not (name and path.inverse):
        return EdgeAtom.of(str(path.ref), source, target, NOWHERE)
    return PathAtom(path, source, target, NOWHERE, name)


@st.composite
def queries(draw: st.DrawFn) -> RegularQuery:
    """Rules that build on labels and on earlier rules, and windows."""
    names = list(draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=4, unique=True)))
    rules = []
    for number in range(draw(st.integers(1, 4))):
        head = draw(st.sampled_from([f"d{number}", f"emit-{number}"]))
        body = draw(st.lists(atoms(names, f"as {number}"), min_size=1, max_size=4))
        bound = sorted({t.name for atom in body for t in atom.terms if isinstance(t, Variable)})
        if not bound:
            continue
        binary = tuple(draw(st.lists(st.sampled_from(bound), min_size=2, max_size=2)))
        rules.append(Rule(head, binary, tuple(_same_aliases(body)), NOWHERE))
        names.append(head)
        names += [a.alias for a in rules[-1].body if isinstance(a, PathAtom) and a.alias]
    body_of_answer = (EdgeAtom.of(names[-1], Variable("x"), Variable("y"), NOWHERE),)
    head_of_answer = draw(st.lists(st.sampled_from("xy"), min_size=1, max_size=4))
    rules.append(Rule("Answer", tuple(head_of_answer), body_of_answer, NOWHERE))
    windows = draw(st.lists(clauses(), max_size=4, unique_by=lambda c: (c.stream, not c.labels)))
    unit = draw(st.sampled_from([None, "second", "millisecond", "day"])) if windows else None
    return checked_query(rules, windows, unit)


def _same_aliases(body: list[Atom]) -> list[Atom]:
    """One name for one path: only the first path of a body keeps the name."""
    first = next((a for a in body if isinstance(a, PathAtom) and a.alias is not None), None)
    return [
        EdgeAtom.of("a", atom.source, atom.target, NOWHERE)
        if isinstance(atom, PathAtom) and atom.alias is not None and atom is not first
        else atom
        for atom in body
    ]


@st.composite
def clauses(draw: st.DrawFn) -> WindowClause:
    length = draw(st.integers(1, 10**9))
    window = Window(length, draw(st.integers(1, length) | st.just(1)))
    stream = draw(st.none() | st.sampled_from(STREAMS))
    few = st.lists(st.sampled_from(LABELS), max_size=3, unique=True)
    return WindowClause(window, stream, tuple(draw(few)) if stream else ())


@given(queries())
def test_a_printed_query_reads_as_the_same_query(query: RegularQuery) -> None:
    text = printer.text(query)
    again = parse(text, "rq", query.time_unit or "second")
    assert again == query
    assert printer.text(again) == text


properties = st.builds(
    Property, st.sampled_from(["e", "f"]), st.sampled_from(["n", "ts", "a b", "x`y", "as"])
)
scalars: st.SearchStrategy[Value] = st.one_of(
    st.text(characters, max_size=6),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
).map(Literal)
values: st.SearchStrategy[Value] = st.recursive(
    st.one_of(properties, properties, scalars, st.sampled_from("xyz").map(Variable)),
    lambda part: st.one_of(
        st.builds(lambda f, a, b: Computed(f, (a, b)), st.sampled_from("+-*/"), part, part),
        st.builds(lambda f, a: Computed(f, (a,)), st.sampled_from(["NEG", "ABS"]), part),
    ),
    max_leaves=6,
)
comparisons = st.builds(
    Comparison,
    values,
    st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
    values,
    st.just(NOWHERE),
)


@pytest.mark.parametrize(
    "condition", ['e.k = abs(",")', "e.k = abs(e.`a,b`)", "(x) + (e.n - 1) = 3"]
)
def test_conditions_with_commas_and_brackets_print_as_they_are_read(condition: str) -> None:
    text = f"Answer(x) <- a(x, y) as e, {condition}."
    assert printer.text(parse(text, "rq")) == text


@given(
    conditions=st.lists(comparisons, min_size=1, max_size=3),
    columns=st.lists(
        st.tuples(st.sampled_from(["m", "k", "as"]), properties),
        max_size=3,
        unique_by=lambda c: c[0],
    ),
)
def test_conditions_and_properties_read_as_themselves(
    conditions: list[Comparison], columns: list[tuple[str, Property]]
) -> None:
    body = (
        EdgeAtom.of("a", Variable("x"), Variable("y"), NOWHERE, "e"),
        EdgeAtom.of("a", Variable("y"), Variable("z"), NOWHERE, "f"),
    )
    head = ("x", *(name for name, _ in columns))
    rule = Rule("Answer", head, body, NOWHERE, tuple(conditions), tuple(columns))
    query = checked_query([rule], [])
    text = printer.text(query)
    assert parse(text, "rq") == query
    assert printer.text(parse(text, "rq")) == text


def test_conditions_beyond_rq_print_as_sql() -> None:
    x, n = Variable("x"), Property("e", "n")
    some = Comparison(n, ">", Literal(1), NOWHERE)
    text = printer.condition_text(
        Either((Both((some, Negated(Missing(n)))), Negated(Either((some, Missing(n)))), Both(())))
    )
    assert text == "(e.n > 1 AND e.n IS NOT NULL) OR NOT (e.n > 1 OR e.n IS NULL) OR (TRUE)"
    assert (
        printer.value_text(Computed("NEG", (Computed("+", (x, Literal(True))),))) == "-(x + true)"
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_printed_read_as_themselves(name: str) -> None:
    query = parse(EXAMPLES[name][0])
    assert parse(printer.text(query)) == query


def test_a_query_has_one_printed_form() -> None:
    text = (
        "rl(u1,u2) :- (l(u1,_)), f+(u1,u2) as fp, 'x' (`a-b` + ^c){2}/d ?u2 "
        "?u, ?m <- u rl* v, p(v, m), ^c{3,2}(5, _), u () m "
        "on s (l, p) window 86400s slide 3600s window 2592000s"
    ).replace("^c{3,2}(5, _)", "5 ^c{3,2} _")
    assert printer.text(parse(text)) == (
        "rl(u1, u2) <- l(u1, _1), f+(u1, u2) as fp, "
        '"x" (`a-b`|^c)·(`a-b`|^c)·d u2.\n'
        "Answer(u, m) <- rl*(u, v), p(v, m), 5 (){1,0} _1, u () m.\n"
        "ON s (l, p) WINDOW 1d SLIDE 1h\n"
        "WINDOW 30d"
    )
    assert printer.text(parse("?x, ?y <- x a y WINDOW 10 SLIDE 2")) == (
        "Answer(x, y) <- x a y.\nWINDOW 10 SLIDE 2"
    )


@pytest.mark.parametrize(
    "body", ["x a y", "x ^a y", "a(x, y)", "x a y as d, d(x, y)", "a(x, y) as d, d(x, y)"]
)
def test_path_atoms_are_printed_as_paths(body: str) -> None:
    """Where paths may not repeat a vertex `x a y` leaves out loops and `a(x, y)` does not."""
    query = parse(f"Answer(x, y) <- {body}. WINDOW 9")
    assert parse(printer.text(query)) == query
    first = query.rules[0].body[0]
    assert isinstance(first, EdgeAtom if body.startswith("a(") else PathAtom)
