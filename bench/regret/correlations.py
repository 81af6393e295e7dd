"""Rank correlations of costs and times, as tables.

In: rows of :mod:`bench.regret.series`. Out: lines of Markdown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from bench.markdown import head
from bench.markdown import row as table_row
from bench.regret.candidates import DEFAULT
from bench.regret.known import MEASURED
from bench.regret.statistics import kendall, quantile

Rows = Sequence[Mapping[str, Any]]
DECIDED = 0.1
"""The relative difference of two times below which a pair does not count as decided."""


def correlations(rows: Rows, models: Sequence[str] = ()) -> list[str]:
    """Kendall's tau over the sampled plans of each query; queries of three plans or more."""
    lines = head(
        "model", "queries", "mean", "median", "mean of decided pairs", "mean, shared costs"
    )
    everywhere = {model for row in rows for plan in row["plans"] for model in plan["costs"]}
    for model in models or sorted(everywhere - {MEASURED}):
        plain: list[float] = []
        decided: list[float] = []
        shared: list[float] = []
        for row in rows:
            plans = [p for p in row["plans"] if "sampled" in p["roles"] and model in p["costs"]]
            if len(plans) < 3:
                continue
            times = [time_of(plan) for plan in plans]
            for values, part, margin in ((plain, 0, 0.0), (decided, 0, DECIDED), (shared, 1, 0.0)):
                tau = kendall([plan["costs"][model][part] for plan in plans], times, margin)
                if tau is not None:
                    values.append(tau)
        if plain:
            lines.append(
                table_row(
                    model,
                    len(plain),
                    f"{sum(plain) / len(plain):.2f}",
                    f"{quantile(plain, 0.5):.2f}",
                    f"{sum(decided) / len(decided):.2f} ({len(decided)})" if decided else "-",
                    f"{sum(shared) / len(shared):.2f}",
                )
            )
    return [
        *lines,
        "",
        "Over the sampled plans of each query that has three or more. Plans that were stopped "
        f"count as equally slow. A pair is decided if its times differ by over {DECIDED:.0%}. "
        "*Shared* costs count a sub-plan or an index that occurs twice once.",
    ]


def agreement_of_rounds(rows: Rows) -> list[str]:
    """How far the times of two rounds agree on the order of the same plans."""
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        plans = [p for p in row["plans"] if "sampled" in p["roles"] and len(p["times"]) > 1]
        if len(plans) < 4:
            continue
        times = [quantile(plan["times"], 0.5) for plan in plans]
        later = [quantile(plan["times"][1:], 0.5) for plan in plans]
        found = {
            "the first round of times": kendall([plan["times"][0] for plan in plans], later),
            **{
                model: kendall([plan["costs"][model][1] for plan in plans], times)
                for model in (DEFAULT, MEASURED)
            },
        }
        if None not in found.values():
            for name, tau in found.items():
                values[name].append(tau or 0.0)
    return [
        "What the noise of the times leaves to correlate: the rank correlation of two rounds of "
        "the same plans, beside that of shared costs and times. Over the sampled plans that ran in "
        "two rounds or more, those of at most twice the time of the fastest one; queries of four "
        "such plans or more.",
        "",
        *head("times of the later rounds, or of all, with", "queries", "mean", "median"),
        *(
            table_row(name, len(of), f"{sum(of) / len(of):.2f}", f"{quantile(of, 0.5):.2f}")
            for name, of in values.items()
        ),
    ]


def time_of(plan: Mapping[str, Any]) -> float:
    """The time of a plan; infinity if it was stopped."""
    return float("inf") if plan["stopped"] or not plan["times"] else quantile(plan["times"], 0.5)
