"""The cost model: which formula holds for which operator."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import isfinite
from typing import Any, Literal

from ..algebra import logical, physical
from ..algebra.logical import LogicalOperator
from ..algebra.physical import PhysicalOperator
from ..algebra.predicate import Predicate
from ..algebra.window import Window
from ..catalog.defaults import DEFAULT_STATISTICS, DEFAULT_STORED
from ..catalog.model import Catalog
from . import estimates, explanation, formulas
from .characteristics import Characteristics
from .constants import Assumptions, Constants
from .estimates import Reading
from .selectivity import condition

_PLAIN_COLUMN = re.compile("c[0-9]+")

Kind = Literal["saturating", "thesis"]
Inputs = tuple[Characteristics, ...]


class CostModelError(ValueError):
    """An operator that the cost model cannot estimate; the message says why."""


@dataclass(frozen=True)
class CostModel:
    """Estimates characteristics of logical operators and costs of physical ones.

    ``kind``: ``thesis`` is the twelve formulas of thesis 6.3 to the letter; ``saturating``
    keeps within what set semantics allow (:mod:`headrace.costmodel.estimates`), and its PATH pays
    by result (:func:`headrace.costmodel.formulas.path_by_results`). ``catalog`` gives the
    statistics of the leaves, ``parallelism`` is the number of partitions. The unit of cost is that
    of ``constants`` per time unit of the catalog. Two cost models with equal fields estimate
    equally.

    Raises:
        ValueError: for another kind.
    """

    kind: Kind = "saturating"
    catalog: Catalog = field(default_factory=lambda: Catalog({}))
    constants: Constants = field(default_factory=Constants)
    assumptions: Assumptions = field(default_factory=Assumptions)
    parallelism: int = 1
    reading: Reading = field(init=False, repr=False, compare=False)
    _any_stored: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.kind not in ("saturating", "thesis"):
            raise ValueError(f"cost model {self.kind!r}: expected 'saturating' or 'thesis'")
        reading = Reading(
            set_semantics=self.kind == "saturating",
            cap_distinct=self.assumptions.cap_distinct,
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
        return _ESTIMATES[type(operator)](self, operator, inputs)

    def cost(self, operator: PhysicalOperator, output: Characteristics, inputs: Inputs) -> float:
        """The operator's own cost per time unit of the catalog (formulas 8-12).

        ``output`` and ``inputs`` are the characteristics of what it computes and reads, over
        several partitions those of the busiest one's share (:meth:`Characteristics.share`);
        the cost of a plan is the sum over its operators. What is computed once, of stored
        graphs alone, costs a part of that (:meth:`Characteristics.loaded`).
        """
        return _COSTS[type(operator)](self, operator, *self._at_work(output, inputs))

    def explain(
        self, operator: PhysicalOperator, output: Characteristics, inputs: Inputs
    ) -> explanation.Explanation:
        """The formula of :meth:`cost` with the numbers put in."""
        return _EXPLANATIONS[type(operator)](self, operator, *self._at_work(output, inputs))

    def _at_work(self, output: Characteristics, inputs: Inputs) -> tuple[Characteristics, Inputs]:
        if not self._any_stored:
            return output, inputs
        spread = self.assumptions.loading
        return output.loaded(spread), tuple([i.loaded(spread) for i in inputs])

    def path_inputs(
        self, operator: physical.AutomatonPath | physical.WitnessPaths, inputs: Inputs
    ) -> tuple[float, float, int]:
        """What formula 12 reads: rate of the inputs' union, n and k.

        n is the number of vertices of the inputs' snapshot graph: each valid edge has two,
        and there are no more than the domain has (of several inputs the largest domain,
        which contains the others).
        """
        rate = sum([i.arrival_rate for i in inputs])
        cap = self.assumptions.vertices
        if cap is None:
            cap = max([min(i.vertices, sum(i.distinct)) for i in inputs])
        vertices = min(cap, 2 * sum([i.population for i in inputs]))
        return rate, vertices, formulas.minimal_states(operator)


def _scan(model: CostModel, operator: logical.WScan, inputs: Inputs) -> Characteristics:
    """Formula 1, and below the window formula 2 where the scan has a predicate."""
    edges = _edges(model, operator.stream, operator.label, operator.window, operator.properties)
    if operator.predicate is None:
        return edges
    return estimates.filtered(edges, condition(operator.predicate), model.reading)


def _scan_of_several(
    model: CostModel, operator: logical.WScanUnion, inputs: Inputs
) -> Characteristics:
    """Formula 3 over the scans, one union after the other."""
    first, *others = [_scan(model, scan, ()) for scan in operator.scans]
    return reduce(lambda done, other: estimates.union((done, other), model.reading), others, first)


def _edges(
    model: CostModel, name: str, label: str, window: Window | None, properties: Sequence[str] = ()
) -> Characteristics:
    stream = model.catalog.streams.get(name)
    if stream is None:
        known = ", ".join(sorted(model.catalog.streams)) or "none"
        raise CostModelError(f"no stream {name!r} in the catalog; it has: {known}")
    statistics = stream.labels.get(label, DEFAULT_STORED if stream.stored else DEFAULT_STATISTICS)
    if stream.vertices:
        # Both columns are the vertex: there are as many combinations as vertices.
        statistics = replace(statistics, distinct_trg=1.0)
    typed = [(name, stream.properties.get(name, "integer")) for name in properties]
    return estimates.window_scan(statistics, window, model.reading, typed)


def _path(model: CostModel, operator: logical.Path, inputs: Inputs) -> Characteristics:
    """Formulas 5 to 7; of simple paths the pairs of different vertices among any paths'."""
    any_paths = estimates.path(operator.regex, inputs, model.reading)
    if operator.semantics is logical.PathSemantics.ARBITRARY:
        return any_paths
    return estimates.filtered(any_paths, condition(_NO_LOOPS), model.reading)


