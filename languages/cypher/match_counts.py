"""``COUNT { pattern }``, and ``size([pattern | value])``: how many matches a pattern has for a row.

The count is a rule of its own, grouped by the nodes that the pattern shares with the row. The row
reads it as an optional part, and has 0 where no group is there.
"""

from __future__ import annotations

from collections.abc import Callable

from ...algebra import functions, scalar
from ..query import answers
from ..query import regular_query as rq
from ..query.atoms import Variable
from . import errors
from .blocks import Block
from .bodies import Body, Column
from .expression_text import expression_text
from .leaves import Name
from .program import Choices, alternatives, reading
from .syntax import Exists, Known, MatchCount


def count_of(body: Body, of: MatchCount, match_block: Callable[[Body, Block], None]) -> Known:
    """Lets a body read the number of matches; returns it.

    ``match_block`` adds the patterns and conditions of a block to a body.

    Raises:
        QueryError: E-LATER for patterns of which an alternative has no node that is bound outside.
    """
    block = Block.of_test(Exists(of.parts, of.condition, True, of.at))
    text = expression_text(of)

    def build(choices: Choices) -> Body:
        inside = body.inner(choices, counted=True)
        match_block(inside, block)
        return inside

    bodies = alternatives(build)
    shared = [frozenset(inside.shared()) for inside in bodies]
    if not shared[0] or any(names != shared[0] for names in shared):
        raise errors.LONE_COUNT.error(of.at, text)
    keys = tuple(sorted(shared[0]))
    head, name = body.program.fresh("matches"), body.new(Name("count", of.at))
    number = answers.aggregate("count", None, of.at, distinct=False, shown="COUNT")
    for inside in bodies:
        columns: list[Column] = [(key, Variable(key)) for key in keys]
        body.program.add(inside.rule(head, [*columns, (name, number)], of.at), counted=True)
    counted = body.inner(Choices(), counted=False)
    counted.outer.update(keys)
    counted.atoms.append(reading(head, (*keys, name), of.at))
    body.optional.append((counted, of.at))
    known = rq.Computed(functions.FIRST_NOT_NULL, (Variable(name), scalar.Literal(0)))
    return Known(known, name, of.at)
