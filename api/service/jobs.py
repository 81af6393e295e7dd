"""A job of a worker process: one search, and the document to answer with.

In: a :class:`Job`, which holds the question as JSON values. Out: an :class:`Outcome`, the answer to
send as it is; a mistake of the client is an answer too.
"""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Literal

from ...algebra.deadline import LEAST_MS, Deadline
from ...algebra.plan import PLAN_VERSION
from ...catalog.document import from_document
from ...catalog.figures import FeedbackFile
from ...costmodel.constants import Constants
from ...documents.alternatives import alternatives, plan_list
from ...documents.explained import traced_document
from ...documents.explanation import AskedDocument, Explanation, explanation, optimized
from ...documents.memo import memo_document
from ...documents.model import Document, json_values
from ...documents.plan import PlanDocument
from ...languages.query.errors import QueryError
from ...optimizer.trace import Tracing
from ...planning.errors import HeadraceError, InvalidQueryError, UsageError
from ...planning.listing import list_plans
from ...planning.planner import Planned, plan_translated
from ...planning.requests import PlanningOptions, PlanRequest
from ...planning.translating import Translated, translate_query
from ..explanation import document, explained, misplaced
from ..render.text import render
from .kept_searches import KeptSearches
from .problems import MEDIA_TYPE, document_of, json_bytes, problem_document
from .query_size import Limits, check_size
from .search_progress import Reporter

JSON = "application/json"
LISTING_SECONDS = 20.0
"""The time limit of listing alternatives, unless the client sets a shorter one, in seconds."""
KEPT_TRACE = Tracing(50_000, tried=True)
"""The trace of a search that is kept for later requests."""
AROUND_SECONDS = 20.0
"""The time limit of a job's other work: text, statistics and documents, in seconds."""

Kind = Literal["optimize", "explain", "memo", "trace", "alternatives", "explanation"]


@dataclass(frozen=True, slots=True)
class Question:
    """The question that a plan answers.

    Attributes:
        query: the text of the query.
        language: the language of the query; None to detect it.
        catalog: the catalog as a document; None for assumed streams.
        options: the fields of :class:`headrace.planning.requests.PlanningOptions`.
        release: the version of Headrace: another version may find another plan.
    """

    query: str
    language: str | None
    catalog: Mapping[str, Any] | None
    options: Mapping[str, Any]
    release: str

    @property
    def id(self) -> str:
        """The digest of the question, the same on any machine."""
        return digest(self.document())

    def document(self) -> dict[str, Any]:
        """The question as JSON values, which :func:`question_of` reads."""
        return {
            "query": self.query,
            "language": self.language,
            "catalog": self.catalog,
            "options": dict(self.options),
            "release": self.release,
            "plan_version": PLAN_VERSION,
        }


def question_of(stored: Mapping[str, Any]) -> Question:
    """Reads a question from its document."""
    return Question(
        stored["query"], stored["language"], stored["catalog"], stored["options"], stored["release"]
    )


