"""From the syntax tree to a Regular Query.

Each statement becomes rules (`statement`); what it constructs is the answer, or, in ON, the
predicates that patterns read there.
"""

from __future__ import annotations

from languages.checks import checked
from languages.gcore.faults import LATER, Fault
from languages.gcore.heads import edges_of
from languages.gcore.names import Names
from languages.gcore.program import Program
from languages.gcore.sources import DerivedSource, Reads, Source
from languages.gcore.statement import Statement
from languages.gcore.syntax import Basic, Construct, Name, On, Query
from languages.regular_query import Location, RegularQuery
from languages.reports import with_emit

_NO_GRAPH = Fault("E-SYNTAX", "a table is no graph to match in", "write CONSTRUCT here")
_MIXED = Fault("E-SYNTAX", "a table and a graph have no union", "write CONSTRUCT or SELECT in both")


def translated(query: Query, time_unit: str, words: frozenset[str]) -> RegularQuery:
    """The rules and windows of a query; ``words`` are all that stand in its text.

    Raises:
        QueryError: if it cannot mean anything, or is not supported yet.
    """
    names = Names(words)
    program = Program(words, names, Reads(time_unit, names))
    answer = _Translation(program).answer(query)
    program.check_names()
    unit = time_unit if program.reads.has_unit else None
    warnings = tuple(dict.fromkeys(program.warnings))
    rules = checked(
        program.rules,
        program.reads.clauses(),
        unit,
        warnings,
        answer=answer,
        label_sets=tuple(program.reads.label_sets.items()),
    )
    return with_emit(rules, query.emit, time_unit)


class _Translation:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._derived: dict[Location, DerivedSource] = {}

    def answer(self, query: Query) -> str:
        """Adds the rules of the whole text; the predicate that is its answer."""
        statements = _statements(query)
        if any(isinstance(basic.head, Construct) for basic in statements):
            labels = _labels(statements, _MIXED)
            if len(labels) > 1:
                raise LATER["several labels"].error(labels[1].at, labels[1].text)
            (answer,) = self._construct(statements, labels).values()
            return answer
        answer = self._program.names.own("Answer")
        for basic in statements:
            Statement(self._program, basic, self._source).translate({"": answer})
        return answer

    def _construct(self, statements: list[Basic], labels: list[Name]) -> dict[str, str]:
        """Adds the rules of what constructs these labels; the predicate of each."""
        predicates = {label.text: self._program.names.own(label.text) for label in labels}
        own = [label for label in labels if predicates[label.text] == label.text]
        self._program.heads.extend(own)
        for basic in statements:
            Statement(self._program, basic, self._source).translate(predicates)
        return predicates

    def _source(self, on: On) -> Source:
        """Where ON says to look; a query there is translated once."""
        if isinstance(on.graph, Name):
            return self._program.reads.stream(on.graph, on.window)
        if on.window is not None:
            written = on.window.range
            raise LATER["window over a query"].error(written.at, written.text)
        if on.at not in self._derived:
            statements = _statements(on.graph)
            predicates = self._construct(statements, _labels(statements, _NO_GRAPH))
            self._derived[on.at] = DerivedSource(predicates)
        return self._derived[on.at]


def _statements(query: Query) -> list[Basic]:
    for part in query.parts:
        if isinstance(part, Name):
            raise LATER["named graph"].error(part.at, part.text)
    return [part for part in query.parts if isinstance(part, Basic)]


def _labels(statements: list[Basic], of_table: Fault) -> list[Name]:
    """The labels that statements construct edges of, each once."""
    found: dict[Name, None] = {}
    for basic in statements:
        if not isinstance(basic.head, Construct):
            raise of_table.error(basic.head.at, "SELECT")
        found.update((edge.label, None) for edge in edges_of(basic.head) if edge.label)
    return list(found)
