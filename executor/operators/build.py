"""Builds operators: a table from each physical operator to its implementation.

In: a physical operator, and the site where it runs. Out: an operator with empty state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...algebra import physical
from ...algebra.registry import Registry
from ..batch import IntArray
from ..dictionary import Dictionary
from ..partitions import Partition
from .aggregate import AggregateOperator, RetractingAggregate
from .anti_join import AntiJoinOperator
from .base import Operator
from .coalesce import CoalesceOperator, CoalesceWithDeletions
from .compute import ComputeOperator
from .condition import Condition
from .edges import IsRoot
from .event_report import EventReportOperator
from .filter import FilterOperator
from .join import JoinOperator
from .left_join import left_join
from .multiway import MultiwayOperator
from .path import PathOperator
from .path_with_deletions import PathWithDeletions
from .report import ReportOperator
from .retraction import RetractOperator
from .rewindow import RewindowOperator
from .semi_join import SemiJoinOperator, SemiJoinWithDeletions
from .shared_index import SharedIndex
from .shortest_path import ShortestPathOperator
from .simple_path import SimplePathOperator
from .slide_path import SlidePathOperator
from .stateless import EmptyOperator, ProjectOperator, UnionOperator
from .top import TopOperator
from .trail_path import TrailPathOperator
from .witness import WitnessOperator


@dataclass(frozen=True, slots=True)
class Site:
    """The surroundings of an operator.

    Attributes:
        width: the number of columns of its results.
        widths: the number of columns of each input.
        dictionary: the dictionary of the codes in its rows.
        partition: the partition in which it runs.
        shared: for each input the index that other operators read, too, or None; empty if it
            shares none.
        renewal: the ticks at whose multiples rows expire that are given before their end is known.
    """

    width: int
    widths: Sequence[int]
    dictionary: Dictionary
    partition: Partition
    shared: Sequence[SharedIndex | None] = ()
    renewal: int = 1

    def roots(self, path: physical.AutomatonPath) -> IsRoot | None:
        """The test for the roots from which a path grows trees here; None for all."""
        own = None
        if path.roots == "own" and self.partition.partitions > 1:
            own = OwnRoots(self.dictionary, self.partition)
        if path.sources is None:
            return own
        return Sources(Condition(path.sources, 1, self.dictionary), own)


@dataclass(frozen=True, slots=True)
class OwnRoots:
    """A test whether vertices belong to a partition."""

    dictionary: Dictionary
    partition: Partition

    def __call__(self, codes: IntArray) -> NDArray[np.bool_]:
        """A mask of the vertex codes that belong to the partition."""
        belongs_to = self.dictionary.partitions(codes, self.partition.partitions)
        return np.asarray(belongs_to == self.partition.partition)


@dataclass(frozen=True, slots=True)
class Sources:
    """A test whether vertices satisfy the condition on sources, and another test if there is one.

    It reads the first column of the condition alone.
    """

    condition: Condition
    other: IsRoot | None

    def __call__(self, codes: IntArray) -> NDArray[np.bool_]:
        """A mask of the vertex codes that are sources."""
        chosen = self.condition.mask(codes[np.newaxis])
        return chosen if self.other is None else chosen & self.other(codes)


Builder = Callable[[Any, Site], Operator]
"""Builds an operator from a physical operator of the class that it is registered for."""

BUILDERS: Registry[type, Builder] = Registry()


def build(operator: physical.PhysicalOperator, site: Site) -> Operator:
    """The operator that runs a physical operator, with empty state.

    Raises:
        ValueError: for a scan or an exchange, which do not run within a pipeline.
        PlanError: for a predicate that is not allowed.
    """
    builder = BUILDERS.get(type(operator))
    if builder is None:
        raise ValueError("a scan is an input of a pipeline, and an exchange connects two pipelines")
    return builder(operator, site)


@BUILDERS.add(physical.HashJoin)
def _(join: physical.HashJoin, site: Site) -> Operator:
    return JoinOperator(join, site.dictionary, site.shared or (None, None))


@BUILDERS.add(physical.SPath, physical.PairPath)
def _(path: physical.SPath | physical.PairPath, site: Site) -> Operator:
    kind = PathWithDeletions if path.update_pattern else PathOperator
    return kind(path, len(site.widths), site.roots(path))


@BUILDERS.add(physical.SemiJoin)
def _(join: physical.SemiJoin, site: Site) -> Operator:
    return SemiJoinWithDeletions(join) if join.update_pattern else SemiJoinOperator(join)


BUILDERS[physical.AntiJoin] = lambda join, site: AntiJoinOperator(join)
BUILDERS[physical.LeftJoin] = lambda join, site: left_join(join, site.dictionary)
BUILDERS[physical.MultiwayJoin] = lambda join, site: MultiwayOperator(
    join, site.widths, site.dictionary, site.partition
)
BUILDERS[physical.SlidePath] = lambda path, site: SlidePathOperator(
    path, len(site.widths), site.roots(path)
)
BUILDERS[physical.SimplePath] = lambda path, site: SimplePathOperator(
    path, len(site.widths), site.roots(path)
)
BUILDERS[physical.TrailPath] = lambda path, site: TrailPathOperator(
    path, site.widths, site.roots(path)
)
BUILDERS[physical.ShortestPath] = lambda path, site: ShortestPathOperator(
    path, len(site.widths), site.dictionary, site.roots(path)
)
BUILDERS[physical.WitnessPaths] = lambda witness, site: WitnessOperator(
    witness, len(site.widths) - 1, site.dictionary
)
BUILDERS[physical.Rewindow] = lambda o, site: RewindowOperator(site.width, o.range, o.slide)
BUILDERS[physical.Retract] = lambda o, site: RetractOperator(site.width)
BUILDERS[physical.MergeUnion] = lambda o, site: UnionOperator()
BUILDERS[physical.ProjectColumns] = lambda o, site: ProjectOperator(o.columns)
BUILDERS[physical.FilterRows] = lambda o, site: FilterOperator(
    o.predicate, site.width, site.dictionary
)
BUILDERS[physical.EmptyRelation] = lambda o, site: EmptyOperator(site.width)
BUILDERS[physical.ComputeColumns] = lambda o, site: ComputeOperator(
    o.values, site.widths[0], site.dictionary
)
BUILDERS[physical.TopRows] = lambda o, site: TopOperator(o, site.width, site.dictionary)
BUILDERS[physical.EventReportRows] = lambda o, site: EventReportOperator(
    o, site.width, site.dictionary
)
BUILDERS[physical.ReportRows] = lambda o, site: ReportOperator(o, site.width, site.dictionary)


@BUILDERS.add(physical.AggregateRows)
def _(aggregate: physical.AggregateRows, site: Site) -> Operator:
    width, number = site.widths[0], site.partition.partition
    if aggregate.retracts:
        return RetractingAggregate(aggregate, width, site.dictionary, site.renewal, number)
    return AggregateOperator(aggregate, width, site.dictionary, number)


@BUILDERS.add(physical.Coalesce)
def _(coalesce: physical.Coalesce, site: Site) -> Operator:
    kind = CoalesceWithDeletions if coalesce.update_pattern else CoalesceOperator
    return kind(site.width)
