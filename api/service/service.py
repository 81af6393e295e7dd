"""The parts of a service that its routes share: store, searches, queries and metrics."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from fastapi import Request
from starlette.responses import Response

from ...algebra.plan import PhysicalPlan
from ...algebra.plan_parts import PlanError
from ...catalog.document import to_document
from ...catalog.feedback import feedback_file, newest
from ...catalog.model import Catalog
from ...executor.spark.host.errors import OutputError
from ...executor.spark.results.sinks import WrittenBySpark, written_by_spark
from ...planning.errors import UsageError
from ...running.runs import as_headrace_error, inputs_of_plan
from . import compression
from .bodies import OptimizeBody, OptionsBody, QueryBody, SearchDocument
from .catalogs import Catalogs, document_of, files_of, of_request
from .follow import Followers
from .jobs import JSON, Job, Kind, Outcome, Question, question_of
from .kept_plans import KeptPlan
from .logs import REQUEST_ID
from .metrics import Metrics
from .problems import RefusedError, problem
from .queries import Queries
from .query import RUN_OPTIONS, Query
from .query_metrics import QueryCollector
from .searches import CANCELLED, BusyError, ClosingError, LeftError, Searches
from .settings import Settings, release
from .store import Store
from .workers import DeadlineError, WorkerDiedError

LOG = logging.getLogger("headrace.service")
HUNG_UP = 499
"""The status in logs and metrics of a request whose client hung up."""


class Service:
    """A service without its routes: its database, searches and running queries."""

    def __init__(self, settings: Settings) -> None:
        """Opens the database.

        Raises:
            UsageError: if the database cannot be used.
        """
        self.settings = settings
        self.metrics = Metrics()
        self.store = Store(settings.database, settings.most_plans)
        self.catalogs = Catalogs(settings.catalog, self.store, sources=settings.allow_sources)
        self.searches = Searches(
            settings.searches_at_once,
            settings.most_waiting,
            settings.cache_bytes,
            self.metrics,
            self._keep,
        )
        self.queries = Queries(
            settings.home,
            self.store.queries,
            self._sources,
            settings.engine,
            outputs=self._output,
            most_running=settings.most_running,
            most_kept=settings.most_queries,
            results=settings.results,
            figures=settings.figures,
        )
        self.followers = Followers(self.queries, settings.most_followers)
        self.metrics.watch(QueryCollector(self.queries, self.followers))

    async def optimize(self, request: Request, body: OptimizeBody) -> Response:
        """Answers ``POST /optimize`` with a stored plan, or searches for one."""
        details = {"explain": True} if body.explain else {}
        job = await asyncio.to_thread(self.job, "optimize", body, details)
        if not job.files:  # measured files may have changed since
            kept = await asyncio.to_thread(self.store.plans.find, job.question.id)
            # Figures that queries measured since may change the plan.
            current = kept is not None and job.measured_at * 1e6 <= kept.made_us
            if kept is not None and current and kept.stop_reason not in ("budget_ms", CANCELLED):
                self.metrics.cache_hits.labels("store").inc()
                return await compression.document(request, kept.answer, HTTPStatus.OK, JSON)
        return await self.answer(request, job)

    def job(self, kind: Kind, body: OptimizeBody, details: dict[str, Any]) -> Job:
        """Returns the job of a request, over the catalog of the request or of the service.

        Raises:
            UsageError: if the catalog cannot be used.
        """
        own = of_request(body.catalog, body.streams)
        catalog = own or self.catalogs.current()
        options = body.options.model_dump(mode="json")
        if self.settings.constants is not None:
            options["constants"] = asdict(self.settings.constants) | (options["constants"] or {})
        longest = self.settings.longest_search_ms
        options["budget_ms"] = min(body.options.budget_ms or longest, longest)
        question = Question(body.query, body.language, document_of(catalog), options, release())
        return self._job(kind, question, details, files_of(catalog))

    def _job(
        self, kind: Kind, question: Question, details: Mapping[str, Any], files: str = ""
    ) -> Job:
        """Returns a job with the measured figures of the service, if the question allows them.

        Figures are of the streams of the service, so a question with another catalog has none.
        """
        limits, figures = self.settings.limits, self.settings.figures
        current = self.catalogs.current() if figures and question.options.get("feedback") else None
        if figures is None or current is None or question.catalog != document_of(current):
            return Job(kind, question, details, files, limits)
        feedback = feedback_file(current, figures)
        return Job(kind, question, details, files, limits, feedback, newest(figures))

    async def plan(self, id_: str) -> KeptPlan:
        """Returns the stored plan with an id.

        Raises:
            RefusedError: if no stored plan has the id, for example since newer plans replaced it.
        """
        kept = await asyncio.to_thread(self.store.plans.find, id_)
        if kept is None:
            detail = (
                f"no plan {id_} is stored: newer plans may have replaced it; POST /optimize plans "
                "the query again"
            )
            raise RefusedError(problem(404, detail, code="E-UNKNOWN"))
        return kept

    async def answer_about(
        self, request: Request, id_: str, kind: Kind, details: dict[str, Any]
    ) -> Response:
        """Answers with a document about a stored plan; repeats its search if needed."""
        kept = await self.plan(id_)
        job = await asyncio.to_thread(self._job, kind, question_of(kept.question), details)
        return await self.answer(request, job)

    def search(self, request_id: str) -> SearchDocument:
        """Returns the search that a request waits for.

        Raises:
            RefusedError: if no such request waits for a search.
        """
        asked = self.searches.asked(request_id)
        if asked is None:
            raise _no_search(request_id)
        progress = asked.progress
        return SearchDocument(
            kind=asked.kind,
            plan_id=asked.plan_id,
            state="running" if asked.running else "waiting",
            seconds=asked.seconds,
            limit_seconds=asked.limit_seconds,
            doing=None if progress is None else progress.doing,
            groups=progress.groups if progress else 0,
            expressions=progress.expressions if progress else 0,
            plans=progress.plans if progress else 0,
            cost_bound=progress.cost_bound if progress else None,
        )

    def cancel(self, request_id: str) -> None:
        """Cancels a request that waits for a search.

        Raises:
            RefusedError: if no such request waits for a search.
        """
        if not self.searches.cancel(request_id):
            raise _no_search(request_id)

    async def run(self, request: Request, body: QueryBody) -> Query:
        """Plans and starts a query.

        Raises:
            UsageError: if the request contradicts itself, or the query cannot run.
            RefusedError: if too many queries exist or run.
        """
        if (body.query is None) == (body.plan is None):
            raise UsageError("give either query or plan")
        if body.query is None and (body.options is not None or body.language is not None):
            raise UsageError("options and language need a query: a stored plan is already planned")
        if body.output is not None:
            self._output(body.output)
        plan = await self._plan_of(request, body)
        answer, question = json.loads(plan.answer), question_of(plan.question)
        if question.options["parallelism"] > self.settings.most_partitions:
            raise UsageError(
                f"options.parallelism: this service runs at most {self.settings.most_partitions} "
                "partitions"
            )
        run = body.model_dump(include={"name", "output", *RUN_OPTIONS})
        about = {**question.document(), **run, "plan_id": plan.id}
        return await self.queries.add(about, answer["plan"])

    def _output(self, output: str) -> WrittenBySpark:
        """Returns the topic or the sink of the catalog that a request names.

        Raises:
            UsageError: if the request may not name the topic, or there is no such sink.
        """
        try:
            place = written_by_spark(output, self.catalogs.sinks)
        except OutputError as error:
            raise as_headrace_error(error) from error
        if output.startswith("kafka://") and not self.settings.allow_sources:
            raise UsageError(
                "output: this service lets no request name a topic",
                code="E-OUTPUT",
                hint="name a sink of the catalog (sink:NAME), or start the service with "
                "--allow-sources to write to any topic",
            )
        return place

    async def _plan_of(self, request: Request, body: QueryBody) -> KeptPlan:
        if body.plan is not None:
            return await self.plan(body.plan)
        assert body.query is not None
        options = body.options or OptionsBody()
        search = OptimizeBody(query=body.query, language=body.language, options=options)
        job = await asyncio.to_thread(self.job, "optimize", search, {})
        outcome = await self._outcome(request, job)
        if outcome.status != HTTPStatus.OK:
            raise RefusedError(_response(outcome))
        return KeptPlan(job.question.document(), outcome.body, outcome.stop_reason or "")

    def _sources(self, plan: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the catalog of the streams of a plan, with their current sources.

        Raises:
            UsageError: if a stream is unknown, or has no source.
        """
        try:
            read = PhysicalPlan.from_document(plan)
        except PlanError as error:
            raise UsageError(f"the plan cannot be run: {error}", code="E-PLAN") from error
        catalog = self.catalogs.current() or Catalog({}, read.time_unit)
        if catalog.time_unit != read.time_unit:
            raise UsageError(
                f"the time unit of the plan is {read.time_unit}, but of the catalog "
                f"{catalog.time_unit}",
                code="E-CATALOG",
                hint="plan the query anew",
            )
        inputs_of_plan(read, catalog, [])
        streams = {stream.name: catalog.streams[stream.name] for stream in read.streams}
        return to_document(Catalog(streams, catalog.time_unit))

    async def answer(self, request: Request, job: Job) -> Response:
        """Answers with the outcome of a job; cancels the search if the client disconnects."""
        outcome = await self._outcome(request, job)
        if outcome.fault:
            return _response(outcome)
        return await compression.document(request, outcome.body, outcome.status, outcome.media_type)

    async def _outcome(self, request: Request, job: Job) -> Outcome:
        search = asyncio.ensure_future(self.searches.find(job, REQUEST_ID.get()))
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait((search, gone), return_when=asyncio.FIRST_COMPLETED)
            if not search.done():
                LOG.info("client hung up", extra={"plan_id": job.question.id})
                raise RefusedError(Response(status_code=HUNG_UP))
            return search.result()
        except (BusyError, ClosingError, DeadlineError, LeftError, WorkerDiedError) as error:
            raise RefusedError(_refusal(error, job)) from error
        finally:
            search.cancel()
            gone.cancel()
            await asyncio.gather(search, gone, return_exceptions=True)

    def close_soon(self) -> None:
        """Ends all waiting requests; call this method in the event loop."""
        self.searches.cancel_all()
        self.queries.close_soon()

    async def close(self) -> None:
        """Ends searches and the engine, and closes the database."""
        await asyncio.gather(self.searches.close(), self.queries.close())
        await asyncio.to_thread(self.followers.close)
        await asyncio.to_thread(self.store.close)

    async def _keep(self, job: Job, outcome: Outcome) -> None:
        if job.kind == "optimize" and outcome.stop_reason is not None:
            plan = KeptPlan(job.question.document(), outcome.body, outcome.stop_reason)
            await asyncio.to_thread(self.store.plans.keep, plan)


