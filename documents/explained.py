"""The JSON documents of every stage, made from what planning found: one truth for every face."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..algebra import text as algebra_text
from ..algebra.logical import LogicalExpression, WScan
from ..algebra.notation import InputNames, ends
from ..algebra.plan import PhysicalPlan
from ..costmodel import Explanation
from ..languages import printer
from ..memo.printer import format_memo
from ..notation import operators as notation
from ..notation.names import Names
from ..optimizer.steps import at_the_busiest, in_order
from ..planning.planner import Planned, Translated
from . import memo as memo_documents
from . import search as search_documents

if TYPE_CHECKING:
    from ..running.analysis import Analysis

EXPLAIN_VERSION = 1


def canonical_text(translated: Translated) -> str:
    """The canonical expression as a tree, in the notation of the thesis."""
    return algebra_text.text(translated.logical.expression, translated.catalog.time_unit)


def query_text(translated: Translated) -> str:
    """The query as it was understood, in RQ."""
    return printer.text(translated.regular_query) + "\n"


def query_document(translated: Translated) -> dict[str, Any]:
    """``explain --stage query``."""
    query = translated.regular_query
    return {
        **_head(translated),
        "rules": printer.rules_text(query),
        "answer": query.answer,
        "windows": [
            {
                "stream": clause.stream,
                "labels": list(clause.labels),
                "range": clause.window.range,
                "slide": clause.window.slide,
            }
            for clause in query.windows
        ],
        "time_unit": translated.catalog.time_unit,
    }


def logical_document(translated: Translated) -> dict[str, Any]:
    """``explain --stage logical``: the canonical expression, equal parts once."""
    return {
        **_head(translated),
        "canonical": canonical_text(translated),
        "columns": list(translated.logical.columns),
        "nodes": _logical_nodes(translated.logical.expression, translated.catalog.time_unit),
    }


def memo_document(planned: Planned) -> dict[str, Any]:
    """``explain --stage memo``: every group, its members, its goals with all ways to them, its
    winners, and where the plan stands among them."""
    memo = planned.optimization.memo
    return {
        **explain_document(planned),
        "root": memo.find(planned.optimization.root),
        "groups": memo_documents.groups(planned),
        "chosen": memo_documents.chosen(planned),
        "symbols": dict(notation.SYMBOLS),
    }


def memo_text(planned: Planned) -> str:
    """The memo in the form of `headrace.memo.printer`, with operators as people write them."""
    names = Names(planned.catalog.time_unit)
    optimization = planned.optimization
    return format_memo(optimization.memo, optimization.root, names.show, names.required)


def explain_document(
    planned: Planned, *, costs: bool = False, why: bool = False, analysis: Analysis | None = None
) -> dict[str, Any]:
    """``explain --stage physical``; with ``costs`` the formula of every node too, with ``why``
    what decided for it; with a trace if the search was traced."""
    optimization = planned.optimization
    document = {
        **_head(planned),
        "canonical": canonical_text(planned),
        "stop_reason": optimization.stop_reason,
        "optimize_ms": round(optimization.optimize_ms, 3),
        "memo": memo_statistics(planned),
        "statistics": statistics_from(planned),
        "cost_model": planned.cost_model.kind,
        "cost": optimization.cost,
        "shared_cost": optimization.shared_cost,
        "canonical_cost": optimization.canonical_cost,
        "plan": planned.plan.to_document(),
    }
    if costs:
        document["costs"] = {
            str(node): explanation.to_document() for node, explanation in formulas(planned).items()
        }
    if why:
        document["why"] = search_documents.why_document(planned)
    if optimization.trace is not None:
        document["trace"] = search_documents.trace_document(planned, optimization.trace)
    if analysis is not None:
        document["measured"] = analysis.document()
    return document


def statistics_from(translated: Translated) -> str:
    """Where statistics come from: a ``catalog``, a sample (``measured``), or are ``assumed``."""
    if translated.request.catalog is not None:
        return "catalog"
    request = translated.request
    return "measured" if request.inputs or request.stored else "assumed"


def memo_statistics(planned: Planned) -> dict[str, Any]:
    """How large the memo is, and what each rule did."""
    optimization = planned.optimization
    return {
        "groups": optimization.memo.group_count,
        "expressions": optimization.memo.expression_count,
        "physical_expressions": optimization.physical_expressions,
        "merges": optimization.memo.merges,
        "rules": {
            name: {
                "bindings": rule.bindings,
                "fired": rule.fired,
                "duplicates": rule.duplicates,
                "ms": round(rule.ms, 3),
            }
            for name, rule in optimization.rules.items()
        },
    }


def formulas(planned: Planned) -> dict[int, Explanation]:
    """The cost formula of every node of the plan, with its numbers put in."""
    steps = in_order(planned.optimization.best)
    parallelism = planned.optimization.plan.parallelism
    return {
        key: planned.cost_model.explain(step.operator, *at_the_busiest(step, parallelism))
        for key, (step, _) in enumerate(steps)
    }


@dataclass(frozen=True, slots=True)
class RankedPlan:
    """One of many plans; ``rank`` counts from 1, a plan drawn by chance has none."""

    rank: int | None
    plan: PhysicalPlan

    @property
    def cost(self) -> float:
        """The cost of its tree per time unit."""
        return self.plan.nodes[self.plan.root].estimate.cumulative_cost


def plans_document(
    total: int,
    plans: Iterable[RankedPlan],
    draw: Callable[[RankedPlan], str],
    picture: Callable[[PhysicalPlan], dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """``plans --format json``; ``draw`` gives the text of a plan, ``picture`` what else is
    needed to draw it."""
    return {
        "total": total,
        "plans": [
            {
                "rank": ranked.rank,
                "cost": ranked.cost,
                "digest": ranked.plan.digest,
                "text": draw(ranked),
                "plan": ranked.plan.to_document(),
                **({"picture": picture(ranked.plan)} if picture is not None else {}),
            }
            for ranked in plans
        ],
    }


def _head(translated: Translated) -> dict[str, Any]:
    return {
        "version": EXPLAIN_VERSION,
        "query": translated.request.query,
        "language": translated.language,
        "warnings": list(translated.warnings),
    }


def _logical_nodes(root: LogicalExpression, time_unit: str) -> list[dict[str, Any]]:
    number: dict[LogicalExpression, int] = {}
    nodes: list[dict[str, Any]] = []
    pending = [root]
    while pending:
        expression = pending[-1]
        missing = [e for e in expression.inputs if e not in number]
        if expression in number or missing:
            pending.extend(reversed(missing))
            if not missing:
                pending.pop()
            continue
        steps = [
            notation.step_name(
                e.operator.label if isinstance(e.operator, WScan) else e.name, position
            )
            for position, e in enumerate(expression.inputs)
        ]
        columns = [ends(e.width) for e in expression.inputs]
        operator = expression.operator
        number[expression] = len(nodes)
        nodes.append(
            {
                "id": len(nodes),
                "op": operator.op,
                "text": operator.arguments(InputNames(steps, columns, time_unit)),
                "name": expression.name,
                "inputs": [number[e] for e in expression.inputs],
                "columns": expression.width,
            }
        )
        pending.pop()
    return nodes
