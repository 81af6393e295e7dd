"""Characteristics of an operator's result: operator formulas 1-7 of thesis 6.3.1.

Pure functions of characteristics. The two models share them and differ in their :class:`Reading`:
the formulas to the letter, or within set semantics. Under set semantics no more values are valid
at an instant than there are combinations of the distinct values of the columns.

Every number stays finite, so that no estimate ever turns into ``inf - inf``: rates and
populations are capped at :data:`LARGEST`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, expm1, inf, prod, sqrt

from ..algebra import regex, scalar
from ..algebra.logical import Aggregate, FilteredPattern, Pattern, Report, Witness
from ..algebra.physical import HashJoin
from ..algebra.predicate import Predicate
from ..algebra.window import Window
from ..catalog.model import LabelStatistics, PropertyType
from .characteristics import LARGEST, Characteristics
from .columns import Column, Columns
from .joint import chosen, matches, united
from .selectivity import Condition, condition, equal_columns


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading of the formulas: to the letter, or within set semantics.

    ``set_semantics``: the saturating model; false is the thesis to the letter.
    ``cap_distinct`` and ``longest_path`` as in :class:`headrace.costmodel.constants.Assumptions`.
    """

    set_semantics: bool
    cap_distinct: bool
    longest_path: int


DISTINCT_PROPERTY = 100.0
"""The assumed distinct values of a property without statistics; a boolean property has 2."""


def window_scan(
    statistics: LabelStatistics,
    window: Window | None,
    reading: Reading,
    properties: Sequence[tuple[str, PropertyType]] = (),
) -> Characteristics:
    """Formula 1: rO = ri (6.1), vO = omega (6.2), over edges with the given properties.

    Saturating: vO is omega - (beta - 1)/2, the true mean over the instants of a slide. A
    stored graph has no window, no rate and no end of validity; its statistics give the population.
    The property ``ts`` has a value for each instant of the window, at most one per edge.
    """
    if window is None:
        rate, validity, population = 0.0, inf, statistics.population or 0.0
    else:
        rate, validity = statistics.rate, float(window.range)
        if reading.set_semantics:
            validity -= (window.slide - 1) / 2
        population = rate * validity

    def distinct(name: str, kind: PropertyType) -> float:
        if name == "ts":
            return max(min(population, validity), 1.0)
        default = 2.0 if kind == "boolean" else DISTINCT_PROPERTY
        return statistics.distinct_properties.get(name, default)

    return Characteristics(
        rate,
        validity,
        population,
        (
            statistics.distinct_src,
            statistics.distinct_trg,
            *(distinct(name, kind) for name, kind in properties),
        ),
        statistics.longest_path,
        statistics.vertices,
        in_order=window is not None,
    )


def empty(columns: int) -> Characteristics:
    """A relation without rows."""
    return Characteristics(0.0, inf, 0.0, (0.0,) * columns)


def filtered(source: Characteristics, condition: Condition, reading: Reading) -> Characteristics:
    """Formula 2: rO = f·ri (6.3), vO = vi (6.4)."""
    selectivity = condition.share(source.distinct, source.columns)
    return _result(
        selectivity * source.arrival_rate,
        source.validity,
        selectivity * source.population,
        condition.distinct(source.distinct),
        inputs=(source,),
        reading=reading,
        columns=condition.kept(source.columns),
        most_values=max(selectivity * source.most_values, 1.0),
        repeats=source.repeats,
        in_order=source.in_order,
    )


def projected(
    source: Characteristics, columns: tuple[int, ...], reading: Reading
) -> Characteristics:
    """A projection passes every row on; the thesis has no formula for it.

    Saturating: values that differ only in a dropped column become one.
    """
    kept = {column: source.distinct[column] for column in columns}
    dropped = [v for column, v in enumerate(source.distinct) if column not in kept]
    result = _result(
        source.arrival_rate,
        source.validity,
        source.population,
        tuple(kept.values()),
        inputs=(source,),
        reading=reading,
        columns=chosen(source, columns),
        repeats=1.0 if dropped else source.repeats,
        in_order=source.in_order,
        merges=max(dropped, default=0.0) > 1,
    )
    if len(kept) == len(columns):
        return result
    place = {column: i for i, column in enumerate(kept)}
    return replace(result, distinct=tuple(result.distinct[place[c]] for c in columns))


