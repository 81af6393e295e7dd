"""Translates the syntax tree to a Regular Query.

Each statement becomes rules (`statement`). Their heads are the answer, or, for a query in ON, the
predicates that its patterns read.
"""

from __future__ import annotations

from ...algebra.scalar import Literal
from ...algebra.window import Window
from ..parsing.emit import with_emit
from ..query.atoms import EdgeAtom, Location, Variable
from ..query.checks import checked_query
from ..query.errors import QueryError, line_of
from ..query.regular_query import RegularQuery, Rule
from .errors import LATER, Fault
from .heads import edges_of
from .names import Names
from .program import Program
from .sources import DerivedSource, Reads, Source
from .statement import Statement
from .syntax import Basic, Construct, Name, On, Query

MOST_NESTED = 50
"""The deepest nesting of views."""
_NO_GRAPH = Fault(
    "E-SYNTAX", "MATCH needs a graph, and SELECT gives a table", "write CONSTRUCT here"
)
_MIXED = Fault(
    "E-SYNTAX", "a table and a graph cannot be joined by UNION", "write CONSTRUCT or SELECT in both"
)


def translated(
    query: Query, time_unit: str, words: frozenset[str], *, several: bool = False
) -> RegularQuery:
    """The Regular Query of a syntax tree; ``words`` are all words of the text.

    ``several``: the query may construct edges of several labels, as a view does.

    Raises:
        QueryError: if the query is invalid, or not supported yet.
    """
    names = Names(words)
    program = Program(words, names, Reads(time_unit, names))
    answer, labels = _Translation(program, query).answer()
    if len(labels) > 1 and not several:
        answer = _edges_of_all(program, labels)
    program.check_names()
    unit = time_unit if program.reads.has_unit else None
    warnings = tuple(dict.fromkeys(program.warnings))
    rules = checked_query(
        (*program.rules, *program.reads.rules),
        program.reads.clauses(),
        unit,
        warnings,
        answer=answer,
        label_sets=tuple(program.reads.label_sets.items()),
        leaves=tuple(program.reads.leaves.items()),
        labels=tuple(labels.items()),
        generated=names.generated,
    )
    return with_emit(rules, query.emit, time_unit)


def _edges_of_all(program: Program, labels: dict[str, str]) -> str:
    """The predicate of the edges of several labels, each of which has its own predicate."""
    answer = program.names.fresh("Answer")
    ends = Variable("src"), Variable("trg")
    for label, predicate in labels.items():
        at = next(rule.location for rule in program.rules if rule.head == predicate)
        atom = EdgeAtom.of(predicate, *ends, at)
        columns = ("src", "label", "trg")
        properties = (("label", Literal(label)),)
        program.rules.append(Rule(answer, columns, (atom,), at, properties=properties))
    return answer


class _Translation:
    def __init__(self, program: Program, query: Query) -> None:
        self._program = program
        self._query = query
        self._derived: dict[Location, DerivedSource] = {}
        self._views: dict[str, Query] = {}
        self._open: list[str] = []
        self._used: set[str] = set()
        self._windowed: dict[tuple[int, Window | None], DerivedSource] = {}
        for view in (*query.views, query):
            if view.view is None:
                continue
            if view.view.text in self._views:
                raise QueryError(
                    "E-EDB",
                    "there is a GRAPH VIEW of this name already",
                    at=view.view.at,
                    text=view.view.text,
                    hint="give one of them another name",
                )
            self._views[view.view.text] = view

    def answer(self) -> tuple[str, dict[str, str]]:
        """Adds the rules of the whole text; returns the predicate of the answer, and the
        predicates of all constructed labels."""
        query = self._query
        if query.view is not None:
            self._open.append(query.view.text)
        predicates = self._graph(query, _MIXED) if _constructs(query) else {}
        answer = next(iter(predicates.values()), "")
        if not predicates:
            answer = self._program.names.fresh("Answer")
            for basic in query.parts:
                if isinstance(basic, Name):
                    raise _MIXED.error(basic.at, basic.text)
                Statement(self._program, basic, self._source).translate({"": answer})
        for name in self._views.keys() - self._used - {query.view.text if query.view else ""}:
            at, reason = self._views[name].view, "no query reads this view"
            assert at is not None
            self._program.warnings.append(line_of("W-UNUSED", at.at, name, reason))
        return answer, predicates

    def _graph(self, query: Query, of_table: Fault) -> dict[str, str]:
        """Adds the rules of a query that constructs edges; returns the predicate of each label."""
        statements = [part for part in query.parts if isinstance(part, Basic)]
        graphs = [(part, self._named(part)) for part in query.parts if isinstance(part, Name)]
        labels = _labels(statements, of_table)
        named = {label.text: label for label in labels}
        for name, graph in graphs:
            for label in graph.predicates:
                named.setdefault(label, Name(label, name.at))
        predicates = {label: self._program.names.own(label) for label in named}
        own = [name for label, name in named.items() if predicates[label] == label]
        self._program.heads.extend(own)
        for basic in statements:
            Statement(self._program, basic, self._source).translate(predicates)
        for name, graph in graphs:
            for label, predicate in graph.predicates.items():
                self._program.rules.append(Rule.renaming(predicates[label], predicate, name.at))
        return predicates

    def _named(self, name: Name) -> DerivedSource:
        """The source of a named graph in the answer."""
        if name.text not in self._views:
            raise LATER["named graph"].error(name.at, name.text)
        return self._view(name)

    def _view(self, name: Name) -> DerivedSource:
        """The edges that a view constructs; translates the view on first use."""
        self._used.add(name.text)
        view = self._views[name.text]
        assert view.view is not None
        if name.text in self._open:
            circle = [*self._open[self._open.index(name.text) :], name.text]
            raise QueryError(
                "E-REC",
                f"the view {name.text} depends on itself: {' <- '.join(circle)}",
                at=name.at,
                text=name.text,
                hint="repetition is written as a path, as -/<:likes+>/->",
            )
        if len(self._open) >= MOST_NESTED:
            raise QueryError(
                "E-SIZE",
                f"views are nested more than {MOST_NESTED} deep",
                at=name.at,
                text=name.text,
            )
        if view.view.at not in self._derived:
            self._open.append(name.text)
            self._derived[view.view.at] = DerivedSource(self._graph(view, _NO_GRAPH))
            self._open.pop()
        return self._derived[view.view.at]

    def _source(self, on: On) -> Source:
        """The source of an ON; translates a query in ON on first use."""
        if isinstance(on.graph, Name) and on.graph.text not in self._views:
            return self._program.reads.stream(on.graph, on.window)
        if isinstance(on.graph, Name):
            derived = self._view(on.graph)
        else:
            if on.at not in self._derived:
                self._derived[on.at] = DerivedSource(self._graph(on.graph, _NO_GRAPH))
            derived = self._derived[on.at]
        window = self._program.reads.window(on.window)
        key = (id(derived), window)
        if key not in self._windowed:
            same = derived if window is None else DerivedSource(derived.predicates, window)
            self._windowed[key] = same
        return self._windowed[key]


def _constructs(query: Query) -> bool:
    """Whether a query, or any part of it, constructs edges."""
    return any(isinstance(part, Basic) and isinstance(part.head, Construct) for part in query.parts)


def _labels(statements: list[Basic], of_table: Fault) -> list[Name]:
    """The labels of the constructed edges of statements, without repeats."""
    labels: dict[Name, None] = {}
    for basic in statements:
        if not isinstance(basic.head, Construct):
            raise of_table.error(basic.head.at, "SELECT")
        labels.update((edge.label, None) for edge in edges_of(basic.head) if edge.label)
    return list(labels)