_NO_LOOPS = Predicate("c0 <> c1")

_ESTIMATES: Mapping[type, Callable[[CostModel, Any, Inputs], Characteristics]] = {
    logical.WScan: _scan,
    logical.WScanUnion: _scan_of_several,
    logical.Filter: lambda m, o, i: estimates.filtered(i[0], condition(o.predicate), m.reading),
    logical.Union: lambda m, o, i: estimates.union(i, m.reading),
    logical.Project: lambda m, o, i: estimates.projected(i[0], o.columns, m.reading),
    logical.Pattern: lambda m, o, i: estimates.joined(o, i, m.reading),
    logical.FilteredPattern: lambda m, o, i: estimates.joined_where(o, i, m.reading),
    logical.Path: _path,
    logical.Rewindow: lambda m, o, i: estimates.rewindowed(i[0], o.window, m.reading),
    logical.Empty: lambda m, o, i: estimates.empty(o.columns),
    logical.Compute: lambda m, o, i: estimates.computed(i[0], o.values, m.reading),
    logical.Aggregate: lambda m, o, i: estimates.aggregated(i[0], o),
    logical.Witness: lambda m, o, i: estimates.witnessed(i[0], o, m.reading),
    logical.Report: lambda m, o, i: estimates.reported(i[0], o),
}


def _push(model: CostModel, _: Any, output: Characteristics, inputs: Inputs) -> float:
    return formulas.push(output.arrival_rate, model.constants)


def _leaf(
    model: CostModel,
    operator: physical.WindowScan | physical.WindowScanUnion,
    output: Characteristics,
    inputs: Inputs,
) -> float:
    """Formula 8; for what is read under a predicate formula 9, in the scan: nothing is pushed
    from one to the other, so that the rows that are dropped cost their evaluation alone."""
    return formulas.evaluate(_examined(model, operator), output.arrival_rate, model.constants)


def _examined(model: CostModel, operator: physical.WindowScan | physical.WindowScanUnion) -> float:
    """The edges per time unit on which a scan evaluates a predicate."""
    return sum(
        [
            _edges(model, s.stream, s.label, _window(s))
            .loaded(model.assumptions.loading)
            .arrival_rate
            for s in operator.scans
            if s.predicate is not None
        ]
    )


def _window(scan: physical.WindowScan) -> Window | None:
    if scan.range is None or scan.slide is None:
        return None
    return Window(scan.range, scan.slide)


def _filter(model: CostModel, _: Any, output: Characteristics, inputs: Inputs) -> float:
    return formulas.evaluate(inputs[0].arrival_rate, output.arrival_rate, model.constants)


def _hash_join(
    model: CostModel, join: physical.HashJoin, output: Characteristics, inputs: Inputs
) -> float:
    left, right = inputs
    return formulas.pattern(
        (left.arrival_rate, right.arrival_rate),
        estimates.held(join, inputs),
        output.arrival_rate,
        model.constants,
        estimates.pairs_of(join, output, inputs),
    )