@dataclass(frozen=True, slots=True)
class Job:
    """A question, and the kind of document to answer with.

    Attributes:
        kind: the kind of document.
        question: the question.
        details: the arguments of the kind.
        files: a digest of the state of the files to measure; empty without such files.
        limits: the bounds on the query and the answer.
        feedback: the file of figures that queries measured; None to use none.
        measured_at: the time of its newest figures, in seconds since 1970.
        kept: whether the process that runs the job keeps the newest search of the question.
    """

    kind: Kind
    question: Question
    details: Mapping[str, Any] = field(default_factory=dict)
    files: str = ""
    limits: Limits = field(default_factory=Limits)
    feedback: FeedbackFile | None = None
    measured_at: float = 0.0
    kept: bool = False

    @property
    def search_key(self) -> str:
        """The key of the search; jobs with equal keys may share it."""
        return digest([self.question.id, self.files, self.measured_at])

    @property
    def key(self) -> str:
        """The key of the job; jobs with equal keys have equal outcomes."""
        state = [self.files, self.measured_at]
        return digest([self.kind, self.question.id, dict(self.details), *state])

    @property
    def seconds(self) -> float:
        """The time limit of the whole job; a worker that takes longer is killed."""
        search = float(self.question.options["budget_ms"]) / 1000
        if self.kind == "alternatives":
            search += float(self.details["seconds"])
        return search + AROUND_SECONDS


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer, and the numbers of its search.

    Attributes:
        status: the HTTP status.
        body: the body of the answer.
        media_type: the media type of the body.
        stop_reason: why the search ended; None without a search.
        seconds: the time of the search.
        expressions: the number of expressions in the memo.
        fault: the traceback of an internal error, for the log.
        also: the bodies of further documents about the same plan, by kind.
        cut: whether a list ended early, so that a later request may get a longer one.
    """

    status: int
    body: bytes
    media_type: str = JSON
    stop_reason: str | None = None
    seconds: float = 0.0
    expressions: int = 0
    fault: str = ""
    also: Mapping[Kind, bytes] = field(default_factory=dict)
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Desk:
    """The means of a process for its jobs.

    Attributes:
        cancelled: whether the current job was cancelled.
        searches: searches of earlier jobs.
        reporter: receives the progress; None to report none.
    """

    cancelled: Callable[[], bool] = lambda: False
    searches: KeptSearches = field(default_factory=KeptSearches)
    reporter: Reporter | None = None


def run(job: Job, desk: Desk) -> Outcome:
    """Runs a job; returns errors as outcomes and never raises."""
    try:
        outcome = _RUN[job.kind](job, desk)
    except HeadraceError as error:
        return _problem(document_of(error))
    except Exception as error:
        detail = f"a fault of Headrace: {type(error).__name__}"
        document = problem_document(500, detail, code="E-INTERNAL")
        fault = traceback.format_exc()
        return Outcome(500, json_bytes(document), MEDIA_TYPE, fault=fault)
    if len(outcome.body) > job.limits.answer:
        detail = f"the answer would have more than {job.limits.answer:,} bytes"
        return _problem(problem_document(422, detail, code="E-SIZE"))
    return outcome


def _optimized(job: Job, desk: Desk) -> Outcome:
    # A client that asks for the explanation draws the memo and the steps next.
    planned = _searched(job, desk, KEPT_TRACE if job.details.get("explain") else False)
    outcome = _outcome(planned, _bytes(optimized(planned, job.question.id)))
    if job.details.get("explain"):
        return replace(outcome, also={"explanation": _bytes(_explanation_of(job, planned))})
    return outcome


def _explained(job: Job, desk: Desk) -> Outcome:
    stage, form = job.details["stage"], job.details["format"]
    details = {name: job.details[name] for name in ("costs", "trace", "why")}
    wrong = misplaced(stage, form, **details)
    if wrong is not None:
        raise UsageError(f"{wrong} needs the stage physical and the format text or json")
    deadline = _deadline(job, desk)
    translated: Translated | Planned = _translated(job, deadline)
    if stage not in ("query", "logical"):
        translated = plan_translated(translated, trace=details.pop("trace"), deadline=deadline)
    details.pop("trace", None)
    if form == "json":
        return _outcome(translated, _bytes(document(translated, stage, **details)))
    text = explained(translated, stage, form, **details)
    media = "text/html" if form == "html" else "text/plain"
    return _outcome(translated, text.encode("utf-8", "replace"), f"{media}; charset=utf-8")


def _explanation(job: Job, desk: Desk) -> Outcome:
    planned = _planned(job, desk)
    return _outcome(planned, _bytes(_explanation_of(job, planned)))


def _explanation_of(job: Job, planned: Planned) -> Explanation:
    question = job.question
    document = AskedDocument(
        query=question.query,
        language=question.language,
        catalog=None if question.catalog is None else dict(question.catalog),
        options=dict(question.options),
    )
    return explanation(planned, question.id, document)


def _memo(job: Job, desk: Desk) -> Outcome:
    planned = _planned(job, desk)
    return _outcome(planned, _bytes(memo_document(planned)))


def _trace(job: Job, desk: Desk) -> Outcome:
    steps = job.details["steps"]
    planned = _planned(job, desk, Tracing(steps, job.details["tried"]))
    body = _bytes(traced_document(planned, steps))
    while len(body) > job.limits.answer and steps > 1:
        # Drop steps until the answer fits its limit.
        steps = steps * job.limits.answer // len(body)
        body = _bytes(traced_document(planned, steps))
    return _outcome(planned, body)


def _alternatives(job: Job, desk: Desk) -> Outcome:
    started = monotonic()
    planned = _planned(job, desk, ranks=True)
    # A ranking takes at most as long again as its search may.
    search = max(job.question.options["budget_ms"], LEAST_MS) / 1000
    left = job.details["seconds"] - (monotonic() - started)
    listing = list_plans(
        planned,
        job.details["limit"],
        seconds=max(0.0, min(left, search)),
        progress=None if desk.reporter is None else desk.reporter.listing,
        cancelled=desk.cancelled,
    )
    body = _bytes(alternatives(plan_list(planned.optimization, listing, render)))
    return replace(_outcome(planned, body), cut=listing.stop_reason != "complete")


def _bytes(answer: Document | PlanDocument) -> bytes:
    return json_bytes(json_values(answer))


_RUN: Mapping[Kind, Callable[[Job, Desk], Outcome]] = {
    "optimize": _optimized,
    "explain": _explained,
    "memo": _memo,
    "trace": _trace,
    "alternatives": _alternatives,
    "explanation": _explanation,
}


def _deadline(job: Job, desk: Desk) -> Deadline:
    """Starts the deadline of a job."""
    return Deadline(job.question.options.get("budget_ms"), desk.cancelled)


def _planned(
    job: Job, desk: Desk, trace: Literal[False] | Tracing = False, *, ranks: bool = False
) -> Planned:
    """Returns the search of an earlier job with the same question, or searches."""
    kept = desk.searches.get(job.search_key, ranks=ranks) if job.kept else None
    if kept is not None and _traced(kept, trace):
        return kept
    return _searched(job, desk, trace)


def _traced(kept: Planned, trace: Literal[False] | Tracing) -> bool:
    """Whether a kept search has a trace that can be cut to the wanted one."""
    if trace is False:
        return True
    has_all = trace.tried and trace.most <= KEPT_TRACE.most
    return has_all and kept.optimization.trace is not None


def _searched(job: Job, desk: Desk, trace: Literal[False] | Tracing = False) -> Planned:
    """Plans the query of a job under one deadline, parsing included, and keeps the search.

    A search with another trace than :data:`KEPT_TRACE` is not kept.
    """
    deadline = _deadline(job, desk)
    # A search without a trace is spared the events.
    listeners = (desk.reporter,) if desk.reporter is not None and trace else ()
    planned = plan_translated(
        _translated(job, deadline), trace=trace, deadline=deadline, listeners=listeners
    )
    if trace is False or trace == KEPT_TRACE:
        desk.searches.put(job.search_key, planned)
    return planned


def _translated(job: Job, deadline: Deadline) -> Translated:
    catalog = None if job.question.catalog is None else from_document(job.question.catalog)
    if catalog is not None:
        catalog = replace(catalog, feedback=job.feedback)
    options = dict(job.question.options)
    options["disabled_rules"] = tuple(options["disabled_rules"])
    options["constants"] = Constants(**(options.get("constants") or {}))
    translated = translate_query(
        PlanRequest(
            job.question.query,
            language=job.question.language,
            catalog=catalog,
            options=PlanningOptions(**options),
        ),
        deadline,
    )
    try:
        check_size(translated, job.limits)
    except QueryError as error:
        raise InvalidQueryError(error, job.question.query) from error
    return translated


def _outcome(translated: Translated, body: bytes, media_type: str = JSON) -> Outcome:
    if not isinstance(translated, Planned):
        return Outcome(200, body, media_type)
    result = translated.optimization
    return Outcome(
        200,
        body,
        media_type,
        result.stop_reason,
        result.optimize_ms / 1000,
        result.memo.expression_count,
    )


def _problem(document: dict[str, Any]) -> Outcome:
    return Outcome(document["status"], json_bytes(document), MEDIA_TYPE)


def digest(document: object) -> str:
    """Returns a digest of JSON values; the order of members does not matter."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]
