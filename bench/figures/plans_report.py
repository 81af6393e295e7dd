"""The page of Figure 6.8 or 6.9: all plans of a query, measured and estimated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from bench.figures.operators_report import number
from bench.figures.plots import Bars, Value, bars
from bench.figures.points import RANGE
from bench.figures.results import (
    Measured,
    Operator,
    Result,
    decided_pairs,
    interval,
    rank_correlation,
    ratios,
)
from bench.markdown import head, row
from bench.queries import RATES, VERTICES

ORDERS = {
    "trees": ("Q3s",),
    "paths": ("Q2p", "Q3p", "Q5p", "Q6p", "Q4p", "Q7p", "Q1p"),
}
"""The cheapest named plan of the thesis, or the order that its model gives.

The thesis says that its measurements have the order of its model, and prints no values."""


def plans_report(done: Measured) -> tuple[list[str], Mapping[str, str]]:
    """The lines of the page, and its plot by file name."""
    results = sorted(done.results, key=lambda result: result.time)
    name = f"{done.experiment}.svg"
    about = results[0].about
    lines = [
        f"{len(results)} plans out of the memo, over a stream of {about['edges_per_second']:,} "
        f"edges/s with {about['vertices']:,} vertices and a window of {RANGE} s. Rates and "
        "vertices are those of the thesis divided by the same number, so that each vertex has as "
        f"many edges. `thesis` estimates with the undivided parameters ({VERTICES:,.0f} vertices, "
        f"rates {_rates()} per second), on which its choice depends, and its costs are divided "
        "afterwards. `saturating` estimates with the parameters of the stream. Names are "
        "those of the thesis; plans without one are not in its figure.",
        "",
        _answers(results),
        "",
        f"![{about['figure']}]({name})",
        "",
        *_table(results),
        "",
        *_correlations(results),
        "",
        *_orders(done.experiment, results),
        "",
        "## Where the time goes",
        "",
        *_profile(results),
        "",
    ]
    return lines, {name: _plot(results)}


def _rates() -> str:
    return ", ".join(f"{label} {rate:,.0f}" for label, rate in RATES.items())


def _title(result: Result) -> str:
    named = result.about["series"]
    return f"{named}: {result.name}" if named else result.name


def _short_title(result: Result) -> str:
    return str(result.about["series"] or result.name)


def _answers(results: Sequence[Result]) -> str:
    answers = {digest for result in results for digest in result.answers}
    if len(answers) == 1:
        return f"All plans gave the same answer, of {results[0].intervals:,} intervals."
    return f"**The plans gave {len(answers)} different answers.**"


def _table(results: Sequence[Result]) -> list[str]:
    models = results[0].models
    lines = head(
        "plan", "measured, µs/s", "µs per edge", "/ fastest",
        *(f"`{model}`, µs/s" for model in models), *(f"place by `{model}`" for model in models),
    )  # fmt: skip
    places = {model: _places(results, model) for model in models}
    for result in results:
        low, high = result.interval
        lines.append(
            row(
                _title(result),
                f"{result.time:,.0f} ({low:,.0f}-{high:,.0f})",
                f"{result.time / result.about['edges_per_second']:.2f}",
                _relative(result, results[0]),
                *(number(result.cost(model)) for model in results[0].models),
                *(places[model][result.name] for model in results[0].models),
            )
        )
    return lines


def _relative(one: Result, other: Result) -> str:
    """The time of a plan over that of another one, with its interval."""
    if one is other:
        return "1"
    each = ratios(one, other)
    low, high = interval(each)
    return f"{median(each):.2f} ({low:.2f}-{high:.2f})"


def _places(results: Sequence[Result], model: str) -> dict[str, int]:
    """The place of each plan by its estimated cost; equal costs share a place."""
    costs = sorted(result.cost(model) for result in results)
    return {result.name: costs.index(result.cost(model)) + 1 for result in results}


def _correlations(results: Sequence[Result]) -> list[str]:
    decided = decided_pairs(results)
    named = [result for result in results if result.about["series"]]
    lines = head(
        "model", "rank correlation", "of the named plans", "decided pairs in the wrong order",
        "chosen", "its time / fastest",
    )  # fmt: skip
    for model in results[0].models:
        wrong = sum(a.cost(model) > b.cost(model) for a, b in decided)
        chosen = min(results, key=lambda result: result.cost(model))
        taus = [rank_correlation(own, model) for own in (results, named)]
        lines.append(
            row(
                f"`{model}`",
                *("-" if tau is None else f"{tau:.2f}" for tau in taus),
                f"{wrong} of {len(decided)}",
                _title(chosen),
                _relative(chosen, results[0]),
            )
        )
    return [
        *lines,
        "",
        "A pair of plans is decided if the interval of their ratio by round excludes 1.",
    ]


def _orders(experiment: str, results: Sequence[Result]) -> list[str]:
    """The order of the named plans, cheapest first, by the thesis, by the models, and measured."""
    named = [result for result in results if result.about["series"]]
    orders = {"measured": [result.about["series"] for result in named]}
    for model in results[0].models:
        ordered = sorted(named, key=lambda result: result.cost(model))
        orders[f"`{model}`"] = [result.about["series"] for result in ordered]
    first = ORDERS[experiment]
    said = " ".join(first) if len(first) > 1 else f"{first[0]} first"
    lines = head("named plans, cheapest first", "order")
    lines.append(row("in the thesis, which says that it measured this order", said))
    lines += [row(name, " ".join(order)) for name, order in orders.items()]
    wrong = [
        f"{_short_title(fast)} is faster than {_short_title(slow)} "
        f"({median(ratios(slow, fast)):.2f} times), but {' and '.join(models)} "
        f"{'say' if len(models) > 1 else 'says'} the contrary"
        for fast, slow in decided_pairs(named)
        if (models := [f"`{m}`" for m in fast.models if fast.cost(m) > slow.cost(m)])
    ]
    if not wrong:
        return [*lines, "", "No decided pair of named plans is in the wrong order."]
    return [*lines, "", "Named plans that a model has in the wrong order:", "", *_listed(wrong)]


def _listed(items: Sequence[str]) -> list[str]:
    return [f"- {item}." for item in items]


def _profile(results: Sequence[Result]) -> list[str]:
    """Measured and estimated times and rates of operators, each sub-plan once."""
    of_form: dict[str, list[Operator]] = defaultdict(list)
    for result in results:
        for operator in result.operators:
            of_form[operator.form].append(operator)
    kinds: dict[str, list[Operator]] = defaultdict(list)
    for same in of_form.values():
        operator = _middle(same)
        if operator.us:
            kinds[operator.kind].append(operator)
    outside = median(r.time - sum(o.us for o in r.operators) for r in results)
    models = results[0].models
    lines = head(
        "operator", "sub-plans", "measured, µs/s", *(f"measured / `{m}`" for m in models),
        *(f"rate, `{m}` / measured" for m in models),
    )  # fmt: skip
    each = head(
        "operator", "sub-plan", "measured, µs/s", *(f"`{m}`, µs/s" for m in models),
        "measured rows/s", *(f"`{m}`, rows/s" for m in models),
    )  # fmt: skip
    for kind, own in sorted(kinds.items()):
        times = _spread([operator.us for operator in own], ",.0f")
        lines.append(
            row(
                kind,
                len(own),
                times,
                *(_costs(own, m) for m in models),
                *(_rates_of(own, m) for m in models),
            )
        )
        for operator in sorted(own, key=lambda operator: (len(operator.shape), operator.shape)):
            costs = [number(operator.estimates[m]["cost"]) for m in models]
            rates = [number(operator.estimates[m]["rate"]) for m in models]
            each.append(
                row(
                    kind,
                    operator.shape,
                    f"{operator.us:,.0f}",
                    *costs,
                    number(operator.rate),
                    *rates,
                )
            )
    return [
        "Each sub-plan counts once: the median, with the smallest and the largest in brackets. The "
        "time of an operator is its share of the elapsed time, multiplied with the processor time. "
        f"Outside the operators, {outside:,.0f} µs/s go into the selection of edges and the "
        "encoding of vertices, in each plan the same.",
        "",
        *lines,
        "",
        "All sub-plans:",
        "",
        *each,
    ]


def _middle(same: Sequence[Operator]) -> Operator:
    """The operator with the median time of those with one form."""
    return sorted(same, key=lambda operator: operator.us)[len(same) // 2]


def _costs(own: Sequence[Operator], model: str) -> str:
    return _spread([o.us / o.estimates[model]["cost"] for o in own], ".3g")


def _rates_of(own: Sequence[Operator], model: str) -> str:
    values = [o.estimates[model]["rate"] / o.rate for o in own if o.rate]
    return _spread(values, ".2f") if values else "-"


def _spread(values: Sequence[float], form: str) -> str:
    return f"{median(values):{form}} ({min(values):{form}}-{max(values):{form}})"


def _plot(results: Sequence[Result]) -> str:
    panels = [Bars("measured, µs/s", [Value(r.time, *r.interval) for r in results])]
    for model in results[0].models:
        costs = [r.cost(model) for r in results]
        wide = max(costs) > 100 * min(costs)
        panels.append(Bars(f"estimated, {model}", [Value(c) for c in costs], logarithmic=wide))
    return bars(results[0].about["figure"], [_title(r) for r in results], panels)
