"""The unit-time cost model (thesis 6.3).

In: an operator, and the characteristics of its inputs. Out: the characteristics of its
result, and its cost per unit of application time.

Invariant: estimates are finite where rates and windows are, and never negative; the cost
model knows nothing of the memo.

>>> from headrace.algebra.logical import WScan
>>> from headrace.algebra.window import Window
>>> from headrace.catalog import default_catalog
>>> model = CostModel("thesis", default_catalog(["a"]))
>>> model.characteristics(WScan("input", "a", Window(100)), ()).population
100.0
"""

from .characteristics import Characteristics
from .constants import Assumptions, Constants
from .explanation import Explanation
from .model import CostModel, CostModelError

__all__ = [
    "Assumptions",
    "Characteristics",
    "Constants",
    "CostModel",
    "CostModelError",
    "Explanation",
]
