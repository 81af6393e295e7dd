"""What the parts of one text share: rules, names, labels, windows and warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Final, TypeVar

from ...algebra.regex import Symbol
from ...algebra.window import Window
from ..parsing.windows import Length, WindowText
from ..query.atoms import (
    ANY_VERTEX_LABEL,
    Atom,
    DerivedAtom,
    EdgeAtom,
    Location,
    Variable,
    VertexAtom,
)
from ..query.condition_text import label_set_text
from ..query.errors import QueryError
from ..query.predicates import first_free
from ..query.regular_query import LabelSet, Leaf, Missing, Negated, Property, Rule
from .errors import NoRowsError
from .leaves import Name

MOST_ALTERNATIVES: Final = 64
"""The largest number of rules that stand for the clauses between two WITH."""
Built = TypeVar("Built")


@dataclass(slots=True)
class Program:
    """The combined result of a text.

    Attributes:
        words: all words of the text, which no generated name is.
        time_unit: the time unit of windows.
        stream: the stream of FROM STREAM, of which all types are; None for those of the catalog.
        rules: the rules so far.
        warnings: the warnings so far.
        generated: the names that are not words of the text.
        label_sets: the predicates of label sets.
        leaves: the labels under windows of their own, by predicate.
        created: the predicate of each type of relationships that the query constructs.
        of_nodes: the predicate of each property of nodes of any label.
        any_nodes: the predicate of all nodes, by the window of their relationships.
        has_unit: whether any window is written with a unit.
    """

    words: frozenset[str]
    time_unit: str
    stream: str | None = None
    rules: list[Rule] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    generated: set[str] = field(default_factory=set)
    label_sets: dict[str, LabelSet] = field(default_factory=dict)
    leaves: dict[str, Leaf] = field(default_factory=dict)
    created: dict[str, str] = field(default_factory=dict)
    of_nodes: dict[str, str] = field(default_factory=dict)
    any_nodes: dict[Window | None, str] = field(default_factory=dict)
    has_unit: bool = False
    _number: int = 0

    def fresh(self, base: str) -> str:
        """The first name of ``base``, ``base_2``, ... that is neither a word nor given already."""
        name = first_free(base, self.words | self.generated)
        self.generated.add(name)
        return name

    def variable(self) -> str:
        """A new variable for an anonymous node or relationship."""
        while True:
            self._number += 1
            if (name := f"_{self._number}") not in self.words:
                return name

    @contextmanager
    def part(self) -> Iterator[list[Rule]]:
        """The rules that are added meanwhile, also those that are there already."""
        before, self.rules = self.rules, []
        yield self.rules
        self.rules = [*before, *(rule for rule in self.rules if rule not in before)]

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Forgets what is added meanwhile."""
        before = {field.name: copy(getattr(self, field.name)) for field in fields(self)}
        yield
        for name, value in before.items():
            setattr(self, name, value)

    def add(self, rule: Rule, *, counted: bool = False) -> None:
        """Adds a rule, unless it is there already and nothing counts its bindings.

        The rules of the alternatives of a projection have its limit, which stands once.
        """
        limits = [known.limit for known in self.rules if known.head == rule.head]
        if rule.limit is not None and rule.limit in limits:
            rule = replace(rule, limit=None)
        if counted or rule not in self.rules:
            self.rules.append(rule)

    def property_of_nodes(self, name: str, at: Location) -> str:
        """The predicate of nodes of any label and the values that they have of a property."""
        if name not in self.of_nodes:
            self.of_nodes[name] = self.fresh(f"{name}_of")
        node, of = Variable("node"), Property("node", name, at)
        body, known = (VertexAtom(ANY_VERTEX_LABEL, node, at),), Negated(Missing(of))
        columns = ("node", "value")
        rule = Rule(self.of_nodes[name], columns, body, at, (known,), (("value", of),))
        self.add(rule)
        return rule.head

    def any_node(self, within: Window | None, at: Location) -> str:
        """The predicate of all nodes: those with a row of any label or with a relationship.

        ``within`` is the window of the relationships; None for that of the program.
        """
        if within not in self.any_nodes:
            head = self.any_nodes[within] = self.fresh("node")
            node, other = Variable("node"), Variable("other")
            steps = self.steps((), within, either=False)
            self.add(Rule(head, ("node",), (VertexAtom(ANY_VERTEX_LABEL, node, at),), at))
            for ends in ((node, other), (other, node)):
                self.add(Rule(head, ("node",), (EdgeAtom(steps, *ends, at),), at))
        return self.any_nodes[within]

    def length(self, written: Length) -> Window:
        """The window of a length, which slides by one tick.

        Raises:
            QueryError: E-WINDOW for an invalid length.
        """
        self.has_unit |= written.has_unit
        return WindowText(written, None).window(self.time_unit)

    def steps(
        self, types: tuple[Name, ...], within: Window | None, *, either: bool
    ) -> tuple[Symbol, ...]:
        """The labels of relationships of some types, or of any; ``either`` adds the inverses."""
        names = [self._own(self._label(of.text), within) for of in types]
        if not types:
            name = self._label_set(LabelSet(stream=self.stream))
            names = [self._own(name, within)]
        forward = tuple(Symbol(name) for name in dict.fromkeys(names))
        return (*forward, *(Symbol(s.ref, True) for s in forward)) if either else forward

    def _label(self, type_: str) -> str:
        if self.stream is None or "." in type_:
            return type_
        return f"{self.stream}.{type_}"

    def _label_set(self, labels: LabelSet) -> str:
        for name, known in self.label_sets.items():
            if known == labels:
                return name
        name = self.fresh(label_set_text(labels))
        self.label_sets[name] = labels
        return name

    def _own(self, label: str, window: Window | None) -> str:
        """The predicate of a label under a window of its own."""
        if window is None:
            return label
        for name, leaf in self.leaves.items():
            if leaf == Leaf(label, window):
                return name
        name = self.fresh(f"{label}[{window}]")
        self.leaves[name] = Leaf(label, window)
        return name


