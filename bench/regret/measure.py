"""Measures the plans of one query in this process.

1. Every plan runs once; its answer is compared with that of the first complete run, up to the
   instant that it reached. A plan is *capped* at ten times the fastest so far. Then the query is
   planned once more by the rows that these runs counted (:mod:`bench.regret.known`).
2. *Screening*: the plans run in rounds, each round in another order.
3. *Duel*: the chosen plans, the plan as written and the fastest plan of the screening run in rounds
   of their own, until the interval of the median of chosen / fastest is narrow. These rounds had no
   part in the choice of the fastest, so that noise does not make it look faster than it is.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from bench.regret.answers import Answer, TooManyAnswersError
from bench.regret.candidates import WRITTEN, Candidate, candidates
from bench.regret.forms import forms, picture
from bench.regret.job import SHORTEST, Job
from bench.regret.kinds import kind_of
from bench.regret.known import Figures, no_figures
from bench.regret.runs import Run, batches_of, run
from bench.regret.statistics import is_narrow, median_interval, middle
from headrace.algebra.durations import ticks
from headrace.catalog.edges import EdgeFile
from headrace.catalog.inputs import measured_catalog
from headrace.catalog.model import Catalog
from headrace.executor.kernels.compiling import KernelCache
from headrace.running.measures import QErrors, measured

CAP = 10.0


@dataclass(slots=True)
class Measurement:
    """The measurements of one candidate.

    Attributes:
        candidate: the plan.
        times: the seconds of its runs in the screening.
        stopped: why it was capped, or empty.
        agrees: how its answer compares: ``same``, ``same before the cap``, ``different`` or none.
        operators: the estimates and measures of its nodes.
    """

    candidate: Candidate
    times: list[float] = field(default_factory=list)
    stopped: str = ""
    agrees: str = ""
    operators: list[dict[str, Any]] = field(default_factory=list)


class TooLargeError(RuntimeError):
    """No plan ends within the limit, or the answer is too large."""


def measure_query(job: Job, announce: Callable[[str], None]) -> dict[str, Any]:
    """Measures the plans of a query with the largest window that is not too large.

    Args:
        job: the query, and how to measure it.
        announce: a callback for the form of each plan before its run.

    Returns:
        The measurements as JSON-able values.

    Raises:
        TooLargeError: if the query is too large for the smallest window.
        HeadraceError: if the query cannot be planned.
    """
    began = time.process_time()
    catalog = catalog_of(Path(job.folder), job.time_unit)
    with no_figures(catalog) as figures:
        query = _of_fitting_window(job, figures, announce)
        query.planned_by_figures()
    query.screening(began)
    return query.result(began)


def _of_fitting_window(job: Job, figures: Figures, announce: Callable[[str], None]) -> _Query:
    """The query after its first runs, with a window that is neither too large nor very small."""
    position, tried = job.start, set[int]()
    while True:
        first_try = position not in tried
        tried.add(position)
        query = _Query(job, figures, job.windows[position], announce)
        try:
            fastest = query.first_runs(stop_above=job.settings.limit)
        except TooLargeError:
            if position + 1 == len(job.windows):
                raise
            position += 1
            continue
        if fastest >= SHORTEST or not first_try or position == 0 or position - 1 in tried:
            return query
        position -= 1


def catalog_of(folder: Path, time_unit: str) -> Catalog:
    """The measured catalog of a cut."""
    edges = EdgeFile(str(folder / "edges.csv"), time_unit=time_unit, vertex_type="integer")
    path = folder / "vertices.csv"
    stored = [
        EdgeFile(str(path), time_unit=time_unit, vertex_type="integer", stored=True, vertices=True)
    ]
    return measured_catalog([edges], stored if path.exists() else [])[0]


class _Query:
    """One query with one window."""

    def __init__(
        self, job: Job, figures: Figures, window: tuple[str, str], announce: Callable[[str], None]
    ) -> None:
        catalog = figures.catalog
        self._text = job.text
        self._figures = figures
        self._window = window
        self._settings = job.settings
        self._announce = announce
        self._killed = job.killed
        self._random = Random(job.seed)
        self._found = candidates(job.text, catalog, window, job.seed)
        self._plans = {name: Measurement(c) for name, c in self._found.plans.items()}
        first = next(iter(self._found.plans.values())).plan
        labels = {stream.name: stream.labels for stream in first.streams}
        self._calls: list[list[pa.RecordBatch]] = batches_of(catalog, labels)
        self._range = ticks(window[0], catalog.time_unit)
        self._fill = self._filling()
        self._reference: Answer | None = None
        self._fastest = float("inf")
        self._duel: dict[str, list[float]] = {}
        self._results = 0
        # What the searches left would make every collection between two runs slow.
        gc.collect()
        gc.freeze()

    @property
    def _cap(self) -> float:
        return CAP * max(self._fastest, SHORTEST / 2)

    def _filling(self) -> int:
        """The time until the window has filled, or half of the stream if that is shorter."""
        times = [t for call in self._calls for t in (call[0]["ts"][0].as_py(),) if t > 0]
        return min(self._range, (times[-1] - times[0]) // 2) if times else 0

    def first_runs(self, stop_above: float) -> float:
        """Runs every plan once, compares answers, and returns the seconds of the fastest.

        Raises:
            TooLargeError: if the first two plans exceed ``stop_above`` seconds.
        """
        waiting = list(self._plans.values())
        unended: list[Measurement] = []
        while waiting:
            own = waiting.pop(0)
            if own.candidate.form in self._killed:
                own.stopped = "killed"
                continue
            limit = stop_above if self._reference is None else self._cap
            done = self._compared_run(own, limit)
            if self._reference is None and done.stopped:
                unended.append(own)
                if len(unended) == 2 or not waiting:
                    raise TooLargeError(f"above {stop_above:g} s")
                continue
            self._take(own, done)
            if self._reference is None:
                self._reference = done.answer
                self._results = done.results
                if done.seconds > stop_above:
                    raise TooLargeError(f"above {stop_above:g} s")
        if self._reference is None:
            raise TooLargeError("no plan ended")
        for own in unended:
            self._take(own, self._compared_run(own, self._cap))
        return self._fastest

    def _compared_run(self, own: Measurement, limit: float) -> Run:
        """Runs a plan; once more if the run had to load kernels."""
        self._announce(own.candidate.form)
        loaded = _kernels_loaded()
        try:
            done = self._run(own, limit)
            if _kernels_loaded() != loaded:
                again = run(own.candidate.plan, self._calls, limit)
                if done.stopped and not again.stopped:
                    return self._run(own, limit)
                if not done.stopped:
                    done = replace(done, seconds=min(done.seconds, again.seconds))
        except TooManyAnswersError as error:
            raise TooLargeError(str(error)) from error
        except MemoryError:
            return Run(limit, "memory", None, 0)
        return done

    def _run(self, own: Measurement, limit: float) -> Run:
        plan = own.candidate.plan
        return run(plan, self._calls, limit, answer_rows=self._settings.answers, fill=self._fill)

    def _take(self, own: Measurement, done: Run) -> None:
        own.stopped = done.stopped
        own.times.append(done.seconds)
        if done.answer is not None and self._reference is not None:
            own.agrees = comparison(self._reference, done)
        elif done.answer is not None:
            own.agrees = "same"
        if not done.stopped:
            self._fastest = min(self._fastest, done.seconds)
            own.operators = _operators(own.candidate, done)
            self._figures.keep(own.candidate.plan, done)

    def planned_by_figures(self) -> None:
        """Adds the plan by measured rows, after its first run if it is a new one."""
        self._figures.plan_again(self._found, self._text, self._window)
        for name, candidate in self._found.plans.items():
            if name in self._plans:
                continue
            own = self._plans[name] = Measurement(candidate)
            if name in self._killed:
                own.stopped = "killed"
            else:
                self._take(own, self._compared_run(own, self._cap))

    def screening(self, began: float) -> None:
        """Runs plans in rounds; those far slower than the fastest only once more."""
        repeats = self._repeats()
        for number in range(self._settings.rounds):
            running = [
                own
                for own in self._plans.values()
                if not own.stopped and (number == 0 or min(own.times) < 2 * self._fastest)
            ]
            self._random.shuffle(running)
            for own in running:
                if number and self._late(began, 0.6):
                    return
                if number == 0:
                    own.times.clear()  # the first run also collected the answer
                own.times.append(self._timed(own, repeats))
            if number == 0:
                self._fastest = min(own.times[0] for own in running)

    def _repeats(self) -> int:
        return max(1, min(10, round(2 * SHORTEST / max(self._fastest, 1e-3))))

    def _late(self, began: float, part: float = 1.0) -> bool:
        return time.process_time() - began > part * self._settings.query_limit

    def _timed(self, own: Measurement, repeats: int) -> float:
        self._announce(own.candidate.form)
        plan = own.candidate.plan
        return sum(run(plan, self._calls, CAP * 10 * self._cap).seconds for _ in range(repeats)) / (
            repeats
        )

    def duel(self, began: float) -> str:
        """Runs the chosen plans, the plan as written and the fastest; returns the fastest."""
        complete = [own for own in self._plans.values() if not own.stopped]
        fastest = min(complete, key=lambda own: middle(own.times))
        named = [
            own
            for own in complete
            if own is fastest
            or any(r.startswith("chosen") or r == WRITTEN for r in own.candidate.roles)
        ]
        if len(named) < 2:
            return fastest.candidate.form
        self._duel = {own.candidate.form: [] for own in named}
        repeats = self._repeats()
        for number in range(self._settings.most_rounds):
            for own in named if number % 2 else named[::-1]:
                far = middle(own.times) > 3 * self._fastest and number >= 3
                if not far:
                    self._duel[own.candidate.form].append(self._timed(own, repeats))
            if self._late(began) and number >= 2:
                break
            base = self._duel[fastest.candidate.form]
            pairs = [
                ratios(self._duel[own.candidate.form], base)
                for own in named
                if own is not fastest and len(self._duel[own.candidate.form]) == len(base)
            ]
            if number >= 5 and all(is_narrow(p, self._settings.width) for p in pairs):
                break
        return fastest.candidate.form

    def result(self, began: float) -> dict[str, Any]:
        """Runs the duel and returns all measurements as JSON-able values."""
        fastest = self.duel(began)
        base = self._duel.get(fastest, [])
        roles: dict[str, str] = {}
        for name, own in self._plans.items():
            for role in own.candidate.roles:
                if role.startswith("chosen") or role == WRITTEN:
                    roles[role] = name
        compared: dict[str, dict[str, float | None]] = {}
        for role, name in roles.items():
            own = self._plans[name]
            if name == fastest:
                compared[role] = {"ratio": 1.0, "low": 1.0, "high": 1.0, "rounds": len(base)}
            elif own.stopped:
                compared[role] = {"ratio": CAP, "low": CAP, "high": None, "rounds": 0}
            else:
                pairs = ratios(self._duel[name], base)
                low, high = median_interval(pairs)
                compared[role] = {
                    "ratio": middle(pairs),
                    "low": low,
                    "high": None if high == float("inf") else high,
                    "rounds": len(pairs),
                }
        assert self._reference is not None
        return {
            "status": "ok",
            "window": self._window,
            "edges": sum(b.num_rows for call in self._calls for b in call),
            "answers": len(self._reference),
            "results": self._results,
            "plans_in_memo": min(self._found.count, 10**15),
            "search_ms": dict(self._found.search_ms),
            "stop_reason": self._found.stop_reason,
            "fastest": fastest,
            "compared": compared,
            "plans": [_plan_row(own) for own in self._plans.values()],
            "operators": _distinct_operators(self._plans.values()),
            "cpu_s": time.process_time() - began,
        }


def ratios(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """The ratios of the rounds that both ran."""
    return [a / b for a, b in zip(one, other, strict=False)]


def comparison(reference: Answer, done: Run) -> str:
    """How the answer of a run compares with that of a complete run.

    Returns:
        ``same``, ``same before the cap`` up to the instant that the run reached, ``different``, or
        nothing for a run that ended before it had an answer.
    """
    assert done.answer is not None
    if done.reached is None and not done.stopped:
        return "same" if done.answer.digest == reference.digest else "different"
    if done.reached is None:
        return ""
    same = done.answer.before(done.reached).digest == reference.before(done.reached).digest
    return "same before the cap" if same else "different"


def _operators(candidate: Candidate, done: Run) -> list[dict[str, Any]]:
    """The q-errors of each node, by model."""
    assert done.counters is not None
    rows = []
    own = forms(candidate.plan)
    for model, plan in candidate.by_model.items():
        if plan.digest != candidate.plan.digest:
            continue
        for node, values in measured(plan, done.counters, done.ticks).items():
            # Of an operator without a row only the rate is compared, as one row in the whole run.
            errors = values.q_errors if values.counters.rows_out else QErrors(values.q_errors.rate)
            rows.append(
                {
                    "form": own[node],
                    "model": model,
                    "kind": kind_of(plan, node),
                    "rate": errors.rate,
                    "validity": errors.validity,
                    "population": errors.population,
                    "estimated": [values.estimate.rate, values.estimate.population],
                    "measured": [values.rate, values.population],
                    "seconds": values.counters.seconds,
                }
            )
    return rows


def _distinct_operators(plans: Any) -> list[dict[str, Any]]:
    """Each sub-plan once, in whatever plans it occurs."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for own in plans:
        for row in own.operators:
            rows.setdefault((row["model"], row["form"]), row)
    return list(rows.values())


def _plan_row(own: Measurement) -> dict[str, Any]:
    return {
        "form": own.candidate.form,
        "picture": picture(own.candidate.plan),
        "roles": own.candidate.roles,
        "costs": {model: list(costs) for model, costs in own.candidate.costs().items()},
        "times": own.times,
        "stopped": own.stopped,
        "agrees": own.agrees,
    }


def _kernels_loaded() -> int:
    """The number of kernels that this process has compiled or loaded."""
    from headrace.running.warming import kernels

    caches: list[KernelCache] = [kernel._cache for _, kernel in kernels()]
    return sum(cache.loaded + cache.compiled for cache in caches)
