"""A job of a worker process: one search, and a document of it.

In: a :class:`Job`, which holds the question as JSON values. Out: an :class:`Outcome`, the answer to
send as it is; a mistake of the client is an answer too.
"""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from time import monotonic
from typing import Any, Literal

from ...algebra.automaton import AutomatonError, minimal_dfa
from ...algebra.deadline import Deadline
from ...algebra.plan import PLAN_VERSION
from ...algebra.regex import Regex, Symbol, refs, substitute
from ...catalog.document import from_document
from ...costmodel.constants import Constants
from ...documents.alternatives import alternatives, plan_list
from ...documents.explained import traced_document
from ...documents.explanation import AskedDocument, Explanation, explanation, optimized
from ...documents.memo import memo_document
from ...documents.model import Document, json_values
from ...documents.plan import PlanDocument
from ...languages.query.errors import QueryError
from ...languages.query.regular_query import PathAtom
from ...optimizer.errors import SearchCancelledError
from ...optimizer.trace import Tracing
from ...planning.errors import HeadraceError, InvalidQueryError, UsageError
from ...planning.planner import Planned, Translated, plan_translated, translate_query
from ...planning.requests import PlanningOptions, PlanRequest
from ..explanation import document, explained, misplaced
from ..render.text import render
from .problems import MEDIA_TYPE, document_of, json_bytes, problem_document

JSON = "application/json"
LONGEST_LISTING_SECONDS = 20.0
"""The longest time to list alternatives to a plan, its search included."""
AROUND_SECONDS = 20.0
"""The longest time of a job beside its search: for text, statistics and documents."""