def _explain_hash_join(
    model: CostModel, join: physical.HashJoin, output: Characteristics, inputs: Inputs
) -> explanation.Explanation:
    held, pairs = estimates.held(join, inputs), estimates.pairs_of(join, output, inputs)
    return explanation.pattern(inputs, held, output, model.constants, pairs)


def _s_path(
    model: CostModel, operator: physical.AutomatonPath, output: Characteristics, inputs: Inputs
) -> float:
    rate, vertices, states = model.path_inputs(operator, inputs)
    if model.kind == "saturating":
        return formulas.path_by_results(
            rate,
            vertices,
            states,
            output.arrival_rate,
            model.constants,
            population=output.population,
        )
    if operator.roots == "own":
        return formulas.path_of_own_roots(
            rate,
            vertices,
            states,
            output.arrival_rate,
            model.constants,
            partitions=model.parallelism,
        )
    return formulas.path(rate, vertices, states, output.arrival_rate, model.constants)


def _simple_path(
    model: CostModel, operator: physical.SimplePath, output: Characteristics, inputs: Inputs
) -> float:
    rate, vertices, states = model.path_inputs(operator, inputs)
    per_vertex = formulas.trees(output.population, vertices)
    any_path = _s_path(model, operator, output, inputs)
    return formulas.simple_path(any_path, rate, states, per_vertex, model.constants)


def _slide_inputs(inputs: Inputs) -> tuple[float, float]:
    """The valid edges of all inputs, and the longest time for which one is valid that expires."""
    validity = max((i.validity for i in inputs if isfinite(i.validity)), default=0.0)
    return sum(i.population for i in inputs), validity


def _slide_path(
    model: CostModel, operator: physical.SlidePath, output: Characteristics, inputs: Inputs
) -> float:
    _, vertices, states = model.path_inputs(operator, inputs)
    edges, validity = _slide_inputs(inputs)
    return formulas.slide_path(
        edges,
        vertices,
        states,
        output.arrival_rate,
        model.constants,
        validity=validity,
        period=operator.period,
    )


def _explain_slide_path(
    model: CostModel, operator: physical.SlidePath, output: Characteristics, inputs: Inputs
) -> explanation.Explanation:
    _, vertices, states = model.path_inputs(operator, inputs)
    edges, validity = _slide_inputs(inputs)
    return explanation.slide_path(
        edges,
        vertices,
        states,
        output,
        model.constants,
        validity=validity,
        period=operator.period,
    )


def _explain_simple_path(
    model: CostModel, operator: physical.SimplePath, output: Characteristics, inputs: Inputs
) -> explanation.Explanation:
    rate, vertices, states = model.path_inputs(operator, inputs)
    any_path = _s_path(model, operator, output, inputs)
    return explanation.simple_path(
        rate, vertices, states, output, model.constants, any_path=any_path
    )


def _explain_s_path(
    model: CostModel, operator: physical.AutomatonPath, output: Characteristics, inputs: Inputs
) -> explanation.Explanation:
    rate, vertices, states = model.path_inputs(operator, inputs)
    if model.kind == "saturating":
        return explanation.path_by_results(rate, vertices, states, output, model.constants)
    if operator.roots == "own":
        return explanation.own_roots(
            rate, vertices, states, output, model.constants, partitions=model.parallelism
        )
    return explanation.path(rate, vertices, states, output, model.constants)


def _coalesce(model: CostModel, _: Any, output: Characteristics, inputs: Inputs) -> float:
    source = inputs[0]
    return formulas.coalesce(
        source.arrival_rate, source.population, output.arrival_rate, model.constants
    )


def _busiest(output: Characteristics, inputs: Inputs) -> float:
    """Rows per time unit at the partition that sends or receives most of an exchange."""
    return max(output.arrival_rate, inputs[0].arrival_rate)


def _exchange(model: CostModel, _: Any, output: Characteristics, inputs: Inputs) -> float:
    return formulas.exchange(_busiest(output, inputs), len(output.distinct), model.constants)


def _to_kernel(model: CostModel, _: Any, output: Characteristics, inputs: Inputs) -> float:
    return formulas.convert(output.arrival_rate, len(output.distinct), model.constants)


def _computed_values(operator: physical.ComputeColumns) -> int:
    """How many of the columns are more than columns of the input."""
    return sum(not _PLAIN_COLUMN.fullmatch(value) for value in operator.values)


