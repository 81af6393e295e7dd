"""Tables and plots of the experiments of thesis 6.5: a page of Markdown for each experiment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.figures.operators_report import operators_report
from bench.figures.plans_report import plans_report
from bench.figures.results import Measured, read
from bench.measuring import headline

Plots = Mapping[str, str]
FEWEST = 6
"""The fewest runs whose median has an interval."""
TITLES = {
    "operators": "Costs of operators, Figures 6.3 to 6.5",
    "trees": "The star query, Figure 6.8",
    "paths": "The path query, Figure 6.9",
}


def reports(file: Path, label: str) -> dict[str, str]:
    """The page of each experiment that the file has, by experiment."""
    return {done.experiment: _page(done)[0] for done in read(file, label)}


def write_reports(file: Path, label: str, out: Path) -> None:
    """Writes the page and the plots of each experiment to a folder."""
    out.mkdir(parents=True, exist_ok=True)
    for done in read(file, label):
        page, plots = _page(done)
        (out / f"{done.experiment}.md").write_text(page, "utf-8")
        for name, drawing in plots.items():
            (out / name).write_text(drawing, "utf-8")


def _page(done: Measured) -> tuple[str, Plots]:
    lines, plots = (operators_report if done.experiment == "operators" else plans_report)(done)
    return "\n".join([f"# {TITLES[done.experiment]}", "", *_introduction(done), *lines]), plots


def _introduction(done: Measured) -> list[str]:
    loads = [row["machine"]["load"][0] for row in done.rows]
    fewest = min(len(result.by_round) for result in done.results)
    spread = (
        f"the 95 % interval of the median of {fewest} runs"
        if fewest >= FEWEST
        else f"the smallest and the largest of {fewest} runs"
    )
    return [
        f"Measured by `python -m bench.figures {done.experiment}`, written by "
        "`python -m bench.figures report`, on "
        f"{headline(done.rows[-1]['machine'])}; load {min(loads):g} to {max(loads):g} during the "
        f"runs. Sizes: {done.size.removesuffix(' few=False')}.",
        "",
        f"Each time is a median, with {spread} in brackets. The runs go round by round, in random "
        "order within a round, in one process with its kernels loaded. A time is the processor "
        "time after the window has filled, divided by the application time that has passed. So "
        "both models' costs are in the same unit, microseconds per second of the stream. Vertices "
        "of the stream are drawn uniformly and independently. Rank correlation is Kendall's tau-b.",
        "",
    ]
