"""The unit-time cost model (thesis 6.3).

In: an operator, and the characteristics of its inputs. Out: the characteristics of its
result, and its cost per unit of application time.

May import: algebra, catalog; of executor the compiled kernels, on which a sample is evaluated.

Invariant: estimates are finite where rates and windows are, and never negative; the cost
model knows nothing of the memo.

>>> from headrace.algebra.logical import WScan
>>> from headrace.algebra.window import Window
>>> from headrace.catalog import default_catalog
>>> model = CostModel("thesis", default_catalog(["a"]))
>>> model.characteristics(WScan("input", "a", Window(100)), ()).population
100.0
"""

from . import operator_costs, operator_estimates, path_costs
from .characteristics import Characteristics
from .constants import Assumptions, Constants
from .formula import Explanation, Formula
from .model import COSTS, ESTIMATES, CostModel, CostModelError

__all__ = [
    "COSTS",
    "ESTIMATES",
    "Assumptions",
    "Characteristics",
    "Constants",
    "CostModel",
    "CostModelError",
    "Explanation",
    "Formula",
    "operator_costs",
    "operator_estimates",
    "path_costs",
]
