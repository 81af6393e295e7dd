"""Columns of derived predicates that hold shortest paths or lists: rules only hand them on.

A path is a text of its steps or vertices, and a list one of its values. Rules may return such a
column, or use it as a key beside aggregates. They neither compare it nor join by it, nor compute
with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...algebra import functions
from ...algebra.aggregates import COLLECTING
from .atoms import Atom, Location, Variable, variables_of
from .conditions import references, references_in
from .errors import QueryError
from .predicates import aliases, parts_by, predicates
from .regular_query import Aggregated, Computed, Output, Rule, Witnessed
from .shortest_paths import lists, shortest_paths
from .value_columns import reads_columns


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a column holds.

    Attributes:
        noun: the word for people.
        code: the code of the errors of other uses.
        hint: the advice of these errors.
    """

    noun: str
    code: str
    hint: str

    def error(self, reason: str, at: Location, text: str) -> QueryError:
        """The error of another use."""
        return QueryError(self.code, reason, at=at, text=text, hint=self.hint)


_PATH: Final = _Kind(
    "path",
    "E-PATHVAR",
    "let the heads hand the path on to the answer, and let the rule of the path give its length "
    "too, as length(p) as steps",
)
_LIST: Final = _Kind(
    "list",
    "E-AGG",
    "let the heads hand the list on to the answer, and let the rule of the list give other "
    "aggregates too, as count(v) as n",
)
_Kinds = Mapping[int, _Kind]
"""The kinds of the columns of a head that hold paths or lists, by their positions."""


def check_paths_and_lists(rules: Sequence[Rule], order: Sequence[str]) -> None:
    """Checks that rules hand on the shortest paths and lists that other rules return.

    No path or alternative of labels reads a predicate with values (:mod:`.value_columns`).

    Args:
        rules: the rules.
        order: all predicates, each after its dependencies.

    Raises:
        QueryError: E-PATHVAR for any other use of a path, E-AGG for one of a list.
    """
    known: dict[str, _Kinds] = {}
    named, parts = aliases(rules), parts_by(rules)
    for head in order:
        if head in named:
            known[head] = _kinds_of(named[head], known)
        for rule in (rule for rule in rules if rule.head == head):
            kinds = _kinds(rule, known)
            if kinds and head in parts:
                kind = next(iter(kinds.values()))
                reason = f"a `not` or an optional part has a {kind.noun} as a column"
                raise kind.error(reason, rule.location, head)
            others = known.setdefault(head, kinds)
            if others != kinds:
                kind = next(iter((*kinds.values(), *others.values())))
                is_one = f"a column is a {kind.noun} in one rule of this head"
                reason = f"{is_one} and no {kind.noun} in another one"
                raise kind.error(reason, rule.location, head)


def _kinds(rule: Rule, known: Mapping[str, _Kinds]) -> _Kinds:
    """The columns of a rule that hold paths or lists, over predicates with such columns."""
    read = {name: kind for atom in rule.body for name, kind in _read(atom, known)}
    _check_body(rule, read)
    values = dict(rule.properties)
    outputs = [(name, values.get(name, Variable(name))) for name in rule.variables]
    kinds = {
        position: kind
        for position, (name, output) in enumerate(outputs)
        if (kind := _kind(rule, name, output, read)) is not None
    }
    if rule.limit is not None:
        listed = {rule.variables[position] for position, kind in kinds.items() if kind is _LIST}
        for name, _ in rule.limit.order:
            if name in listed:
                raise _LIST.error("a list is not compared", rule.limit.location, name)
    return kinds


def _check_body(rule: Rule, read: Mapping[str, _Kind]) -> None:
    """Checks that no join and no condition reads the variables that are paths or lists."""
    counts = Counter(variables_of(rule.body))
    inside = {name for negation in rule.negated for name in negation.variables}
    inside |= {of.name for part in rule.optional for of in part.columns if isinstance(of, Variable)}
    for name, kind in sorted(read.items()):
        if counts[name] > 1 or name in inside:
            raise kind.error(f"a join by a {kind.noun} is not supported", rule.location, name)
    for condition in rule.conditions:
        for of in references(condition):
            if isinstance(of, Variable) and of.name in read:
                kind = read[of.name]
                raise kind.error(f"a {kind.noun} is not compared", rule.location, of.name)


def _kind(rule: Rule, name: str, output: Output, read: Mapping[str, _Kind]) -> _Kind | None:
    """What a column holds, if it is a path or a list."""
    match output:
        case Witnessed(path):
            return _PATH if path in shortest_paths(rule.body) else None
        case Variable(variable):
            return read.get(variable)
        case Computed(functions.LIST_OF | functions.LIST_WHERE):
            return _PATH
        case Computed(functions.NESTED, (Computed(),)):
            return _PATH
        case Computed(functions.NESTED, (Variable(variable),)):
            return read.get(variable)
    for part in references_in(output):
        if isinstance(part, Variable) and part.name in read:
            kind = read[part.name]
            raise kind.error(f"a column computes with a {kind.noun}", rule.location, name)
    if isinstance(output, Aggregated) and output.function in COLLECTING:
        return _LIST
    return _PATH if name in lists(rule) else None


def _read(atom: Atom, known: Mapping[str, _Kinds]) -> Iterator[tuple[str, _Kind]]:
    """The variables of an atom that are paths or lists."""
    for position, kind in _kinds_of(atom, known).items():
        term = atom.terms[position]
        if not isinstance(term, Variable):
            raise kind.error(f"a {kind.noun} is not compared", atom.location, predicates(atom)[0])
        yield term.name, kind


def _kinds_of(atom: Atom, known: Mapping[str, _Kinds]) -> _Kinds:
    """The terms of an atom that are paths or lists."""
    return known.get(predicates(atom)[0], {}) if reads_columns(atom) else {}
