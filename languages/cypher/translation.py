"""Translates the syntax tree to a Regular Query.

The clauses up to a projection that closes a rule become rules, one for each combination of
alternatives; the clauses after it read the head of these rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..parsing.emit import EmitText, Moment, with_emit
from ..query.atoms import Location
from ..query.checks import checked_query
from ..query.errors import line_of
from ..query.regular_query import RegularQuery, Rule, WindowClause
from . import errors
from .blocks import Block
from .bodies import Body
from .clauses import Match, Projection, Query, Single, Sorted, Unwind, With
from .conditions import hold, match_block
from .constructed import relationships
from .counted_paths import with_counted_lengths
from .distinct_rows import with_distinct
from .filtered_lists import without_filtered_lists
from .first_of_groups import first_of_groups, with_first_rows, with_order_columns
from .first_optional import with_first_match
from .leaves import Name
from .leaves import Variable as VariableText
from .limited_rows import with_limited_sets
from .lists import lists_taken_apart, without_lists
from .optional_matches import match_optionally, null_in
from .ordering import check_order, with_keys, without_order
from .path_tests import paths_read, paths_returned
from .program import Choices, Program, alternatives, reading
from .projections import Closed, are_apart, close, closes, computes, counts, is_aggregated, renamed
from .unwinding import unwind

_LATEST: Final = "latest"
_WORDS: Final = ("earliest", _LATEST)


def translated(query: Query, time_unit: str, words: frozenset[str]) -> RegularQuery:
    """The Regular Query of a syntax tree; ``words`` are all words of the text.

    Raises:
        QueryError: if the query is invalid, or not supported yet.
    """
    program = Program(words, time_unit)
    clauses: tuple[WindowClause, ...] = ()
    if query.source is not None:
        program.stream = query.source.stream.text
        if query.source.range is not None:
            at = query.source.range.at
            clauses = (WindowClause(program.length(query.source.range), location=at),)
    _warn_of_run(program, query)
    answer = program.fresh("Answer") if query.name is None else query.name
    _union(program, query, answer)
    checked = checked_query(
        tuple(program.rules),
        clauses,
        time_unit if program.has_unit else None,
        tuple(dict.fromkeys(program.warnings)),
        answer=answer,
        label_sets=tuple(program.label_sets.items()),
        leaves=tuple(program.leaves.items()),
        labels=tuple(program.created.items()),
        generated=program.generated,
    )
    return with_emit(checked, _emit(query), time_unit)


def _starts(query: Query) -> list[Name]:
    """The word or time of each STARTING."""
    places = (query.start, None if query.source is None else query.source.start)
    return [start for start in places if start is not None]


def _emit(query: Query) -> EmitText | None:
    """The EMIT clause from the time of STARTING on.

    Raises:
        QueryError: E-SYNTAX for two times, or one without EMIT.
    """
    times = [start for start in _starts(query) if start.text.lower() not in _WORDS]
    if not times:
        return query.emit
    start = times[-1]
    if len(times) > 1:
        raise errors.TWO_STARTS.error(start.at, start.text)
    if query.emit is None:
        raise errors.NO_REPORTS.error(start.at, start.text)
    return replace(query.emit, start=Moment(start.text, start.at))


def _warn_of_run(program: Program, query: Query) -> None:
    """Warns of what the settings of a run decide."""
    for start in _starts(query):
        if start.text.lower() == _LATEST:
            reason = "a run decides from where on it reads a stream"
            program.warnings.append(line_of("W-RUN", start.at, start.text, reason))
    if query.into is not None:
        reason = "a run decides where answers are written"
        hint = "name the target in the options of the run"
        program.warnings.append(line_of("W-RUN", query.into.at, query.into.text, reason, hint))


def _union(program: Program, query: Query, answer: str) -> None:
    """Adds the rules of the queries that UNION joins."""
    own = len(query.parts) > 1 and any(closes_by_itself(part.result) for part in query.parts)
    first: Closed | None = None
    rows: list[list[Rule]] = []
    for part in query.parts:
        head = program.fresh("part") if own else answer
        if part.created is not None:
            head = _created(program, part.created, answer)
        with program.part() as added:
            closed = _single(program, part, head)
        rows.append([rule for rule in added if rule.head == closed.head])
        if first is not None and closed.columns != first.columns:
            raise errors.OTHER_COLUMNS.error(part.result.at, "UNION")
        first = first or closed
        if own and part.created is None:
            names = closed.columns
            atom = reading(head, names, part.result.at)
            program.add(Rule(answer, names, (atom,), part.result.at))
    if query.union_all and not are_apart(rows):
        raise errors.UNION_ALL.error(query.union_all[0], "UNION ALL")


def _created(program: Program, type_: Name, answer: str) -> str:
    """The predicate of the relationships of a type; adds the rule of the answer that reads it."""
    if type_.text not in program.created:
        predicate = program.created[type_.text] = program.fresh(type_.text)
        program.add(relationships(answer, type_.text, predicate, type_.at))
    return program.created[type_.text]


def closes_by_itself(projection: Projection) -> bool:
    """Whether the rows of a query depend on all of its rows, and on no others."""
    return is_aggregated(projection) or projection.limit is not None


@dataclass(frozen=True, slots=True)
class Start:
    """The rows that the clauses after a WITH begin with.

    Attributes:
        predicate: the head of the rules of the WITH.
        closed: its columns.
        clause: the WITH, with its condition.
    """

    predicate: str
    closed: Closed
    clause: With

    def begin(self, body: Body) -> None:
        """Lets a body read the rows, under the condition of the WITH."""
        body.names.update(self.closed.columns)
        at = self.clause.projection.at
        if self.closed.columns:
            body.atoms.append(reading(self.predicate, self.closed.columns, at))
        body.scope.update(self.closed.scope)
        if self.clause.condition is not None:
            hold(body, self.clause.condition)


def _single(program: Program, single: Single, head: str) -> Closed:
    """Adds the rules of one query; its last ones have ``head``."""
    result = without_order(program, single.result)
    ignored = () if result.order else single.result.order
    single = with_counted_lengths(replace(single, result=result))
    single = with_first_rows(with_first_match(without_filtered_lists(single)))
    single = with_limited_sets(program, without_lists(single))
    start: Start | None = None
    pending: list[Match | With | Unwind] = []
    for place, clause in enumerate(single.clauses):
        if isinstance(clause, With) and closes(clause.projection):
            last = None if start is None else start.clause.projection
            projection = with_distinct(clause.projection, last, pending)
            for item in projection.items:
                if item.alias is None and not isinstance(item.value, VariableText):
                    raise errors.NO_ALIAS.error(item.value.at, item.text)
            name = program.fresh("with")
            later = single.clauses[place + 1 :]
            taken_apart = lists_taken_apart(projection, later, single.result)
            lists = {name: program.fresh("list") for name in taken_apart}
            closed = _segment(program, start, pending, projection, name, lists=lists)
            start, pending = Start(name, closed, clause), []
        else:
            pending.append(clause)
    return _segment(program, start, pending, single.result, head, lists=None, ignored=ignored)


def _segment(
    program: Program,
    start: Start | None,
    clauses: list[Match | With | Unwind],
    projection: Projection,
    head: str,
    *,
    lists: Mapping[str, str] | None,
    ignored: Sequence[Sorted] = (),
) -> Closed:
    """Adds the rules of the clauses between two projections that close rules.

    ``lists`` are as of :func:`close`; ``ignored`` is an order that chooses no rows.
    """
    visible, projection = projection, with_keys(program, projection)
    projection = with_order_columns(program, projection)
    is_ordered = len(projection.items) > len(visible.items) or projection.first is not None
    rows = program.fresh("ordered") if is_ordered else head
    inner = program.fresh("grouped") if computes(projection) else ""
    returned = paths_returned(clauses, projection)
    counted = counts(item for item in projection.items if item.name not in (lists or ()))
    read = paths_read(clauses, projection, counted=counted)

    def build(choices: Choices) -> Closed:
        body = Body(program, choices, counted)
        if start is not None:
            start.begin(body)
        for clause in clauses:
            _clause(body, clause, returned, read)
        check_order(body, projection, ignored)
        return close(body, projection, rows, inner, lists)

    closed = alternatives(build)[0]
    if projection.first is not None:
        names = [item.name for item in visible.items]
        return first_of_groups(program, closed, projection, names, head)
    keys = {item.name for item in projection.items[len(visible.items) :]}
    return _without_keys(program, closed, keys, head, projection.at) if keys else closed


def _without_keys(
    program: Program, closed: Closed, keys: set[str], head: str, at: Location
) -> Closed:
    """Adds the rule of the columns of a projection over its rows with the keys of their order."""
    names = tuple(name for name in closed.columns if name not in keys)
    scope = {name: of for name, of in closed.scope.items() if name not in keys}
    atom = reading(closed.head, closed.columns, at)
    program.add(Rule(head, names, (atom,), at))
    return replace(closed, columns=names, scope=scope)


def _clause(
    body: Body,
    clause: Match | With | Unwind,
    returned: frozenset[str],
    read: frozenset[str],
) -> None:
    """Adds a clause; ``returned`` and ``read`` are names of paths, as of a block."""
    if isinstance(clause, With):
        scope = renamed(body, clause.projection)
        body.scope.clear()
        body.scope.update(scope)
        if clause.condition is not None:
            hold(body, clause.condition)
        return
    if isinstance(clause, Unwind):
        unwind(body, clause)
        return
    block = Block.of(clause, body, returned, read)
    if clause.is_optional:
        match_optionally(body, block, clause.at)
    elif (name := null_in(body, block)) is not None:
        raise errors.OPTIONAL_NODE.without_rows(clause.at, name)
    else:
        match_block(body, block)
