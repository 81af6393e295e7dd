"""The account of a run as text: input, results and time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..algebra.plan import PhysicalPlan
    from ..executor.spark.report import RunReport


def account(report: RunReport, place: str) -> str:
    """Returns the account in a few lines; ``place`` is the place of the results."""
    done_before = report.resumed and not report.batches
    took = (
        f"took      {report.seconds:.1f} s, {report.stream_seconds:.1f} s of it streaming: "
        f"{report.edges_per_second:,.0f} edges/s, {report.updates_per_second:,.0f} results/s"
    )
    again = " (some of it by an earlier run)" if report.resumed and not done_before else ""
    lines = [
        f"read      {report.edges:,} edges, {report.relevant:,} relevant, "
        f"{report.rejected:,} rows rejected",
        f"found     {report.results:,} results{again}",
        "took      nothing: an earlier run did all the work" if done_before else took,
        f"results   {place}",
    ]
    if report.late:
        of_each = ", ".join(f"{count:,} of {name}" for name, count in report.late_by_stream.items())
        lines.insert(1, f"late      {report.late:,} edges set aside ({of_each})")
    if report.rebuilt:
        times = "once" if report.rebuilt == 1 else f"{report.rebuilt:,} times"
        lines.insert(-1, f"rebuilt   the state of a partition {times}, from the edges still valid")
    if report.rejected and report.rejected_file:
        lines.append(f"rejected  {report.rejected_file}")
    if report.late_file:
        lines.append(f"too late  {report.late_file}")
    return "\n".join(lines)


def operators(plan: PhysicalPlan, report: RunReport) -> str:
    """Returns the plan as a tree, with measured numbers beside the estimates."""
    from ..documents.picture import picture_of_plan
    from ..documents.runs import operator_documents
    from .render import measured, text

    operators = operator_documents(plan, report.operators, report.ticks)
    picture, nodes = picture_of_plan(plan), {done.node: done for done in operators}
    tree = text.render(picture, more=measured.columns(picture, nodes))
    return f"\n{tree}{measured.furthest_off(picture, nodes)}".rstrip("\n")
