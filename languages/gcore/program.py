"""What the statements of one text add to: rules, names, labels read, warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from algebra.regex import Symbol
from languages.conditions import edges_looked_at
from languages.errors import QueryError
from languages.gcore.names import Names, variables
from languages.gcore.sources import Reads
from languages.gcore.syntax import Name
from languages.label_sets import chosen
from languages.regular_query import Comparison, EdgeAtom, Location, Rule, Variable


@dataclass(frozen=True, slots=True)
class Choice:
    """An edge of several labels or directions; ``tests`` says of an edge what holds of it."""

    steps: tuple[Symbol, ...]
    tests: Callable[[str], list[Comparison]]
    at: Location


@dataclass(slots=True)
class Program:
    """``words`` are all that stand in the text; ``heads`` the names that the text defines."""

    words: frozenset[str]
    names: Names
    reads: Reads
    rules: list[Rule] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    heads: list[Name] = field(default_factory=list)
    choices: dict[str, Choice] = field(default_factory=dict)
    _defined: set[str] = field(default_factory=set)

    def add(self, rule: Rule) -> None:
        """Adds a rule; one for each choice where it looks at properties of an edge of several
        labels or directions, else the rules of a predicate for such an edge.

        Raises:
            QueryError: E-SIZE for too many choices.
        """
        looked_at = edges_looked_at(rule)
        body, tests = list(rule.body), list(rule.conditions)
        ways: dict[int, tuple[Symbol, ...]] = {}
        for number, atom in enumerate(body):
            choice = self.choices.get(atom.predicate) if isinstance(atom, EdgeAtom) else None
            if choice is None:
                continue
            assert isinstance(atom, EdgeAtom)
            if atom.edge is not None and atom.edge in looked_at:
                ways[number] = choice.steps
                tests += choice.tests(atom.edge)
            else:
                body[number] = replace(atom, edge=None)
                self._define(atom.predicate, choice)
        self.rules += chosen(replace(rule, body=tuple(body), conditions=tuple(tests)), ways)

    def _define(self, predicate: str, choice: Choice) -> None:
        if predicate in self._defined:
            return
        self._defined.add(predicate)
        tests = choice.tests("e")
        edge = EdgeAtom(predicate, Variable("x"), Variable("y"), choice.at, "e" if tests else None)
        whole = Rule(predicate, ("x", "y"), (edge,), choice.at, tuple(tests))
        self.rules += chosen(whole, {0: choice.steps})

    def variables(self) -> Iterator[str]:
        """Variables for the anonymous vertices of a rule."""
        return iter(variables(self.words))

    def check_names(self) -> None:
        """What is derived has another name than what is read.

        Raises:
            QueryError: E-EDB.
        """
        for name in self.heads:
            if name.text in self.reads.labels:
                raise QueryError(
                    "E-EDB",
                    "the query reads this label from a stream",
                    at=name.at,
                    text=name.text,
                    hint="what is derived needs a name of its own",
                )
