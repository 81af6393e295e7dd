"""What a run measured of its operators, as figures for later plans.

In: a plan, the counters of a run and its length in application time. Out: for each node whose rows
are comparable an observation, kept in the file beside the catalog (`headrace.catalog.feedback`).

Rows are comparable in these cases:

- Operators that coalesce emit the *distinct* rows. Of those only COALESCE, S_PATH and PAIR_PATH
  count the validity that each row adds to earlier rows of its value, so only these measure
  populations.
- Other operators emit *derivations*. They count if no input repeats rows: if each input is a scan,
  coalesces, or is a filter, or a join that keeps all variables, over such inputs. Populations
  count if no row below extends the validity of an earlier one.

Runs over streams with deletions and runs once per slide emit other rows, so nothing is kept of
them. The windows fill during the first part of a run. So a run has to last for some windows, and
operators that combine rows leave out half of the longest window.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..algebra.digests import digest
from ..algebra.physical import PhysicalOperator, Rewindow, Scan
from ..algebra.physical.base import PassesRows
from ..algebra.plan import PhysicalPlan
from ..algebra.plan_parts import PlanNode
from ..algebra.properties import Spread
from ..catalog.feedback import FeedbackFileError, write
from ..catalog.figures import FeedbackFile, Kind, Observation, Scanned
from .measures import computed_once

if TYPE_CHECKING:
    from ..executor.counters import Counters

WINDOWS = 3
"""The least length of a run, in lengths of the longest window below an operator."""
COUNTS_ADDED = frozenset({"COALESCE", "PAIR_PATH", "S_PATH"})
"""The operators that count only the validity that a row adds to earlier rows of its value."""


def name_of_run(plan: PhysicalPlan, output: str) -> str:
    """The name of a run into an output, the same if the run is resumed; ``-`` has new names."""
    return uuid.uuid4().hex if output == "-" else digest(plan.digest, os.path.abspath(output))


@dataclass(frozen=True)
class Recorder:
    """Keeps the figures of one run.

    Attributes:
        plan: the plan that runs.
        file: the file to write; None to keep nothing.
        run: the name of the run, whose later figures replace earlier ones.
    """

    plan: PhysicalPlan
    file: FeedbackFile | None
    run: str

    def keep(
        self, counters: Mapping[int, Counters], ticks: int, now: float | None = None
    ) -> str | None:
        """Keeps what the run measured so far; returns a warning if the file cannot be written.

        Args:
            counters: the counters of the run by node id.
            ticks: the application time of the run, in ticks.
            now: the current time, in seconds since 1970; by default that of the clock.
        """
        if self.file is None:
            return None
        seen = observations(self.plan, counters, ticks, self.file)
        try:
            write(self.file.path, self.run, seen, time.time() if now is None else now)
        except FeedbackFileError as error:
            return f"{error}; the figures of this run are not kept"
        return None


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the plan says of the rows of a node.

    Attributes:
        kind: which rows the node counts; None if they are not comparable.
        scans: the scans below.
        longest: the length of the longest window below, in ticks.
        filling: the time that is left out because windows fill, in ticks.
        single: whether no row repeats another one, except edges that occur twice.
        extends: whether a row may extend the validity of an earlier row of its value.
        populations: whether the validity of rows measures a population.
    """

    kind: Kind | None
    scans: frozenset[Scanned]
    longest: int
    filling: int
    single: bool
    extends: bool
    populations: bool


def observations(
    plan: PhysicalPlan, counters: Mapping[int, Counters], ticks: int, file: FeedbackFile
) -> tuple[Observation, ...]:
    """What a run of ``ticks`` time units measured of each node whose rows are comparable."""
    from ..executor.partitioned import plan_counters

    if plan.evaluate_every is not None or any(scan.marks for _, scan in plan.scans):
        return ()
    once = computed_once(plan)
    counted = plan_counters(plan, counters)
    below: list[_Rows] = []
    seen: list[Observation] = []
    for node in plan.nodes:
        rows = _rows(plan, node, [below[i] for i in node.inputs])
        below.append(rows)
        source, own = file.source_of(rows.scans), counted.get(node.id)
        if rows.kind is None or node.identity is None or source is None or own is None:
            continue
        if node.properties.distribution == Spread.BROADCAST:
            continue  # each partition counts a copy
        figures = _figures(own, 0 if node.id in once else ticks, rows)
        if figures is not None:
            rate, population, work = figures
            seen.append(
                Observation(node.identity, source, rows.kind, rate, population, work, node.op)
            )
    return tuple(seen)


def _rows(plan: PhysicalPlan, node: PlanNode, inputs: list[_Rows]) -> _Rows:
    operator = node.operator
    if isinstance(operator, Scan):
        scans = [(scan.stream, scan.label, scan.range, scan.slide) for scan in operator.scans]
        return _Rows("derived", frozenset(scans), operator.range or 0, 0, True, False, True)
    kind: Kind | None = "derived" if all(rows.single for rows in inputs) else None
    longest = max((rows.longest for rows in inputs), default=0)
    filling = max((rows.filling for rows in inputs), default=0)
    if isinstance(operator, Rewindow):
        longest += operator.range
    if operator.coalesces:
        kind = "distinct"
    elif isinstance(operator, PassesRows):
        kind = None  # the rows are those of its input, which counts them
    if operator.holds_state and not isinstance(operator, PassesRows):
        filling = longest // 2
    extends = any(rows.extends for rows in inputs)
    widths = [len(plan.nodes[i].columns) for i in node.inputs]
    single = all(rows.single for rows in inputs) and (
        isinstance(operator, PassesRows)
        or operator.keeps_coalesced(widths)
        or _keeps_variables(operator)
    )
    return _Rows(
        kind,
        frozenset[Scanned]().union(*(rows.scans for rows in inputs)),
        longest,
        filling,
        single or operator.coalesces,
        extends or operator.coalesces,
        operator.op in COUNTS_ADDED or not (extends or operator.coalesces),
    )


def _keeps_variables(operator: PhysicalOperator) -> bool:
    """Whether the operator is a join whose output has each variable of its inputs."""
    bindings = getattr(operator, "bindings", None)
    if bindings is None:
        return False
    return {v for binding in bindings for v in binding} == {*getattr(operator, "output", ())}


def _figures(own: Counters, ticks: int, rows: _Rows) -> tuple[float, float | None, float] | None:
    """Rate, population and work; None if the run was too short.

    ``ticks`` is 0 for a node over stored graphs alone. An operator without rows counts half a row.
    """
    if not ticks:
        return 0.0, float(own.endless), 0.0
    if own.endless or not rows.longest or ticks < WINDOWS * rows.longest:
        return None
    time_units = ticks - rows.filling
    population = max(own.validity, 0.5) / time_units if rows.populations else None
    return max(own.rows_out, 0.5) / time_units, population, own.seconds * 1e6 / ticks
