"""Figures that earlier runs measured, for the nodes of a plan whose estimates they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from ..catalog.figures import Figures, RelationFigures
from ..optimizer.steps import in_order
from ..planning.planner import Planned
from .model import Document
from .numbers import duration


class RunFigures(Document):
    """The mean over several runs, in which newer runs weigh more.

    Attributes:
        rate: rows per time unit.
        population: rows valid at an instant; null if no run measured it.
        work: the time of the operator in the newest run, in microseconds per time unit.
        op: the name of the operator in the newest run.
        runs: the number of runs.
    """

    rate: float
    population: float | None
    work: float
    op: str
    runs: int


class FeedbackDocument(Document):
    """The figures that earlier runs measured of a node's rows.

    Attributes:
        at: when the newest run measured them, as ISO 8601.
        age: the time since then, in seconds.
        distinct: the rows that coalescing operators emitted; null if no run measured them.
        derived: the rows that other operators emitted; null if no run measured them.
    """

    at: str
    age: float
    distinct: RunFigures | None
    derived: RunFigures | None

    def __str__(self) -> str:
        runs = max(figures.runs for figures in (self.distinct, self.derived) if figures)
        return (
            f"{duration(round(self.age), 'second')} ago, in {runs} {'run' if runs == 1 else 'runs'}"
        )


def feedback_documents(planned: Planned) -> dict[str, FeedbackDocument] | None:
    """Returns the measured figures by the id of a node; None if no node has any."""
    steps = [step for step, _ in in_order(planned.optimization.best)]
    found = {
        str(node): _document(step.estimate.measured)
        for node, step in enumerate(steps)
        if step.estimate.measured is not None
    }
    return found or None


def feedback_facts(documents: Mapping[str, FeedbackDocument] | None) -> dict[int, str]:
    """Returns for each node with measured figures when they were measured, as text."""
    return {int(node): str(document) for node, document in (documents or {}).items()}


def _document(measured: RelationFigures) -> FeedbackDocument:
    kinds = [figures for figures in (measured.distinct, measured.derived) if figures is not None]
    newest = datetime.fromtimestamp(max(figures.at for figures in kinds), UTC)
    return FeedbackDocument(
        at=newest.isoformat(timespec="seconds"),
        age=round(measured.age, 3),
        distinct=_figures(measured.distinct),
        derived=_figures(measured.derived),
    )


def _figures(figures: Figures | None) -> RunFigures | None:
    if figures is None:
        return None
    return RunFigures(**{k: v for k, v in asdict(figures).items() if k != "at"})