def rewindowed(source: Characteristics, window: Window, reading: Reading) -> Characteristics:
    """A window over a result: as many results, each valid for no longer than the window.

    The thesis has no formula for REWINDOW. The interval is omega as for a scan, and saturating
    omega - (beta - 1)/2.
    """
    longest = float(window.range)
    if reading.set_semantics:
        longest -= (window.slide - 1) / 2
    validity = min(source.validity, longest)
    return _result(
        source.arrival_rate,
        validity,
        min(source.population, source.arrival_rate * validity)
        if source.arrival_rate
        else source.population,
        source.distinct,
        inputs=(source,),
        reading=reading,
        columns=source.columns,
    )


def computed(
    source: Characteristics, values: Sequence[scalar.Value], reading: Reading
) -> Characteristics:
    """χ, which the thesis does not have: a row for each row, as :func:`projected`.

    A computed column has a value for each combination of the values that it is computed from.
    """

    def distinct(value: scalar.Value) -> float:
        columns = set(scalar.columns(value))
        most = max(min(source.population, LARGEST), 1.0)
        return min(prod(max(source.distinct[c], 1.0) for c in columns), most)

    return _result(
        source.arrival_rate,
        source.validity,
        source.population,
        tuple(map(distinct, values)),
        inputs=(source,),
        reading=reading,
    )


def aggregated(source: Characteristics, aggregate: Aggregate) -> Characteristics:
    """γ, which the thesis does not have: groups = min(product of V(key), p).

    A row of the result ends when a row of the input begins or ends, so rO is 2·ri. With a period
    each group has one row per period.
    """
    keys = [max(source.distinct[column], 1.0) for column in aggregate.keys]
    groups = min(prod(keys), source.population, LARGEST)
    rate = min(2 * source.arrival_rate, LARGEST)
    if aggregate.every is not None:
        rate = groups / aggregate.every
    most = max(groups, 1.0)
    columns = [*(min(key, most) for key in keys), *(most for _ in aggregate.aggregates)]
    distinct = tuple(columns[i] for i in aggregate.output)
    return Characteristics(rate, groups / rate if rate else inf, groups, distinct)


def witnessed(source: Characteristics, witness: Witness, reading: Reading) -> Characteristics:
    """ω, which the thesis does not have: the rows by their keys, each with a path of its own."""
    kept = projected(source, witness.keys, reading)
    of_key = dict(zip(witness.keys, kept.distinct, strict=True))
    most = max(min(kept.population, LARGEST), 1.0)
    distinct = tuple([of_key.get(c, most) for c in witness.output])
    return replace(kept, distinct=distinct, columns=(), repeats=1.0)


def reported(source: Characteristics, report: Report) -> Characteristics:
    """ρ, which the thesis does not have: once a period all valid rows, or at most the new ones."""
    rate = source.population / report.every
    if report.mode != "snapshot":
        rate = min(rate, source.arrival_rate)
    population = rate * report.every
    return replace(
        source,
        arrival_rate=rate,
        validity=float(report.every),
        population=population,
        repeats=1.0,
    )


def union(inputs: Sequence[Characteristics], reading: Reading) -> Characteristics:
    """Formulas 3 and 6: rO = sum of ri (6.5, 6.11), vO = sum of vi·ri / rO (6.6, 6.12).

    The columns' values are taken as contained in each other: the largest count remains.
    """
    rate = sum(i.arrival_rate for i in inputs)
    population = sum(i.population for i in inputs)
    validity = population / rate if rate > 0 else inf
    distinct = tuple(map(max, zip(*(i.distinct for i in inputs), strict=True)))
    return _result(
        rate,
        validity,
        population,
        distinct,
        inputs=inputs,
        reading=reading,
        columns=united(inputs),
        in_order=all(i.in_order for i in inputs),
    )


def joined(
    pattern: Pattern, inputs: Sequence[Characteristics], reading: Reading
) -> Characteristics:
    """Formula 4, PATTERN; more than two inputs are joined from left to right."""
    first, *others = inputs
    result = first
    steps = join_steps(pattern.bindings, pattern.output)
    if not steps:
        (binding,) = pattern.bindings
        return projected(first, tuple(map(binding.index, pattern.output)), reading)
    for step, other in zip(steps, others, strict=True):
        result = join(result, other, step, reading)
    return result


