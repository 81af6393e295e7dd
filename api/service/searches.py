"""Searches in worker processes; equal requests share one search and its cached outcome."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import monotonic

from .jobs import Job, Kind, Outcome
from .kept_searches import MOST_KEPT
from .metrics import Metrics
from .search_progress import SearchProgress
from .workers import Worker, WorkerDiedError

LOG = logging.getLogger("headrace.service")
CANCELLED = "cancelled"
_AGAIN_SECONDS = 1.0


class BusyError(Exception):
    """Too many searches wait already; ``seconds`` says when to try again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class ClosingError(Exception):
    """The service is shutting down."""


class LeftError(Exception):
    """The request was cancelled by its id; there is no plan, or the search goes on for others."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that waits for a search.

    Attributes:
        kind: the kind of document.
        plan_id: the id of the plan.
        running: whether the search has begun.
        seconds: the time since the search was first requested.
        limit_seconds: the time limit of the job once it runs.
        progress: the progress of a running search; None before it has any.
    """

    kind: Kind
    plan_id: str
    running: bool
    seconds: float
    limit_seconds: float
    progress: SearchProgress | None


Keep = Callable[[Job, Outcome], Awaitable[None]]
"""Called with the outcome of a search, before the requests that wait for it."""


@dataclass(eq=False)
class _Flight:
    """A search that several requests may wait for.

    Attributes:
        job: the job of the search.
        cancelled: set to cancel the search.
        waiters: the number of requests that wait.
        begun: whether a worker has started the job.
        stopped: whether a client wants the best plan so far.
        worker: the worker of the search.
        since: when the search was requested.
        task: the task that runs the search.
    """

    job: Job
    cancelled: threading.Event = field(default_factory=threading.Event)
    waiters: int = 0
    begun: bool = False
    stopped: bool = False
    worker: Worker | None = None
    since: float = field(default_factory=monotonic)
    task: asyncio.Task[Outcome] | None = None


