"""RQ, the native language: Datalog with regular paths, as the thesis prints it.

In: text. Out: a `RegularQuery`. The grammar is in ``rq.lark``. :class:`_Builder` turns grammar
rules into values while the parser runs, so there is no parse tree and no recursion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lark import Token

from ...algebra import regex
from ...algebra.deadline import NO_DEADLINE, Deadline
from ...algebra.scalar import Literal
from ..parsing.emit import EmitText, Moment, with_emit
from ..parsing.lark_parser import Parser
from ..parsing.tokens import location_of, name_of, string, whole_number
from ..parsing.windows import WindowText
from ..query.answers import Column, named_columns
from ..query.atoms import (
    Constant,
    DerivedAtom,
    EdgeAtom,
    Location,
    PathAtom,
    Row,
    Term,
    Variable,
    VertexAtom,
    variables_of,
)
from ..query.checks import checked_query
from ..query.conditions import references, references_in, with_edge
from ..query.errors import QueryError
from ..query.regular_query import Comparison, Limit, RegularQuery, Rule
from ..query.returned_paths import with_path_columns
from .bodies import Body, Part, local_variables, parts_of
from .conditions import Conditions
from .limits import Limits
from .paths import Paths
from .rules import (
    ANONYMOUS,
    ANSWER,
    in_group,
    unnamed_row,
    with_aliases,
    with_derived_vertices,
    with_named_answer,
    with_named_parts,
    with_names_for_anonymous,
    with_numbered_groups,
)
from .shortest import Over, of_shortest
from .steps import MARK, Filter, Steps, finished, of_edge, step_of, with_names_for_edges
from .syntax_errors import explained
from .windows import ClauseText, windows_of


def parse(text: str, time_unit: str = "second", deadline: Deadline = NO_DEADLINE) -> RegularQuery:
    """Reads RQ text; windows with a unit are converted to ``time_unit``.

    Raises:
        QueryError: if the text is not RQ, or not a valid query.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    program: _Program = PARSER.parse(text, deadline)
    clauses, unit = windows_of(program.windows, time_unit)
    rules, answer = with_named_answer(program.rules)
    rules, parts = with_named_parts(with_derived_vertices(rules))
    rules = with_aliases(with_names_for_edges(rules))
    done = finished(rules, program.steps, time_unit)
    query = checked_query(
        done.rules,
        clauses,
        time_unit if done.has_unit else unit,
        program.warnings,
        label_sets=done.label_sets,
        leaves=done.leaves,
        generated=(*done.generated, *answer, *parts),
    )
    return with_emit(query, program.emit, time_unit)


def recognizes(text: str) -> bool:
    """Whether ``text`` looks like RQ: it has the arrow of a rule outside comments."""
    return re.search(r"<-|:-|←", re.sub(r"%[^\n]*", "", text)) is not None