def joined_where(
    pattern: FilteredPattern, inputs: Sequence[Characteristics], reading: Reading
) -> Characteristics:
    """A FILTER over a PATTERN of all variables, of which a projection keeps some."""
    pairs = joined(pattern.unfiltered, inputs, reading)
    place = {variable: k for k, variable in enumerate(pattern.unfiltered.output)}
    residual = condition(pattern.predicate.renumbered(place))
    kept = tuple(place[variable] for variable in pattern.output)
    return projected(filtered(pairs, residual, reading), kept, reading)


def pairs_of(join: HashJoin, output: Characteristics, inputs: Sequence[Characteristics]) -> float:
    """The pairs per time unit on which a residual is checked: the results over its selectivity."""
    if join.residual is None:
        return 0.0
    distinct: dict[int, float] = {}
    columns: dict[int, Column | None] = {}
    for binding, side in zip(join.bindings, inputs, strict=True):
        for variable, values in zip(binding, side.distinct, strict=True):
            distinct[variable] = min(values, distinct.get(variable, values))
        for variable, column in zip(binding, side.columns, strict=False):
            columns.setdefault(variable, column)
    variables = range(1 + max(distinct, default=-1))
    selectivity = condition(Predicate(join.residual)).share(
        tuple([distinct.get(v, 1.0) for v in variables]),
        tuple([columns.get(v) for v in variables]),
    )
    return min(output.arrival_rate / selectivity, LARGEST) if selectivity > 0 else 0.0


def held(join: HashJoin, inputs: Sequence[Characteristics]) -> tuple[float, float]:
    """The rows that each side of a join holds: the valid ones, or those within its horizon."""
    if join.horizon is None:
        return inputs[0].population, inputs[1].population
    kept = []
    for side, horizon in zip(inputs, join.horizon, strict=True):
        within = inf if horizon is None else side.arrival_rate * max(horizon[1] + 1, 0)
        kept.append(min(side.population, within))
    left, right = kept
    return left, right


@dataclass(frozen=True, slots=True)
class JoinStep:
    """One binary join, over the left columns followed by the right ones.

    ``shared`` pairs the positions of the join columns; ``columns[i]`` are the two positions
    of output column ``i``, twice the same unless it is a join column.
    """

    shared: tuple[tuple[int, int], ...]
    columns: tuple[tuple[int, int], ...]

    def dropped(self, width: int) -> set[int]:
        """The columns, of ``width`` columns of both sides, that the result does not have."""
        return set(range(width)).difference(*self.columns)


CONCATENATION = JoinStep(shared=((1, 2),), columns=((0, 0), (3, 3)))
"""The join of a·b: the target of a is the source of b."""


def join(
    left: Characteristics, right: Characteristics, step: JoinStep, reading: Reading
) -> Characteristics:
    """Formulas 4 and 5: rO = f·(v2·r2)·r1 + f·(v1·r1)·r2 (6.7, 6.9), vO = v1·v2 / (v1 + v2).

    f is the product over the shared columns of 1 / max(V1, V2), or of what was measured
    (:func:`headrace.costmodel.joint.matches`); without a shared column it is 1, the cross product.
    The population is f·(v1·r1)·(v2·r2), which is rO·vO and also holds where an input is a stored
    graph; the interval is (6.8, 6.10). Saturating: of equal rows of an input one counts.
    """
    if reading.set_semantics:
        left, right = _of_values(left), _of_values(right)
    values = left.distinct + right.distinct
    selectivity, distinct, columns = matches(left, right, step.shared, step.columns)
    rate = selectivity * (right.population * left.arrival_rate) + selectivity * (
        left.population * right.arrival_rate
    )
    return _result(
        rate,
        _overlap(left.validity, right.validity),
        selectivity * (left.population * right.population),
        distinct,
        inputs=(left, right),
        reading=reading,
        columns=columns,
        merges=any(values[i] > 1 for i in step.dropped(len(values))),
    )


@lru_cache(maxsize=4096)
def join_steps(
    bindings: tuple[tuple[int, ...], ...], output: tuple[int, ...]
) -> tuple[JoinStep, ...]:
    """The binary joins of a PATTERN, left to right; each keeps the variables needed later."""
    steps = []
    left = bindings[0]
    for number, right in enumerate(bindings[1:], start=2):
        later = {variable for binding in bindings[number:] for variable in binding}
        both = tuple(dict.fromkeys(left + right))
        kept = tuple(v for v in both if v in later or v in output) if later else output
        on_left = {v: i for i, v in enumerate(left)}
        on_right = {v: i for i, v in enumerate(right, start=len(left))}
        first, last = on_right | on_left, on_left | on_right
        steps.append(
            JoinStep(
                tuple((on_left[v], on_right[v]) for v in left if v in on_right),
                tuple((first[v], last[v]) for v in kept),
            )
        )
        left = kept
    return tuple(steps)


