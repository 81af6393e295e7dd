"""The search for the cheapest plan (Cascades).

In: a canonical logical query, statistics, options. Out: a physical plan with its cost, and
the memo that it was found in.

Invariant: the same input gives the same plan in every process; the plan returned is a
complete one, whatever budget ran out.
"""

from .cost import CostEstimator
from .errors import CannotPlanError, SearchCancelledError
from .optimizer import Optimizer
from .options import Options
from .result import SearchResult

__all__ = [
    "CannotPlanError",
    "CostEstimator",
    "Optimizer",
    "Options",
    "SearchCancelledError",
    "SearchResult",
]
