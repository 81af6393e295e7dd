"""Characteristics of joins: formulas 4 and 5 of thesis 6.3.1, and what a join holds and checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, inf

from ..algebra.logical import AntiJoin, FilteredPattern, LeftJoin, MultiwayPattern, Pattern
from ..algebra.physical import AntiJoin as AntiJoinByKeys
from ..algebra.physical import HashJoin, MultiwayJoin, SemiJoin
from ..algebra.physical import LeftJoin as LeftJoinByKeys
from ..algebra.predicate import Predicate
from .characteristics import LARGEST, Characteristics
from .columns import Column
from .derived import Reading, combinations, derived, different_values, of_values
from .estimates import filtered, projected
from .joint import chosen, matched_share, matches
from .selectivity import condition


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


def joined_at_once(
    pattern: MultiwayPattern, inputs: Sequence[Characteristics], reading: Reading
) -> Characteristics:
    """A PATTERN with an input for each atom, and its residual as a FILTER above."""
    atoms = [inputs[read] for read in pattern.reads]
    if pattern.predicate is None:
        return joined(pattern.atoms, atoms, reading)
    variables = tuple(sorted({v for binding in pattern.bindings for v in binding}))
    rows = joined(replace(pattern.atoms, output=variables), atoms, reading)
    place = {variable: k for k, variable in enumerate(variables)}
    residual = condition(pattern.predicate.renumbered(place))
    kept = tuple(place[variable] for variable in pattern.output)
    return projected(filtered(rows, residual, reading), kept, reading)


def pairs_of(
    join: HashJoin | MultiwayJoin, output: Characteristics, inputs: Sequence[Characteristics]
) -> float:
    """The rows per time unit on which a residual is checked: the results over its selectivity.

    ``inputs`` has an input for each binding of the join.
    """
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
    selectivity = condition(Predicate(join.residual).normal).share(
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


def keys_of(join: SemiJoin | AntiJoinByKeys | LeftJoinByKeys, right: Characteristics) -> float:
    """The distinct keys of the second input that are valid at an instant."""
    values = [right.distinct[join.bindings[1].index(variable)] for variable in join.shared]
    return different_values(right.population, combinations(values))


def begun_keys(right: Characteristics) -> float:
    """The keys that begin to be valid per time unit, for the keys of the second input alone.

    A row of a key begins it if no other row of the key is valid. Of d different keys with p valid
    rows each has k = p/d rows on average; with k from a Poisson distribution none is valid with
    the probability e^-k.
    """
    values = combinations(right.distinct)
    return right.arrival_rate * exp(-min(right.population / values, 700.0))


def rows_of_key(keys: Sequence[int], left: Characteristics) -> float:
    """The valid rows of the first input that have one of the values of its key."""
    return (
        left.population
        / different_values(left.population, combinations([left.distinct[k] for k in keys]))
        if left.population
        else 0.0
    )


def unmatched(
    join: AntiJoin, inputs: Sequence[Characteristics], reading: Reading
) -> Characteristics:
    """The rows of an anti-join: those of the first input whose key the second does not have.

    Of p1 valid rows m have a match (:func:`headrace.costmodel.joint.matched_share`; by the thesis,
    the semi-join's population). A share f = 1 - m/p1 is without one: f·r1 rows begin as they
    arrive. Each key that ends lets its m/d matched rows begin, where d are the valid keys; as many
    keys end as begin. The validity is p/r.
    """
    left, right = inputs
    width = len(left.distinct)
    if reading.set_semantics:
        left, right = of_values(left), of_values(right)
        shared = [(column, k) for k, column in enumerate(join.keys)]
        matched = left.population * matched_share(left, right, shared)
    else:
        semi = joined(Pattern(join.bindings, join.bindings[0]), (left, right), reading)
        matched = min(semi.population, left.population)
    share = 1 - matched / left.population if left.population else 1.0
    keys = different_values(right.population, combinations(right.distinct))
    anew = begun_keys(right) * matched / keys if keys else 0.0
    rate, population = share * left.arrival_rate + anew, share * left.population
    return derived(
        rate,
        min(population / rate, left.validity) if rate else left.validity,
        population,
        left.distinct,
        inputs=(left,),
        reading=reading,
        columns=chosen(left, tuple(range(width))),
    )


def left_joined(
    join: LeftJoin, inputs: Sequence[Characteristics], reading: Reading
) -> Characteristics:
    """The rows of a left join: the pairs of the join, and the rows of the anti-join with the keys.

    Rates and populations are sums, and the validity is p/r. A missing value is one more value of a
    column of the second input.
    """
    left, right = inputs
    width, keys = len(left.distinct), join.keys
    pairs = joined(Pattern(join.bindings, join.output), inputs, reading)
    of_keys = projected(right, tuple(keys.values()), reading)
    alone = unmatched(AntiJoin.on(width, tuple(keys)), (left, of_keys), reading)
    rate = pairs.arrival_rate + alone.arrival_rate
    population = pairs.population + alone.population
    own = [right.distinct[k] + 1 for k, column in enumerate(join.compared) if column is None]
    return derived(
        rate,
        population / rate if rate else left.validity,
        population,
        (*left.distinct, *own),
        inputs=(left, right),
        reading=reading,
    )


def extensions(output: Characteristics, left: Characteristics, right: Characteristics) -> float:
    """The rows that a semi-join emits per time unit, at most those of the join.

    A row of the first input is emitted when its key comes, and then each time that its key is
    prolonged, until the key lasts as long as the row. If rows of both inputs are valid equally
    long, the first row of the key that comes later lasts longer: the row is emitted at most twice.
    The share of its validity by which a row outlasts those of the second input remains open.
    """
    outlasting = 0.0
    if left.validity > right.validity:
        outlasting = 1 - (0.0 if left.validity == inf else right.validity / left.validity)
    most = output.derivation_rate
    return min(most, 2 * left.arrival_rate + most * outlasting)


@dataclass(frozen=True, slots=True)
class JoinStep:
    """One binary join, over the left columns followed by the right ones.

    ``shared`` pairs the positions of the join columns; ``columns[i]`` are the two positions
    of output column ``i``, twice the same unless it is a join column.
    """

    shared: tuple[tuple[int, int], ...]
    columns: tuple[tuple[int, int], ...]

    @property
    def dropped(self) -> tuple[tuple[int, int], ...]:
        """The positions of the join columns that the result does not have."""
        return tuple([pair for pair in self.shared if pair not in self.columns])


CONCATENATION = JoinStep(shared=((1, 2),), columns=((0, 0), (3, 3)))
"""The join of a·b: the target of a is the source of b."""


def join(
    left: Characteristics, right: Characteristics, step: JoinStep, reading: Reading
) -> Characteristics:
    """Formulas 4 and 5: rO = f·(v2·r2)·r1 + f·(v1·r1)·r2 (6.7, 6.9), vO = v1·v2 / (v1 + v2).

    f is the product over the shared columns of 1 / max(V1, V2), or of what was measured
    (:func:`headrace.costmodel.joint.matches`); without a shared column it is 1, the cross product.
    The population is f·(v1·r1)·(v2·r2), which is rO·vO and also holds where an input is a stored
    graph; the interval is (6.8, 6.10). Saturating: of equal rows of an input one counts, and
    results with columns of one input alone are among the rows of that input.
    """
    if reading.set_semantics:
        left, right = of_values(left), of_values(right)
    values, width = left.distinct + right.distinct, len(left.distinct)
    selectivity, distinct, columns = matches(left, right, step.shared, step.columns)
    rate = selectivity * (right.population * left.arrival_rate) + selectivity * (
        left.population * right.arrival_rate
    )
    return derived(
        rate,
        _overlap(left.validity, right.validity),
        selectivity * (left.population * right.population),
        distinct,
        inputs=(left, right),
        reading=reading,
        columns=columns,
        different=_different(left, right, step, selectivity) if reading.set_semantics else 1.0,
        merges=any(values[i] > 1 and values[j] > 1 for i, j in step.dropped),
        among=min(
            left.population if all(i < width for i, _ in step.columns) else inf,
            right.population if all(i >= width for _, i in step.columns) else inf,
        ),
    )


def _different(
    left: Characteristics, right: Characteristics, step: JoinStep, selectivity: float
) -> float:
    """The share of the joined rows that differ in the join columns and the columns of the result.

    An input that has dropped columns joins as its projection onto the other columns would. For a
    value of the join columns it has m matching rows, of K combinations of the columns that it
    keeps beside them, so K·(1 - e^(-m/K)) of the m rows differ. Values of the join columns that
    only the other input has do not count in the mean m.
    """
    values = left.distinct + right.distinct
    share = 1.0
    for own, (kept, dropped) in enumerate(_sides(step, len(left.distinct), len(values))):
        rows = selectivity * (right if own else left).population
        if not rows or all(values[i] <= 1 for i in dropped):
            continue
        for pair in step.shared:
            mine, others = values[pair[own]], values[pair[1 - own]]
            if 0 < mine < others:
                rows *= others / mine
        share *= different_values(rows, combinations([values[i] for i in kept])) / rows
    return share


_Columns = tuple[int, ...]


@lru_cache(maxsize=4096)
def _sides(step: JoinStep, width: int, columns: int) -> tuple[tuple[_Columns, _Columns], ...]:
    """Of each input of a join the columns beside the joined ones that it keeps, and drops.

    The left input has ``width`` of the ``columns``.
    """
    output = {i for pair in step.columns for i in pair}
    sides = []
    for own, positions in enumerate((range(width), range(width, columns))):
        joined = {pair[own] for pair in step.shared}
        rest = [i for i in positions if i not in joined]
        kept, dropped = ([i for i in rest if (i in output) is side] for side in (True, False))
        sides.append((tuple(kept), tuple(dropped)))
    return tuple(sides)


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


def _overlap(left: float, right: float) -> float:
    """v1·v2 / (v1 + v2); the other one where one never ends."""
    if inf in (left, right):
        return min(left, right)
    return left * right / (left + right) if left or right else 0.0