class Searches:
    """The searches of the service; only :meth:`close` may run outside its event loop."""

    def __init__(
        self, at_once: int, most_waiting: int, cache_bytes: int, metrics: Metrics, keep: Keep
    ) -> None:
        self._workers = [Worker() for _ in range(at_once)]
        self._threads = ThreadPoolExecutor(at_once, "headrace-search")
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in self._workers:
            self._idle.put_nowait(worker)
        self._most_waiting = most_waiting
        self._cache = _Cache(cache_bytes)
        self._flights: dict[str, _Flight] = {}
        self._asked: dict[str, tuple[_Flight, asyncio.Future[None]]] = {}
        self._keepers: OrderedDict[str, Worker] = OrderedDict()
        self._usual_seconds = 0.1
        self._metrics = metrics
        self._keep = keep
        self._closing = threading.Event()
        self.ready = False

    @property
    def closing(self) -> bool:
        """Whether the service shuts down."""
        return self._closing.is_set()

    async def find(self, job: Job, request_id: str = "") -> Outcome:
        """Returns the outcome of a job.

        If the request is cancelled, the search continues only for other waiting requests.

        Args:
            job: the job.
            request_id: the id of the request for :meth:`asked` and :meth:`cancel`.

        Raises:
            BusyError: if too many searches wait already.
            ClosingError: if the service shuts down.
            DeadlineError: if the job exceeded its time limit.
            LeftError: if :meth:`cancel` ended the request without an outcome.
            WorkerDiedError: if the process of the search ended.
        """
        if self.closing:
            raise ClosingError
        key = job.key
        if (cached := self._cache.get(key)) is not None:
            self._metrics.cache_hits.labels("memory").inc()
            return cached
        flight = self._flights.get(key)
        if flight is None:
            if self._queued() >= self._most_waiting + self._idle.qsize():
                raise BusyError(self._when())
            flight = self._flights[key] = _Flight(job)
            flight.task = asyncio.create_task(self._fly(key, flight))
            flight.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        else:
            self._metrics.cache_hits.labels("shared").inc()
        assert flight.task is not None
        flight.waiters += 1
        left = asyncio.get_running_loop().create_future()
        self._asked[request_id] = (flight, left)
        try:
            await asyncio.wait((flight.task, left), return_when=asyncio.FIRST_COMPLETED)
            if not flight.task.done():
                raise LeftError
            return flight.task.result()
        except asyncio.CancelledError:
            if self.closing:
                raise ClosingError from None
            raise
        finally:
            if self._asked.get(request_id) == (flight, left):
                del self._asked[request_id]
            flight.waiters -= 1
            if not flight.waiters and not flight.task.done():
                self._abandon(key, flight)

    def asked(self, request_id: str) -> Asked | None:
        """Returns the search that a request waits for; None if it waits for none."""
        flight, _ = self._asked.get(request_id, (None, None))
        if flight is None:
            return None
        job, worker = flight.job, flight.worker
        return Asked(
            job.kind,
            job.question.id,
            flight.begun,
            monotonic() - flight.since,
            job.seconds,
            None if worker is None else worker.progress(),
        )

    def cancel(self, request_id: str) -> bool:
        """Cancels a request; returns whether it waited for a search.

        A search that runs for this request alone ends soon with the best plan, or list of plans, so
        far. A search for other requests too continues, and this request gets LeftError.
        """
        flight, left = self._asked.get(request_id, (None, None))
        if flight is None or left is None:
            return False
        if flight.waiters == 1 and flight.begun:
            flight.stopped = True
            flight.cancelled.set()
        elif not left.done():
            left.set_result(None)
        return True

    def cancel_all(self) -> None:
        """Cancels all searches; waiting requests get ClosingError.

        Call this method in the thread of the event loop, or in a signal handler.
        """
        self._closing.set()
        for key, flight in list(self._flights.items()):
            self._abandon(key, flight)

    async def start(self) -> None:
        """Starts the processes, which takes seconds, and then sets ``ready``.

        Repeats failed starts until the service shuts down.
        """
        loop = asyncio.get_running_loop()
        workers = [await self._idle.get() for _ in self._workers]
        starts = [loop.run_in_executor(self._threads, self._start, worker) for worker in workers]
        await asyncio.gather(*starts)
        for worker in workers:
            self._idle.put_nowait(worker)
        self.ready = not self.closing

    def _start(self, worker: Worker) -> None:
        while not self.closing:
            try:
                worker.start(self._closing)
                return
            except WorkerDiedError as error:
                LOG.warning("starting a search process again", extra={"reason": str(error)})
                self._closing.wait(_AGAIN_SECONDS)

    async def close(self) -> None:
        """Ends all searches and their processes."""
        self.cancel_all()
        await asyncio.to_thread(self._threads.shutdown, wait=True)
        for worker in self._workers:
            worker.stop()

    def _abandon(self, key: str, flight: _Flight) -> None:
        # Forget the search, so that a later equal request starts a new one.
        if self._flights.get(key) is flight:
            del self._flights[key]
        flight.cancelled.set()
        if not flight.begun and flight.task is not None:
            flight.task.cancel()

    async def _fly(self, key: str, flight: _Flight) -> Outcome:
        try:
            outcome = await self._searched(flight)
            if outcome.stop_reason is not None:
                self._metrics.plans.labels(outcome.stop_reason).inc()
                self._metrics.planning_seconds.observe(outcome.seconds)
                self._metrics.search_expressions.observe(outcome.expressions)
            if flight.cancelled.is_set() and not flight.stopped:
                LOG.info("search cancelled", extra={"plan_id": flight.job.question.id})
                raise ClosingError
            if outcome.fault:
                LOG.error("fault in a search", extra={"fault": outcome.fault})
            if outcome.status == 200:
                await self._keep(flight.job, outcome)
                if outcome.cut or flight.stopped or outcome.stop_reason == CANCELLED:
                    return outcome
                self._cache.put(key, replace(outcome, also={}))
                for kind, body in outcome.also.items():
                    about = replace(flight.job, kind=kind, details={}, files="")
                    self._cache.put(about.key, replace(outcome, body=body, also={}))
            return outcome
        finally:
            if self._flights.get(key) is flight:
                del self._flights[key]

    async def _searched(self, flight: _Flight) -> Outcome:
        with self._metrics.waiting.track_inprogress():
            worker = await self._idle_worker(flight.job.search_key)
        flight.begun, flight.worker = True, worker
        job = replace(flight.job, kept=self._keepers.get(flight.job.search_key) is worker)
        started = monotonic()
        self._metrics.searches.labels(flight.job.kind).inc()
        loop = asyncio.get_running_loop()
        try:
            with self._metrics.running.track_inprogress():
                outcome = await loop.run_in_executor(
                    self._threads, worker.do, job, flight.cancelled, job.seconds
                )
            self._note(job, worker)
            return outcome
        except WorkerDiedError as error:
            self._metrics.died.inc()
            LOG.error(
                "search died", extra={"reason": str(error), "plan_id": flight.job.question.id}
            )
            raise
        finally:
            self._usual_seconds += 0.2 * (monotonic() - started - self._usual_seconds)
            self._idle.put_nowait(worker)

    async def _idle_worker(self, search_key: str) -> Worker:
        """Waits for an idle worker; takes the one that keeps the search if that is idle."""
        workers = [await self._idle.get()]
        while not self._idle.empty():
            workers.append(self._idle.get_nowait())
        keeper = self._keepers.get(search_key)
        chosen = keeper if keeper in workers else workers[0]
        for worker in workers:
            if worker is not chosen:
                self._idle.put_nowait(worker)
        return chosen

    def _note(self, job: Job, worker: Worker) -> None:
        """Notes which worker had the newest search of a question."""
        self._keepers.pop(job.search_key, None)
        self._keepers[job.search_key] = worker
        while len(self._keepers) > MOST_KEPT * len(self._workers):
            self._keepers.popitem(last=False)

    def _queued(self) -> int:
        return sum(not flight.begun for flight in self._flights.values())

    def _when(self) -> int:
        """Estimates the seconds until another search may wait."""
        rounds = (self._queued() + 1) / len(self._workers)
        return max(1, math.ceil(rounds * self._usual_seconds))


class _Cache:
    """A cache of outcomes by key, bounded in bytes; evicts the least recently used outcomes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0
        self._kept: OrderedDict[str, Outcome] = OrderedDict()

    def get(self, key: str) -> Outcome | None:
        with contextlib.suppress(KeyError):
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: str, outcome: Outcome) -> None:
        if key in self._kept:
            self._bytes -= len(self._kept.pop(key).body)
        self._kept[key] = outcome
        self._bytes += len(outcome.body)
        while self._bytes > self._most:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.body)
