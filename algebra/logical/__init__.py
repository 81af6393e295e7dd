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

from .base import LogicalExpression, LogicalOperator, LogicalQuery, PathSemantics
from .bound import BoundPath, BoundPattern
from .patterns import FilteredPattern, MultiwayPattern, Path, Pattern
from .roots import Aggregate, Report, Witness
from .rows import Compute, Empty, Filter, Project, Rewindow, Union, WScan, WScanUnion

__all__ = [
    "Aggregate",
    "BoundPath",
    "BoundPattern",
    "Compute",
    "Empty",
    "Filter",
    "FilteredPattern",
    "LogicalExpression",
    "LogicalOperator",
    "LogicalQuery",
    "MultiwayPattern",
    "Path",
    "PathSemantics",
    "Pattern",
    "Project",
    "Report",
    "Rewindow",
    "Union",
    "WScan",
    "WScanUnion",
    "Witness",
]
