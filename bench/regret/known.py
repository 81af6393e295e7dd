"""Plans and prices by measured rows in place of estimated ones.

An optimizer errs by its estimates of rows and by its formulas of costs. To tell the two apart, the
runs of a query keep what they measured of its operators, as runs of the product do
(:mod:`headrace.running.feedback`); then the query is planned once more, and all its plans are
priced, by these figures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.regret.candidates import DEFAULT, Candidate, Candidates, requested
from bench.regret.forms import form
from bench.regret.runs import Run
from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.feedback import feedback_file, read, write
from headrace.catalog.figures import FeedbackFile
from headrace.catalog.model import Catalog
from headrace.costmodel import CostModel
from headrace.costmodel.characteristics import Characteristics
from headrace.optimizer.emission import emitted
from headrace.optimizer.steps import saved_by_sharing
from headrace.planning.planner import optimize
from headrace.running.feedback import observations

MEASURED = f"{DEFAULT}, measured rows"
"""The default model with measured rows, in the roles and costs of plans."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What the runs of one query measured.

    Attributes:
        catalog: the catalog of the query.
        file: the figures of the operators.
    """

    catalog: Catalog
    file: FeedbackFile

    def keep(self, plan: PhysicalPlan, done: Run) -> None:
        """Keeps the figures of a run that ended; runs of under three windows have none."""
        if done.whole is not None:
            seen = observations(plan, done.whole, done.whole_ticks, self.file)
            write(self.file.path, form(plan), seen, time.time())

    def plan_again(self, found: Candidates, text: str, window: tuple[str, str]) -> bool:
        """Plans the query by the figures, and prices the candidates by them.

        Adds the chosen plan to the candidates, and to each candidate of which all rows are known to
        the model its costs.

        Returns:
            Whether there are any figures.
        """
        known = read(self.file.path, time.time()) if self.file.path.exists() else {}
        if not known:
            return False
        catalog = replace(self.catalog, feedback=self.file, measured=known)
        planned = optimize(requested(text, catalog, window, DEFAULT))
        plan = planned.plan
        own = found.plans.setdefault(form(plan), Candidate(form(plan), plan))
        own.roles.append(f"chosen {MEASURED}")
        estimates = {
            group.estimate.relation.identity: group.estimate
            for group in planned.optimization.space.groups()
            if group.estimate.relation is not None
        }
        for candidate in found.plans.values():
            costs = priced(candidate.plan, estimates, planned.cost_model)
            if costs is not None:
                candidate.repriced[MEASURED] = costs
        return True


@contextmanager
def no_figures(catalog: Catalog) -> Iterator[Figures]:
    """The figures of a query before its first run, in a folder of their own."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "figures.sqlite"
        yield Figures(catalog, feedback_file(catalog, path))


def priced(
    plan: PhysicalPlan, estimates: Mapping[str, Characteristics], cost_model: CostModel
) -> tuple[float, float] | None:
    """The cost of the tree of a plan on one partition, and its cost with shared parts counted once.

    Args:
        plan: the plan.
        estimates: the rows of each relation, by its identity.
        cost_model: computes the costs.

    Returns:
        The costs per time unit; None if the rows of a node are not among the estimates.
    """
    rows = [estimates.get(node.identity or "") for node in plan.nodes]
    if any(one is None for one in rows):
        return None
    known = [one for one in rows if one is not None]
    trees: list[float] = []
    locals_: list[float] = []
    saved = []
    for node, output in zip(plan.nodes, known, strict=True):
        below = tuple([known[i] for i in node.inputs])
        coalesced = tuple([plan.nodes[i].properties.coalesced for i in node.inputs])
        widths = tuple([len(plan.nodes[i].columns) for i in node.inputs])
        costed = emitted(node.operator, output, below, coalesced, widths)
        local = cost_model.cost(node.operator, *costed)
        locals_.append(local)
        trees.append(sum([trees[i] for i in node.inputs], local))
        saved.append((node.operator, node.inputs, cost_model.saved(node.operator, *costed)))
    return trees[plan.root], sum(locals_) - sum(saved_by_sharing(saved))
