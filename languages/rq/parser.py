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
from ..parsing.emit import EmitText, with_emit
from ..parsing.lark_parser import Parser
from ..parsing.paths import PathExpression, joined
from ..parsing.tokens import location_of, name_of, repeats, string, whole_number
from ..parsing.windows import WindowText
from ..query.answers import Column, named_columns
from ..query.checks import checked_query
from ..query.errors import QueryError
from ..query.regular_query import (
    Atom,
    Comparison,
    Condition,
    Constant,
    EdgeAtom,
    Location,
    PathAtom,
    RegularQuery,
    Row,
    Rule,
    Term,
    Variable,
    VertexAtom,
    variables_of,
)
from ..query.returned_paths import with_path_columns
from .conditions import Conditions
from .rules import ANONYMOUS, ANSWER, with_aliases, with_named_answer, with_names_for_anonymous
from .steps import MARK, Filter, Steps, finished, of_edge, step_of, with_edge, with_names_for_edges
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
    rules = with_aliases(with_names_for_edges(rules))
    done = finished(rules, program.steps, time_unit)
    query = checked_query(
        done.rules,
        clauses,
        time_unit if done.has_unit else unit,
        program.warnings,
        label_sets=done.label_sets,
        leaves=done.leaves,
        generated=(*done.generated, *answer),
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
class _Body:
    """Atoms with their warnings, conditions and steps."""

    atoms: tuple[Atom, ...]
    warnings: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    steps: Steps = ()


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


class _Builder(Conditions):
    """One method for each grammar rule, which the parser calls when the rule is complete."""

    def start(self, parts: list[Any]) -> _Program:
        rules = [part for part in parts if isinstance(part, tuple)]
        return _Program(
            tuple(rule for rule, _ in rules),
            tuple(part for part in parts if isinstance(part, ClauseText)),
            tuple(warning for _, body in rules for warning in body.warnings),
            tuple(step for _, body in rules for step in body.steps),
            next((part for part in parts if isinstance(part, EmitText)), None),
        )

    def rule(self, parts: list[Any]) -> tuple[Rule, _Body]:
        (head, columns, at), *bodies = parts
        body = self.group(bodies)
        atoms = with_names_for_anonymous(body.atoms)
        columns = with_path_columns(columns, atoms, at)
        variables, properties = named_columns(columns, variables_of(atoms))
        return Rule(head, variables, atoms, at, body.conditions, properties), body

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

    def edge(self, parts: list[Any]) -> _Body:
        terms = [part.term for part in parts if isinstance(part, _Place)]
        if isinstance(parts[0], _Choice):
            return self._edge_of_several(parts, terms)
        *written, last = (part for part in parts if not isinstance(part, _Place))
        closure = last if isinstance(last, Token) and last.type == "CLOSURE" else None
        written += [last] if closure is None else []
        at = location_of(written[0])
        if len(terms) != 2:
            raise QueryError(
                "E-ARITY",
                f"an atom relates two vertices, this one has {len(terms)} terms",
                at=at,
                text=name_of(written[0]),
                hint="write label(source, target), or label(vertex); only Answer may have other "
                "arities",
            )
        source, target = terms
        if closure is None:
            tests = [part for part in written if isinstance(part, Filter)]
            predicate, steps = step_of([part for part in written if part not in tests])
            return _tested(EdgeAtom.of(predicate, source, target, at), tests, steps)
        predicate, steps = step_of(written)
        repeat = regex.star if closure == "*" else regex.plus
        path = repeat(regex.Symbol(predicate))
        return _Body((PathAtom(path, source, target, at),), steps=steps)

    def choice(self, parts: list[Any]) -> _Choice:
        inverse = parts[0].type == "CARET"
        written = tuple(parts[1:] if inverse else parts)
        return _Choice(inverse, written, location_of(parts[0]))

    def _edge_of_several(self, parts: list[Any], terms: list[Term]) -> _Body:
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

    def path(self, parts: list[Any]) -> _Body:
        first, path, target = parts
        place = first if isinstance(first, _Place) else self.term([first])
        atom = PathAtom(path.regex, place.term, target.term, location_of(place.token))
        return _Body((atom,), path.warnings, steps=path.leaves)

    def filter(self, parts: list[Comparison]) -> Filter:
        return Filter(tuple(parts))

    def own_window(self, parts: list[Token]) -> WindowText:
        return WindowText.of(parts)

    def vertex(self, parts: list[Any]) -> _Body:
        label, place = parts
        return _Body((VertexAtom(name_of(label), place.term, location_of(label)),))

    def edge_body(self, parts: list[Any]) -> _Body:
        body: _Body = parts[0]
        alias = parts[1:]
        if not alias:
            return body
        (atom,) = body.atoms
        named = "edge" if isinstance(atom, Row) else "alias"
        tests = body.conditions
        if isinstance(atom, Row) and atom.edge is not None:
            tests = tuple(with_edge(test, atom.edge, alias[0]) for test in tests)
        return replace(body, atoms=(replace(atom, **{named: alias[0]}),), conditions=tests)

    path_body = edge_body

    def body(self, parts: list[Comparison]) -> _Body:
        return _Body((), (), tuple(parts))

    def alias(self, parts: list[Token]) -> str:
        return name_of(parts[0])

    def group(self, parts: list[_Body]) -> _Body:
        return _Body(
            tuple(atom for body in parts for atom in body.atoms),
            tuple(warning for body in parts for warning in body.warnings),
            tuple(condition for body in parts for condition in body.conditions),
            tuple(step for body in parts for step in body.steps),
        )

    def emit(self, parts: list[Token]) -> EmitText:
        return EmitText.of(parts)

    def label(self, parts: list[Any]) -> PathExpression:
        ref, steps = step_of(parts)
        at = location_of(parts[0])
        return PathExpression(regex.Symbol(ref), at, leaves=steps)

    wildcard = label

    def negation(self, parts: list[Any]) -> PathExpression:
        left_out = [part for part in parts if isinstance(part, tuple)]
        ref, steps = step_of([p for p in parts if not isinstance(p, tuple)], left_out)
        return PathExpression(regex.Symbol(ref), location_of(parts[0]), leaves=steps)

    def left_out(self, parts: list[Token]) -> tuple[bool, str]:
        return len(parts) > 1, name_of(parts[-1])

    def empty_word(self, parts: list[Token]) -> PathExpression:
        return PathExpression(regex.EPSILON)

    def alternation(self, parts: list[PathExpression]) -> PathExpression:
        return joined(regex.alternation, parts)

    def concatenation(self, parts: list[PathExpression]) -> PathExpression:
        return joined(regex.concat, parts)

    def star(self, parts: list[PathExpression]) -> PathExpression:
        return parts[0].apply(regex.star)

    def plus(self, parts: list[PathExpression]) -> PathExpression:
        return parts[0].apply(regex.plus)

    def optional(self, parts: list[PathExpression]) -> PathExpression:
        return parts[0].apply(regex.optional)

    def inverse(self, parts: list[PathExpression]) -> PathExpression:
        return parts[0].apply(regex.inverse)

    def exactly(self, parts: list[Any]) -> PathExpression:
        path, count = parts
        return _repeated(path, count, count)

    def at_least(self, parts: list[Any]) -> PathExpression:
        path, least = parts
        return _repeated(path, least, None)

    def at_most(self, parts: list[Any]) -> PathExpression:
        path, most = parts
        return _repeated(path, None, most)

    def between(self, parts: list[Any]) -> PathExpression:
        path, least, most = parts
        return _repeated(path, least, most)

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


def _tested(atom: EdgeAtom, tests: Sequence[Filter], steps: Steps) -> _Body:
    """An edge whose tests in brackets become conditions of the rule.

    The edge has its place as a provisional name until the whole text is read.
    """
    if not tests:
        return _Body((atom,), steps=steps)
    edge = f"{MARK}{atom.location}"
    conditions = tuple(of_edge(one, edge) for test in tests for one in test.comparisons)
    return _Body((replace(atom, edge=edge),), conditions=conditions, steps=steps)


def _repeated(path: PathExpression, least: Token | None, most: Token | None) -> PathExpression:
    first = least if least is not None else most
    assert first is not None
    bound = None if most is None else repeats(most)
    return path.repeat(0 if least is None else repeats(least), bound, location_of(first))


PARSER = Parser(Path(__file__).with_name("rq.lark"), _Builder, explained)
