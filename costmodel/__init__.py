"""The unit-time cost model (thesis 6.3).

In: an operator, and the characteristics of its inputs. Out: the characteristics of its
result, and its cost per unit of application time.

Invariant: estimates are finite where rates and windows are, and never negative; the cost
model knows nothing of the memo.

>>> from algebra.logical import WScan
>>> from algebra.window import Window
>>> from catalog import default_catalog
>>> model = CostModel("thesis", default_catalog(["a"]))
>>> model.characteristics(WScan("input", "a", Window(100)), ()).population
100.0
"""

from costmodel.characteristics import Characteristics
from costmodel.constants import Assumptions, Constants
from costmodel.explanation import Explanation
from costmodel.model import CostModel, CostModelError

__all__ = [
    "Assumptions",
    "Characteristics",
    "Constants",
    "CostModel",
    "CostModelError",
    "Explanation",
]
