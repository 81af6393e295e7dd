"""The members of ``nodes(p)`` and ``relationships(p)``, and conditions of some or all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from . import errors
from .bodies import Body
from .functions import NULL
from .leaves import Quantifier
from .path_tests import is_of_nodes, path_of
from .scope import Edge, Node, Path, Value
from .syntax import Expression

Truth = TypeVar("Truth")


def on_path(body: Body, list_: Expression) -> Sequence[Node] | Sequence[Edge] | None:
    """The nodes or the relationships of a path, from its start on; None for another list.

    Raises:
        QueryError: E-SAFE for an unknown path, E-TYPE for a value that is not a path, E-LATER for a
            path whose members have no names.
    """
    path = path_of(list_)
    if path is None:
        return None
    outer = body.is_outer(path)
    bound = body.bound(path)
    if bound is None:
        raise errors.UNBOUND.error(path.at, path.text)
    if outer and body.around is not None:
        raise errors.OUTER_VALUE.error(path.at, path.text)
    if bound == Value(NULL):
        raise errors.OPTIONAL_PATH.error(path.at, path.text)
    if not isinstance(bound, Path):
        fault = errors.READ_BEHIND if isinstance(bound, Value) else errors.NO_PATH
        raise fault.error(path.at, path.text)
    if bound.steps is None:
        raise errors.READ_SHORTEST.error(path.at, path.text)
    if is_of_nodes(list_):
        return [Node(of, tuple(body.labels_of(of))) for of in bound.steps.nodes]
    return bound.steps.relationships


def of_members(
    quantifier: Quantifier,
    tests: Sequence[Truth],
    every: Callable[[Sequence[Truth]], Truth],
    some: Callable[[Sequence[Truth]], Truth],
    negated: Callable[[Truth], Truth],
) -> Truth:
    """Whether as many of the tests are true as a quantifier says, by the connectives of a logic."""
    match quantifier:
        case Quantifier.ALL:
            return every(tests)
        case Quantifier.ANY:
            return some(tests)
        case Quantifier.NONE:
            return every([negated(test) for test in tests])
        case Quantifier.SINGLE:
            return some(
                [
                    every([test if k == place else negated(test) for k, test in enumerate(tests)])
                    for place in range(len(tests))
                ]
            )
