"""The interface of a rule: a pattern, a condition, a rewrite; and how promising it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ..algebra.limits import DEFAULT_STEPS
from ..algebra.logical import LogicalOperator, Path
from ..algebra.physical import PhysicalOperator
from ..memo import GroupExpression, GroupId, Memo, Tree
from ..memo.pattern import Match, Op, bindings
from .columns import Flat

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)


class Promise(IntEnum):
    """Promises of rules; the search applies rules of larger promise first."""

    REORDER = 1
    COMPOSE = 2
    DECOMPOSE = 3
    REDUCE = 4


class Columns(Protocol):
    """The order of columns that all expressions of one relation agree on."""

    def order(
        self,
        bindings: tuple[tuple[int, ...], tuple[int, ...]],
        needed: tuple[int, ...],
        inputs: tuple[GroupId, GroupId],
    ) -> tuple[int, ...]:
        """The output of the join of two groups that keeps the variables ``needed``."""
        ...

    def atoms(
        self,
        bindings: tuple[tuple[int, ...], ...],
        output: tuple[int, ...],
        inputs: tuple[GroupId, ...],
    ) -> Flat:
        """The atoms below a join without repeats, over canonical variables, and its columns."""
        ...

    def repeats(self, inputs: tuple[GroupId, ...]) -> bool:
        """Whether some relation occurs twice below the inputs."""
        ...

    def runs_backwards(self, path: Path, inputs: tuple[GroupId, ...]) -> bool:
        """Whether the pairs of a path over groups are kept as (end, start)."""
        ...


class Composition(Protocol):
    """The paths that are worth to be composed into longer ones."""

    def composes(self, path: GroupExpression) -> bool:
        """Whether rules compose a PATH into longer ones."""
        ...


class Context:
    """The context of a rule beside its match: the memo, column order and options.

    ``composition`` chooses the paths that are composed into longer ones; None composes all.
    """

    __slots__ = (
        "_operators",
        "_results",
        "columns",
        "composition",
        "cross_products",
        "duplicate_free",
        "memo",
    )

    def __init__(
        self,
        memo: Memo,
        columns: Columns,
        *,
        cross_products: bool = False,
        duplicate_free: bool = True,
        composition: Composition | None = None,
    ) -> None:
        self.memo = memo
        self.composition = composition
        self.columns = columns
        self.cross_products = cross_products
        self.duplicate_free = duplicate_free
        self._results: dict[tuple[object, ...], Any] = {}
        self._operators: dict[Hashable, Any] = {}

    def once(self, function: Callable[..., T], *arguments: Hashable) -> T:
        """The result of a pure function, computed once per optimization.

        A module-level cache would be wrong: equal operators may differ in the names of variables,
        and the names of one query must not appear in another.
        """
        key = (function, *arguments)
        result: T | None = self._results.get(key)
        if result is None:
            result = self._results[key] = function(*arguments)
        return result

    def same(self, operator: H) -> H:
        """The one object for all equal operators, which makes comparing them quick."""
        first: H = self._operators.setdefault(operator, operator)
        return first

    def width(self, group: GroupId) -> int:
        """The number of columns of a group."""
        width = self.memo.group(group).properties.width
        assert isinstance(width, int)
        return width


class TransformationRule(ABC):
    """Equivalent expressions from one that matches.

    ``name`` and ``number`` are stable (thesis 6.2; None for helpers of our own).

    Four sets of rule names prevent duplicate results. The first three go into the rule mask of an
    expression (:attr:`headrace.memo.GroupExpression.masked`).

    Attributes:
        redundant: rules that would find nothing new on a result of this rule.
        excluded: rules that are not applied to any expression that this rule adds, because they
            would only add variants of relations in the memo. Unlike the others, this set changes
            which expressions are found.
        inherited: rules that are not applied to an expression that this rule adds if they are
            masked on the expression rewritten.
        makes: an operator that is in each result; None if there is none that queries may lack.
        subsumed_by: rules that together find all that this rule does, wherever no relation
            occurs twice below an expression.
    """

    name: ClassVar[str]
    number: ClassVar[int | None]
    patterns: ClassVar[tuple[Op, ...]]
    promise: ClassVar[Promise]
    redundant: ClassVar[frozenset[str]] = frozenset()
    excluded: ClassVar[frozenset[str]] = frozenset()
    inherited: ClassVar[frozenset[str]] = frozenset()
    subsumed_by: ClassVar[frozenset[str]] = frozenset()
    makes: ClassVar[type | None] = None

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        """Whether the rule may apply to any binding at this expression.

        The search calls this method before it explores input groups. The result depends on the
        operator alone, so it never changes.
        """
        return True

    def admits(
        self, context: Context, root: GroupExpression, position: int, member: GroupExpression
    ) -> bool:
        """Whether a member of the input group at ``position`` can be part of a binding.

        If the pattern looks into fixed inputs, the search calls this method once per member, before
        it combines members, and not once per combination.
        """
        return True

    def condition(self, match: Match, context: Context) -> bool:
        """Whether the rule may be applied; without side effects."""
        return True

    def matches(
        self, pattern: Op, slot: int, root: GroupExpression, context: Context
    ) -> Iterator[Match]:
        """The new bindings of one of the rule's patterns, over members that the rule admits.

        See :func:`headrace.memo.pattern.bindings`."""
        chooses = type(self).admits is not TransformationRule.admits
        admits = partial(self.admits, context) if chooses else None
        return bindings(pattern, slot, root, context.memo.groups, admits)

    @abstractmethod
    def rewrite(self, match: Match, context: Context) -> Iterator[Tree]:
        """The equivalent expressions."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a search that decide which physical operators can compute a logical one.

    Attributes:
        parallelism: the number of partitions.
        simple_budget: the steps that SIMPLE_PATH may take for an edge.
        period: the time units between two reports of an evaluation per slide, None if results are
            right at every instant.
    """

    parallelism: int = 1
    simple_budget: int = DEFAULT_STEPS
    period: int | None = None


DEFAULT_SETTINGS = Settings()

L = TypeVar("L", bound=LogicalOperator)


class ImplementationRule(ABC, Generic[L]):
    """Physical operators that compute a logical operator over the same inputs.

    Attributes:
        operator: the class of the logical operator.
    """

    operator: ClassVar[type[LogicalOperator]]

    def __init__(self, settings: Settings = DEFAULT_SETTINGS) -> None:
        self.settings = settings

    @property
    def name(self) -> str:
        """The stable name of the rule."""
        return type(self).__name__

    @abstractmethod
    def implement(self, operator: L) -> Iterator[PhysicalOperator]:
        """The physical operators."""
