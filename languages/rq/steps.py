"""Steps of RQ that are not single labels: label sets, windowed labels, and filtered edges.

During parsing, a step has a *mark* as its name, which cannot be a label. After parsing, a label set
and a windowed label (``a[WINDOW 5]``) get names in the query. In a path, a filtered label
(``a[amount > 5]``) becomes a rule. In an edge ``a[amount > 5](x, y)``, the tests become conditions
of the rule, and the edge gets a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from lark import Token

from ...algebra.window import Window
from ..parsing.tokens import location_of, name_of
from ..parsing.windows import WindowText
from ..query.atoms import EdgeAtom, Location, Variable, variables_of
from ..query.condition_text import condition_text, label_set_text, name_text, value_text
from ..query.conditions import named_edges, with_edge
from ..query.errors import QueryError
from ..query.predicates import derived_by, first_free, read_by, with_predicates
from ..query.regular_query import (
    Comparison,
    Computed,
    LabelSet,
    Leaf,
    Property,
    Rule,
    Value,
)

MARK = "\n"
"""The first character of a mark; no label, edge or variable has it."""
_EDGE = "e"
_X, _Y = Variable("x"), Variable("y")


@dataclass(frozen=True, slots=True)
class Filtered:
    """The edges of a label or label set that satisfy conditions over edge ``e``."""

    label: str
    conditions: tuple[Comparison, ...]
    at: Location


@dataclass(frozen=True, slots=True)
class Windowed:
    """The edges of a label, label set or predicate, under a window of their own."""

    label: str
    window: WindowText
    at: Location


Step = LabelSet | Windowed | Filtered
Steps = tuple[tuple[str, Step], ...]
"""Pairs of mark and step."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The comparisons of a parsed ``[amount > 5]``."""

    comparisons: tuple[Comparison, ...]


def step_of(
    parts: Sequence[Token | WindowText | Filter], left_out: Iterable[tuple[bool, str]] = ()
) -> tuple[str, Steps]:
    """The label or mark of ``a``, ``_``, ``tx._`` or ``!``, with windows and filters after it.

    Returns the label, or the mark of the last step, and the steps.
    ``left_out`` are the labels after ``!``, each with whether its edges are walked backwards.
    """
    tokens = [part for part in parts if isinstance(part, Token)]
    steps: list[tuple[str, Step]] = []
    if tokens[-1].type in ("ANY", "BANG"):
        labels = _label_set(tokens, tuple(left_out))
        shown = label_set_text(labels)
        ref = MARK + shown
        steps.append((ref, labels))
    else:
        ref = name_of(tokens[-1])
        shown = name_text(ref)
    for part in parts:
        if isinstance(part, WindowText):
            shown += f"[{part}]"
            steps.append((MARK + shown, Windowed(ref, part, location_of(tokens[0]))))
            ref = MARK + shown
        if isinstance(part, Filter):
            inside = tuple(of_edge(one, _EDGE) for one in part.comparisons)
            text = f"{shown}[{' and '.join(map(condition_text, part.comparisons))}]"
            steps.append((MARK + text, Filtered(ref, inside, location_of(tokens[0]))))
            ref = MARK + text
    return ref, tuple(steps)


@dataclass(frozen=True, slots=True)
class Finished:
    """The rules with names in place of marks.

    Attributes:
        rules: the rules.
        label_sets: the label sets by name.
        leaves: the windowed labels by name.
        has_unit: whether any of their windows is written with a unit.
        generated: the generated names.
    """

    rules: tuple[Rule, ...]
    label_sets: tuple[tuple[str, LabelSet], ...] = ()
    leaves: tuple[tuple[str, Leaf], ...] = ()
    has_unit: bool = False
    generated: frozenset[str] = frozenset()


def finished(rules: Sequence[Rule], steps: Steps, time_unit: str) -> Finished:
    """Replaces marks by names; windows with a unit are converted to ``time_unit``.

    Raises:
        QueryError: E-WINDOW for an invalid window.
    """
    by_mark = dict(steps)
    if not by_mark:
        return Finished(tuple(rules))
    naming = _Naming(rules, by_mark, time_unit)
    for rule in naming.read:
        naming.rules.append(with_predicates(rule, naming.name))
    return Finished(
        tuple(naming.rules),
        tuple(naming.label_sets.items()),
        tuple(naming.leaves.items()),
        naming.has_unit,
        frozenset(naming.generated),
    )


