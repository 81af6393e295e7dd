"""Plots as SVG: cumulative distributions on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log10

from bench.drawing import COLOURS, document, line, polyline, text

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, RIGHT = 640, 360, 56, 36, 44, 180


def distribution(title: str, axis: str, series: Mapping[str, Sequence[float]], most: float) -> str:
    """The share of values up to each value, a line for each series.

    Args:
        title: above the plot.
        axis: the name of the values.
        series: the values by name, each at least 1.
        most: the end of the axis, above 1; larger values lie beyond it.
    """
    decades = max(log10(most), 1e-9)

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(log10(max(value, 1.0)) / decades, 1.0)

    def y(share: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    parts = [text(LEFT, 20, title, size=14), text(LEFT, HEIGHT - 8, axis)]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(line(LEFT, y(share), WIDTH - RIGHT, y(share), "#dddddd"))
        parts.append(text(LEFT - 8, y(share) + 4, f"{share:.0%}", anchor="end"))
    for value in _marks(most):
        parts.append(line(x(value), y(0), x(value), y(1), "#eeeeee"))
        parts.append(text(x(value), y(0) + 16, f"{value:g}", anchor="middle"))
    for number, (name, values) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        ordered = sorted(values)
        points = [(x(1.0), y(0.0))]
        for position, value in enumerate(ordered):
            points += [(x(value), points[-1][1]), (x(value), y((position + 1) / len(ordered)))]
        parts.append(polyline(points, colour))
        level = TOP + 14 + 18 * number
        parts.append(line(WIDTH - RIGHT + 12, level - 4, WIDTH - RIGHT + 32, level - 4, colour))
        parts.append(text(WIDTH - RIGHT + 38, level, f"{name} ({len(values)})"))
    return document(WIDTH, HEIGHT, parts)


def _marks(most: float) -> list[float]:
    if most <= 20:
        return [m for m in (1, 1.1, 1.3, 1.5, 2, 3, 5, 10, 20) if m <= most]
    return [10.0**k for k in range(ceil(log10(most)) + 1) if 10.0**k <= most * 1.0001]