@dataclass(frozen=True, slots=True)
class _Place:
    """A term and its token."""

    term: Term
    token: Token


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of the labels of an edge, as written."""

    inverse: bool
    written: tuple[Any, ...]
    at: Location


@dataclass(frozen=True, slots=True)
class _Program:
    """A parsed text.

    Attributes:
        rules: the rules.
        windows: the window clauses as written.
        warnings: the warnings.
        steps: the steps that are not single labels, by mark.
        emit: the EMIT clause, if any.
    """

    rules: tuple[Rule, ...]
    windows: tuple[ClauseText, ...]
    warnings: tuple[str, ...]
    steps: Steps
    emit: EmitText | None = None


class _Builder(Conditions, Limits, Paths):
    """One method for each grammar rule, which the parser calls when the rule is complete."""

    def start(self, parts: list[Any]) -> _Program:
        rules = [part for part in parts if isinstance(part, tuple)]
        return _Program(
            tuple(one for of_head, _ in rules for one in of_head),
            tuple(part for part in parts if isinstance(part, ClauseText)),
            tuple(warning for _, body in rules for warning in body.warnings),
            tuple(step for _, body in rules for step in body.steps),
            next((part for part in parts if isinstance(part, EmitText)), None),
        )

    def rule(self, parts: list[Any]) -> tuple[tuple[Rule, ...], Body]:
        """The rule, then those of its negated and optional parts."""
        (head, columns, at), *bodies = (part for part in parts if not isinstance(part, Limit))
        limit = next((part for part in parts if isinstance(part, Limit)), None)
        body = self.group(bodies)
        atoms = with_names_for_anonymous(body.atoms, local_variables(body))
        atoms = with_numbered_groups(atoms)
        columns = with_path_columns(columns, atoms, at)
        taken = [*variables_of(atoms), *(local_variables(body) if body.optional else ())]
        variables, properties = named_columns(columns, taken)
        read = [of for condition in body.conditions for of in references(condition)]
        read += [of for _, output in properties for of in references_in(output)]
        inner = parts_of(body, atoms, frozenset(), (*read, *map(Variable, variables)))
        rule = Rule(
            head, variables, atoms, at, body.conditions, properties,
            negated=inner.negated, optional=inner.optional, limit=limit,
        )  # fmt: skip
        return (rule, *inner.rules), body

    def named_head(self, parts: list[Any]) -> tuple[str, tuple[str | Column, ...], Location]:
        name, *columns = parts
        return name_of(name), tuple(map(_head_column, columns)), location_of(name)

    def answer_head(self, parts: list[Any]) -> tuple[str, tuple[str | Column, ...], Location]:
        return ANSWER, tuple(place.term.name for place in parts), location_of(parts[0].token)

    def nameless(self, parts: list[Token]) -> Token:
        return parts[0]

    def variable(self, parts: list[Token]) -> _Place:
        return _Place(Variable(parts[0].removeprefix("?")), parts[0])

    def term(self, parts: list[Token]) -> _Place:
        (token,) = parts
        match token.type:
            case "STRING":
                return _Place(Constant(string(token)), token)
            case "NUMBER":
                return _Place(Constant(whole_number(token)), token)
            case "ANY":
                return _Place(ANONYMOUS, token)
            case _:
                return _Place(Variable(token.removeprefix("?")), token)

    other_term = term

    def edge(self, parts: list[Any]) -> Body:
        terms = [part.term for part in parts if isinstance(part, _Place)]
        if isinstance(parts[0], _Choice):
            return self._edge_of_several(parts, terms)
        *written, last = (part for part in parts if not isinstance(part, _Place))
        closure = last if isinstance(last, Token) and last.type == "CLOSURE" else None
        written += [last] if closure is None else []
        at = location_of(written[0])
        if len(terms) != 2:
            return _derived(written, terms, closure)
        source, target = terms
        if closure is None:
            tests = [part for part in written if isinstance(part, Filter)]
            predicate, steps = step_of([part for part in written if part not in tests])
            return _tested(EdgeAtom.of(predicate, source, target, at), tests, steps)
        predicate, steps = step_of(written)
        repeat = regex.star if closure == "*" else regex.plus
        path = repeat(regex.Symbol(predicate))
        return Body((PathAtom(path, source, target, at),), steps=steps)

    def choice(self, parts: list[Any]) -> _Choice:
        inverse = parts[0].type == "CARET"
        written = tuple(parts[1:] if inverse else parts)
        return _Choice(inverse, written, location_of(parts[0]))

    def _edge_of_several(self, parts: list[Any], terms: list[Term]) -> Body:
        """``(a|^b)[amount > 5](x, y)``."""
        choices = [part for part in parts if isinstance(part, _Choice)]
        windows = [part for part in parts if isinstance(part, WindowText)]
        labels: dict[regex.Symbol, None] = {}
        steps: Steps = ()
        for one in choices:
            left_out = [part for part in one.written if isinstance(part, tuple)]
            written = [part for part in one.written if not isinstance(part, tuple)]
            label, own = step_of([*written, *windows], left_out)
            labels[regex.Symbol(label, one.inverse)] = None
            steps += own
        if len(terms) != 2:
            raise QueryError(
                "E-ARITY",
                f"an atom relates two vertices, this one has {len(terms)} terms",
                at=choices[0].at,
                hint="write (label|label)(source, target)",
            )
        source, target = terms
        atom = EdgeAtom(tuple(labels), source, target, choices[0].at)
        return _tested(atom, [part for part in parts if isinstance(part, Filter)], steps)

    def path(self, parts: list[Any]) -> Body:
        first, path, target = parts
        place = first if isinstance(first, _Place) else self.term([first])
        atom = PathAtom(path.regex, place.term, target.term, location_of(place.token))
        return Body((atom,), path.warnings, steps=path.leaves)

    def filter(self, parts: list[Comparison]) -> Filter:
        return Filter(tuple(parts))

    def own_window(self, parts: list[Token]) -> WindowText:
        return WindowText.of(parts)

    def vertex(self, parts: list[Any]) -> Body:
        label, place = parts
        return Body((VertexAtom(name_of(label), place.term, location_of(label)),))

    def edge_body(self, parts: list[Any]) -> Body:
        body: Body = parts[0]
        alias = parts[1:]
        if not alias:
            return body
        (atom,) = body.atoms
        if isinstance(atom, DerivedAtom):
            raise unnamed_row(atom)
        named = "edge" if isinstance(atom, Row) else "alias"
        tests = body.conditions
        if isinstance(atom, Row) and atom.edge is not None:
            tests = tuple(with_edge(test, atom.edge, alias[0]) for test in tests)
        return replace(body, atoms=(replace(atom, **{named: alias[0]}),), conditions=tests)

    path_body = edge_body

    def shortest(self, parts: list[Any]) -> Body:
        return of_shortest(parts)

    def over(self, parts: list[_Place]) -> Over:
        return Over(tuple(place.term for place in parts))

    def body(self, parts: list[Comparison]) -> Body:
        return Body((), (), tuple(parts))

    def alias(self, parts: list[Token]) -> str:
        return name_of(parts[0])

    def group(self, parts: list[Any]) -> Body:
        """Several bodies; before ``DIFFERENT EDGES`` their atoms are a group of this place."""
        different = [part.start_pos or 0 for part in parts if isinstance(part, Token)]
        parts = [part for part in parts if isinstance(part, Body)]
        atoms = tuple(atom for body in parts for atom in body.atoms)
        return Body(
            in_group(atoms, different[0]) if different else atoms,
            tuple(warning for body in parts for warning in body.warnings),
            tuple(condition for body in parts for condition in body.conditions),
            tuple(step for body in parts for step in body.steps),
            tuple(part for body in parts for part in body.negated),
            tuple(part for body in parts for part in body.optional),
        )

    def negated(self, parts: list[Any]) -> Body:
        sign, *rest = parts
        return self.negated_group([sign, self.edge_body(rest)])

    def negated_group(self, parts: list[Any]) -> Body:
        """A body of a negated part alone; its warnings and steps are those of the rule."""
        sign, *bodies = parts
        part = self.group(bodies)
        return Body((), part.warnings, (), part.steps, (Part(part, location_of(sign)),))

    def joined_part(self, parts: list[Any]) -> Body:
        sign, *rest = parts
        return self.joined_group([sign, self.edge_body(rest)])

    def joined_group(self, parts: list[Any]) -> Body:
        """A body of an optional part alone; its warnings and steps are those of the rule."""
        sign, *bodies = parts
        part = self.group(bodies)
        own = (Part(part, location_of(sign)),)
        return Body((), part.warnings, (), part.steps, optional=own)

    def emit(self, parts: list[Any]) -> EmitText:
        start = next((part for part in parts if isinstance(part, Moment)), None)
        return EmitText.of([part for part in parts if isinstance(part, Token)], start)

    def starting(self, parts: list[Token]) -> Moment:
        (token,) = parts
        return Moment(string(token) if token.type == "STRING" else str(token), location_of(token))

    def window(self, parts: list[Any]) -> ClauseText:
        on: tuple[Token | None, tuple[str, ...]] = (None, ())
        if isinstance(parts[0], tuple):
            on, *parts = parts
        return ClauseText(*on, WindowText.of(parts))

    def on(self, parts: list[Token]) -> tuple[Token, tuple[str, ...]]:
        stream, *labels = parts
        return stream, tuple(dict.fromkeys(map(name_of, labels)))

    def slide(self, parts: list[Token]) -> Token:
        return parts[0]


def _head_column(column: Column | Token) -> str | Column:
    if isinstance(column, Token):
        raise QueryError(
            "E-SAFE",
            "an anonymous variable is bound by nothing",
            at=location_of(column),
            text=str(column),
            hint="give it a name, and use that name in the body",
        )
    if column.name is None and isinstance(column.value, Literal):
        raise QueryError(
            "E-SYNTAX",
            "a constant in a head needs a name",
            at=column.at,
            text=column.text,
            hint="write 1 as one; to choose rows by a constant, put it into the body, "
            "in place of the variable",
        )
    if column.name is None and isinstance(column.value, Variable):
        return column.value.name
    return column


def _derived(written: list[Any], terms: list[Term], closure: Token | None) -> Body:
    """``predicate(x, y, z)``, of a predicate that does not have two columns."""
    at = location_of(written[0])
    if closure is not None or any(isinstance(part, Filter) for part in written):
        raise QueryError(
            "E-ARITY",
            f"a closure or an edge with properties relates two vertices, this one has "
            f"{len(terms)} terms",
            at=at,
            text=name_of(written[0]),
            hint="write label+(source, target), or label[amount > 5](source, target)",
        )
    predicate, steps = step_of(written)
    return Body((DerivedAtom(predicate, tuple(terms), at),), steps=steps)


def _tested(atom: EdgeAtom, tests: Sequence[Filter], steps: Steps) -> Body:
    """An edge whose tests in brackets become conditions of the rule.

    The edge has its place as a provisional name until the whole text is read.
    """
    if not tests:
        return Body((atom,), steps=steps)
    edge = f"{MARK}{atom.location}"
    conditions = tuple(of_edge(one, edge) for test in tests for one in test.comparisons)
    return Body((replace(atom, edge=edge),), conditions=conditions, steps=steps)


PARSER = Parser(Path(__file__).with_name("rq.lark"), _Builder, explained)
