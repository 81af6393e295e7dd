"""What all routes share: one store, one set of searches, one account of them."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from fastapi import Request
from starlette.responses import Response

from api.service.bodies import OptimizeBody
from api.service.catalogs import Catalogs, document_of, files_of, of_request
from api.service.jobs import JSON, Asked, Job, Kind, Outcome, asked
from api.service.logs import REQUEST_ID
from api.service.metrics import Metrics
from api.service.problems import problem
from api.service.searches import BusyError, ClosingError, Searches
from api.service.settings import Settings, release
from api.service.store import KeptPlan, Store
from api.service.workers import WorkerDiedError

LOG = logging.getLogger("headrace.service")
HUNG_UP = 499
"""The status in logs and metrics of a request whose client did not wait for the answer."""


class Service:
    """A service without its routes."""

    def __init__(self, settings: Settings) -> None:
        """Opens the database.

        Raises:
            UsageError: if it cannot be used.
        """
        self.settings = settings
        self.metrics = Metrics()
        self.store = Store(settings.database, settings.most_plans)
        self.catalogs = Catalogs(settings.catalog, self.store)
        self.searches = Searches(
            settings.searches_at_once,
            settings.most_waiting,
            settings.cache_bytes,
            self.metrics,
            self._keep,
        )

    async def optimize(self, request: Request, body: OptimizeBody) -> Response:
        """The answer to ``POST /optimize``: a plan that is kept, or a search for one."""
        details = {"explain": True} if body.explain else {}
        job = await asyncio.to_thread(self.job, "optimize", body, details)
        if not job.files:  # what was measured may be different now
            kept = await asyncio.to_thread(self.store.plan, job.asked.id)
            if kept is not None and kept.stop_reason != "budget_ms":
                self.metrics.cache_hits.labels("store").inc()
                return Response(kept.answer, media_type=JSON)
        return await self.answer(request, job)

    def job(self, kind: Kind, body: OptimizeBody, details: dict[str, Any]) -> Job:
        """What a request asks for, over its catalog or that of the service.

        Raises:
            UsageError: if the catalog cannot be used.
        """
        own = of_request(body.catalog, body.streams)
        catalog = own or self.catalogs.current()
        options = body.options.model_dump(mode="json")
        longest = self.settings.longest_search_ms
        options["budget_ms"] = min(body.options.budget_ms or longest, longest)
        question = Asked(body.query, body.language, document_of(catalog), options, release())
        return Job(kind, question, details, files_of(catalog), self.settings.limits)

    async def answer_about(
        self, request: Request, id_: str, kind: Kind, details: dict[str, Any]
    ) -> Response:
        """What is asked of a plan that is kept; its search is made again if need be."""
        kept = await asyncio.to_thread(self.store.plan, id_)
        if kept is None:
            return no_such_plan(id_)
        job = Job(kind, asked(kept.asked), details, limits=self.settings.limits)
        return await self.answer(request, job)

    async def answer(self, request: Request, job: Job) -> Response:
        """The outcome of a job as an answer; a client that hangs up ends its search."""
        search = asyncio.ensure_future(self.searches.find(job))
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait((search, gone), return_when=asyncio.FIRST_COMPLETED)
            if not search.done():
                LOG.info("client hung up", extra={"plan_id": job.asked.id})
                return Response(status_code=HUNG_UP)
            return _response(search.result())
        except BusyError as error:
            wait = {"Retry-After": str(error.seconds)}
            return problem(429, "too many searches wait already", code="E-BUSY", headers=wait)
        except ClosingError:
            return problem(503, "the service is shutting down", headers={"Retry-After": "5"})
        except WorkerDiedError:
            detail = "the search came to an end before it had found a plan"
            return problem(503, detail, request_id=REQUEST_ID.get(), headers={"Retry-After": "5"})
        finally:
            search.cancel()
            gone.cancel()
            await asyncio.gather(search, gone, return_exceptions=True)

    async def close(self) -> None:
        """Ends all searches, and closes the database."""
        await self.searches.close()
        await asyncio.to_thread(self.store.close)

    async def _keep(self, job: Job, outcome: Outcome) -> None:
        if job.kind == "optimize" and outcome.stop_reason is not None:
            question = job.asked
            plan = KeptPlan(question.id, question.document(), outcome.body, outcome.stop_reason)
            await asyncio.to_thread(self.store.keep_plan, plan)


def no_such_plan(id_: str) -> Response:
    """For ids that are not known, or not any more."""
    detail = f"no plan {id_} is kept: it may have been too old; POST /optimize makes it again"
    return problem(404, detail, code="E-UNKNOWN")


def _response(outcome: Outcome) -> Response:
    if outcome.fault:
        detail = "a fault of Headrace, of which its log says more"
        return problem(500, detail, code="E-INTERNAL", request_id=REQUEST_ID.get())
    return Response(outcome.body, outcome.status, media_type=outcome.media_type)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