def _no_search(request_id: str) -> RefusedError:
    detail = f"no request {request_id} waits for a search"
    return RefusedError(problem(404, detail, code="E-UNKNOWN"))


def _refusal(error: Exception, job: Job) -> Response:
    """Returns the answer for a job without an outcome."""
    match error:
        case BusyError(seconds=seconds):
            wait = {"Retry-After": str(seconds)}
            return problem(429, "too many searches wait already", code="E-BUSY", headers=wait)
        case DeadlineError():
            detail = f"planning took longer than {job.seconds:.0f} seconds and was stopped"
            hint = "make the query or budget_ms smaller"
            return problem(422, detail, code="E-SIZE", hint=hint)
        case LeftError():
            detail = "the request was cancelled before there was a plan for it"
            return problem(409, detail, code="E-CANCELLED")
        case WorkerDiedError():
            detail = "the process of the search ended before it had a plan"
            return problem(503, detail, request_id=REQUEST_ID.get(), headers={"Retry-After": "5"})
        case _:
            return problem(503, "the service is shutting down", headers={"Retry-After": "5"})


def _response(outcome: Outcome) -> Response:
    if outcome.fault:
        detail = "an internal error of Headrace; the log of the service has the details"
        return problem(500, detail, code="E-INTERNAL", request_id=REQUEST_ID.get())
    return Response(outcome.body, outcome.status, media_type=outcome.media_type)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
