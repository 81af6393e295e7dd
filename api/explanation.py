"""What ``explain`` shows of each stage in each form; the command line and REST share it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..algebra import durations
from ..algebra.plan import PhysicalPlan
from ..documents import explained as documents
from ..documents import trace as search_documents
from ..documents.numbers import duration, number
from ..documents.picture import Diagram, of_logical, of_plan
from ..optimizer.budget import StopReason
from ..planning.errors import UsageError
from ..planning.planner import Planned, Translated
from ..planning.requests import Format, Stage
from .render import dot, html, measured, mermaid, search, text

if TYPE_CHECKING:
    from ..running.analysis import Analysis

_ASSUMED = (
    "\nstatistics are assumed, the same for every label: input files or a catalog give real ones"
)
_STOPPED: Mapping[StopReason, str] = MappingProxyType(
    {
        "complete": "complete",
        "budget_ms": "cut by its time limit",
        "budget_expressions": "cut by its limit of expressions",
        "cancelled": "cancelled",
    }
)
"""Why a search ended, for people; documents have the names."""
_STAGES_WITHOUT_DIAGRAM: tuple[Stage, ...] = ("query", "memo")


def explained(
    translated: Translated,
    stage: Stage,
    form: Format,
    *,
    costs: bool = False,
    why: bool = False,
    colour: bool = False,
    analysis: Analysis | None = None,
) -> str:
    """One stage in one form; the stages after ``logical`` want a :class:`Planned`.

    A search that was traced shows its steps below its plan.

    Raises:
        UsageError: where a stage has no picture.
    """
    if form == "json":
        return json_text(document(translated, stage, costs=costs, why=why, analysis=analysis))
    if stage in _STAGES_WITHOUT_DIAGRAM:
        if form != "text":
            raise UsageError(
                f"the stage {stage} has no {form} form", hint="it can be shown as text or json"
            )
        if stage == "query":
            return documents.query_text(translated)
        return documents.memo_text(_planned(translated))
    if stage == "plan" and form == "text":
        return _planned(translated).plan.to_json()
    diagram = (
        of_logical(translated.logical, translated.catalog.time_unit)
        if stage == "logical"
        else of_plan(_planned(translated).plan)
    )
    match form:
        case "text" if isinstance(translated, Planned):
            return plan_text(
                translated, diagram, costs=costs, why=why, colour=colour, analysis=analysis
            )
        case "text":
            return text.render(diagram)
        case "dot":
            return dot.render(diagram)
        case "mermaid":
            return mermaid.render(diagram)
        case "html":
            return html.render(diagram, _page(translated, stage))


def document(
    translated: Translated,
    stage: Stage,
    *,
    costs: bool = False,
    why: bool = False,
    analysis: Analysis | None = None,
) -> dict[str, Any]:
    """The JSON document of a stage."""
    match stage:
        case "query":
            return documents.query_document(translated)
        case "logical":
            return documents.logical_document(translated)
        case "memo":
            return documents.memo_document(_planned(translated))
        case "physical":
            return documents.explain_document(
                _planned(translated), costs=costs, why=why, analysis=analysis
            )
        case "plan":
            return _planned(translated).plan.to_document()


def misplaced(stage: Stage, form: Format, **details: bool) -> str | None:
    """The first detail of the plan asked for where no plan is shown, or no room is for it."""
    if stage == "physical" and form in ("text", "json"):
        return None
    return next((name for name, asked in details.items() if asked), None)


def stored_plan(plan: PhysicalPlan, name: str, stage: Stage, form: Format) -> str:
    """A plan document shown without the query that it came from."""
    diagram = of_plan(plan)
    match form:
        case "json":
            return plan.to_json()
        case "text":
            return plan.to_json() if stage == "plan" else text.render(diagram)
        case "dot":
            return dot.render(diagram)
        case "mermaid":
            return mermaid.render(diagram)
        case "html":
            page = html.Page(name, "Physical plan", numbers=(("plan", plan.digest),))
            return html.render(diagram, page)


def json_text(value: dict[str, Any]) -> str:
    """A document as people and programs read it."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def plan_text(
    planned: Planned,
    diagram: Diagram,
    *,
    costs: bool = False,
    why: bool = False,
    colour: bool = False,
    analysis: Analysis | None = None,
) -> str:
    """The plan's tree, and below it what the search did, and a run if there was one."""
    notes: dict[int, tuple[str, ...]] = {}
    found = planned.optimization
    if why:
        complete = found.stop_reason == "complete"
        reasons = search_documents.why_document(planned)
        notes = search.reasons(reasons, diagram.per, complete=complete)
    if costs:
        for node, explanation in documents.formulas(planned).items():
            notes[node] = (*notes.get(node, ()), *str(explanation).splitlines())
    more = None if analysis is None else measured.columns(diagram, analysis.nodes)
    parts = [text.render(diagram, colour=colour, notes=notes, more=more), summary(planned) + "\n"]
    if analysis is not None:
        length = duration(analysis.ticks, diagram.time_unit)
        parts[1] += (
            f"ran on {analysis.edges:,} edges of {length} in {analysis.seconds:.1f} s: "
            f"{analysis.results:,} results\n"
        )
        parts[1] += measured.furthest(diagram, analysis.nodes)
    if why and found.required is None:
        parts[1] += "the time was up before anything was costed: it runs as it was written\n"
    if found.trace is not None:
        trace = search_documents.trace_document(planned, found.trace)
        parts.append(search.steps(trace, diagram.per))
        parts.append(search.rules(documents.memo_statistics(planned)))
    return "\n".join(parts)


