"""Columns of derived predicates that hold shortest paths: rules only hand them on.

A path is a text of its steps or vertices. Rules may return it, or use it as a key beside
aggregates. They neither compare a path nor join by it, nor compute with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from .atoms import Atom, Location, Variable, variables_of
from .conditions import references, references_in
from .errors import QueryError
from .predicates import aliases, parts_by, predicates
from .regular_query import Rule, Witnessed
from .shortest_paths import lists, shortest_paths
from .value_columns import reads_columns

Positions = frozenset[int]
"""The positions of the columns of a head that hold paths."""
NONE: Final[Positions] = frozenset()


def check_paths_handed_on(rules: Sequence[Rule], order: Sequence[str]) -> None:
    """Checks that rules hand on the shortest paths that other rules return.

    No path or alternative of labels reads a predicate with values (:mod:`.value_columns`).

    Args:
        rules: the rules.
        order: all predicates, each after its dependencies.

    Raises:
        QueryError: E-PATHVAR for any other use of a path.
    """
    paths: dict[str, Positions] = {}
    named, parts = aliases(rules), parts_by(rules)
    for head in order:
        if head in named:
            paths[head] = _positions_of(named[head], paths)
        for rule in (rule for rule in rules if rule.head == head):
            positions = _positions(rule, paths)
            if positions and head in parts:
                at = rule.location
                raise _error("a `not` or an optional part has a path as a column", at, head)
            if paths.setdefault(head, positions) != positions:
                reason = "a column is a path in one rule of this head and no path in another one"
                raise _error(reason, rule.location, head)


def _positions(rule: Rule, paths: Mapping[str, Positions]) -> Positions:
    """The columns of a rule that hold paths, over predicates with such columns."""
    read = set[str]()
    for atom in rule.body:
        read |= set(_paths_read(atom, paths))
    counts = Counter(variables_of(rule.body))
    inside = {name for negation in rule.negated for name in negation.variables}
    inside |= {of.name for part in rule.optional for of in part.columns if isinstance(of, Variable)}
    for name in sorted(read):
        if counts[name] > 1 or name in inside:
            raise _error("a join by a path is not supported", rule.location, name)
    for condition in rule.conditions:
        for of in references(condition):
            if isinstance(of, Variable) and of.name in read:
                raise _error("a path is not compared", rule.location, of.name)
    made, values = lists(rule), dict(rule.properties)
    own = shortest_paths(rule.body)
    positions = set[int]()
    for position, name in enumerate(rule.variables):
        output = values.get(name, Variable(name))
        match output:
            case Witnessed(path):
                is_path = path in own
            case Variable(variable):
                is_path = variable in read
            case _:
                is_path = name in made
                parts = references_in(output)
                if any(isinstance(part, Variable) and part.name in read for part in parts):
                    raise _error("a column computes with a path", rule.location, name)
        if is_path:
            positions.add(position)
    return frozenset(positions)


def _paths_read(atom: Atom, paths: Mapping[str, Positions]) -> Iterator[str]:
    """The variables of an atom that are paths."""
    for position in _positions_of(atom, paths):
        term = atom.terms[position]
        if not isinstance(term, Variable):
            raise _error("a path is not compared", atom.location, predicates(atom)[0])
        yield term.name


def _positions_of(atom: Atom, paths: Mapping[str, Positions]) -> Positions:
    """The terms of an atom that are paths."""
    return paths.get(predicates(atom)[0], NONE) if reads_columns(atom) else NONE


def _error(reason: str, at: Location, text: str) -> QueryError:
    return QueryError(
        "E-PATHVAR",
        reason,
        at=at,
        text=text,
        hint="let the heads hand the path on to the answer, and let the rule of the path give its "
        "length too, as length(p) as steps",
    )
