"""What operators did, as columns beside a plan's estimates."""

from __future__ import annotations

from collections.abc import Mapping

from ...documents.numbers import duration, number
from ...documents.picture import Diagram
from ...running.measures import Measured, furthest_off
from .text import Columns

FAR_OFF = 10.0
"""A q-error from here on is marked."""

_NAMES = {"rate": "rows", "validity": "valid", "population": "held"}


def columns(diagram: Diagram, nodes: Mapping[int, Measured]) -> Columns:
    """The measured figures in the order of the estimated ones, the worst q-error of the three
    with its name, marked ``!`` if far off, and the operator's work."""

    def cells(key: int, node: Measured) -> tuple[str, ...]:
        done = node.counters
        valid = "" if not done.rows_out else duration(node.validity, diagram.time_unit)
        works = done.seconds > 0  # what Spark does, or a reader, has no clock of its own
        return (
            diagram.per(node.rate),
            valid,
            number(node.population),
            _q_error(node),
            number(done.dropped) if done.dropped else "",
            number(done.state_entries) if works else "",
            f"{done.seconds:.2f} s" if works else "",
        )

    return Columns(
        (f"measured/{diagram.per.sign}", "valid", "held", "q-error", "dropped", "entries", "work"),
        {key: cells(key, node) for key, node in nodes.items()},
    )


def furthest(diagram: Diagram, nodes: Mapping[int, Measured]) -> str:
    """The operator whose estimate is furthest off, as a line; nothing if all are good."""
    found = furthest_off(nodes)
    if found is None or found[2] < 1.005:
        return ""
    node, name, off = found
    box = diagram.boxes[node]
    return f"furthest off: {_NAMES[name]} of {box.operator}  {box.summary}, {number(off)} times\n"


def _q_error(node: Measured) -> str:
    worst = node.q_errors.worst
    if worst is None:
        return ""
    name, off = worst
    text = "1" if off < 1.005 else f"{number(off)} {_NAMES[name]}"
    return f"{text} !" if off >= FAR_OFF else text
