"""Characteristics of paths: formulas 5 to 7 of thesis 6.3.1, and reachability in `saturating`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import exp, sqrt

from ..algebra import regex
from .characteristics import LARGEST, Characteristics
from .derived import Reading, combinations, derived, of_values
from .estimates import empty, union
from .joins import CONCATENATION, join
from .joint import matches
from .selectivity import equal_columns

Refined = Callable[[regex.Regex, Characteristics], Characteristics]
"""Replaces the estimate of a part of a path by a better one, or returns it as it is."""


def path(
    expression: regex.Regex,
    inputs: Sequence[Characteristics],
    reading: Reading,
    refined: Refined = lambda _, estimate: estimate,
) -> Characteristics:
    """Formulas 5, 6 and 7, bottom-up over the parse tree (Remark 5, Example 15).

    The symbols of ``expression`` are positions in ``inputs``. ``refined`` gets each closure with
    its estimate; one over the inverse of an input is that over the input, reversed.

    Formula 7 sums from i = 1 on, so the empty word has no rows; the thesis leaves it at that.
    Saturating: beside an operand that accepts the empty word the other operand stands alone too,
    since
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
            case regex.Star(regex.Symbol(ref, True)) | regex.Plus(regex.Symbol(ref, True)):
                return _reversed(visit(regex.plus(regex.Symbol(ref))))
            case regex.Star(part) | regex.Plus(part):
                return refined(regex.plus(part), closure(visit(part), reading))
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
        return _reachable(of_values(source), reading)
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
    return derived(rate, validity, population, source.distinct, inputs=(source,), reading=reading)


def _reachable(source: Characteristics, reading: Reading) -> Characteristics:
    """The closure within set semantics, as reachability in a random digraph of mean degree c.

    Up to c = 1 the powers of R hardly share pairs, and their sum is that of formula 7. Above it a
    share g of the vertices, 1 - g = e^(-c·g), reaches a giant component, and the same share is
    reached from it: g²·V(src)·V(trg) pairs (R. M. Karp, "The transitive closure of a random
    digraph", Random Structures & Algorithms 1(1), 1990). The edges of the other pairs have the
    degree c·(1 - g) < 1. Paths of at most m edges connect no more pairs than formula 7 counts.

    Measured degrees count walks. Above c = 1, where hubs make them more than uniform degrees would,
    many walks lead to the same vertices, so c is the geometric mean of both, and at least 1.

    A pair of R^i is valid for v/i. A pair of the giant component is prolonged by a later edge of
    its source or its target, and not by other paths between the same vertices, which S_PATH does
    not emit. Where edges expire in the order of their arrival, each of the c edges of a vertex
    within v prolongs, so that a pair counts 2·c times within v. The rows of a join do not expire in
    that order: of the c = d·d rows that d edges derive, one for each edge prolongs.
    """
    population, longest = source.population, source.longest_path or reading.longest_path
    walks = matches(source, source, CONCATENATION.shared, ())[0]
    degree = walks * population
    if degree > 1:
        uniform = equal_columns(source.distinct[1], source.distinct[0])
        degree = min(degree, max(sqrt(walks * uniform) * population, 1.0))
    vertices = 1 / walks if walks > 0 else LARGEST
    room = min(combinations([min(values, vertices) for values in source.distinct]), LARGEST)
    share = _giant(degree)
    giant = min(share * share * room, _powers(population, degree, longest)[0])
    sparse, turns = _powers(population * (1 - share * share), degree * (1 - share), longest)
    renewal = source.arrival_rate / population if population else 0.0
    pairs = giant + sparse
    renewals = 2 * (degree if source.in_order else sqrt(degree))
    rate = (giant * max(renewals, 1.0) + turns) * renewal
    validity = pairs / rate if rate > 0 else source.validity
    return derived(rate, validity, pairs, source.distinct, inputs=(source,), reading=reading)


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
