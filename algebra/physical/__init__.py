"""The physical operators: what a plan is made of and the executor runs.

Each is a flat value of JSON-able fields, so that the same class serves the memo, the
plan document and the executor. ``op`` is its stable name in the plan. As in the
logical algebra, columns are positions, and ``variables`` are names for people. The memo hashes
operators all the time, so fields that rarely differ between operators are left out of the hash.

A class holds everything that follows from the operator alone: its bounds, width, column types,
distribution, update pattern and notation (:class:`PhysicalOperator`). What a layer adds is one
entry in that layer: a cost formula, an implementation rule, an operator of the executor.
"""

from .base import OPERATORS, PhysicalOperator, WithDeletions, registered
from .groups import AggregateRows, ReportRows, Rewindow
from .joins import HashJoin, Horizon
from .moves import Coalesce, Exchange, Retract, ToKernel
from .multiway import MultiwayJoin, indexes_of
from .paths import (
    AutomatonPath,
    FollowsAutomaton,
    SimplePath,
    SlidePath,
    SPath,
    WitnessPaths,
)
from .rows import ComputeColumns, EmptyRelation, FilterRows, MergeUnion, ProjectColumns
from .scans import Scan, WindowScan, WindowScanUnion

__all__ = [
    "OPERATORS",
    "AggregateRows",
    "AutomatonPath",
    "Coalesce",
    "ComputeColumns",
    "EmptyRelation",
    "Exchange",
    "FilterRows",
    "FollowsAutomaton",
    "HashJoin",
    "Horizon",
    "MergeUnion",
    "MultiwayJoin",
    "PhysicalOperator",
    "ProjectColumns",
    "ReportRows",
    "Retract",
    "Rewindow",
    "SPath",
    "Scan",
    "SimplePath",
    "SlidePath",
    "ToKernel",
    "WindowScan",
    "WindowScanUnion",
    "WithDeletions",
    "WitnessPaths",
    "indexes_of",
    "registered",
]