def _witness_inputs(inputs: Inputs) -> tuple[tuple[float, float], tuple[float, float]]:
    """Rate and population of the rows that want a path, and of the edges."""
    rows, *edges = inputs
    rate, population = sum(e.arrival_rate for e in edges), sum(e.population for e in edges)
    return (rows.arrival_rate, rows.population), (rate, population)


def _witness(
    model: CostModel, operator: physical.WitnessPaths, output: Characteristics, inputs: Inputs
) -> float:
    rows, edges = _witness_inputs(inputs)
    _, n, k = model.path_inputs(operator, inputs[1:])
    return formulas.witness(rows, edges, output.arrival_rate, model.constants, n=n, k=k)


def _explain_witness(
    model: CostModel, operator: physical.WitnessPaths, output: Characteristics, inputs: Inputs
) -> explanation.Explanation:
    rows, edges = _witness_inputs(inputs)
    _, n, k = model.path_inputs(operator, inputs[1:])
    return explanation.witness(rows, edges, output, model.constants, n=n, k=k)


def _nothing(*_: Any) -> float:
    return 0.0


_COSTS: Mapping[type, Callable[[CostModel, Any, Characteristics, Inputs], float]] = {
    physical.WindowScan: _leaf,
    physical.WindowScanUnion: _leaf,
    physical.FilterRows: _filter,
    physical.MergeUnion: _push,
    physical.ProjectColumns: _push,
    physical.HashJoin: _hash_join,
    physical.SPath: _s_path,
    physical.SimplePath: _simple_path,
    physical.SlidePath: _slide_path,
    physical.Coalesce: _coalesce,
    physical.Rewindow: _coalesce,
    physical.Exchange: _exchange,
    physical.Retract: _coalesce,
    physical.ToKernel: _to_kernel,
    physical.EmptyRelation: _nothing,
    physical.ComputeColumns: lambda m, o, out, i: formulas.compute(
        out.arrival_rate, _computed_values(o), m.constants
    ),
    physical.AggregateRows: lambda m, o, out, i: formulas.aggregate(
        i[0].arrival_rate,
        i[0].population,
        len(o.aggregates),
        out.arrival_rate,
        m.constants,
    ),
    physical.WitnessPaths: _witness,
    physical.ReportRows: lambda m, o, out, i: formulas.report(
        i[0].arrival_rate, i[0].population, out.arrival_rate, m.constants
    ),
}

_EXPLANATIONS: Mapping[
    type, Callable[[CostModel, Any, Characteristics, Inputs], explanation.Explanation]
] = {
    physical.WindowScan: lambda m, o, out, i: explanation.scan(
        o.op, _examined(m, o), out, m.constants
    ),
    physical.WindowScanUnion: lambda m, o, out, i: explanation.scan(
        o.op, _examined(m, o), out, m.constants
    ),
    physical.FilterRows: lambda m, o, out, i: explanation.evaluate(i[0], out, m.constants),
    physical.MergeUnion: lambda m, o, out, i: explanation.push(10, "UNION", out, m.constants),
    physical.ProjectColumns: lambda m, o, out, i: explanation.push(
        None, "PROJECT", out, m.constants
    ),
    physical.HashJoin: _explain_hash_join,
    physical.SPath: _explain_s_path,
    physical.SimplePath: _explain_simple_path,
    physical.SlidePath: _explain_slide_path,
    physical.Coalesce: lambda m, o, out, i: explanation.coalesce(i[0], out, m.constants),
    physical.Rewindow: lambda m, o, out, i: explanation.coalesce(i[0], out, m.constants, o.op),
    physical.Exchange: lambda m, o, out, i: explanation.exchange(
        _busiest(out, i), len(out.distinct), m.constants
    ),
    physical.Retract: lambda m, o, out, i: explanation.coalesce(i[0], out, m.constants, "RETRACT"),
    physical.ToKernel: lambda m, o, out, i: explanation.convert(
        out.arrival_rate, len(out.distinct), m.constants
    ),
    physical.EmptyRelation: lambda m, o, out, i: explanation.nothing("EMPTY"),
    physical.ComputeColumns: lambda m, o, out, i: explanation.compute(
        _computed_values(o), out, m.constants
    ),
    physical.AggregateRows: lambda m, o, out, i: explanation.aggregate(
        i[0], len(o.aggregates), out, m.constants
    ),
    physical.WitnessPaths: _explain_witness,
    physical.ReportRows: lambda m, o, out, i: explanation.report(i[0], out, m.constants),
}
"""A new physical operator needs one line in each of the two tables, and its formula."""
