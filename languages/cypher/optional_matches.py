"""OPTIONAL MATCH: an optional part of a rule, or alternatives.

The pattern is an optional part if one rule has all of its matches. Otherwise, as for a path of
several lengths that an aggregate counts, the alternatives are those of MATCH, and one without a
match, in which the new variables are null. No two alternatives have a row in common, but for
matches that a MATCH has in several alternatives as well.
"""

from __future__ import annotations

from dataclasses import replace

from ..query.atoms import Location
from . import errors
from .blocks import Block
from .bodies import Body, optional_scope
from .conditions import match_block, require_match
from .functions import NULL
from .leaves import Name
from .program import Choices
from .scope import Value
from .walking import variables_of_patterns


def match_optionally(body: Body, block: Block, at: Location) -> None:
    """Adds the patterns of an OPTIONAL MATCH to a body.

    Raises:
        QueryError: E-LATER for a first clause, and for patterns without a node that is bound.
    """
    body.bind_nodes()
    if not body.atoms:
        raise errors.FIRST_OPTIONAL.error(at, "OPTIONAL MATCH")
    for part in block.parts:
        if part.variable is not None and part.variable.text in block.returned:
            raise errors.OPTIONAL_PATH.error(part.variable.at, part.variable.text)
    block = replace(block, returned=frozenset())
    names = variables_of_patterns(block.parts)
    new = {name for name in names if body.bound(Name(name, at)) is None}
    if names == new:
        raise errors.LONE_OPTIONAL.error(at, "OPTIONAL MATCH")
    if null_in(body, block) is not None:
        _without_match(body, new)
    elif not _reads_paths(block) and not _has_alternatives(body, block, at):
        inside = _matched(body, block, at, Choices())
        body.optional.append((inside, at))
        body.scope.update(optional_scope(inside))
    elif body.pick(2) == 0:
        require_match(body, block, at, "OPTIONAL MATCH", positive=False)
        _without_match(body, new)
    else:
        match_block(body, block)


def null_in(body: Body, block: Block) -> str | None:
    """A variable of patterns that is null, so that they have no match; None without one."""
    names = sorted(variables_of_patterns(block.parts))
    return next((name for name in names if body.scope.get(name) == Value(NULL)), None)


def _without_match(body: Body, new: set[str]) -> None:
    """Binds variables to null."""
    body.scope.update(dict.fromkeys(sorted(new), Value(NULL)))


def _reads_paths(block: Block) -> bool:
    """Whether the query reads what is on a path, or its length; a shortest path is for that."""
    names = {part.variable.text for part in block.parts if part.variable is not None}
    is_read = not names.isdisjoint(block.read)
    return is_read or any(part.shortest is not None for part in block.parts)


def _has_alternatives(body: Body, block: Block, at: Location) -> bool:
    """Whether several rules have the matches of an OPTIONAL MATCH."""
    choices = Choices()
    with body.program.trial():
        _matched(replace(body, names={*body.names}), block, at, choices)
    return choices.are_several


def _matched(body: Body, block: Block, at: Location, choices: Choices) -> Body:
    """The body of an OPTIONAL MATCH."""
    inside = body.inner(choices, counted=body.counted, is_optional=True)
    match_block(inside, block)
    inside.bind_nodes()
    if not choices.are_several and not inside.shared():
        raise errors.LONE_OPTIONAL.error(at, "OPTIONAL MATCH")
    return inside
