"""Elements of plots as SVG, on a white ground that light and dark pages show alike."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#8d6a9f", "#c77d1e", "#5f6f7d", "#0f9b8e", "#7a4419")


def document(width: float, height: float, parts: Sequence[str]) -> str:
    """A drawing of a size in pixels."""
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        'font-family="sans-serif" font-size="12">'
    )
    ground = f'<rect width="{width:g}" height="{height:g}" fill="white"/>'
    return "\n".join([opening, ground, *parts, "</svg>"]) + "\n"


def line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    """A straight line."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        'stroke-width="1.5"/>'
    )


def polyline(points: Sequence[tuple[float, float]], colour: str) -> str:
    """A line through points."""
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>'


def dot(x: float, y: float, colour: str) -> str:
    """A small filled circle."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'


def text(x: float, y: float, content: str, *, anchor: str = "start", size: int = 12) -> str:
    """A line of text; ``anchor`` is ``start``, ``middle`` or ``end``."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">'
        f"{escape(content)}</text>"
    )
