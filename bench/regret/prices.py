"""How far times are in proportion to costs among the plans of a query, as a table.

In: rows of :mod:`bench.regret.series`. Out: lines of Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from bench.markdown import head
from bench.markdown import row as table_row
from bench.regret.candidates import DEFAULT
from bench.regret.known import MEASURED
from bench.regret.statistics import quantile

WITHIN = 2.0
"""How many times the time of the fastest plan of a query a plan may take to count."""
FEWEST = 3
"""The fewest such plans of a query."""
PARTS = (0.05, 0.1, 0.25, 0.75, 0.9, 0.95)
"""The quantiles of the table."""


def proportions(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The time of a plan for a unit of its cost, over the median of this for the query."""
    kept: list[list[Mapping[str, Any]]] = []
    for row in rows:
        known = [plan for plan in row["plans"] if not plan["stopped"] and len(plan["times"]) > 1]
        known = [plan for plan in known if {DEFAULT, MEASURED} <= plan["costs"].keys()]
        fastest = min([median(plan["times"]) for plan in known], default=0.0)
        near = [plan for plan in known if median(plan["times"]) <= WITHIN * fastest]
        if len(near) >= FEWEST:
            kept.append(near)
    ratios: dict[str, Callable[[Mapping[str, Any]], float]] = {
        f"time over cost, {DEFAULT}": lambda p: median(p["times"]) / p["costs"][DEFAULT][1],
        f"time over cost, {MEASURED}": lambda p: median(p["times"]) / p["costs"][MEASURED][1],
        "time of the first round over later ones": lambda p: p["times"][0] / median(p["times"][1:]),
    }
    lines = head("ratio", "plans", *(f"p{100 * part:g}" for part in PARTS))
    for name, ratio in ratios.items():
        values = [value for plans in kept for value in _of_query([ratio(plan) for plan in plans])]
        if values:
            found = [f"{quantile(values, part):.2f}" for part in PARTS]
            lines.append(table_row(name, len(values), *found))
    return [
        f"Each ratio is divided by its median among the plans of the query, of at most {WITHIN:g} "
        f"times the time of the fastest one; queries of {FEWEST} such plans or more. Were costs in "
        "proportion to times, all would be 1.",
        "",
        *lines,
    ]


def _of_query(values: Sequence[float]) -> list[float]:
    middle = median(values)
    return [value / middle for value in values] if middle else []
