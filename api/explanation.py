"""The output of ``explain`` for each stage and form, for the command line and REST.

Each stage becomes a document first. All forms but JSON are renderings of the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from ..algebra import durations
from ..algebra.plan import PhysicalPlan
from ..documents.explained import Physical, physical_document
from ..documents.memo import Memo, memo_document
from ..documents.model import json_text
from ..documents.numbers import duration, number, share
from ..documents.picture import PictureDocument, picture_of_plan, picture_of_query
from ..documents.plan import PlanDocument, plan_document
from ..documents.query import LogicalDocument, QueryDocument, logical_document, query_document
from ..optimizer.budget import StopReason
from ..planning.errors import UsageError
from ..planning.planner import Planned
from ..planning.requests import Format, Stage
from ..planning.translating import Translated
from .render import dot, html, measured, memo, mermaid, search, text

if TYPE_CHECKING:
    from ..running.analysis import Analysis

_ASSUMED = (
    "\nstatistics are assumed, the same for every label: input files or a catalog give real ones"
)
_STOPPED: Mapping[StopReason, str] = MappingProxyType(
    {
        "complete": "complete",
        "no_gain": "ended, as more expressions brought no cheaper plan",
        "budget_ms": "cut by its time limit",
        "budget_expressions": "cut by its limit of expressions",
        "cancelled": "cancelled",
    }
)
"""The reasons for the end of a search, for people; documents have the names."""

AnyStage = QueryDocument | LogicalDocument | Memo | Physical


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
    """Renders a stage in a form; the stages after ``logical`` need a :class:`Planned`.

    A traced search shows its steps below its plan.

    Raises:
        UsageError: if the stage has no such form.
    """
    if form == "json" or (form == "text" and stage == "plan"):
        return json_text(document(translated, stage, costs=costs, why=why, analysis=analysis))
    drawn = _document(translated, "physical" if stage == "plan" else stage, costs, why, analysis)
    return rendered(drawn, form, translated.request.name, colour=colour)


def document(
    translated: Translated,
    stage: Stage,
    *,
    costs: bool = False,
    why: bool = False,
    analysis: Analysis | None = None,
) -> AnyStage | PlanDocument:
    """Builds the document of a stage."""
    if stage == "plan":
        return plan_document(_planned(translated).plan)
    return _document(translated, stage, costs, why, analysis)


def _document(
    translated: Translated,
    stage: Literal["query", "logical", "memo", "physical"],
    costs: bool,
    why: bool,
    analysis: Analysis | None,
) -> AnyStage:
    match stage:
        case "query":
            return query_document(translated)
        case "logical":
            return logical_document(translated)
        case "memo":
            return memo_document(_planned(translated))
        case "physical":
            planned = _planned(translated)
            return physical_document(planned, costs=costs, why=why, analysis=analysis)


def rendered(
    shown: AnyStage | PlanDocument, form: Format, name: str, *, colour: bool = False
) -> str:
    """Renders a document for people; ``name`` is the name of its query.

    Raises:
        UsageError: if the document has no such form.
    """
    match shown:
        case QueryDocument() if form == "text":
            return shown.text
        case Memo() if form == "text":
            return memo.render(shown)
        case LogicalDocument():
            return _drawn(picture_of_query(shown), form, _page(shown, name))
        case Physical() if form == "text":
            return plan_text(shown, colour=colour)
        case Physical():
            return _drawn(shown.picture, form, _page(shown, name))
        case _:
            stage = "query" if isinstance(shown, QueryDocument) else "memo"
            raise UsageError(
                f"the stage {stage} has no {form} form", hint="it can be shown as text or json"
            )


def fragment(planned: Planned) -> str:
    """Renders the drawing of a plan as a part of another page, such as a notebook."""
    shown = physical_document(planned)
    return html.fragment(shown.picture, _page(shown, "query"), f"plan-{planned.plan.digest[:12]}")


def misplaced(stage: Stage, form: Format, **details: bool) -> str | None:
    """Returns the first requested detail that the stage or the form cannot show, or None."""
    if stage == "physical" and form in ("text", "json"):
        return None
    return next((name for name, requested in details.items() if requested), None)


def stored_plan(plan: PhysicalPlan, name: str, stage: Stage, form: Format) -> str:
    """Renders a stored plan, without its query."""
    if form == "json" or (form == "text" and stage == "plan"):
        return plan.to_json()
    page = html.Page(name, "Physical plan", numbers=(("plan", plan.digest),))
    return _drawn(picture_of_plan(plan), form, page)


def plan_text(shown: Physical, *, colour: bool = False) -> str:
    """Renders the plan's tree, then the numbers of the search, and of a run if any."""
    picture, why, run = shown.picture, shown.why, shown.measured
    notes: dict[int, tuple[str, ...]] = {}
    if why is not None:
        notes = search.reasons(why, picture.per, complete=shown.stop_reason == "complete")
    for node, figures in (shown.feedback or {}).items():
        notes[int(node)] = (measured.earlier(figures, picture.per), *notes.get(int(node), ()))
    for node, formula in (shown.costs or {}).items():
        notes[int(node)] = (*notes.get(int(node), ()), *str(formula).splitlines())
    below = summary(shown) + "\n"
    more = None
    if run is not None:
        nodes = {int(node): done for node, done in run.nodes.items()}
        more = measured.columns(picture, nodes)
        below += (
            f"ran on {run.edges:,} edges of {duration(run.ticks, picture.time_unit)} in "
            f"{run.seconds:.1f} s: {run.results:,} results\n"
        ) + measured.furthest_off(picture, nodes)
    if why is not None and not why:
        below += "the search found no cheaper plan than the one with which it began\n"
    parts = [text.render(picture, colour=colour, notes=notes, more=more), below]
    if shown.trace is not None:
        parts += [search.steps(shown.trace, picture.per), search.rules(shown.memo)]
    return "\n".join(parts)