def summary(planned: Planned) -> str:
    """What the plan costs beside the query as written, and how it was found, a line each."""
    found = planned.optimization
    per = of_plan(planned.plan).per
    memo = found.memo
    cut = "" if found.stop_reason == "complete" else f", {_STOPPED[found.stop_reason]}"
    assumed = documents.statistics_from(planned) == "assumed"
    shared = ""
    if found.shared_cost < found.cost * 0.995:
        shared = f" ({per(found.shared_cost)} with shared parts counted once)"
    return (
        f"cost {per(found.cost)}/{per.sign}{shared}, as written "
        f"{per(found.canonical_cost)}/{per.sign}{gain(found.canonical_cost, found.cost)}\n"
        f"searched {memo.group_count} groups, {memo.expression_count} expressions, "
        f"{found.physical_expressions} physical ones in {found.optimize_ms:.0f} ms{cut}"
        + _reports(planned.plan)
        + (_ASSUMED if assumed else "")
    )


def _reports(plan: PhysicalPlan) -> str:
    if plan.evaluate_every is None:
        return ""
    period = durations.text(plan.evaluate_every, plan.time_unit)
    return f"\nevaluated per slide: right at the multiples of {period}, of the instant before each"


def gain(before: float, after: float) -> str:
    """How many times cheaper the plan is than the query as written."""
    if after <= 0 or before / after < 1.005:
        return ": as good as written"
    ratio = before / after
    return f": {f'{ratio:.2f}' if ratio < 10 else number(ratio)} times cheaper"


def _planned(translated: Translated) -> Planned:
    assert isinstance(translated, Planned), "the stage comes after the search"
    return translated


def _page(translated: Translated, stage: Stage) -> html.Page:
    name = translated.request.name
    title = "Query plan" if name == "query" else f"Query plan of {name}"
    canonical = ("Canonical algebra", documents.canonical_text(translated))
    query = translated.request.query.strip("\n")
    if stage == "logical" or not isinstance(translated, Planned):
        return html.Page(title, "Logical plan", query, texts=(canonical,))
    found = translated.optimization
    per = of_plan(translated.plan).per
    statistics = documents.memo_statistics(translated)
    rules = tuple(
        (rule, *(str(did[k]) for k in ("bindings", "fired", "duplicates")), f"{did['ms']:.2f}")
        for rule, did in statistics["rules"].items()
        if did["bindings"]
    )
    return html.Page(
        title,
        "Physical plan",
        query,
        numbers=(
            (f"cost/{per.sign}", per(found.cost)),
            (f"as written/{per.sign}", per(found.canonical_cost)),
            ("groups", str(statistics["groups"])),
            ("expressions", str(statistics["expressions"])),
            ("search", f"{found.optimize_ms:.0f} ms, {_STOPPED[found.stop_reason]}"),
            ("plan", translated.plan.digest),
        ),
        texts=(canonical,),
        tables=(("Rules that were tried", ("rule", "bindings", "results", "known", "ms"), rules),),
    )
