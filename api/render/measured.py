"""Measured numbers of operators, as columns beside a plan's estimates."""

from __future__ import annotations

from collections.abc import Mapping

from ...documents.feedback import FeedbackDocument
from ...documents.numbers import Unit, duration, number
from ...documents.picture import PictureDocument
from ...documents.runs import MeasuredDocument
from .text import Columns

FAR_OFF = 10.0
"""The least q-error that gets a mark."""

_NAMES = {"rate": "rows", "validity": "valid", "population": "held"}


def columns(picture: PictureDocument, nodes: Mapping[int, MeasuredDocument]) -> Columns:
    """Returns columns with measured numbers in the order of the estimates.

    Further columns have the largest q-error with its name (marked ``!`` if large), and the work of
    the operator.
    """

    def cells(node: MeasuredDocument) -> tuple[str, ...]:
        works = node.seconds > 0  # operators of Spark and readers have no measured time
        return (
            picture.per(node.rate),
            duration(node.validity, picture.time_unit) if node.rows_out else "",
            number(node.population),
            _q_error(node),
            number(node.dropped) if node.dropped else "",
            number(node.state_entries) if works else "",
            f"{node.seconds:.2f} s" if works else "",
        )

    return Columns(
        (f"measured/{picture.per.sign}", "valid", "held", "q-error", "dropped", "entries", "work"),
        {id_: cells(node) for id_, node in nodes.items()},
    )


def earlier(feedback: FeedbackDocument, per: Unit) -> str:
    """Returns a line with the figures of earlier runs that are the estimates of a node."""
    parts = [f"measured {feedback}"]
    for name, figures in (("distinct", feedback.distinct), ("derived", feedback.derived)):
        if figures is not None:
            held = "" if figures.population is None else f", {number(figures.population)} held"
            work = f", {figures.op} worked {per(figures.work)}/{per.sign}" if figures.work else ""
            parts.append(f"{name} {per(figures.rate)}/{per.sign}{held}{work}")
    return "; ".join(parts)


def furthest_off(picture: PictureDocument, nodes: Mapping[int, MeasuredDocument]) -> str:
    """Returns a line with the operator of the largest q-error; empty text if all are small."""
    errors = [(id_, *largest) for id_, node in nodes.items() if (largest := node.q_error.largest)]
    id_, name, error = max(errors, key=lambda error: error[2], default=(0, "rate", 1.0))
    if error < 1.005:
        return ""
    box = picture.boxes[id_]
    figure = f"{_NAMES[name]} of {box.operator}  {box.summary}"
    return f"furthest off: {figure}, {number(error)} times\n"


def _q_error(node: MeasuredDocument) -> str:
    if node.q_error.largest is None:
        return ""
    name, error = node.q_error.largest
    text = "1" if error < 1.005 else f"{number(error)} {_NAMES[name]}"
    return f"{text} !" if error >= FAR_OFF else text