Kind = Literal["optimize", "explain", "memo", "trace", "alternatives", "explanation"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on a query: atoms, states of a path's automaton, bytes of an answer."""

    atoms: int = 100
    states: int = 256
    answer: int = 50_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, its catalog as a document (None: one is assumed) and its options.

    ``options`` are the fields of :class:`headrace.planning.requests.PlanningOptions`; ``release``
    is what
    plans: another release may find another plan.
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
        """The question as JSON values, which :func:`asked` reads."""
        return {
            "query": self.query,
            "language": self.language,
            "catalog": self.catalog,
            "options": dict(self.options),
            "release": self.release,
            "plan_version": PLAN_VERSION,
        }


def asked(stored: Mapping[str, Any]) -> Asked:
    """The question of its document."""
    return Asked(
        stored["query"], stored["language"], stored["catalog"], stored["options"], stored["release"]
    )


@dataclass(frozen=True, slots=True)
class Job:
    """A question, and the document to answer with; ``details`` are arguments of its kind.

    ``files`` tells states of the catalog's files apart, if statistics are measured there.
    """

    kind: Kind
    asked: Asked
    details: Mapping[str, Any] = field(default_factory=dict)
    files: str = ""
    limits: Limits = field(default_factory=Limits)

    @property
    def key(self) -> str:
        """Jobs with the same key have the same outcome."""
        return digest([self.kind, self.asked.id, dict(self.details), self.files])

    @property
    def seconds(self) -> float:
        """The longest time of the job in all; a worker that takes longer is killed."""
        search = float(self.asked.options["budget_ms"]) / 1000
        if self.kind == "alternatives":
            search = max(search, LONGEST_LISTING_SECONDS)
        return search + AROUND_SECONDS


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer: HTTP status, body, and numbers of the search.

    ``stop_reason`` is None if nothing was searched; ``fault`` is what the log should have of an
    error that is ours. ``also`` are answers to other questions about the same plan, which need no
    search of their own.
    """

    status: int
    body: bytes
    media_type: str = JSON
    stop_reason: str | None = None
    seconds: float = 0.0
    expressions: int = 0
    fault: str = ""
    also: Mapping[Kind, bytes] = field(default_factory=dict)


def run(job: Job, cancelled: Callable[[], bool]) -> Outcome:
    """Carries out a job; never raises."""
    try:
        outcome = _RUN[job.kind](job, cancelled)
    except HeadraceError as error:
        return _problem(document_of(error))
    except SearchCancelledError:
        detail = "there are too many plans to list them in time; a smaller budget helps"
        return _problem(problem_document(422, detail, code="E-SIZE"))
    except Exception as error:
        detail = f"a fault of Headrace: {type(error).__name__}"
        document = problem_document(500, detail, code="E-INTERNAL")
        fault = traceback.format_exc()
        return Outcome(500, json_bytes(document), MEDIA_TYPE, fault=fault)
    if len(outcome.body) > job.limits.answer:
        detail = f"the answer would have more than {job.limits.answer:,} bytes"
        return _problem(problem_document(422, detail, code="E-SIZE"))
    return outcome


def _optimized(job: Job, cancelled: Callable[[], bool]) -> Outcome:
    planned = _planned(job, cancelled)
    outcome = _outcome(planned, _bytes(optimized(planned, job.asked.id)))
    if job.details.get("explain"):
        return replace(outcome, also={"explanation": _bytes(_explanation_of(job, planned))})
    return outcome


def _explained(job: Job, cancelled: Callable[[], bool]) -> Outcome:
    stage, form = job.details["stage"], job.details["format"]
    details = {name: job.details[name] for name in ("costs", "trace", "why")}
    wrong = misplaced(stage, form, **details)
    if wrong is not None:
        raise UsageError(f"{wrong} goes with stage physical and format text or json")
    deadline = _deadline(job, cancelled)
    found: Translated | Planned = _translated(job, deadline)
    if stage not in ("query", "logical"):
        found = plan_translated(found, trace=details.pop("trace"), deadline=deadline)
    details.pop("trace", None)
    if form == "json":
        return _outcome(found, _bytes(document(found, stage, **details)))
    text = explained(found, stage, form, **details)
    media = "text/html" if form == "html" else "text/plain"
    return _outcome(found, text.encode("utf-8", "replace"), f"{media}; charset=utf-8")


def _explanation(job: Job, cancelled: Callable[[], bool]) -> Outcome:
    planned = _planned(job, cancelled)
    return _outcome(planned, _bytes(_explanation_of(job, planned)))


def _explanation_of(job: Job, planned: Planned) -> Explanation:
    question = job.asked
    asked = AskedDocument(
        query=question.query,
        language=question.language,
        catalog=None if question.catalog is None else dict(question.catalog),
        options=dict(question.options),
    )
    return explanation(planned, question.id, asked)


def _memo(job: Job, cancelled: Callable[[], bool]) -> Outcome:
    planned = _planned(job, cancelled)
    return _outcome(planned, _bytes(memo_document(planned)))


def _trace(job: Job, cancelled: Callable[[], bool]) -> Outcome:
    steps = job.details["steps"]
    planned = _planned(job, cancelled, Tracing(steps, job.details["tried"]))
    body = _bytes(traced_document(planned, steps))
    while len(body) > job.limits.answer and steps > 1:
        # Show as many steps as the answer has room for.
        steps = steps * job.limits.answer // len(body)
        body = _bytes(traced_document(planned, steps))
    return _outcome(planned, body)


def _alternatives(job: Job, cancelled: Callable[[], bool]) -> Outcome:
    until = monotonic() + LONGEST_LISTING_SECONDS
    planned = _planned(job, lambda: cancelled() or monotonic() > until)
    space = planned.optimization.plans
    cheapest = enumerate(islice(space.ranked(), job.details["limit"]), start=1)
    return _outcome(planned, _bytes(alternatives(plan_list(space.count, cheapest, render))))


def _bytes(answer: Document | PlanDocument) -> bytes:
    return json_bytes(json_values(answer))


_RUN: Mapping[Kind, Callable[[Job, Callable[[], bool]], Outcome]] = {
    "optimize": _optimized,
    "explain": _explained,
    "memo": _memo,
    "trace": _trace,
    "alternatives": _alternatives,
    "explanation": _explanation,
}


def _deadline(job: Job, cancelled: Callable[[], bool]) -> Deadline:
    """The deadline of a job, which begins now."""
    return Deadline(job.asked.options.get("budget_ms"), cancelled)


def _planned(job: Job, cancelled: Callable[[], bool], trace: bool | Tracing = False) -> Planned:
    """The plan of a job's query, from text to plan under one deadline."""
    deadline = _deadline(job, cancelled)
    return plan_translated(_translated(job, deadline), trace=trace, deadline=deadline)


def _translated(job: Job, deadline: Deadline) -> Translated:
    known = None if job.asked.catalog is None else from_document(job.asked.catalog)
    options = dict(job.asked.options)
    options["disabled_rules"] = tuple(options["disabled_rules"])
    options["constants"] = Constants(**(options.get("constants") or {}))
    translated = translate_query(
        PlanRequest(
            job.asked.query,
            language=job.asked.language,
            catalog=known,
            options=PlanningOptions(**options),
        ),
        deadline,
    )
    try:
        _check_size(translated, job.limits)
    except QueryError as error:
        raise InvalidQueryError(error, job.asked.query) from error
    return translated


def _check_size(translated: Translated, limits: Limits) -> None:
    atoms = [atom for rule in translated.regular_query.rules for atom in rule.body]
    if len(atoms) > limits.atoms:
        raise QueryError(
            "E-SIZE",
            f"the query has {len(atoms):,} atoms, and this service plans {limits.atoms:,}",
            at=atoms[limits.atoms].location,
        )
    for atom in atoms:
        if not isinstance(atom, PathAtom):
            continue
        try:
            states = minimal_dfa(_numbered(atom.regex)).states
        except AutomatonError as error:
            raise QueryError("E-SIZE", str(error), at=atom.location) from error
        if states > limits.states:
            raise QueryError(
                "E-SIZE",
                f"the path's automaton has {states:,} states, and this service plans "
                f"{limits.states:,}",
                at=atom.location,
            )


def _numbered(path: Regex) -> Regex:
    number = {ref: i for i, ref in enumerate(refs(path))}
    return substitute(path, lambda step: Symbol(number[step.ref], step.inverse))


def _outcome(found: Translated, body: bytes, media_type: str = JSON) -> Outcome:
    if not isinstance(found, Planned):
        return Outcome(200, body, media_type)
    searched = found.optimization
    return Outcome(
        200,
        body,
        media_type,
        searched.stop_reason,
        searched.optimize_ms / 1000,
        searched.memo.expression_count,
    )


def _problem(found: dict[str, Any]) -> Outcome:
    return Outcome(found["status"], json_bytes(found), MEDIA_TYPE)


def digest(document: object) -> str:
    """A digest of JSON values, whatever the order of their members."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]