def summary(shown: Physical) -> str:
    """Returns the costs of the plan and of the query as written, and the size of the search."""
    per, memo = shown.picture.per, shown.memo
    cut = "" if shown.stop_reason == "complete" else f", {_STOPPED[shown.stop_reason]}"
    cost, written, other = _minimised(shown)
    return (
        f"cost {per(cost)}/{per.sign}{other}, as written "
        f"{per(written)}/{per.sign}{_gain(written, cost)}\n"
        f"searched {memo.groups} groups, {memo.expressions} expressions, "
        f"{memo.physical_expressions} physical ones in {shown.optimize_ms:.0f} ms{cut}"
        + _kept(shown)
        + _sampled(shown)
        + _period(shown)
        + _constants(shown)
        + (_ASSUMED if shown.statistics == "assumed" else "")
    )


def _minimised(shown: Physical) -> tuple[float, float, str]:
    """Returns the minimised cost of the plan and of the query as written, and the plan's other."""
    per, differs = shown.picture.per, shown.shared_cost < shown.cost * 0.995
    if shown.minimised == "shared_cost":
        tree = f" with shared parts counted once ({per(shown.cost)} as a tree)" if differs else ""
        return shown.shared_cost, shown.canonical_shared_cost, tree
    shared = f" ({per(shown.shared_cost)} with shared parts counted once)" if differs else ""
    return shown.cost, shown.canonical_cost, shared


def _kept(shown: Physical) -> str:
    """Returns why the plan is the query as written, if another plan costs less."""
    kept = shown.kept_as_written
    if kept is None:
        return ""
    per, (cost, _, _) = shown.picture.per, _minimised(shown)
    less = cost - kept.cheapest_cost
    return (
        f"\nthe plan as written, as the cheapest plan costs only {per(less)}/{per.sign} less "
        f"({share(less, cost)}), within the model's error of {per(kept.error)}/{per.sign}"
    )


def _sampled(shown: Physical) -> str:
    """Returns the number of estimates from a sample, and the errors of those in the plan."""
    if shown.sampling is None:
        return ""
    errors = shown.sampling.standard_errors.values()
    largest = f", standard errors up to {max(errors):.0%}" if errors else ""
    return f"\nsampled {shown.sampling.estimates} estimates in {shown.sampling.ms:.0f} ms{largest}"


def _period(shown: Physical) -> str:
    every = shown.plan.get("evaluate_every")
    if every is None:
        return ""
    period = durations.text(every, shown.plan["time_unit"])
    return f"\nevaluated per slide: right at the multiples of {period}, of the instant before each"


def _constants(shown: Physical) -> str:
    """Returns where the cost constants are from, if they are shown or were measured here."""
    if shown.constants_origin is not None:
        return f"\nconstants: {shown.constants_origin}"
    return "" if shown.costs is None else "\nconstants: shipped defaults"


def _gain(before: float, after: float) -> str:
    """Returns by which factor the plan is cheaper than the query as written."""
    if after <= 0 or before / after < 1.005:
        return ": as good as written"
    ratio = before / after
    return f": {f'{ratio:.2f}' if ratio < 10 else number(ratio)} times cheaper"


def _planned(translated: Translated) -> Planned:
    assert isinstance(translated, Planned), "the stage comes after the search"
    return translated


def _drawn(picture: PictureDocument, form: Format, page: html.Page) -> str:
    match form:
        case "dot":
            return dot.render(picture)
        case "mermaid":
            return mermaid.render(picture)
        case "html":
            return html.render(picture, page)
        case _:
            return text.render(picture)


def _page(shown: LogicalDocument | Physical, name: str) -> html.Page:
    title = "Query plan" if name == "query" else f"Query plan of {name}"
    query = shown.query.strip("\n")
    canonical = ("Canonical algebra", shown.canonical)
    if isinstance(shown, LogicalDocument):
        return html.Page(title, "Logical plan", query, texts=(canonical,))
    per, (cost, written, _) = shown.picture.per, _minimised(shown)
    return html.Page(
        title,
        "Physical plan",
        query,
        numbers=(
            (f"cost, {per.of_work}", per(cost)),
            ("as written", per(written)),
            ("groups", str(shown.memo.groups)),
            ("expressions", str(shown.memo.expressions)),
            ("search", f"{shown.optimize_ms:.0f} ms, {_STOPPED[shown.stop_reason]}"),
            ("plan", shown.plan["digest"]),
        ),
        texts=(canonical,),
        tables=(("Rules that were tried", search.RULE_COLUMNS, search.rule_rows(shown.memo)),),
    )