@dataclass(slots=True)
class Choices:
    """The alternatives taken in one translation of some clauses, in the order of the text."""

    _taken: list[tuple[int, int]] = field(default_factory=list)
    _place: int = 0

    def pick(self, several: int) -> int:
        """The number of the alternative to take of ``several``."""
        if several == 1:
            return 0
        if self._place == len(self._taken):
            self._taken.append((0, several))
        chosen, _ = self._taken[self._place]
        self._place += 1
        return chosen

    @property
    def are_several(self) -> bool:
        """Whether there are several combinations."""
        return bool(self._taken)

    def advance(self) -> bool:
        """Moves to the next combination; False after the last one."""
        self._place = 0
        while self._taken:
            chosen, several = self._taken.pop()
            if chosen + 1 < several:
                self._taken.append((chosen + 1, several))
                return True
        return False


def alternatives(build: Callable[[Choices], Built]) -> list[Built]:
    """The results of ``build`` for each combination of the choices that it makes, without those
    that give no rows.

    Raises:
        QueryError: E-SIZE for too many; the error of the last combination if none gives rows.
    """
    choices = Choices()
    results: list[Built] = []
    for _ in range(MOST_ALTERNATIVES):
        failure: NoRowsError | None = None
        try:
            results.append(build(choices))
        except NoRowsError as error:
            failure = error
        if not choices.advance():
            if failure is not None and not results:
                raise failure
            return results
    raise QueryError(
        "E-SIZE",
        f"OR, UNWIND and lengths of paths make more than {MOST_ALTERNATIVES} combinations",
        hint="split the query",
    )


def reading(predicate: str, variables: tuple[str, ...], at: Location) -> Atom:
    """The atom that reads the rows of a derived predicate."""
    terms = tuple(map(Variable, variables))
    if len(terms) == 2:
        return EdgeAtom.of(predicate, terms[0], terms[1], at)
    return DerivedAtom(predicate, terms, at)
