"""Formulas 8-12 with their numbers put in, for people to read and check.

In: what :meth:`headrace.costmodel.CostModel.cost` reads. Out: an :class:`Explanation`, lines of
``symbol = equation = numbers = value`` in the thesis's symbols; the last line is the cost.
Each line's ``numbers`` is the equation with every symbol replaced by its value, so the text
can be checked with a pocket calculator (log is of base 2, and 0 below 1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import formulas
from .characteristics import Characteristics
from .constants import Constants

_SYMBOL = re.compile(r"\b(?!log\b)[A-Za-z]\w*")

MEANINGS: Mapping[str, str] = {
    "rO": "rows out per time unit",
    "ri": "rows in per time unit",
    "r1": "rows of the first input per time unit",
    "r2": "rows of the second input per time unit",
    "a": "aggregates",
    "m": "values that are computed",
    "p": "rows valid at an instant: of the operator's input, of PATH's results",
    "p1": "rows of the first input held at an instant",
    "p2": "rows of the second input held at an instant",
    "c": "pairs of rows per time unit on which a residual is checked",
    "n": "vertices of the snapshot graph",
    "k": "states of the minimal DFA",
    "e": "edges valid at an instant",
    "v": "how long an edge is valid",
    "b": "time units between two reports",
    "CO": "constant: push a row",
    "Csigma": "constant: evaluate a predicate",
    "Uh": "constant: update a hash entry",
    "Ph": "constant: probe a hash entry",
    "Upq": "constant: update a priority queue",
    "Ppq": "constant: probe a priority queue",
    "w": "bytes of a row",
    "N": "partitions",
    "net": "constant: move a byte to another partition",
    "conv": "constant: hand a byte from Spark SQL to compiled operators",
}
"""The symbols of the equations; rates and populations in rows, per unit of application time."""


@dataclass(frozen=True, slots=True)
class Line:
    """``symbol = equation = numbers = value``."""

    symbol: str
    equation: str
    numbers: str
    value: float

    def __str__(self) -> str:
        return f"{self.symbol} = {self.equation} = {self.numbers} = {self.value:.6g}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """A cost formula applied: its number in the thesis (None where it is ours) and name."""

    number: int | None
    name: str
    symbols: Mapping[str, float]
    lines: tuple[Line, ...]

    @property
    def cost(self) -> float:
        """What the operator costs per time unit."""
        return self.lines[-1].value

    def to_document(self) -> dict[str, object]:
        """The explanation as JSON-able values."""
        return {
            "formula": self.number,
            "name": self.name,
            "symbols": {
                symbol: {"value": value, "meaning": MEANINGS[symbol]}
                for symbol, value in self.symbols.items()
            },
            "lines": [
                {
                    "symbol": line.symbol,
                    "equation": line.equation,
                    "numbers": line.numbers,
                    "value": line.value,
                }
                for line in self.lines
            ],
            "cost": self.cost,
        }

    def __str__(self) -> str:
        title = f"formula {self.number}" if self.number else "formula of Headrace"
        return "\n".join([f"{self.name} ({title})", *map(str, self.lines)])


def _explained(
    number: int | None,
    name: str,
    symbols: Mapping[str, float],
    equations: tuple[tuple[str, str, float], ...],
) -> Explanation:
    values = dict(symbols)
    lines = []
    for symbol, equation, value in equations:
        numbers = _SYMBOL.sub(lambda match: _number(values[match.group()]), equation)
        lines.append(Line(symbol, equation, numbers, value))
        values[symbol] = value
    return Explanation(number, name, symbols, tuple(lines))


def _number(value: float) -> str:
    return f"{value:.12g}"


def push(number: int | None, name: str, output: Characteristics, c: Constants) -> Explanation:
    """Formulas 8 and 10."""
    rate = output.arrival_rate
    symbols = {"rO": rate, "CO": c.push}
    return _explained(number, name, symbols, (("cost", "rO · CO", formulas.push(rate, c)),))


def evaluate(source: Characteristics, output: Characteristics, c: Constants) -> Explanation:
    """Formula 9."""
    ri, ro = source.arrival_rate, output.arrival_rate
    symbols = {"ri": ri, "rO": ro, "Csigma": c.evaluate, "CO": c.push}
    cost = formulas.evaluate(ri, ro, c)
    return _explained(9, "FILTER", symbols, (("cost", "ri · Csigma + rO · CO", cost),))


def scan(name: str, examined: float, output: Characteristics, c: Constants) -> Explanation:
    """Formula 8; with a predicate formula 9 for the edges on which it is evaluated."""
    if not examined:
        return push(8, name, output, c)
    ro = output.arrival_rate
    symbols = {"ri": examined, "rO": ro, "Csigma": c.evaluate, "CO": c.push}
    cost = formulas.evaluate(examined, ro, c)
    return _explained(9, name, symbols, (("cost", "ri · Csigma + rO · CO", cost),))


def pattern(
    inputs: Sequence[Characteristics],
    populations: tuple[float, float],
    output: Characteristics,
    c: Constants,
    pairs: float,
) -> Explanation:
    """Formula 11, over what each side holds; with a residual also its evaluation on ``pairs``."""
    left, right = inputs
    rates = left.arrival_rate, right.arrival_rate
    symbols = {
        "r1": rates[0],
        "r2": rates[1],
        "p1": populations[0],
        "p2": populations[1],
        "rO": output.arrival_rate,
        "Uh": c.hash_update,
        "Upq": c.queue_update,
        "Ph": c.hash_probe,
        "CO": c.push,
    }
    evaluated = ""
    if pairs:
        symbols |= {"c": pairs, "Csigma": c.evaluate}
        evaluated = " + c · Csigma"
    cost = formulas.pattern(rates, populations, output.arrival_rate, c, pairs)
    kept = [formulas.keep(population, c) for population in populations]
    return _explained(
        11,
        "PATTERN",
        symbols,
        (
            ("I1", "Uh + Upq · log(p1)", kept[0]),
            ("I2", "Uh + Upq · log(p2)", kept[1]),
            ("P1", "Ph", c.hash_probe),
            ("P2", "Ph", c.hash_probe),
            ("E1", "Uh + Upq · log(p1)", kept[0]),
            ("E2", "Uh + Upq · log(p2)", kept[1]),
            ("cost", f"r1 · (I1 + P2 + E2) + r2 · (I2 + P1 + E1){evaluated} + rO · CO", cost),
        ),
    )


def path(
    rate: float, vertices: float, states: int, output: Characteristics, c: Constants
) -> Explanation:
    """Formula 12."""
    symbols = {
        "ri": rate,
        "n": vertices,
        "k": float(states),
        "rO": output.arrival_rate,
        "Uh": c.hash_update,
        "Ph": c.hash_probe,
        "Upq": c.queue_update,
        "Ppq": c.queue_probe,
        "CO": c.push,
    }
    return _explained(
        12,
        "PATH",
        symbols,
        (
            (
                "I",
                "Ph · n · k · k + Upq · n · k · log(n · k) + Uh · k",
                formulas.path_insertion(vertices, states, c),
            ),
            (
                "E",
                "Ph · n · n · k + Ppq · n · log(n) + Upq · n · k · log(n · k) + Uh · k",
                formulas.path_expiration(vertices, states, c),
            ),
            (
                "cost",
                "ri · (I + E) + rO · CO",
                formulas.path(rate, vertices, states, output.arrival_rate, c),
            ),
        ),
    )


def coalesce(
    source: Characteristics, output: Characteristics, c: Constants, operator: str = "COALESCE"
) -> Explanation:
    """Ours: formula 11 with one input."""
    symbols = {
        "ri": source.arrival_rate,
        "p": source.population,
        "rO": output.arrival_rate,
        "Uh": c.hash_update,
        "Upq": c.queue_update,
        "Ph": c.hash_probe,
        "CO": c.push,
    }
    kept = formulas.keep(source.population, c)
    cost = formulas.coalesce(source.arrival_rate, source.population, output.arrival_rate, c)
    return _explained(
        None,
        operator,
        symbols,
        (
            ("I", "Uh + Upq · log(p)", kept),
            ("P", "Ph", c.hash_probe),
            ("E", "Uh + Upq · log(p)", kept),
            ("cost", "ri · (I + P + E) + rO · CO", cost),
        ),
    )


def compute(values: int, output: Characteristics, c: Constants) -> Explanation:
    """Ours: formula 9 for each value."""
    ro = output.arrival_rate
    symbols = {"rO": ro, "m": float(values), "Csigma": c.evaluate, "CO": c.push}
    cost = formulas.compute(ro, values, c)
    return _explained(None, "COMPUTE", symbols, (("cost", "rO · (m · Csigma + CO)", cost),))


def aggregate(
    source: Characteristics, aggregates: int, output: Characteristics, c: Constants
) -> Explanation:
    """Ours: rows are kept, and each changes a row of the result twice."""
    symbols = {
        "ri": source.arrival_rate,
        "p": source.population,
        "a": float(aggregates),
        "rO": output.arrival_rate,
        "Uh": c.hash_update,
        "Upq": c.queue_update,
        "Ph": c.hash_probe,
        "CO": c.push,
    }
    kept = formulas.keep(source.population, c)
    cost = formulas.aggregate(
        source.arrival_rate, source.population, aggregates, output.arrival_rate, c
    )
    return _explained(
        None,
        "AGGREGATE",
        symbols,
        (
            ("I", "Uh + Upq · log(p)", kept),
            ("E", "Uh + Upq · log(p)", kept),
            ("G", "Ph + a · Uh", formulas.group_update(aggregates, c)),
            ("cost", "ri · (I + E + 2 · G) + rO · CO", cost),
        ),
    )


def witness(
    rows: tuple[float, float],
    edges: tuple[float, float],
    output: Characteristics,
    c: Constants,
    *,
    n: float,
    k: int,
) -> Explanation:
    """Ours: rows are kept as by COALESCE, edges too, and a path is looked for with each result."""
    symbols = {
        "ri": rows[0],
        "p": rows[1],
        "re": edges[0],
        "pe": edges[1],
        "n": n,
        "k": float(k),
        "rO": output.arrival_rate,
        "Uh": c.hash_update,
        "Upq": c.queue_update,
        "Ph": c.hash_probe,
        "CO": c.push,
    }
    kept, kept_edges = formulas.keep(rows[1], c), formulas.keep(edges[1], c)
    cost = formulas.witness(rows, edges, output.arrival_rate, c, n=n, k=k)
    return _explained(
        None,
        "WITNESS",
        symbols,
        (
            ("I", "Uh + Upq · log(p)", kept),
            ("P", "Ph", c.hash_probe),
            ("E", "Uh + Upq · log(p)", kept),
            ("Ie", "Uh + Upq · log(pe)", kept_edges),
            ("Ee", "Uh + Upq · log(pe)", kept_edges),
            ("S", "k · n · Ph", k * n * c.hash_probe),
            ("cost", "ri · (I + P + E) + re · (Ie + Ee) + rO · (S + CO)", cost),
        ),
    )


def report(source: Characteristics, output: Characteristics, c: Constants) -> Explanation:
    """Ours: rows are kept."""
    symbols = {
        "ri": source.arrival_rate,
        "p": source.population,
        "rO": output.arrival_rate,
        "Uh": c.hash_update,
        "Upq": c.queue_update,
        "CO": c.push,
    }
    kept = formulas.keep(source.population, c)
    cost = formulas.report(source.arrival_rate, source.population, output.arrival_rate, c)
    return _explained(
        None,
        "REPORT",
        symbols,
        (
            ("I", "Uh + Upq · log(p)", kept),
            ("E", "Uh + Upq · log(p)", kept),
            ("cost", "ri · (I + E) + rO · CO", cost),
        ),
    )


def path_by_results(
    rate: float, n: float, k: int, output: Characteristics, c: Constants
) -> Explanation:
    """Ours, in place of formula 12."""
    symbols = {
        "ri": rate,
        "rO": output.arrival_rate,
        "p": output.population,
        "n": n,
        "k": float(k),
        "Uh": c.hash_update,
        "Ph": c.hash_probe,
        "Upq": c.queue_update,
        "CO": c.push,
    }
    in_trees = formulas.trees(output.population, n)
    cost = formulas.path_by_results(
        rate, n, k, output.arrival_rate, c, population=output.population
    )
    return _explained(
        None,
        "PATH",
        symbols,
        (
            ("T", "1 + p / n" if n > 1 else "1 + p", in_trees),
            ("I", "Ph · k · T + Uh · k", c.hash_probe * k * in_trees + c.hash_update * k),
            ("E", "Uh · k", c.hash_update * k),
            ("N", "Ph · k + Uh · k + Upq · log(n · k)", formulas.path_node(n, k, c)),
            ("cost", "ri · (I + E) + rO · (2 · N + CO)", cost),
        ),
    )


def simple_path(
    rate: float, n: float, k: int, output: Characteristics, c: Constants, *, any_path: float
) -> Explanation:
    """Ours: what simple paths cost, by what any paths do."""
    in_trees = formulas.trees(output.population, n)
    symbols = {
        "ri": rate,
        "A": any_path,
        "p": output.population,
        "n": n,
        "k": float(k),
        "Ph": c.hash_probe,
    }
    cost = formulas.simple_path(any_path, rate, k, in_trees, c)
    total = f"{formulas.SIMPLE_FACTOR:g} · A + ri · k · Ph · T · T"
    return _explained(
        None,
        "PATH simple",
        symbols,
        (("T", "1 + p / n" if n > 1 else "1 + p", in_trees), ("cost", total, cost)),
    )


def slide_path(
    edges: float,
    n: float,
    k: int,
    output: Characteristics,
    c: Constants,
    *,
    validity: float,
    period: int,
) -> Explanation:
    """Ours: the edges of a slide as a set."""
    levels = formulas.levels(validity, period)
    symbols = {
        "e": edges,
        "v": validity,
        "b": float(period),
        "n": n,
        "k": float(k),
        "Ph": c.hash_probe,
        "rO": output.arrival_rate,
        "CO": c.push,
    }
    cost = formulas.slide_path(
        edges, n, k, output.arrival_rate, c, validity=validity, period=period
    )
    walked = "(2 · e · k + n) · (1 + n / 64)"
    total = f"L / b · {walked} · Ph / {formulas.PROBE_WORDS:g} + rO · CO"
    return _explained(
        None, "PATH per slide", symbols, (("L", "1 + v / b", levels), ("cost", total, cost))
    )


def own_roots(
    rate: float, n: float, k: int, output: Characteristics, c: Constants, *, partitions: int
) -> Explanation:
    """Ours: formula 12 on one partition, which has all edges and its part of the trees."""
    symbols = {
        "ri": rate,
        "n": n,
        "k": float(k),
        "N": float(partitions),
        "rO": output.arrival_rate,
        "Uh": c.hash_update,
        "Ph": c.hash_probe,
        "Upq": c.queue_update,
        "Ppq": c.queue_probe,
        "CO": c.push,
    }
    plain = path(rate, n, k, output, c)
    *parts, _ = [(line.symbol, line.equation, line.value) for line in plain.lines]
    cost = formulas.path_of_own_roots(rate, n, k, output.arrival_rate, c, partitions=partitions)
    total = ("cost", "ri · ((I + E) / N + Uh · k) + rO · CO", cost)
    return _explained(None, "PATH by root", symbols, (*parts, total))


def exchange(rate: float, columns: int, c: Constants) -> Explanation:
    """Ours: what crosses the network at the busiest partition."""
    symbols = {"ri": rate, "w": float(formulas.row_width(columns)), "net": c.network}
    cost = formulas.exchange(rate, columns, c)
    return _explained(None, "EXCHANGE", symbols, (("cost", "ri · w · net", cost),))


def convert(rate: float, columns: int, c: Constants) -> Explanation:
    """Ours: the change of convention."""
    symbols = {"ri": rate, "w": float(formulas.row_width(columns)), "conv": c.convert}
    cost = formulas.convert(rate, columns, c)
    return _explained(None, "TO_KERNEL", symbols, (("cost", "ri · w · conv", cost),))


def nothing(name: str) -> Explanation:
    """An operator that never sees a row."""
    return _explained(None, name, {}, (("cost", "0", 0.0),))
