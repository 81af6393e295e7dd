"""Plots of measured beside estimated costs, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10

from bench.drawing import COLOURS, document, dot, line, polyline, text

PANEL, GAP, LEFT, TOP, HEIGHT, BOTTOM = 210, 60, 56, 62, 220, 46
NAMES, BAR = 190, 20


@dataclass(frozen=True, slots=True)
class Value:
    """A value with the interval of its median; an estimate has none."""

    middle: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Curves:
    """A panel of lines: by name, the values at each position."""

    title: str
    lines: Mapping[str, Sequence[tuple[float, Value]]]


@dataclass(frozen=True, slots=True)
class Bars:
    """A panel with a value for each row; ``logarithmic`` shows decades."""

    title: str
    values: Sequence[Value]
    logarithmic: bool = False


def curves(title: str, axis: str, panels: Sequence[Curves]) -> str:
    """Panels beside each other, each with a scale of its own.

    Args:
        title: above the plot.
        axis: the name of the positions.
        panels: measured and estimated values, with the same lines.
    """
    width = LEFT + len(panels) * (PANEL + GAP)
    parts = [text(LEFT, 20, title, size=14)]
    for number, panel in enumerate(panels):
        left = LEFT + number * (PANEL + GAP)
        parts += _curves_panel(panel, left, axis)
    for number, name in enumerate(panels[0].lines):
        left, level = LEFT + 130 * number, TOP + HEIGHT + BOTTOM + 10
        parts.append(line(left, level - 4, left + 20, level - 4, _colour(number)))
        parts.append(text(left + 26, level, name))
    return document(width, TOP + HEIGHT + BOTTOM + 24, parts)


def _curves_panel(panel: Curves, left: float, axis: str) -> list[str]:
    every = [(x, v) for values in panel.lines.values() for x, v in values]
    most_x = max(x for x, _ in every)
    most_y = max(max(v.middle, v.high or 0.0) for _, v in every) or 1.0

    def x_of(x: float) -> float:
        return left + PANEL * x / most_x

    def y_of(y: float) -> float:
        return TOP + HEIGHT * (1 - y / (most_y * 1.05))

    parts = [text(left, TOP - 12, panel.title)]
    for mark in _marks(most_y):
        parts.append(line(left, y_of(mark), left + PANEL, y_of(mark), "#dddddd"))
        parts.append(text(left - 6, y_of(mark) + 4, _short(mark), anchor="end"))
    for mark in _marks(most_x):
        parts.append(text(x_of(mark), TOP + HEIGHT + 16, _short(mark), anchor="middle"))
    parts.append(text(left + PANEL / 2, TOP + HEIGHT + 34, axis, anchor="middle"))
    for number, values in enumerate(panel.lines.values()):
        colour = _colour(number)
        ordered = sorted(values, key=lambda pair: pair[0])
        parts.append(polyline([(x_of(x), y_of(v.middle)) for x, v in ordered], colour))
        for x, value in ordered:
            parts.append(dot(x_of(x), y_of(value.middle), colour))
            if value.low is not None and value.high is not None:
                parts.append(line(x_of(x), y_of(value.low), x_of(x), y_of(value.high), colour))
    return parts


def bars(title: str, names: Sequence[str], panels: Sequence[Bars]) -> str:
    """Panels of bars beside each other, with the same rows, each with a scale of its own."""
    width = NAMES + len(panels) * (PANEL + GAP)
    height = TOP + BAR * len(names)
    parts = [text(12, 20, title, size=14)]
    for row, name in enumerate(names):
        parts.append(text(NAMES - 8, TOP + BAR * row + 14, name, anchor="end"))
    for number, panel in enumerate(panels):
        parts += _bars_panel(panel, NAMES + number * (PANEL + GAP), height, number)
    return document(width, height + 32, parts)


def _bars_panel(panel: Bars, left: float, bottom: float, number: int) -> list[str]:
    most = max(max(v.middle, v.high or 0.0) for v in panel.values)
    least = 10.0 ** floor(log10(min(v.middle for v in panel.values))) if panel.logarithmic else 0.0

    def x_of(value: float) -> float:
        if panel.logarithmic:
            return left + PANEL * log10(value / least) / max(log10(most / least), 1e-9)
        return left + PANEL * value / most

    marks = _decades(least, most) if panel.logarithmic else _marks(most)
    parts = [text(left, TOP - 12, panel.title)]
    for mark in marks:
        parts.append(line(x_of(mark), TOP, x_of(mark), bottom, "#dddddd"))
        parts.append(text(x_of(mark), bottom + 16, _short(mark), anchor="middle"))
    for row, value in enumerate(panel.values):
        level, end = TOP + BAR * row + 10, x_of(value.middle)
        parts.append(line(left, level, end, level, _colour(number)))
        parts.append(dot(end, level, _colour(number)))
        if value.low is not None and value.high is not None:
            parts.append(line(x_of(value.low), level - 4, x_of(value.low), level + 4, "#222222"))
            parts.append(line(x_of(value.high), level - 4, x_of(value.high), level + 4, "#222222"))
    return parts


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _marks(most: float) -> list[float]:
    """Round values from 0 up to ``most``, about four of them."""
    step = 10.0 ** floor(log10(most))
    step = next(s for s in (step / 5, step / 2, step, 2 * step, 5 * step) if most / s <= 5)
    return [step * k for k in range(int(most / step * 1.0001) + 1)]


def _decades(least: float, most: float) -> list[float]:
    count = round(log10(most / least)) + 1
    return [least * 10.0**k for k in range(0, count, max(1, count // 4)) if least * 10**k <= most]


def _short(value: float) -> str:
    if value >= 1e5 or (value and value < 1e-2):
        return f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return f"{value:,.4g}"
