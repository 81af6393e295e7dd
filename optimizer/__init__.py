"""The search for the cheapest plan (Cascades).

In: a canonical logical query, statistics, options. Out: a `SearchResult`: the physical plan with
its cost, all other plans, and the memo in which they were found. `search.py` shows the parts.

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
