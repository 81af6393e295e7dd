"""The cost model: estimates of results, and costs of operators by their formulas.

Two tables assign estimates and costs to operators; :mod:`headrace.costmodel.operator_estimates` and
:mod:`headrace.costmodel.operator_costs` fill them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from ..algebra.identity import Relation
from ..algebra.logical import LogicalOperator, Path
from ..algebra.physical import PhysicalOperator
from ..algebra.regex import Regex
from ..algebra.registry import Registry
from ..algebra.window import Window
from ..catalog.defaults import DEFAULT_STATISTICS, DEFAULT_STORED
from ..catalog.model import Catalog
from . import estimates
from .characteristics import Characteristics
from .columns import columns_of_scan
from .constants import Assumptions, Constants
from .derived import Reading
from .formula import Explanation, Formula
from .joint import distinct_pairs_within
from .known_paths import KnownPaths
from .retractions import retracted_share, retractions_per_row

if TYPE_CHECKING:
    from .feedback import Feedback
    from .sampling.estimator import Sampler

Kind = Literal["saturating", "thesis"]
Inputs = tuple[Characteristics, ...]


class CostModelError(ValueError):
    """An operator that the cost model cannot estimate; the message says why."""


@dataclass(frozen=True)
class CostModel:
    """Estimates characteristics of logical operators and costs of physical ones.

    The unit of cost is the unit of ``constants`` per time unit of the catalog. Two cost models with
    equal fields estimate equally.

    Attributes:
        kind: ``thesis`` is the twelve formulas of thesis 6.3 to the letter; ``saturating`` keeps
            estimates within set semantics (:mod:`headrace.costmodel.derived`), and its PATH costs
            by node (:data:`headrace.costmodel.formulas.PATH_BY_NODES`).
        catalog: the statistics of the scanned streams.
        constants: the costs of elementary actions.
        assumptions: replacements for missing statistics.
        parallelism: the number of partitions.
        sampler: estimates paths and joins from a sample of the stream; None without one.
        feedback: the figures that earlier runs measured; None without any. ``thesis`` ignores them.
        known: the paths that were estimated already; None keeps none.
        reading: how the formulas are read, derived from the other fields.

    Raises:
        ValueError: for another kind.
    """

    kind: Kind = "saturating"
    catalog: Catalog = field(default_factory=lambda: Catalog({}))
    constants: Constants = field(default_factory=Constants)
    assumptions: Assumptions = field(default_factory=Assumptions)
    parallelism: int = 1
    sampler: Sampler | None = None
    feedback: Feedback | None = None
    known: KnownPaths | None = field(default=None, repr=False, compare=False)
    reading: Reading = field(init=False, repr=False, compare=False)
    _any_stored: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.kind not in ("saturating", "thesis"):
            raise ValueError(f"cost model {self.kind!r}: expected 'saturating' or 'thesis'")
        reading = Reading(
            set_semantics=self.kind == "saturating",
            cap_distinct=self.assumptions.cap_distinct and self.kind == "thesis",
            longest_path=self.assumptions.longest_path,
        )
        object.__setattr__(self, "reading", reading)
        any_stored = any(stream.stored for stream in self.catalog.streams.values())
        object.__setattr__(self, "_any_stored", any_stored)

    def characteristics(self, operator: LogicalOperator, inputs: Inputs) -> Characteristics:
        """The characteristics of the operator's result (formulas 1-7).

        Raises:
            CostModelError: for a scan of a stream that the catalog does not have.
        """
        estimate = ESTIMATES[type(operator)](self, operator, inputs)
        if self.sampler is not None:
            estimate = self.sampler.refined(operator, inputs, estimate)
        below = [rows.relation for rows in inputs]
        relation = Relation(operator, tuple([r for r in below if r is not None]))
        known = len(relation.inputs) == len(inputs) and not operator.by_partition
        retracted = 0.0
        if self.kind != "thesis":
            retracted = retracted_share(operator, inputs, estimate)
        estimate = replace(
            estimate,
            relation=relation if known else None,
            measured=None,
            retracted=retracted,
        )
        if not known or self.feedback is None or self.kind == "thesis":
            return estimate
        return self.feedback.refined(relation, estimate)

    def for_search(self) -> CostModel:
        """The same cost model, which estimates the pairs of the same words once.

        One that lasts longer than a search would keep more and more estimates.
        """
        return replace(self, known=KnownPaths())

    def pairs(self, words: Regex, inputs: Inputs) -> Characteristics:
        """The characteristics of the pairs that paths with some words connect."""
        known = None if self.known is None else self.known.get(words, inputs)
        if known is None:
            known = self.characteristics(Path(words), inputs)
            if self.known is not None:
                self.known.add(words, inputs, known)
        return known

    def cost(self, operator: PhysicalOperator, output: Characteristics, inputs: Inputs) -> float:
        """The operator's own cost per time unit of the catalog (formulas 8-12).

        ``output`` and ``inputs`` are the characteristics of the result and the inputs, over several
        partitions those of the busiest one's share (:meth:`Characteristics.share`). The cost of a
        plan is the sum over its operators. An operator over stored graphs alone runs once, and its
        cost is spread over time (:meth:`Characteristics.loaded`).
        """
        formula, quantities = self._applied(operator, output, inputs)
        return formula.cost(self.constants, *quantities)

    def least_cost(
        self, operator: PhysicalOperator, output: Characteristics, inputs: Inputs
    ) -> float:
        """A lower bound of the cost of the operator as :meth:`arranged`; quicker than both."""
        formula, quantities = self._applied(operator, output, inputs, least=True)
        return formula.cost(self.constants, *quantities)

    def arranged(
        self, operator: PhysicalOperator, output: Characteristics, inputs: Inputs
    ) -> PhysicalOperator:
        """The operator with the arguments that cost least, where it leaves a choice."""
        arrange = ARRANGEMENTS.get(type(operator))
        if arrange is None:
            return operator
        return arrange(self, operator, *self._at_work(output, inputs))

    def saved(
        self, operator: PhysicalOperator, output: Characteristics, inputs: Inputs
    ) -> tuple[float, ...]:
        """For each input what the operator costs less if another one holds its index.

        Empty for an operator that shares no index.
        """
        spare = SAVED.get(type(operator))
        if spare is None:
            return ()
        return spare(self, operator, *self._at_work(output, inputs))

    def explain(
        self, operator: PhysicalOperator, output: Characteristics, inputs: Inputs
    ) -> Explanation:
        """The formula of :meth:`cost` with the numbers put in."""
        formula, quantities = self._applied(operator, output, inputs)
        return formula.explained(operator.op, self.constants, quantities)

    def _applied(
        self,
        operator: PhysicalOperator,
        output: Characteristics,
        inputs: Inputs,
        *,
        least: bool = False,
    ) -> Applied:
        """The formula of an operator with its quantities, retractions of its inputs included.

        With ``least``, the quantities are lower bounds for all arrangements of the operator.
        """
        output, inputs = self._at_work(output, inputs)
        of_class = COSTS[type(operator)]
        if least:
            of_class = LEAST_COSTS.get(type(operator), of_class)
        formula, quantities = of_class(self, operator, output, inputs)
        retractions = retractions_per_row(inputs)
        if not retractions:
            return formula, quantities
        return formula.with_retractions, (*quantities, retractions)

    def _at_work(self, output: Characteristics, inputs: Inputs) -> tuple[Characteristics, Inputs]:
        if not self._any_stored:
            return output, inputs
        spread = self.assumptions.loading
        return output.loaded(spread), tuple([i.loaded(spread) for i in inputs])


Applied = tuple[Formula, tuple[float, ...]]
"""A formula and the quantities that go into it, in its order."""

ESTIMATES: Registry[type, Callable[[CostModel, Any, Inputs], Characteristics]] = Registry()
"""The estimates by class of logical operator: the characteristics of its result."""
COSTS: Registry[type, Callable[[CostModel, Any, Characteristics, Inputs], Applied]] = Registry()
"""The costs by class of physical operator, from the characteristics of its result and inputs."""

LEAST_COSTS: Registry[type, Callable[[CostModel, Any, Characteristics, Inputs], Applied]] = (
    Registry()
)
"""Lower bounds of the costs, by class of physical operator that a cost model arranges."""

ARRANGEMENTS: Registry[
    type, Callable[[CostModel, Any, Characteristics, Inputs], PhysicalOperator]
] = Registry()
"""The arrangements by class of physical operator: the operator with its cheapest arguments."""

SAVED: Registry[type, Callable[[CostModel, Any, Characteristics, Inputs], tuple[float, ...]]] = (
    Registry()
)
"""The parts of costs for indexes that operators may share, by class of physical operator."""


def edges_of(
    model: CostModel, name: str, label: str, window: Window | None, properties: Sequence[str] = ()
) -> Characteristics:
    """The edges of a label of a stream under a window, with some properties (formula 1).

    Raises:
        CostModelError: if the catalog does not have the stream.
    """
    stream = model.catalog.streams.get(name)
    if stream is None:
        names = ", ".join(sorted(model.catalog.streams)) or "none"
        raise CostModelError(f"no stream {name!r} in the catalog; it has: {names}")
    statistics = stream.labels.get(label, DEFAULT_STORED if stream.stored else DEFAULT_STATISTICS)
    if stream.vertices:
        # Both columns are the vertex: there are as many combinations as vertices.
        statistics = replace(statistics, distinct_trg=1.0)
    typed = [(name, stream.properties.get(name, "integer")) for name in properties]
    edges = estimates.window_scan(statistics, window, model.reading, typed)
    if not model.reading.set_semantics:
        return edges
    columns = columns_of_scan(model.catalog, stream, label, statistics, tuple(typed))
    pairs = inf if properties else distinct_pairs_within(statistics, edges.population)
    return replace(edges, columns=columns, most_values=pairs)
