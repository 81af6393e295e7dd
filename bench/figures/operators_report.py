"""The page of Figures 6.3 to 6.5: measured and estimated costs of single operators."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import exp, log
from operator import attrgetter, methodcaller
from statistics import fmean, median

from bench.figures.plots import Curves, Value, curves
from bench.figures.points import FIGURES, PATH, PATTERN, TOTAL, WSCAN
from bench.figures.results import Measured, Result, rank_correlation
from bench.markdown import head, row

AXES = {
    WSCAN: "edges/s",
    PATTERN: "edges/s of the first input",
    PATH: "edges/s",
}
ABOUT = {
    WSCAN: "The scan of one label, with the encoding of its vertices; 20,000 vertices. The cost "
    "should depend on the rate alone.",
    PATTERN: f"`a(x, y), b(y, z)` with both rates adding up to {TOTAL}/s; 500 vertices, "
    "so that an edge has 4 to 144 partners on average. The plan "
    "is a hash join over two scans, without COALESCE. The cost should be highest at equal rates, "
    "and the same if the rates are exchanged.",
    PATH: "`a+` by S_PATH over one scan; 20,000 vertices, so that an edge is continued by 0.05 to "
    "0.8 edges on average. The cost should grow with the rate and with the window.",
}


def operators_report(done: Measured) -> tuple[list[str], Mapping[str, str]]:
    """The lines of the page, and its plots by file name."""
    lines: list[str] = []
    plots: dict[str, str] = {}
    for figure in FIGURES["operators"]:
        results = done.of_figure(figure)
        if not results:
            continue
        name = f"operators-{figure.split()[1].strip(',')}.svg"
        plots[name] = _plot(figure, results)
        lines += [f"## {figure}", "", ABOUT[figure], "", f"![{figure}]({name})", ""]
        lines += [*_checks(figure, results), "", *_correlations(results), ""]
        lines += [*_table(figure, results), ""]
    return lines, plots


def _plot(figure: str, results: Sequence[Result]) -> str:
    panels = [Curves("measured, µs/s", _lines(results, _measured))]
    for model in results[0].models:
        panels.append(Curves(f"estimated, {model}", _lines(results, _estimated(model))))
    return curves(figure, AXES[figure], panels)


def _measured(result: Result) -> Value:
    return Value(result.time, *result.interval)


def _estimated(model: str) -> Callable[[Result], Value]:
    return lambda result: Value(result.cost(model))


def _lines(
    results: Sequence[Result], value: Callable[[Result], Value]
) -> dict[str, list[tuple[float, Value]]]:
    lines: dict[str, list[tuple[float, Value]]] = {}
    for result in sorted(results, key=_place):
        lines.setdefault(result.about["series"], []).append((result.about["x"], value(result)))
    return lines


def _place(result: Result) -> tuple[float, float]:
    """Window, then rate."""
    return float(result.about["series"].split()[1]), result.about["x"]


def _correlations(results: Sequence[Result]) -> list[str]:
    by_window: dict[str, list[Result]] = defaultdict(list)
    for result in sorted(results, key=_place):
        by_window[result.about["series"]].append(result)
    lines = head("rank correlation", "all points", *by_window, "measured / estimated")
    for model in results[0].models:
        taus = [_tau(rank_correlation(own, model)) for own in (results, *by_window.values())]
        ratios = [result.time / result.cost(model) for result in results]
        lines.append(row(f"`{model}`", *taus, _range(ratios)))
    return lines


def _tau(tau: float | None) -> str:
    return "-" if tau is None else f"{tau:.2f}"


def _range(ratios: Sequence[float]) -> str:
    middle, low, high = (f"{v:.3g}" for v in (median(ratios), min(ratios), max(ratios)))
    return f"{middle} ({low}-{high})"


def _checks(figure: str, results: Sequence[Result]) -> list[str]:
    """What the thesis says of a figure, measured and estimated."""
    values: dict[str, Callable[[Result], float]] = {"measured": attrgetter("time")}
    for model in results[0].models:
        values[f"`{model}`"] = methodcaller("cost", model)
    check = {WSCAN: _scan_check, PATTERN: _pattern_check, PATH: _path_check}[figure]
    return [f"- {name}: {check(results, value)}" for name, value in values.items()]


def _scan_check(results: Sequence[Result], value: Callable[[Result], float]) -> str:
    rates, windows = _groups(results, value)
    over_windows = _mean_ratio([(each[0], each[-1]) for each in rates.values()])
    over_rates = _mean_ratio([(each[0], each[-1]) for each in windows.values()])
    low, high = min(rates), max(rates)
    return (
        f"{over_rates:.2f} times the cost at {high / low:g} times the rate; {over_windows:.2f} "
        "times the cost with the longest window beside the shortest"
    )


def _pattern_check(results: Sequence[Result], value: Callable[[Result], float]) -> str:
    by_window: dict[str, dict[float, float]] = defaultdict(dict)
    for result in results:
        by_window[result.about["series"]][result.about["x"]] = value(result)
    peaks = [
        f"{max(own, key=own.__getitem__):g}/{TOTAL - max(own, key=own.__getitem__):g}"
        for own in by_window.values()
    ]
    mirrored = [
        max(own[x] / own[TOTAL - x], own[TOTAL - x] / own[x])
        for own in by_window.values()
        for x in own
        if x < TOTAL / 2 and TOTAL - x in own
    ]
    return (
        f"highest at {', '.join(peaks)} (by window); costs of exchanged rates differ by "
        f"{median(mirrored) - 1:.0%} in the median, at most {max(mirrored) - 1:.0%}"
    )


def _path_check(results: Sequence[Result], value: Callable[[Result], float]) -> str:
    rates, windows = _groups(results, value)
    with_window = [b > a for each in rates.values() for a, b in pairwise(each)]
    with_rate = [b > a for each in windows.values() for a, b in pairwise(each)]
    return (
        f"grows with the rate in {sum(with_rate)} of {len(with_rate)} steps, with the window in "
        f"{sum(with_window)} of {len(with_window)}"
    )


def _groups(
    results: Sequence[Result], value: Callable[[Result], float]
) -> tuple[dict[float, list[float]], dict[float, list[float]]]:
    """The values by rate, in the order of windows, and by window, in the order of rates."""
    by_rate: dict[float, list[float]] = defaultdict(list)
    by_window: dict[float, list[float]] = defaultdict(list)
    for result in sorted(results, key=_place):
        window, rate = _place(result)
        by_rate[rate].append(value(result))
        by_window[window].append(value(result))
    return by_rate, by_window


def _mean_ratio(pairs: Sequence[tuple[float, float]]) -> float:
    return exp(fmean(log(b / a) for a, b in pairs))


def _table(figure: str, results: Sequence[Result]) -> list[str]:
    lines = head(
        "window, s",
        AXES[figure],
        "measured, µs/s",
        *(f"`{model}`, µs/s" for model in results[0].models),
    )
    for result in sorted(results, key=_place):
        window, rate = _place(result)
        low, high = result.interval
        measured = f"{result.time:,.0f} ({low:,.0f}-{high:,.0f})"
        costs = (number(result.cost(model)) for model in results[0].models)
        lines.append(row(f"{window:g}", f"{rate:g}", measured, *costs))
    return lines


def number(value: float) -> str:
    """A cost for a table."""
    return f"{value:,.0f}" if 10 <= value < 1e7 else f"{value:.3g}"