def path(
    expression: regex.Regex, inputs: Sequence[Characteristics], reading: Reading
) -> Characteristics:
    """Formulas 5, 6 and 7, bottom-up over the parse tree (Remark 5, Example 15).

    The symbols of ``expression`` are positions in ``inputs``. Formula 7 sums from i = 1
    on, so the empty word has no rows; the thesis leaves it at that. Saturating: beside an
    operand that accepts the empty word the other operand stands alone too, since
    (6.13) makes that word a member of R*: a·b* contains a.
    """

    def visit(r: regex.Regex) -> Characteristics:
        match r:
            case regex.Symbol(ref, backwards):
                assert isinstance(ref, int)
                return inputs[ref] if not backwards else _reversed(inputs[ref])
            case regex.Concat(parts):
                return _concatenated(parts, [visit(part) for part in parts], reading)
            case regex.Alternation(parts):
                return union([visit(part) for part in parts], reading)
            case regex.Star(part) | regex.Plus(part):
                return closure(visit(part), reading)
            case regex.Optional(part):
                return visit(part)
            case _:
                return empty(2)

    return visit(expression)


def _concatenated(
    parts: Sequence[regex.Regex], estimates: Sequence[Characteristics], reading: Reading
) -> Characteristics:
    result, nullable = estimates[0], regex.nullable(parts[0])
    for part, estimate in zip(parts[1:], estimates[1:], strict=True):
        part_nullable = regex.nullable(part)
        members = [join(result, estimate, CONCATENATION, reading)]
        if reading.set_semantics:
            members += [result] * part_nullable + [estimate] * nullable
        result = members[0] if len(members) == 1 else union(members, reading)
        nullable = nullable and part_nullable
    return result


def closure(source: Characteristics, reading: Reading) -> Characteristics:
    """Formula 7: rO = sum over i = 1..m of i·r·(f·r·v)^(i-1) (6.14, 6.16).

    vO = sum of (v/i)·r_i / rO (6.15, 6.17). The population of R^i is r_i·v_i, that is
    r·v·(f·r·v)^(i-1). Saturating: reachability levels off (:func:`_reachable`). The sources and
    targets of R* are those of R.
    """
    if reading.set_semantics:
        return _reachable(_of_values(source), reading)
    longest = source.longest_path or reading.longest_path
    growth = equal_columns(source.distinct[1], source.distinct[0]) * source.population
    power_rate, power_population = source.arrival_rate, source.population
    rate = population = 0.0
    for i in range(1, longest + 1):
        if power_population >= LARGEST - population:
            rate += i * power_rate * ((LARGEST - population) / power_population)
            population = LARGEST
            break
        if population + power_population == population and i > 1:
            break
        rate += i * power_rate
        population += power_population
        power_rate *= growth
        power_population *= growth
    validity = population / rate if rate > 0 else source.validity
    return _result(rate, validity, population, source.distinct, inputs=(source,), reading=reading)


def _reachable(source: Characteristics, reading: Reading) -> Characteristics:
    """The closure within set semantics, as reachability in a random digraph of mean degree c.

    Up to c = 1 the powers of R hardly share pairs, and their sum is that of formula 7. Above it a
    share g of the vertices, 1 - g = e^(-c·g), reaches a giant component, and the same share is
    reached from it: g²·V(src)·V(trg) pairs (R. M. Karp, "The transitive closure of a random
    digraph", Random Structures & Algorithms 1(1), 1990). The edges of the other pairs have the
    degree c·(1 - g) < 1. Paths of at most m edges connect no more pairs than formula 7 counts.

    A pair of R^i is valid for v/i. A pair of the giant component is prolonged by a later edge of
    its source or its target, and not by other paths between the same vertices, which S_PATH does
    not emit. Where edges expire in the order of their arrival, each of the c edges of a vertex
    within v prolongs, so that a pair counts 2·c times within v. The rows of a join do not expire in
    that order: of the c = d·d rows that d edges derive, one for each edge prolongs.
    """
    population, longest = source.population, source.longest_path or reading.longest_path
    room = min(_combinations(source.distinct), LARGEST)
    degree = equal_columns(source.distinct[1], source.distinct[0]) * population
    share = _giant(degree)
    giant = min(share * share * room, _powers(population, degree, longest)[0])
    sparse, turns = _powers(population * (1 - share * share), degree * (1 - share), longest)
    renewal = source.arrival_rate / population if population else 0.0
    pairs = giant + sparse
    renewals = 2 * (degree if source.in_order else sqrt(degree))
    rate = (giant * max(renewals, 1.0) + turns) * renewal
    validity = pairs / rate if rate > 0 else source.validity
    return _result(rate, validity, pairs, source.distinct, inputs=(source,), reading=reading)


