"""The answers of the algebra to the memo's questions about operators."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from ..algebra.logical import (
    Aggregate,
    AntiJoin,
    BoundPattern,
    Compute,
    EventReport,
    Filter,
    LeftJoin,
    LogicalOperator,
    PartialAggregate,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Report,
    Shortest,
    Top,
    Union,
    WScan,
    WScanUnion,
)
from ..algebra.predicate import TRUE
from ..algebra.regex import Symbol
from ..memo import Digest, GroupId, Groups, Operators
from ..rules.columns import FlatForms
from ..rules.time_bounds import OWN_TIME, TimeBounds


class LogicalProperties(NamedTuple):
    """Properties that all expressions of a group share.

    ``width`` is the number of columns, ``scans`` the numbers of the scans below, as bits, and
    ``deletions`` whether its rows may be retracted: a scanned stream has deletions, or an
    anti-join, a left join, an aggregation or the first rows in an order below retract rows.
    """

    width: int
    scans: int
    deletions: bool = False


class AlgebraOperators(Operators):
    """The operators of the Streaming Graph Algebra over the groups of one memo.

    ``paths_of_labels``: whether P[a] of one forward step is its input (rule PathOfLabel).
    ``late``: see :class:`headrace.rules.time_bounds.TimeBounds`.
    """

    def __init__(self, groups: Groups, *, paths_of_labels: bool = True, late: int = 0) -> None:
        self._groups = groups
        self._paths_of_labels = paths_of_labels
        self._scans: dict[WScan, int] = {}
        self.deletions = False
        """Whether rows of any group may be retracted."""
        self.finals = False
        """Whether the result of any operator is final: an aggregation, reports."""
        self.flat = FlatForms(groups)
        self.times = TimeBounds(groups, late)
        self._forms: dict[Digest, Digest] = {}
        self._mirrored: dict[Hashable, Digest] = {}

    def scans(self, properties: LogicalProperties) -> tuple[WScan, ...]:
        """The scans that a group reads, without their predicates."""
        return tuple(scan for scan, bit in self._scans.items() if properties.scans >> bit & 1)

    def canonical(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Digest | GroupId:
        """The operator's canonical form; an input where the operator changes nothing."""
        match operator:
            case Path():
                return self._path(operator, inputs)
            case Union() if inputs[0] == inputs[1]:
                return inputs[0]
            case Filter() if operator.predicate.normal == TRUE:
                return inputs[0]
            case Compute():
                operator, inputs = operator.canonical(inputs)
        if isinstance(operator, Project):
            width = self._groups[inputs[0]].properties.width
            if operator.columns == tuple(range(width)):
                return inputs[0]
        assert isinstance(operator, LogicalOperator)
        canonical, read = operator.canonical(inputs)
        if isinstance(canonical, Pattern) and not isinstance(canonical, BoundPattern):
            return self._one_of_mirror_images(canonical, read)
        return canonical, read

    def _path(self, path: Path, inputs: tuple[GroupId, ...]) -> Digest | GroupId:
        form, used = path.canonical(inputs)
        if (
            self._paths_of_labels
            and isinstance(form, Path)
            and isinstance(form.regex, Symbol)
            and not form.regex.inverse
            and form.semantics is PathSemantics.ARBITRARY
        ):
            return used[0]
        return form, used

    def _one_of_mirror_images(self, join: Pattern, inputs: tuple[GroupId, ...]) -> Digest:
        """A join, or the first one that a symmetry of its atoms maps on it.

        A star of n edges of one label has n! orders of its columns, all of them the same relation.
        A join keeps its form when groups merge, also if it has more symmetries afterwards.
        """
        digest: Digest = (join, inputs)
        form = self._forms.get(digest)
        if form is None:
            key = self.flat.symmetry(join.bindings, join.output, inputs)
            form = digest if key is None else self._mirrored.setdefault(key, digest)
            self._forms[digest] = self._forms[form] = form
        return form

    def fingerprint(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Hashable | None:
        """The flattened form of a join or union (:mod:`headrace.rules.columns`)."""
        return self.flat.fingerprint(operator, inputs)

    def properties(
        self, operator: Hashable, inputs: tuple[LogicalProperties, ...]
    ) -> LogicalProperties:
        """Width, scans and deletions of the result."""
        assert isinstance(operator, LogicalOperator)
        scans, deletions = 0, False
        for below in inputs:
            scans |= below.scans
            deletions |= below.deletions
        width = operator.width([below.width for below in inputs])
        if isinstance(operator, Pattern | Path):
            return LogicalProperties(width, scans, deletions)
        if isinstance(operator, WScan | WScanUnion):
            for scan in operator.scans:
                self.times.any |= OWN_TIME in scan.properties
                scans |= 1 << self._scans.setdefault(scan.unfiltered, len(self._scans))
        deletions |= isinstance(operator, AntiJoin | LeftJoin | Top) or (
            isinstance(operator, WScan) and operator.deletions
        )
        if isinstance(operator, Report | EventReport) or (
            isinstance(operator, Aggregate) and not operator.retracts
        ):
            self.finals = True
            deletions = False  # their results are final
        elif isinstance(operator, Shortest):
            deletions = False  # rows for one instant after the other, each final
        elif isinstance(operator, PartialAggregate):
            deletions = operator.every is None
        elif isinstance(operator, Aggregate):
            deletions = True
        self.deletions |= deletions
        return LogicalProperties(width, scans, deletions)

    def contradiction(self, one: LogicalProperties, other: LogicalProperties) -> str | None:
        """Expressions of one group have equal widths and read the same scans."""
        if one.width != other.width:
            return f"one has {one.width} columns, the other {other.width}"
        if one.scans != other.scans:
            return "they read different windowed streams"
        return None
