"""The size of the search space and the time of the search: ``python -m bench.search``.

The counts are the same on every machine. Parsing and translation of the query are timed separately.
Each time is a median of several runs after a warm-up, with the smallest and the largest; garbage is
collected between runs only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.measuring import Spread, headline, machine, save, timed
from bench.queries import Case, cases, catalog, cost_model
from headrace.algebra.logical import LogicalExpression, LogicalQuery, Pattern
from headrace.costmodel import CostModel
from headrace.costmodel.model import Kind
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options, SearchResult
from headrace.optimizer.canonical import CanonicalPlans

PLANS_COUNTED_BELOW = 20_000
"""The largest memo whose plans are counted; counting would take longer than the search."""
LONGER_MS = 10_000.0
"""The time to search for the best known plan of a query with a budget, in ms."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one query; times in milliseconds.

    ``cpu`` and ``wall`` are of the search. ``ratio`` compares the plan found with the best
    known one, where that was looked for by other means.
    """

    name: str
    groups: int
    expressions: int
    physical: int
    bindings: int
    fired: int
    duplicates: int
    merges: int
    logical_plans: int | None
    plans: int | None
    stop_reason: str
    gain: float
    parse: Spread
    translate: Spread
    cpu: Spread
    wall: Spread
    aim_ms: float | None
    ratio: float | None
    aim_ratio: float | None

    @property
    def met(self) -> bool | None:
        """Whether the aim is met; None without an aim."""
        if self.aim_ms is None:
            return None
        in_time = self.cpu.median <= self.aim_ms
        return in_time and (self.aim_ratio is None or (self.ratio or 1.0) <= self.aim_ratio)


def measure(
    case: Case, kind: Kind = "saturating", repeats: int = 7, *, collect: bool = False
) -> Row:
    """Measures one query."""
    known = catalog()
    reading = timed(lambda: parse(case.text, "rq"), repeats)
    translating = timed(lambda: translate(reading.outcome, known), repeats)
    query = translating.outcome
    options = Options(budget_ms=case.budget_ms)

    def search() -> SearchResult:
        return Optimizer(cost_model(kind, known), options).optimize(query)

    searching = timed(search, repeats, collect=collect)
    found = searching.outcome
    memo, rules = found.memo, found.rules.values()
    groups, expressions = memo.group_count, memo.expression_count
    physical, merges = found.physical_expressions, memo.merges
    bindings = sum(rule.bindings for rule in rules)
    fired, duplicates = sum(r.fired for r in rules), sum(r.duplicates for r in rules)
    ratio = None
    if case.aim_ratio is not None:
        longer = replace(options, budget_ms=LONGER_MS, budget_expressions=None)
        patient = Optimizer(cost_model(kind, known), longer).optimize(query).cost
        least = best_known(query, cost_model(kind, known), min(patient, found.cost))
        ratio = found.cost / least
    # Counting may explore expressions that pruning left out, so it comes last. It would have the
    # time of the search, if that is bounded.
    complete = found.stop_reason == "complete" and case.budget_ms is None
    counted = complete and expressions < PLANS_COUNTED_BELOW
    return Row(
        name=case.name,
        groups=groups,
        expressions=expressions,
        physical=physical,
        bindings=bindings,
        fired=fired,
        duplicates=duplicates,
        merges=merges,
        logical_plans=found.plans.logical_count if counted else None,
        plans=found.plans.count if counted else None,
        stop_reason=found.stop_reason,
        gain=found.canonical_cost / found.cost,
        parse=reading.wall_ms,
        translate=translating.wall_ms,
        cpu=searching.cpu_ms,
        wall=searching.wall_ms,
        aim_ms=case.aim_ms,
        ratio=ratio,
        aim_ratio=case.aim_ratio,
    )


def best_known(query: LogicalQuery, model: CostModel, found: float, tries: int = 3) -> float:
    """The least cost of a pattern that hill climbing finds among its written orders.

    Not a search by rules: the canonical plan of an order is costed, two atoms are swapped,
    and the swap stays if it helps. ``found`` counts too.
    """
    operator, inputs = query.expression.operator, query.expression.inputs
    assert isinstance(operator, Pattern)
    bindings, output, n = operator.bindings, operator.output, len(inputs)

    def cost(order: list[int]) -> float:
        written = Pattern(tuple(bindings[k] for k in order), output)
        expression = LogicalExpression(written, tuple(inputs[k] for k in order))
        return CanonicalPlans(model).plan(expression).cost

    random, best = Random(0), found
    for _ in range(tries):
        order = random.sample(range(n), n)
        current, improved = cost(order), True
        while improved:
            improved = False
            for i in range(n):
                for j in range(i + 1, n):
                    swapped = list(order)
                    swapped[i], swapped[j] = order[j], order[i]
                    if (other := cost(swapped)) < current:
                        order, current, improved = swapped, other, True
        best = min(best, current)
    return best


def _count(number: int | None) -> str:
    if number is None:
        return "-"
    return f"{number:,}" if number < 10**7 else f"{number:.1e}"


def _table(rows: list[Row]) -> Table:
    table = Table(title="Search: counts, then milliseconds")
    table.add_column("query")
    for name in (
        "groups", "exprs", "physical", "bindings", "dupl.", "merges", "log. plans", "plans",
        "canonical / chosen", "parse", "translate", "search, cpu", "search, wall", "aim", "met",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for row in rows:
        aim = "" if row.aim_ms is None else f"{row.aim_ms:,.0f}"
        met = "" if row.met is None else "yes" if row.met else "[bold red]no[/]"
        if row.ratio is not None:
            met += f" ({row.ratio:.2f}x)"
        table.add_row(
            row.name,
            *map(_count, (row.groups, row.expressions, row.physical, row.bindings)),
            *map(_count, (row.duplicates, row.merges, row.logical_plans, row.plans)),
            f"{row.gain:.2f}",
            f"{row.parse.median:.1f}",
            f"{row.translate.median:.1f}",
            row.cpu.text(),
            row.wall.text() + ("" if row.stop_reason == "complete" else f" {row.stop_reason}"),
            aim,
            met,
        )
    return table


def main(
    *,
    only: Annotated[str, typer.Option(help="Queries with this in their name.")] = "",
    repeats: Annotated[int, typer.Option(help="Runs of each, at most.")] = 7,
    cost: Annotated[str, typer.Option(help="saturating or thesis.")] = "saturating",
    collect: Annotated[bool, typer.Option(help="Collect garbage during the search too.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the results here, as JSON.")] = None,
) -> None:
    """Measures the search on queries of the thesis and on shapes of joins."""
    kind: Kind = "thesis" if cost == "thesis" else "saturating"
    console = Console(width=None if Console().is_terminal else 220)
    console.print(headline(machine()))
    rows = []
    for case in cases():
        if only in case.name:
            with console.status(case.name):
                rows.append(measure(case, kind, repeats, collect=collect))
    console.print(_table(rows))
    aimed = [row for row in rows if row.met is not None]
    console.print(f"aims met: {sum(row.met is True for row in aimed)} of {len(aimed)}")
    save(out, "search", {"cost_model": kind, "repeats": repeats, "collect": collect}, rows)


if __name__ == "__main__":
    typer.run(main)
