"""Errors of G-CORE queries: code, place, text, reason, hint."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headrace.languages import QueryError, parse
from headrace.languages.gcore.errors import LATER, OUTSIDE
from headrace.languages.gcore.parser import tree
from headrace.languages.query.errors import CODES
from tests.languages.gcore.examples import EXAMPLES
from tests.strategies.amount import examples

M = "MATCH (x)-[:a]->(y)"
C = "CONSTRUCT (x)-[:r]->(y)"


def error_of(query: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        parse(query, "gcore")
    return caught.value


def marked(query: str) -> tuple[str, int, int]:
    """The query without the ‹ that marks the place of its error, and the place."""
    before, _, after = query.partition("‹")
    line = before.count("\n") + 1
    return before + after, line, len(before) - before.rfind("\n")


NOT_YET = {
    "vertices": (f"CONSTRUCT (‹x) {M}",),
    "edge value": (
        "SELECT ‹e MATCH (x)-[e:a]->(y)",
        "CONSTRUCT (x)-[:r]->(‹e) MATCH (x)-[e:a]->()",
    ),
    "optional path": ("SELECT x, ‹p MATCH (x)-[:b]->(y) OPTIONAL (x)-/p<:a+>/->(y)",),
    "same path": (f"{C} MATCH (x)-/p<:a+>/->(y), (x)-/‹p<:a+>/->(z)",),
    "named graph": (f"{C} {M} UNION ‹friends",),
    "two windows": (f"{C} {M} ON t, (x:P) ON s WINDOW (9), (y:‹P) ON s WINDOW (8)",),
    "one column": (f"SELECT x, ‹y {M} WHERE (x) = (y)", f"SELECT x, ‹x AS z {M}"),
}
"""By entry of LATER, queries that meet it; ‹ stands where the error is."""


def test_every_unsupported_construct_has_a_case() -> None:
    assert NOT_YET.keys() == LATER.keys()


@pytest.mark.parametrize(("entry", "query"), [(e, q) for e, qs in NOT_YET.items() for q in qs])
def test_unsupported_constructs_are_refused(entry: str, query: str) -> None:
    text, line, column = marked(query)
    error = error_of(text)
    fault = LATER[entry]
    assert (error.code, error.message, error.hint) == (fault.code, fault.reason, fault.hint)
    assert (error.line, error.column) == (line, column)
    assert error.text
    assert fault.hint


OUT = {
    "SHORTEST": (
        f"{C} MATCH (x)-/‹SHORTEST p<:a*>/->(y)",
        f"{C} MATCH (x)-/‹3 shortest p<:a*>/->(y)",
    ),
    "COST": (f"{C} MATCH (x)-/p<:a*> ‹COST c/->(y)", f"PATH D = (x)-[:a]->(y) ‹COST 3 {C} {M}"),
    "ALL": (f"{C} MATCH (x)-/‹ALL p<:a*>/->(y)", f"{C} {M} UNION ‹ALL {C} {M}"),
    "ANY": (f"{C} MATCH (x)-/‹ANY p<:a*>/->(y)",),
    "WALK": (f"{C} MATCH (x)-/‹WALK p<:a*>/->(y)",),
    "TRAIL": (f"{C} MATCH (x)-/‹TRAIL p<:a*>/->(y)",),
    "SIMPLE": (f"{C} MATCH (x)-/‹SIMPLE p<:a*>/->(y)",),
    "ACYCLIC": (f"{C} MATCH (x)-/‹ACYCLIC p<:a*>/->(y)",),
    "GROUP": (f"CONSTRUCT (z ‹GROUP x)-[:r]->(y) {M}", f"SELECT x {M} ‹GROUP BY x"),
    "ORDER": (f"SELECT x {M}\n‹ORDER BY x",),
    "LIMIT": (f"SELECT x {M} ON s WINDOW (9)\n  ‹LIMIT 3",),
    "SKIP": (f"SELECT x {M} WHERE (x) = (y) ‹skip 3",),
    "OFFSET": (f"SELECT x {M} ‹OFFSET 3",),
    "MINUS": (f"{C} {M} ‹MINUS {C} {M}",),
    "EXCEPT": (f"{C} {M} ‹EXCEPT {C} {M}",),
    "INTERSECT": (f"{C} {M} ‹INTERSECT {C} {M}",),
    "SET": (f"CONSTRUCT (x)-[:r]->(y) ‹SET x.k = 3 {M}",),
    "REMOVE": (f"{C} ‹REMOVE x.k {M}",),
    "WHEN": (f"{C} ‹WHEN x.k > 3 {M}",),
    "INSERT": ("‹INSERT (x)",),
    "DELETE": (f"{M} DELETE x".replace("MATCH", "‹DELETE x MATCH", 1),),
    "CREATE": (f"‹CREATE (x) {M}",),
    "MERGE": (f"‹MERGE (x) {M}",),
    "@": (f"{C} MATCH (x)-/‹@p/->(y)", f"{C} MATCH (x)-/‹@p<:a>/->(y)"),
    "HAVING": (f"SELECT x {M} ‹HAVING x.k > 3",),
    **{
        word: (f"{C} {M} ON s WINDOW (100 ‹{word})",)
        for word in ("ELEMENTS", "EDGES", "ROWS", "EVENTS", "TUPLES", "EVENT")
    },
    "TRIPLES": (f"{C} {M} ON s WINDOW (‹TRIPLES 100)",),
    "CASE": (f"{C} {M} WHERE ‹CASE WHEN x.k THEN y.k END = 3",),
    "UNWIND": (f"{C} {M} ‹UNWIND x",),
    "CALL": (f"{C} {M} ‹CALL f(x)",),
    "IN": (f"{C} {M} WHERE x.k ‹IN [1, 2]",),
    "DISTINCT": (f"SELECT ‹DISTINCT x {M}",),
    "~": (f"{C} MATCH (x)‹~[:a]~(y)",),
}
"""By entry of OUTSIDE, queries that meet it."""


def test_every_word_outside_the_grammar_has_a_case() -> None:
    assert OUT.keys() == OUTSIDE.keys()


@pytest.mark.parametrize(("word", "query"), [(word, q) for word, qs in OUT.items() for q in qs])
def test_words_outside_the_grammar_are_refused(word: str, query: str) -> None:
    text, line, column = marked(query)
    error = error_of(text)
    fault = OUTSIDE[word]
    assert (error.code, error.message, error.hint) == (fault.code, fault.reason, fault.hint)
    assert (error.line, error.column) == (line, column)
    assert word in error.text.upper()
    assert fault.hint


WRONG = {
    "a view that reads itself": (
        f"GRAPH VIEW v AS ({C} MATCH (x)-[:r]->(y) ON ‹v)",
        "E-REC",
        "v",
    ),
    "views that read each other": (
        f"GRAPH VIEW v AS ({C} MATCH (x)-[:q]->(y) ON ‹w) "
        f"GRAPH VIEW w AS (CONSTRUCT (x)-[:q]->(y) MATCH (x)-[:r]->(y) ON v) {C} {M} ON w",
        "E-REC",
        "w",
    ),
    "two views of one name": (
        f"GRAPH VIEW v AS ({C} {M}) GRAPH VIEW ‹v AS ({C} {M}) {C} {M} ON v",
        "E-EDB",
        "v",
    ),
    "a label that a view does not construct": (
        f"GRAPH VIEW v AS ({C} {M}) {C} MATCH (x)-[:‹a]->(y) ON v",
        "E-UNKNOWN",
        "a",
    ),
    "a window over a view that is none": (
        f"GRAPH VIEW v AS ({C} {M}) {C} MATCH (x)-[:r]->(y) ON v WINDOW (‹0)",
        "E-WINDOW",
        "0",
    ),
    "a table as a view": (f"GRAPH VIEW v AS (‹SELECT x {M}) {C} {M} ON v", "E-SYNTAX", "SELECT"),
    "a constructed label of a vertex": (f"CONSTRUCT (x:‹New)-[:r]->(y) {M}", "E-SYNTAX", "New"),
    "a constructed property": (f"CONSTRUCT (x)-[:r {{‹w = 1}}]->(y) {M}", "E-SYNTAX", "w"),
    "vertices without brackets": (f"{C} {M} WHERE ‹x = y", "E-SYNTAX", "x"),
    "an edge compared with a bare vertex": (
        f"{C} MATCH (x)-[e:a]->(y) WHERE e = ‹y",
        "E-SYNTAX",
        "y",
    ),
    "an edge that is less": (
        f"{C} MATCH (x)-[e:a]->(y)-[f:a]->(z) WHERE ‹e <= f",
        "E-PROPERTY",
        "e",
    ),
    "an edge that nothing binds": (f"{C} MATCH (x)-[e:a]->(y) WHERE e = ‹f", "E-SAFE", "f"),
    "paths compared as edges": (
        f"{C} MATCH (x)-/p<:a>/->(y)-/q<:a>/->(z) WHERE ‹p = q",
        "E-PATHVAR",
        "p",
    ),
    "what is not a label left out": (f"{C} MATCH (x)-/<(:a :b)‹!>/->(y)", "E-SYNTAX", "!"),
    "any label left out": (f"{C} MATCH (x)-/<:(a|_)‹!*>/->(y)", "E-SYNTAX", "!"),
    "any vertex": (f"{C} {M}, (‹z)", "E-SAFE", "z"),
    "any vertex without a name": (f"{C} {M}, ‹()", "E-SAFE", "()"),
    "any vertex of another graph": (
        f"{C} MATCH (‹x) ON s WINDOW (9), (x)-[:a]->(y) ON t WINDOW (9)",
        "E-SAFE",
        "x",
    ),
    "a property of any vertex": (f"{C} {M}, (‹z {{k = 3}})", "E-SAFE", "z"),
    "one label of vertices under two windows": (
        f"{C} {M} ON t, (x:P) ON s WINDOW (9), (y:‹P) ON s WINDOW (8)",
        "E-LATER",
        "P",
    ),
    "a negated pattern": (f"{C} {M} WHERE (x)=(y) OR ‹NOT (x)-[:b]->(y)", "E-NEG", "NOT"),
    "a negated query": (f"{C} {M} WHERE ‹NOT EXISTS ({C} {M})", "E-NEG", "NOT"),
    "EXISTS": (f"{C} {M} WHERE ‹EXISTS ({C} {M})", "E-SYNTAX", "EXISTS"),
    "a new vertex": (f"CONSTRUCT (x)-[:r]->(‹z) {M}", "E-SKOLEM", "z"),
    "a new vertex without a name": (f"CONSTRUCT (x)-[:r]->‹() {M}", "E-SKOLEM", "()"),
    "an unbound column": (f"SELECT x, ‹z {M}", "E-SAFE", "z"),
    "an unbound vertex in a condition": (f"{C} {M} WHERE (x) = (‹z)", "E-SAFE", "z"),
    "an unbound vertex in a comparison": (f"{C} {M} WHERE (x) = (y) OR (x) < (‹z)", "E-SAFE", "z"),
    "an edge of another alternative": (
        f"{C} {M} WHERE (x)-[e:b]->() OR ‹e.k = 1",
        "E-SAFE",
        "e",
    ),
    "a property of nothing": (f"{C} {M} WHERE 1 < ‹e.k", "E-SAFE", "e.k"),
    "a property of nothing, selected": (f"SELECT ‹e.k {M}", "E-SAFE", "e.k"),
    "an edge of the statement in a macro": (
        f"PATH D = (x)-[:a]->(y) WHERE ‹e.k = 1 {C} MATCH (x)-/<~D>/->(y)-[e:a]->()",
        "E-SAFE",
        "e.k",
    ),
    "a property selected from one alternative": (
        f"SELECT ‹e.k {M} WHERE (x)-[e:b]->() OR (x) = (y)",
        "E-SAFE",
        "e",
    ),
    "a property of what is constructed": (
        f"{C} MATCH (x)-[e:q]->(y) ON (CONSTRUCT (x)-[:q]->(y) {M}) WHERE ‹e.k = 1",
        "E-PROPERTY",
        "e",
    ),
    "a property in what is constructed": (
        f"{C} MATCH (x)-[:q {{‹k = 1}}]->(y) ON (CONSTRUCT (x)-[:q]->(y) {M})",
        "E-PROPERTY",
        "k",
    ),
    "an edge compared with a vertex": (
        f"{C} MATCH (x)-[e:a]->(y) WHERE (‹e) = (x)",
        "E-SYNTAX",
        "e",
    ),
    "an edge compared with a number": (
        f"{C} MATCH (x)-[e:a]->(y) WHERE (‹e) = 3",
        "E-SYNTAX",
        "e",
    ),
    "the size of a vertex": (f"{C} {M} WHERE abs(‹x) = 3", "E-SYNTAX", "x"),
    "two properties of one name": (
        "SELECT e.k AS n, ‹e.l AS n MATCH (x)-[e:a]->(y)",
        "E-EDB",
        "n",
    ),
    "a vertex and a property of one name": (
        "SELECT x, e.k AS ‹x MATCH (x)-[e:a]->(y)",
        "E-EDB",
        "x",
    ),
    "a number beyond 64 bits": (
        f"{C} MATCH (x)-[e:a]->(y) WHERE e.k = ‹9223372036854775808",
        "E-SYNTAX",
        "9223372036854775808",
    ),
    "an infinite number": (
        f"{C} MATCH (x)-[e:a {{k = ‹1e999}}]->(y)",
        "E-SYNTAX",
        "1e999",
    ),
    "an aggregate in a condition": (f"{C} {M} WHERE ‹avg(x.k) > 3", "E-AGG", "avg"),
    "a function": (f"{C} {M} WHERE ‹size(x) = 3", "E-FUNC", "size"),
    "a function in the answer": (f"SELECT ‹size(x) {M}", "E-FUNC", "size"),
    "the length of a path": (f"{C} MATCH (x)-/p<:a+>/->(y) WHERE length(‹p) = 3", "E-PATHVAR", "p"),
    "a property of a path": (f"{C} MATCH (x)-/p<:a+>/->(y) WHERE ‹p.k = 3", "E-PATHVAR", "p"),
    "a property of a path, selected": ("SELECT ‹p.k MATCH (x)-/p<:a+>/->(y)", "E-PATHVAR", "p"),
    "an edge between a path": (
        "CONSTRUCT (x)-[:r]->(‹p) MATCH (x)-/p<:a+>/->(y)",
        "E-PATHVAR",
        "p",
    ),
    "a path between other vertices": (
        "CONSTRUCT (y)-/‹p/->(x) MATCH (x)-/p<:a+>/->(y)",
        "E-PATHVAR",
        "p",
    ),
    "an edge as a path": ("CONSTRUCT (x)-/‹e/->(y) MATCH (x)-[e:a]->(y)", "E-SYNTAX", "e"),
    "a path of nothing": (f"CONSTRUCT (x)-/‹p/->(y) {M}", "E-SAFE", "p"),
    "a path called like a label": (
        "SELECT x, p MATCH (x)-/‹p<:a+>/->(y), (y)-[:p]->(x)",
        "E-EDB",
        "p",
    ),
    "a path counted": ("SELECT x, count(‹p) AS n MATCH (x)-/p<:a+>/->(y)", "E-PATHVAR", "p"),
    "a path as a vertex": (f"{C} MATCH (x)-/p<:a+>/->(y), (‹p)-[:b]->()", "E-PATHVAR", "p"),
    "an edge as a vertex": (f"{C} MATCH (x)-[e:a]->(y), (‹e)-[:b]->()", "E-SYNTAX", "e"),
    "a macro in itself": (
        f"PATH D = (x)-/<~E>/->(y) PATH E = (x)-/<:a ~‹D>/->(y) {C} MATCH (x)-/<~D>/->(y)",
        "E-REC",
        "~D",
    ),
    "no such macro": (
        f"PATH Follow = {M[6:]} {C} MATCH (x)-/<~‹Folow>/->(y)",
        "E-UNKNOWN",
        "~Folow",
    ),
    "no macro at all": (f"{C} MATCH (x)-/<~‹D>/->(y)", "E-UNKNOWN", "~D"),
    "a macro twice": (f"PATH D = {M[6:]} PATH ‹D = {M[6:]} {C} {M}", "E-EDB", "D"),
    "a label that is read": (f"CONSTRUCT (x)-[:‹a]->(y) {M} ON s WINDOW (9)", "E-EDB", "a"),
    "a macro with the name of a label": (
        f"PATH ‹a = (x)-[:b]->(y) {C} MATCH (x)-/<:a ~a>/->(y)",
        "E-EDB",
        "a",
    ),
    "two columns of one name": (f"SELECT x, y AS ‹x {M}", "E-EDB", "x"),
    "tables of different width": (f"SELECT x {M} UNION ‹SELECT x, y {M}", "E-ARITY", "Answer"),
    "a table and a graph": (f"{C} {M} UNION ‹SELECT x {M}", "E-SYNTAX", "SELECT"),
    "a table in ON": (f"{C} {M} ON (‹SELECT x {M})", "E-SYNTAX", "SELECT"),
    "not what ON constructs": (f"{C} MATCH (x)-[:‹a]->(y) ON ({C} {M})", "E-UNKNOWN", "a"),
    "no window": (f"{C} {M} ON s WINDOW (‹0)", "E-WINDOW", "0"),
    "a slide too long": (f"{C} {M} ON s WINDOW (9) SLIDE (‹10)", "E-WINDOW", "10"),
    "no length of time": (f"{C} {M} ON s WINDOW (‹3y)", "E-WINDOW", "3y"),
    "a calendar's length": (f"{C} {M} ON s WINDOW (‹P1M)", "E-WINDOW", "P1M"),
    "a constructed edge without a label": (f"CONSTRUCT (x)-‹[]->(y) {M}", "E-SYNTAX", "["),
    "a constructed edge with two": (f"CONSTRUCT (x)-‹[:r|q]->(y) {M}", "E-SYNTAX", "["),
    "a constructed edge with a variable": (f"CONSTRUCT (x)-‹[e:r]->(y) {M}", "E-SYNTAX", "["),
    "a constructed edge without a direction": (f"CONSTRUCT (x)-[:r]‹-(y) {M}", "E-SYNTAX", "-"),
    "a vertex compared with a pattern": (f"{C} {M} WHERE (x) = ‹(y:P)", "E-SYNTAX", "("),
    "nothing": ("‹", "E-SYNTAX", ""),
    "only a comment": ("// nothing\n", "E-SYNTAX", ""),
    "the end": (f"{C} MATCH (x)-[:a]->(y‹", "E-SYNTAX", ""),
    "a sign of no meaning": (f"{C} MATCH (x)‹$[:a]->(y)", "E-SYNTAX", "$"),
    "a string that is not closed": (f"{C} {M} WHERE x.k = ‹'b", "E-SYNTAX", "'"),
    "a label without a colon": (f"{C} MATCH (x)-/<‹a*>/->(y)", "E-SYNTAX", "a"),
    "labels without a colon": (f"{C} MATCH (x)-/<(‹a|b)*>/->(y)", "E-SYNTAX", "a"),
    "a vertex without brackets": (f"{C} {M} WHERE x = ‹3", "E-SYNTAX", "3"),
    "bounds with a comma": (f"{C} MATCH (x)-/<:a*{{2‹,3}}>/->(y)", "E-SYNTAX", ","),
    "a keyword as a variable": (f"CONSTRUCT (‹match)-[:r]->(y) {M}", "E-SYNTAX", "match"),
    "an edge that leads nowhere": (f"{C} MATCH (x)-[:a]->‹WHERE (x) = (y)", "E-SYNTAX", "WHERE"),
    "no MATCH": (f"{C}‹", "E-SYNTAX", ""),
    "an unknown escape": (rf"{C} {M} WHERE x.k = ‹'\q'", "E-SYNTAX", r"'\q'"),
    "too many repeats": (f"{C} MATCH (x)-/<:a*{{‹9999}}>/->(y)", "E-SIZE", "{9999,9999}"),
}


@pytest.mark.parametrize("name", WRONG)
def test_invalid_queries_are_refused(name: str) -> None:
    query, code, offending = WRONG[name]
    text, line, column = marked(query)
    error = error_of(text)
    assert (error.code, error.text) == (code, offending), str(error)
    if "‹" in query:
        assert (error.line, error.column) == (line, column)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"{C} {M} WHERE x = y", "vertices are compared in brackets; write (x) = (y)"),
        (f"{C} {M} WHERE x = 3", "as (x) = (y), edges with each other, as e = f"),
        (f"{C} {M} WHERE e.k", "expected a comparison, as <"),
        (f"{C} {M} WHERE e.k <", "expected a value, as e.amount or 100"),
        (f"{C} {M} WINDOW (5)", "write ON stream WINDOW (24h) behind the patterns"),
        (f"{C} {M} WHERE (x) = 'a' WINDOW (5)", "write ON stream WINDOW (24h)"),
        (f"{C} {M} ON s WINDOW 5", "expected a length, as (24h); a length stands in brackets"),
        (f"{C} {M} ON s WINDOW (5) SLIDE 2", "a length stands in brackets: SLIDE (2)"),
        (f"{C} {M} WHERE", "expected a condition, as (x) = (y) or e.amount > 100"),
        (f"{C} MATCH (x)-/<a*>/->(y)", "a label in a path has a colon: :a"),
        (f"{C} MATCH (x)-/<(a|b)*>/->(y)", ":(a|b)"),
        (f"{C} MATCH (x)-/<:a*{{2,3}}>/->(y)", "bounds are written *{2..4}"),
        (f"{C} MATCH (x) -[:a]-> WHERE", "expected a vertex, as (x)"),
        ("(x)-[:a]->(y)", "expected a query, as CONSTRUCT"),
        (f"CONSTRUCT (match)-[:r]->(y) {M}", "backquotes"),
        (f"PATH Follow = {M[6:]} {C} MATCH (x)-/<~Folow>/->(y)", "did you mean ~Follow?"),
        (f"{C} MATCH (x)-[:a]->(y) ON ({C} {M}), (x)-[:b]->(y) ON s", "it constructs r"),
    ],
)
def test_errors_have_hints_and_expected_constructs(query: str, message: str) -> None:
    assert message in str(error_of(query))


CONCERNED = """
E-SYNTAX E-REC E-ARITY E-SAFE E-EDB E-NEG E-AGG E-ORDER E-UPDATE E-UNDIR E-SKOLEM E-SHORTEST
E-MODE E-PHYS E-FUNC E-PATHVAR E-PROPERTY
"""


def test_every_kind_of_error_of_the_language_is_raised() -> None:
    raised = {code for _, code, _ in WRONG.values()}
    raised |= {fault.code for fault in (*LATER.values(), *OUTSIDE.values())}
    assert set(CONCERNED.split()) <= raised <= CODES.keys()


def test_the_error_shows_its_line() -> None:
    query = "CONSTRUCT (x)-[:r]->(y)\nMATCH (x)-[:a]->(y)\nORDER BY x"
    assert error_of(query).render(query) == (
        "E-ORDER 3:1: ORDER: the result is unbounded, so it has no order and no limit; "
        "leave it out, and sort or cut the answers after the query\n"
        "  3 | ORDER BY x\n    | ^^^^^"
    )


# --- size -----------------------------------------------------------------------------

OR_ = " AND ".join(["((x)=(y) OR (x)-[:b]->())"] * 7)
HUGE = {
    "brackets": f"{C} {M} WHERE {'(' * 5_000}(x)=(y){')' * 5_000}",
    "negations": f"{C} {M} WHERE {'NOT ' * 5_000}(x)=(y)",
    "conditions": f"{C} {M} WHERE {'((x)=(y) AND ((x)=(y) OR ' * 999}(x)=(y){'))' * 999}",
    "sums": f"{C} MATCH (x)-[e:a]->(y) WHERE {'e.k + ' * 5_000} 1 < 3",
    "minus": f"{C} MATCH (x)-[e:a]->(y) WHERE {'- ' * 5_000} 1 < 3",
    "functions": f"{C} {M} WHERE {'abs(' * 5_000} 1 {')' * 5_000} < 3",
    "alternatives": f"{C} {M} WHERE {OR_}",
    "alternatives of MATCHes": f"{C} {M} WHERE {OR_[:55]} " + f"{M} WHERE {OR_[:55]} " * 5,
    "queries in ON": f"{C} {f'{M} ON ({C} ' * 600} {M} {')' * 600}",
    "OPTIONAL": f"{C} {M} " + "OPTIONAL (x)-[:b]->(z) " * 5_000,
    "macros": " ".join(
        [f"PATH m{i} = (x)-/<~m{i + 1}>/->(y)" for i in range(900)]
        + [f"PATH m900 = {M[6:]} {C} MATCH (x)-/<~m0>/->(y)"]
    ),
    "stars": f"{C} MATCH (x)-/<{'(' * 2_000}:a{'*)' * 2_000}>/->(y)",
    "steps": f"{C} MATCH (x)-/<{':a ' * 9_000}>/->(y)",
    "characters": f"{C} {M}" + " " * 200_000,
}


@pytest.mark.parametrize("name", HUGE)
def test_too_large_queries_are_refused(name: str) -> None:
    if name == "brackets":
        assert len(parse(HUGE[name], "gcore").rules) == 1
    else:
        assert error_of(HUGE[name]).code == "E-SIZE"


# --- any text -------------------------------------------------------------------------

SIGNS = "( ) [ ] { } - -> <- / < > : | * + ? ^ ! ~ _ , . .. = <> 1 'b' x y a ` \" @ // /* */"
WORDS = """
match optional where on window slide path construct select union graph view and or not as exists
shortest all (x)-[:a]->(y) (x)-[e:a]->(y) e.k >= abs( f.ts (x)-/p<:a*>/->(y)
"""
PIECES = [*SIGNS.split(), *WORDS.split()]


@given(st.lists(st.sampled_from(PIECES), max_size=25), st.text(max_size=3))
@example(["path", "a", "=", "(x)"], "")
@examples(150)
def test_any_text_is_a_query_or_refused_with_its_place(pieces: list[str], more: str) -> None:
    _check(" ".join(pieces) + more)


@given(st.sampled_from(sorted(EXAMPLES)), st.randoms(use_true_random=False))
@examples(150)
def test_a_damaged_query_is_a_query_or_refused_with_its_place(
    name: str, chance: random.Random
) -> None:
    text = EXAMPLES[name][0]
    for _ in range(chance.randint(1, 3)):
        at, until = sorted(chance.randrange(len(text)) for _ in range(2))
        until = min(until, at + chance.choice([0, 1, 5]))
        text = text[:at] + chance.choice(["", *PIECES]) + text[until:]
    _check(text)


def _check(text: str) -> None:
    error = _refusal(text)
    if error is None:
        assert tree(text) == tree(text)
        return
    assert error.code in CODES
    assert error.render(text)
    if error.line is None or error.column is None:
        assert error.code in {"E-SIZE", "E-SYNTAX"}
    else:
        assert 1 <= error.line <= len(text.splitlines()) + 1
        assert error.column >= 1


def _refusal(text: str) -> QueryError | None:
    try:
        parse(text, "gcore")
    except QueryError as error:
        return error
    return None
