"""The interface of a rule: a pattern, a condition, a rewrite; and how promising it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ..algebra.limits import DEFAULT_STEPS
from ..algebra.logical import LogicalExpression, LogicalOperator, MultiwayPattern, Path
from ..algebra.physical import PhysicalOperator
from ..memo import Expression, GroupExpression, GroupId, Memo, Tree
from ..memo.pattern import Admits, Match, Op, bindings
from .columns import Flat

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)


class Promise(IntEnum):
    """Promises of rules; the search applies rules of larger promise first.

    A rule with the promise ``LAST`` sees the members that all other rules have added to the group
    of its expression, and to the groups below.
    """

    LAST = 0
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
    """The paths that are worth to be kept, and to be composed into longer ones."""

    def makes(self, number: GroupId, inputs: tuple[GroupId, ...]) -> bool:
        """Whether a rule is to make a PATH over some inputs for a group, unless the group has it.

        Rules ask before they build the PATH.
        """
        ...

    def made(self, path: Expression) -> None:
        """Counts a PATH that a rule made."""
        ...

    def composes(self, path: GroupExpression) -> bool:
        """Whether rules compose a PATH into longer ones."""
        ...


class Intermediates(Protocol):
    """The groups whose binary joins read large intermediate results, and what they cost."""

    def are_large(self, group: GroupId) -> bool:
        """Whether each binary join of a group reads intermediate results that are large beside the
        rows of the atoms and of the result."""
        ...

    def may_pay(self, group: GroupId, join: MultiwayPattern, inputs: tuple[GroupId, ...]) -> bool:
        """Whether a join of a group's atoms at once may cost less than the group's trees."""
        ...


class Context:
    """The context of a rule beside its match: the memo, column order and options.

    ``composition`` chooses the paths that are composed into longer ones; None composes all.
    ``intermediates`` chooses the groups without a cycle that are also joined at once; None chooses
    all. ``has_mirror_images``: whether each join A ⋈ B of the memo brings B ⋈ A into it.
    """

    __slots__ = (
        "_asked",
        "_of_expressions",
        "_operators",
        "_results",
        "columns",
        "composition",
        "cross_products",
        "duplicate_free",
        "has_mirror_images",
        "intermediates",
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
        intermediates: Intermediates | None = None,
        has_mirror_images: bool = False,
    ) -> None:
        self.memo = memo
        self.composition = composition
        self.intermediates = intermediates
        self.columns = columns
        self.cross_products = cross_products
        self.duplicate_free = duplicate_free
        self.has_mirror_images = has_mirror_images
        self._results: dict[tuple[object, ...], Any] = {}
        self._of_expressions: dict[tuple[object, int], tuple[Hashable, Any]] = {}
        self._operators: dict[Hashable, Any] = {}
        self._asked: dict[tuple[object, GroupId], tuple[int, int, bool]] = {}

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

    def of(self, function: Callable[[Any], T], expression: GroupExpression) -> T:
        """The result of a pure function of an expression's operator, computed :meth:`once`.

        The number of the expression is quicker to hash than its operator, which may be deep.
        """
        key = (function, expression.id)
        operator, result = self._of_expressions.get(key, (None, None))
        if operator is not expression.operator:  # merging may give an expression another one
            result = self.once(function, expression.operator)
            self._of_expressions[key] = expression.operator, result
        value: T = result
        return value

    def some(self, function: Callable[[Any], bool], of_type: type, group: GroupId) -> bool:
        """Whether a pure function holds for the operator of a member that a group has, or had.

        Only members whose operators have the type are asked, each once until groups merge.
        """
        merges = self.memo.merges
        for log in self.memo.group(group).logs:
            before, asked, found = self._asked.get((function, log.id), (merges, 0, False))
            if before != merges:
                asked, found = 0, False
            members = log.by_type.get(of_type, ())
            if not found and asked < len(members):
                found = any(function(member.operator) for member in members[asked:])
                self._asked[function, log.id] = merges, len(members), found
            if found:
                return True
        return False

    def same(self, operator: H) -> H:
        """The one object for all equal operators, which makes comparing them quick."""
        first: H = self._operators.setdefault(operator, operator)
        return first

    def width(self, group: GroupId) -> int:
        """The number of columns of a group."""
        width = self.memo.group(group).properties.width
        assert isinstance(width, int)
        return width


class NormalizationRule(Protocol):
    """A rewrite before the search, which never makes a plan more expensive."""

    @property
    def name(self) -> str:
        """The stable name of the rule."""
        ...

    def rewritten(self, expression: LogicalExpression) -> LogicalExpression:
        """The expression after the rule; the same object if the rule does not apply."""
        ...


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
        needs_cycle: whether the rule applies only to atoms that form a cycle.
        needs_partitions: whether the rule is for plans on several partitions alone.
        needs_retractions: whether its results may retract rows where the expression matched does
            not.
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
    needs_cycle: ClassVar[bool] = False
    needs_partitions: ClassVar[bool] = False
    needs_retractions: ClassVar[bool] = False

    def considers(self, expression: GroupExpression, context: Context) -> bool:
        """Whether the rule may apply to any binding at this expression.

        The search calls this method before it explores input groups. The result depends on the
        operator and the widths of the group and of its inputs alone, so it never changes.
        """
        return True

    def admits(self, root: GroupExpression, context: Context) -> Admits | None:
        """What says whether a member of the input group at a position can be part of a binding.

        If the pattern looks into fixed inputs, the search asks once per member, before it combines
        members, and not once per combination. None admits all members.
        """
        return None

    def condition(self, match: Match, context: Context) -> bool:
        """Whether the rule may be applied; without side effects."""
        return True

    def matches(
        self, pattern: Op, slot: int, root: GroupExpression, context: Context
    ) -> Iterator[Match]:
        """The new bindings of one of the rule's patterns, over members that the rule admits.

        See :func:`headrace.memo.pattern.bindings`."""
        return bindings(pattern, slot, root, context.memo.groups, self.admits(root, context))

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
