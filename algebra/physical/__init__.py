"""The physical operators: what a plan is made of and the executor runs.

Each is a flat value of JSON-able fields, so that the same class serves the memo, the
plan document and the executor. ``op`` is its stable name in the plan. As in the
logical algebra, columns are positions, and ``variables`` are names for people. The memo hashes
operators all the time, so fields that rarely differ between operators are left out of the hash.

A class holds everything that follows from the operator alone: its bounds, width, column types,
distribution, update pattern and notation (:class:`PhysicalOperator`). What a layer adds is one
entry in that layer: a cost formula, an implementation rule, an operator of the executor.
"""

from .anti_joins import AntiJoin
from .base import OPERATORS, PhysicalOperator, WithDeletions, registered
from .groups import AggregateRows, Rewindow
from .indexes import IndexForm, index_forms, shared_sides, shared_sides_of_plan
from .joins import HashJoin, Horizon
from .left_joins import LeftJoin
from .moves import Coalesce, Exchange, Retract, ToKernel
from .multiway import MultiwayJoin, indexes_of
from .paths import (
    AutomatonPath,
    FollowsAutomaton,
    PairPath,
    SimplePath,
    SlidePath,
    SPath,
    WitnessPaths,
)
from .reports import EventReportRows, ReportRows
from .rows import ComputeColumns, EmptyRelation, FilterRows, MergeUnion, ProjectColumns
from .scans import Scan, WindowScan, WindowScanUnion
from .semi_joins import SemiJoin
from .shortest import ShortestPath
from .top import TopRows
from .trails import TrailPath

__all__ = [
    "OPERATORS",
    "AggregateRows",
    "AntiJoin",
    "AutomatonPath",
    "Coalesce",
    "ComputeColumns",
    "EmptyRelation",
    "EventReportRows",
    "Exchange",
    "FilterRows",
    "FollowsAutomaton",
    "HashJoin",
    "Horizon",
    "IndexForm",
    "LeftJoin",
    "MergeUnion",
    "MultiwayJoin",
    "PairPath",
    "PhysicalOperator",
    "ProjectColumns",
    "ReportRows",
    "Retract",
    "Rewindow",
    "SPath",
    "Scan",
    "SemiJoin",
    "ShortestPath",
    "SimplePath",
    "SlidePath",
    "ToKernel",
    "TopRows",
    "TrailPath",
    "WindowScan",
    "WindowScanUnion",
    "WithDeletions",
    "WitnessPaths",
    "index_forms",
    "indexes_of",
    "registered",
    "shared_sides",
    "shared_sides_of_plan",
]
