"""The logical operators of the Streaming Graph Algebra (thesis chapter 5.1).

An operator is a value without its inputs; a :class:`LogicalExpression` is an operator
with input expressions, and the memo pairs the same operators with input *groups*.
Columns are positional: a relation has columns ``0 .. width-1``, an edge or path relation
is ``(src, trg)``. Names of variables and labels are not part of an operator's identity,
so equal sub-queries are equal under any names.

``operator.canonical(inputs)`` is the one hook that the memo calls: it brings the operator
and its inputs (any hashable, orderable references) into the form in which equal ones
are equal.
"""

from .anti_join import AntiJoin
from .base import LogicalExpression, LogicalOperator, LogicalQuery, PathSemantics, VertexPaths
from .bound import BoundPath, BoundPattern
from .left_join import LeftJoin
from .partial import PartialAggregate
from .patterns import FilteredPattern, MultiwayPattern, Path, Pattern
from .roots import Aggregate, EventReport, Report, Witness
from .rows import Compute, Empty, Filter, Project, Rewindow, Union, WScan, WScanUnion
from .shortest import Shortest
from .top import Top
from .trails import Trail

__all__ = [
    "Aggregate",
    "AntiJoin",
    "BoundPath",
    "BoundPattern",
    "Compute",
    "Empty",
    "EventReport",
    "Filter",
    "FilteredPattern",
    "LeftJoin",
    "LogicalExpression",
    "LogicalOperator",
    "LogicalQuery",
    "MultiwayPattern",
    "PartialAggregate",
    "Path",
    "PathSemantics",
    "Pattern",
    "Project",
    "Report",
    "Rewindow",
    "Shortest",
    "Top",
    "Trail",
    "Union",
    "VertexPaths",
    "WScan",
    "WScanUnion",
    "Witness",
]
