"""Which operator of the executor runs which physical operator: the table of builders.

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
from .aggregate import AggregateOperator
from .base import Operator
from .coalesce import CoalesceOperator, CoalesceWithDeletions
from .compute import ComputeOperator
from .filter import FilterOperator
from .join import JoinOperator, JoinWithDeletions
from .path import PathOperator
from .path_with_deletions import PathWithDeletions
from .report import ReportOperator
from .retraction import RetractOperator
from .rewindow import RewindowOperator
from .simple_path import SimplePathOperator
from .slide_path import SlidePathOperator
from .stateless import EmptyOperator, ProjectOperator, UnionOperator
from .witness import WitnessOperator


@dataclass(frozen=True, slots=True)
class Site:
    """Where an operator runs.

    ``width`` is the number of columns of its rows, ``widths`` are those of its inputs;
    ``dictionary`` gave the codes of values, ``partition`` is the one whose rows these are.
    """

    width: int
    widths: Sequence[int]
    dictionary: Dictionary
    partition: Partition

    def own_roots(self, path: physical.AutomatonPath) -> OwnRoots | None:
        """The roots that a path reports here, None for all of them."""
        divided = path.roots == "own" and self.partition.partitions > 1
        return OwnRoots(self.dictionary, self.partition) if divided else None


@dataclass(frozen=True, slots=True)
class OwnRoots:
    """Which vertices belong to a partition."""

    dictionary: Dictionary
    partition: Partition

    def __call__(self, codes: IntArray) -> NDArray[np.bool_]:
        """Whether each vertex does, by the codes."""
        belongs_to = self.dictionary.partitions(codes, self.partition.partitions)
        return np.asarray(belongs_to == self.partition.partition)


Builder = Callable[[Any, Site], Operator]
"""Makes an operator of a physical operator of the class that it is registered for."""

BUILDERS: Registry[type, Builder] = Registry()


def build(operator: physical.PhysicalOperator, site: Site) -> Operator:
    """The operator that runs a physical operator, with empty state.

    Raises:
        ValueError: for an operator that is no part of a pipeline.
        PlanError: for a predicate that is not allowed.
    """
    builder = BUILDERS.get(type(operator))
    if builder is None:
        raise ValueError("a scan is an input of the pipeline, and an exchange lies between two")
    return builder(operator, site)


@BUILDERS.add(physical.HashJoin)
def _(join: physical.HashJoin, site: Site) -> Operator:
    kind = JoinWithDeletions if join.update_pattern else JoinOperator
    return kind(join, site.dictionary)


@BUILDERS.add(physical.SPath)
def _(path: physical.SPath, site: Site) -> Operator:
    kind = PathWithDeletions if path.update_pattern else PathOperator
    return kind(path, len(site.widths), site.own_roots(path))


@BUILDERS.add(physical.SlidePath)
def _(path: physical.SlidePath, site: Site) -> Operator:
    return SlidePathOperator(path, len(site.widths), site.own_roots(path))


@BUILDERS.add(physical.SimplePath)
def _(path: physical.SimplePath, site: Site) -> Operator:
    return SimplePathOperator(path, len(site.widths), site.own_roots(path))


@BUILDERS.add(physical.WitnessPaths)
def _(witness: physical.WitnessPaths, site: Site) -> Operator:
    return WitnessOperator(witness, len(site.widths) - 1, site.dictionary)


@BUILDERS.add(physical.Coalesce)
def _(coalesce: physical.Coalesce, site: Site) -> Operator:
    kind = CoalesceWithDeletions if coalesce.update_pattern else CoalesceOperator
    return kind(site.width)


@BUILDERS.add(physical.Rewindow)
def _(rewindow: physical.Rewindow, site: Site) -> Operator:
    return RewindowOperator(site.width, rewindow.range, rewindow.slide)


@BUILDERS.add(physical.Retract)
def _(_retract: physical.Retract, site: Site) -> Operator:
    return RetractOperator(site.width)


@BUILDERS.add(physical.MergeUnion)
def _(_union: physical.MergeUnion, _site: Site) -> Operator:
    return UnionOperator()


@BUILDERS.add(physical.ProjectColumns)
def _(projection: physical.ProjectColumns, _site: Site) -> Operator:
    return ProjectOperator(projection.columns)


@BUILDERS.add(physical.FilterRows)
def _(filtering: physical.FilterRows, site: Site) -> Operator:
    return FilterOperator(filtering.predicate, site.width, site.dictionary)


@BUILDERS.add(physical.EmptyRelation)
def _(_empty: physical.EmptyRelation, site: Site) -> Operator:
    return EmptyOperator(site.width)


@BUILDERS.add(physical.ComputeColumns)
def _(compute: physical.ComputeColumns, site: Site) -> Operator:
    return ComputeOperator(compute.values, site.widths[0], site.dictionary)


@BUILDERS.add(physical.AggregateRows)
def _(aggregate: physical.AggregateRows, site: Site) -> Operator:
    return AggregateOperator(aggregate, site.dictionary)


@BUILDERS.add(physical.ReportRows)
def _(report: physical.ReportRows, site: Site) -> Operator:
    return ReportOperator(report, site.width, site.dictionary)
