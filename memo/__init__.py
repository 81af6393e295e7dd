"""The memo: all equivalent expressions found so far, in groups.

In: operators (opaque, immutable values) with input groups. Out: groups, group expressions,
winners; the plans of a memo, counted, ranked and sampled; the memo as text.

Invariant: an expression has one owner group, and no two groups hold equal expressions. The
memo knows neither the algebra nor any cost formula.
"""

from .expression import Digest, Expression, GroupExpression, GroupId, Tree
from .group import Group, Groups, Log, Winner
from .memo import Insertion, Memo, MemoListener
from .operators import MemoError, Operators
from .plans import Alternative, PlanSpace, PlanTree

__all__ = [
    "Alternative",
    "Digest",
    "Expression",
    "Group",
    "GroupExpression",
    "GroupId",
    "Groups",
    "Insertion",
    "Log",
    "Memo",
    "MemoError",
    "MemoListener",
    "Operators",
    "PlanSpace",
    "PlanTree",
    "Tree",
    "Winner",
]
