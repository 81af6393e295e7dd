"""What the memo is told about the operators of the algebra."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ..algebra.logical import (
    Aggregate,
    Filter,
    LogicalOperator,
    Path,
    PathSemantics,
    Project,
    Report,
    Union,
    WScan,
    WScanUnion,
)
from ..algebra.predicate import TRUE
from ..algebra.regex import Symbol
from ..memo import Digest, GroupId, Memo, MemoListener, OperatorSide
from ..rules.columns import FlatForms
from ..rules.time_bounds import OWN_TIME, TimeBounds


@dataclass(frozen=True, slots=True)
class LogicalProperties:
    """What all expressions of a group agree on: their width and the windowed leaves they read.

    ``scans`` is a set of numbers of leaves, as bits; ``deletions`` whether a stream among them
    has some.
    """

    width: int
    scans: int
    deletions: bool = False


class AlgebraSide:
    """The operator side of one memo over the Streaming Graph Algebra."""

    def __init__(self, *, paths_of_labels: bool) -> None:
        self._paths_of_labels = paths_of_labels
        self._scans: dict[WScan, int] = {}
        self._memo: Memo | None = None
        self.deletions = False
        """Whether any stream has some."""
        self.finals = False
        """Whether any operator gives what is final: an aggregation, reports."""
        self.flat = FlatForms()
        self.times = TimeBounds()

    def new_memo(self, listener: MemoListener) -> Memo:
        """An empty memo over this algebra."""
        side = OperatorSide(
            self._canonical, self.flat.fingerprint, self._properties, self._contradiction
        )
        self._memo = Memo(side, listener)
        self.flat.attach(self._memo)
        self.times.attach(self._memo)
        return self._memo

    def leaves(self, properties: LogicalProperties) -> tuple[WScan, ...]:
        """The windowed leaves that a group reads, without what is selected of them."""
        return tuple(scan for scan, bit in self._scans.items() if properties.scans >> bit & 1)

    def _canonical(self, operator: Hashable, inputs: tuple[GroupId, ...]) -> Digest | GroupId:
        assert self._memo is not None
        if isinstance(operator, Union) and inputs[0] == inputs[1]:
            return inputs[0]
        if isinstance(operator, Filter) and operator.predicate.normal == TRUE:
            return inputs[0]
        if isinstance(operator, Project):
            width = self._memo.group(inputs[0]).properties.width
            if operator.columns == tuple(range(width)):
                return inputs[0]
        if isinstance(operator, Path):
            form, used = operator.canonical(inputs)
            if (
                self._paths_of_labels
                and isinstance(form, Path)
                and form.semantics is PathSemantics.ARBITRARY
                and isinstance(form.regex, Symbol)
                and not form.regex.inverse
            ):
                return used[0]
            return form, used
        assert isinstance(operator, LogicalOperator)
        return operator.canonical(inputs)

    def _properties(
        self, operator: Hashable, inputs: tuple[LogicalProperties, ...]
    ) -> LogicalProperties:
        assert isinstance(operator, LogicalOperator)
        scans = 0
        for below in inputs:
            scans |= below.scans
        if isinstance(operator, WScan | WScanUnion):
            for scan in operator.scans:
                self.times.any |= OWN_TIME in scan.properties
                scans |= 1 << self._scans.setdefault(scan.unfiltered, len(self._scans))
        deletions = any(below.deletions for below in inputs) or (
            isinstance(operator, WScan) and operator.deletions
        )
        self.deletions |= deletions
        if isinstance(operator, Aggregate | Report):
            self.finals = True
            deletions = False  # what they give is final
        width = operator.width([below.width for below in inputs])
        return LogicalProperties(width, scans, deletions)

    @staticmethod
    def _contradiction(one: LogicalProperties, other: LogicalProperties) -> str | None:
        if one.width != other.width:
            return f"one has {one.width} columns, the other {other.width}"
        if one.scans != other.scans:
            return "they read different windowed streams"
        return None