class _Naming:
    """Assigns a name to each mark."""

    def __init__(self, read: Sequence[Rule], steps: Mapping[str, Step], time_unit: str) -> None:
        self.read = read
        self.rules: list[Rule] = []
        self.label_sets: dict[str, LabelSet] = {}
        self.leaves: dict[str, Leaf] = {}
        self.has_unit = False
        self._steps = steps
        self._time_unit = time_unit
        self.generated: set[str] = set()
        self._derived = derived_by(read)
        self._columns = {rule.head: len(rule.variables) for rule in read}
        self._taken = read_by(read) | self._derived
        self._names: dict[str, str] = {}
        self._windowed: dict[tuple[str, Window], str] = {}

    def name(self, mark: str) -> str:
        """The name of a mark; a label is its own name."""
        step = self._steps.get(mark)
        if step is None:
            return mark
        if mark not in self._names:
            self._names[mark] = self._named(mark.removeprefix(MARK), step)
        return self._names[mark]

    def _named(self, text: str, step: Step) -> str:
        match step:
            case LabelSet():
                name = self._free(text)
                self.label_sets[name] = step
            case Filtered(label, conditions, at):
                edge = first_free(_EDGE, {*self._taken, "x", "y"})
                atom = EdgeAtom.of(self.name(label), _X, _Y, at, edge)
                tests = tuple(with_edge(one, _EDGE, edge) for one in conditions)
                name = self._free(text)
                self.rules.append(Rule(name, ("x", "y"), (atom,), at, tests, is_step=True))
            case Windowed(label, written, at):
                self.has_unit |= written.has_unit
                name = self._of_window(self.name(label), written.window(self._time_unit), at)
        return name

    def _of_window(self, base: str, window: Window, at: Location) -> str:
        if (base, window) not in self._windowed:
            name = self._windowed[base, window] = self._free(f"{base}[{window}]")
            if base in self._derived:
                columns = self._columns.get(base, 2)
                self.rules.append(Rule.renaming(name, base, at, window, columns))
            else:
                self.leaves[name] = Leaf(base, window)
        return self._windowed[base, window]

    def _free(self, name: str) -> str:
        name = first_free(name, self._taken)
        self._taken.add(name)
        self.generated.add(name)
        return name


def _label_set(tokens: Sequence[Token], left_out: tuple[tuple[bool, str], ...]) -> LabelSet:
    stream = None
    if tokens[0].type == "STREAM":
        stream = tokens[0].removesuffix(".")
        stream = stream[1:-1].replace("``", "`") if stream.startswith("`") else stream
    if not left_out:
        return LabelSet(stream=stream)
    forward = tuple(dict.fromkeys(name for inverse, name in left_out if not inverse))
    backward = tuple(dict.fromkeys(name for inverse, name in left_out if inverse))
    return LabelSet(forward or None, backward or None, stream)


def of_edge(comparison: Comparison, edge: str) -> Comparison:
    """The comparison with bare names replaced by properties of the edge.

    Raises:
        QueryError: E-SYNTAX for a property of another edge.
    """

    def value(of: Value) -> Value:
        match of:
            case Variable(name):
                return Property(edge, name, comparison.location)
            case Property():
                raise QueryError(
                    "E-SYNTAX",
                    "conditions in brackets name the edge's own properties, without a dot",
                    at=of.location,
                    text=value_text(of),
                    hint=f"write {of.name}; conditions over several edges stand in the body",
                )
            case Computed(function, arguments):
                return Computed(function, tuple(map(value, arguments)))
            case _:
                return of

    return replace(comparison, left=value(comparison.left), right=value(comparison.right))


def with_names_for_edges(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules with a name (``e``, ``e_2``, ...) for each edge with a provisional name.

    The new name is unique in the rule, and differs from all predicates and heads.
    """
    predicates = read_by(rules)
    predicates |= derived_by(rules)
    return tuple(_with_names(rule, predicates) for rule in rules)


def _with_names(rule: Rule, predicates: Set[str]) -> Rule:
    taken = {*predicates, *rule.variables, *variables_of(rule.body), *named_edges(rule.body)}
    body, conditions = list(rule.body), rule.conditions
    for number, atom in enumerate(body):
        if isinstance(atom, EdgeAtom) and atom.edge is not None and atom.edge.startswith(MARK):
            name = first_free(_EDGE, taken)
            taken.add(name)
            body[number] = replace(atom, edge=name)
            conditions = tuple(with_edge(one, atom.edge, name) for one in conditions)
    return replace(rule, body=tuple(body), conditions=conditions)