def _powers(population: float, growth: float, longest: int) -> tuple[float, float]:
    """The sum of p·c^(i-1) for i = 1..m, and the sum of i·p·c^(i-1); both are finite."""
    total = turns = 0.0
    power = population
    for i in range(1, longest + 1):
        if total + power == total or power > LARGEST:
            break
        total += power
        turns += i * power
        power *= growth
    return min(total, LARGEST), min(turns, LARGEST)


@lru_cache(maxsize=4096)
def _giant(degree: float) -> float:
    """The share g > 0 with 1 - g = e^(-degree · g), by Newton's method; 0 up to degree 1."""
    if degree <= 1:
        return 0.0
    share = 1.0
    for _ in range(64):
        rest = exp(-degree * share)
        step = (share - 1 + rest) / (1 - degree * rest)
        share -= step
        if step < 1e-12:
            break
    return max(share, 0.0)


def _reversed(source: Characteristics) -> Characteristics:
    return replace(source, distinct=source.distinct[::-1], columns=source.columns[::-1])


def _overlap(left: float, right: float) -> float:
    """v1·v2 / (v1 + v2); the other one where one never ends."""
    if inf in (left, right):
        return min(left, right)
    return left * right / (left + right) if left or right else 0.0


def _combinations(distinct: Sequence[float]) -> float:
    return prod(max(v, 1.0) for v in distinct)


def _of_values(rows: Characteristics) -> Characteristics:
    """The characteristics, with at most as many rows valid at an instant as there are values."""
    limit = min(_combinations(rows.distinct), rows.most_values)
    if rows.population <= limit:
        return rows
    rate = rows.arrival_rate * limit / rows.population
    return replace(rows, arrival_rate=rate, population=limit)


def _result(
    rate: float,
    validity: float,
    population: float,
    distinct: tuple[float, ...],
    *,
    inputs: Sequence[Characteristics],
    reading: Reading,
    columns: Columns = (),
    most_values: float = inf,
    repeats: float = 1.0,
    merges: bool = False,
    in_order: bool = False,
) -> Characteristics:
    """The characteristics of a derived relation within their limits.

    A population above its limit is set to it, the rate goes down with it, the interval
    stays: the population is still rate times interval. Saturating: the factor by which the rate
    goes down is that of the repeats. An operator that ``merges`` drops columns of several values,
    so that several rows become one value (:func:`_different`). ``repeats`` are the repeats of the
    input that the operator passes on.
    """
    limit = min(_combinations(distinct), LARGEST) if reading.set_semantics else LARGEST
    different = min(population, limit)
    if merges and reading.set_semantics:
        different = _different(population, limit)
    if different < population:
        share = different / population
        rate *= share
        population = different
        if reading.set_semantics:
            repeats = min(repeats / share, LARGEST) if share > 0 else 1.0
    if reading.cap_distinct:
        most = max(population, 1.0)
        distinct = tuple([v if v < most else most for v in distinct])
    longest = [i.longest_path for i in inputs if i.longest_path is not None]
    return Characteristics(
        min(rate, LARGEST),
        validity,
        population,
        distinct,
        max(longest) if longest else None,
        min(sum(distinct), max([i.vertices for i in inputs])),
        columns,
        most_values,
        repeats,
        in_order,
    )


def _different(rows: float, values: float) -> float:
    """The expected number of different values among rows that are drawn from ``values`` values.

    values · (1 - e^(-rows / values)), the limit of Cardenas's values · (1 - (1 - 1/values)^rows)
    for many values (A. F. Cardenas, "Analysis and performance of inverted data base structures",
    CACM 18(5), 1975). It is also the share of rows that COALESCE passes: a row passes if it expires
    after the k other valid rows of its value. That has the probability 1/(k + 1), and with k from a
    Poisson distribution of mean rows / values the expected share is (1 - e^(-k)) / k of that mean.
    """
    if rows <= 1e-9 * values:
        return rows
    return min(-values * expm1(-rows / values), rows)
