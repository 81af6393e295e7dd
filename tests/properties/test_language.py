"""The parser reads the query that the oracle wrote."""

from hypothesis import given

from headrace.languages import parse
from headrace.languages.query.atoms import Atom as ParsedAtom
from headrace.languages.query.atoms import Constant, EdgeAtom, PathAtom
from headrace.languages.query.atoms import Term as ParsedTerm
from headrace.languages.query.regular_query import RegularQuery
from headrace.languages.rq import printer
from tests.oracles.query import Atom, BodyAtom, Const, Query, Rule, Source, Term, Var, text
from tests.oracles.query import PathAtom as OraclePath
from tests.oracles.snapshot import Truth
from tests.properties.algebra import as_written
from tests.strategies.amount import examples
from tests.strategies.queries import Case, cases

X, Y = Var("x"), Var("y")


def _term(term: ParsedTerm) -> Term:
    return Const(term.value) if isinstance(term, Constant) else Var(term.name)


def _atom(atom: ParsedAtom) -> BodyAtom:
    source, target = map(_term, atom.terms)
    if isinstance(atom, PathAtom):
        return OraclePath(as_written(atom.regex), source, target)
    assert isinstance(atom, EdgeAtom)
    (label,) = atom.labels
    return Atom(str(label.ref), source, target)


def _read_back(parsed: RegularQuery, sources: tuple[tuple[str, Source], ...]) -> Query:
    """The oracle's form of what was parsed, with the windows that the product would use."""
    named = {
        atom.alias: Rule(atom.alias, ("x", "y"), (OraclePath(as_written(atom.regex), X, Y),))
        for rule in parsed.rules
        for atom in rule.body
        if isinstance(atom, PathAtom) and atom.alias
    }
    rules = (
        *named.values(),
        *(Rule(r.head, r.variables, tuple(map(_atom, r.body))) for r in parsed.rules),
    )
    windowed = []
    for label, source in sources:
        fitting = [
            clause
            for clause in parsed.windows
            if clause.stream in (None, source.stream) and label in (clause.labels or (label,))
        ]
        assert len(fitting) == 1, label
        window = fitting[0].window
        windowed.append((label, Source(source.stream, window.range, window.slide)))
    return Query(rules, tuple(windowed))


@given(case=cases())
@examples(150)
def test_the_query_read_means_the_query_written(case: Case) -> None:
    parsed = parse(text(case.query))
    assert parsed.answer == "Answer"
    query = _read_back(parsed, case.query.sources)
    assert query.sources == case.query.sources
    written, read = Truth(case.query, case.edges), Truth(query, case.edges)
    for instant in written.changes:
        assert read.at(instant) == written.at(instant), text(case.query)


@given(case=cases())
@examples(150)
def test_the_query_printed_reads_as_the_same_query(case: Case) -> None:
    parsed = parse(text(case.query))
    again = parse(printer.text(parsed))
    assert printer.text(again) == printer.text(parsed)
    query = _read_back(again, case.query.sources)
    written, read = Truth(case.query, case.edges), Truth(query, case.edges)
    for instant in written.changes[::5]:
        assert read.at(instant) == written.at(instant), printer.text(parsed)
