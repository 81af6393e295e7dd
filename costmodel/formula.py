"""A cost formula: equations that are both printed and evaluated.

In: equations in the thesis's symbols, such as ``cost = ri · Csigma + rO · CO``. Out: a function of
the constants and of the quantities of an operator, as quick as one written by hand; and an
:class:`Explanation`, lines of ``symbol = equation = numbers = value`` whose last line is the cost.
Each line's ``numbers`` is the equation with every symbol replaced by its value, so that the text
can be checked with a pocket calculator (log is of base 2, and 0 below 1).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2
from typing import Any

from .constants import Constants

CONSTANTS: Mapping[str, str] = {
    "CO": "push",
    "Csigma": "evaluate",
    "Uh": "hash_update",
    "Ph": "hash_probe",
    "Upq": "queue_update",
    "Ppq": "queue_probe",
    "net": "network",
    "conv": "convert",
}
"""The symbols of the constants, and their fields in :class:`Constants`."""

MEANINGS: Mapping[str, str] = {
    "rO": "rows out per time unit",
    "ri": "rows in per time unit",
    "r1": "rows of the first input per time unit",
    "r2": "rows of the second input per time unit",
    "re": "edges of the path's inputs per time unit",
    "a": "aggregates",
    "o": "aggregates that keep their values in order: min, max, percentiles, counts of distinct "
    "values and lists",
    "u": "standard deviations",
    "m": "values that are computed",
    "p": "rows valid at an instant: of the operator's input, of the pairs that PATH connects",
    "rq": "rows of the pairs to report per time unit",
    "pq": "rows of the pairs to report valid at an instant",
    "rw": "pairs that begin or last longer per time unit, to be reported or not",
    "rn": "nodes of the trees of PATH that begin or last longer per time unit",
    "rl": "labels that follow such a node, of all such nodes per time unit",
    "pn": "nodes of the trees of PATH, valid at an instant, from which edges may go on",
    "p1": "rows of the first input held at an instant",
    "p2": "rows of the second input held at an instant",
    "pe": "edges of the path's inputs valid at an instant",
    "c": "pairs of rows per time unit on which a residual is checked",
    "t": "rows per time unit that take the place of an atom, each once for each atom",
    "l": "keys that are looked up and rows that are visited per time unit",
    "d2": "distinct keys of the second input held at an instant",
    "s2": "distinct keys as a share of the rows of the second input",
    "x": "indexes that a row enters",
    "n": "vertices of the snapshot graph",
    "q": "retractions for each row of the inputs",
    "h": "rows that a limit keeps",
    "k": "states of the minimal DFA",
    "e": "edges valid at an instant",
    "d": "distinct rows valid at an instant",
    "s": "distinct rows as a share of the rows valid at an instant",
    "v": "how long an edge is valid",
    "b": "time units between two reports",
    "A": "cost of any paths, by S_PATH",
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

_SYMBOL = re.compile(r"\b(?!log\b)[A-Za-z]\w*")


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
        """The cost of the operator per time unit."""
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


class Formula:
    """The equations for the cost of an operator, the last of which is the cost.

    >>> formula = Formula(9, "ri rO Csigma CO", "cost = ri · Csigma + rO · CO")
    >>> constants = Constants(evaluate=0.05, push=0.5)
    >>> formula.cost(constants, 100.0, 10.0)
    10.0
    >>> print(formula.explained("FILTER", constants, (100.0, 10.0)))
    FILTER (formula 9)
    cost = ri · Csigma + rO · CO = 100 · 0.05 + 10 · 0.5 = 10
    """

    def __init__(self, number: int | None, symbols: str, *equations: str, name: str = "") -> None:
        """Reads the equations.

        Args:
            number: the formula's number in the thesis, None where it is ours.
            symbols: the symbols that the equations do not define, each one of :data:`MEANINGS`, in
                the order in which they are shown; symbols other than constants are the quantities.
            equations: each ``symbol = expression`` over ``symbols`` and earlier equations.
            name: of the formula, where it is not called as the physical operator is.

        Raises:
            ValueError: for a symbol without a meaning.
        """
        self.number = number
        self.name = name
        self._symbols = symbols.split()
        self._equations = [_two(equation) for equation in equations]
        if unknown := set(self._symbols) - set(MEANINGS):
            raise ValueError(f"symbols without a meaning: {', '.join(sorted(unknown))}")
        self.cost: Callable[..., float] = self._compiled("cost")
        """The cost, of the constants and the quantities in order."""

    def explained(
        self, operator: str, constants: Constants, quantities: Sequence[float]
    ) -> Explanation:
        """The formula with the numbers put in; ``operator`` is its name if it has no other."""
        remaining = iter(map(float, quantities))
        symbols = {
            symbol: getattr(constants, CONSTANTS[symbol])
            if symbol in CONSTANTS
            else next(remaining)
            for symbol in self._symbols
        }
        values = dict(symbols)
        lines = []
        results = self._all_lines(constants, *quantities)
        for (symbol, equation), value in zip(self._equations, results, strict=True):
            numbers = _SYMBOL.sub(lambda match: f"{values[match.group()]:.12g}", equation)
            lines.append(Line(symbol, equation, numbers, value))
            values[symbol] = value
        return Explanation(self.number, self.name or operator, symbols, tuple(lines))

    @cached_property
    def with_retractions(self) -> Formula:
        """The formula over rows of which some are retracted, with a quantity q more.

        A retraction does at most the work of its row once more: the row is found, leaves the state,
        and its results are retracted.

        >>> constants = Constants(evaluate=0.05, push=0.5)
        >>> formula = Formula(9, "ri rO Csigma CO", "cost = ri · Csigma + rO · CO")
        >>> formula.with_retractions.cost(constants, 100.0, 10.0, 0.5)
        15.0
        """
        *lines, (_, cost) = self._equations
        equations = [*lines, ("C", cost), ("cost", "C · (1 + q)")]
        symbols = " ".join([*self._symbols, "q"])
        written = [f"{symbol} = {equation}" for symbol, equation in equations]
        return Formula(self.number, symbols, *written, name=self.name)

    @cached_property
    def _all_lines(self) -> Callable[..., tuple[float, ...]]:
        """The values of all lines, of the constants and the quantities in order."""
        symbols = ", ".join(symbol for symbol, _ in self._equations)
        function: Callable[..., tuple[float, ...]] = self._compiled(f"({symbols},)")
        return function

    def _compiled(self, result: str) -> Any:
        """A function of the constants and quantities that computes the equations."""
        quantities = [symbol for symbol in self._symbols if symbol not in CONSTANTS]
        body = [f"{s} = constants.{CONSTANTS[s]}" for s in self._symbols if s in CONSTANTS]
        constant_lines = {symbol for symbol, of in self._equations if of in CONSTANTS}
        defined: dict[str, str] = {}
        for symbol, equation in self._equations:
            if equation not in defined:
                tree = ast.parse(equation.replace("·", "*"), mode="eval")
                defined[equation] = ast.unparse(_Evaluated(constant_lines).visit(tree))
            body.append(f"{symbol} = {defined[equation]}")
            defined[equation] = symbol  # compute an equation that occurs twice only once
        source = "\n    ".join([f"def formula({', '.join(['constants', *quantities])}):", *body])
        scope: dict[str, Any] = {"log2": log2}
        exec(f"{source}\n    return {result}", scope)
        return scope["formula"]


class _Evaluated(ast.NodeTransformer):
    """An equation as it is evaluated.

    Constant terms of a sum are added last: ``I1 + E2 + P2`` for ``I1 + P2 + E2``. Sums of floats
    depend on their order; in this order a join and the join with swapped inputs cost the same, to
    the last bit.
    """

    def __init__(self, constants: set[str]) -> None:
        self._constants = constants

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A sum in order; other operations with their operands in order."""
        if not isinstance(node.op, ast.Add):
            self.generic_visit(node)
            return node
        terms: list[ast.expr] = [self.visit(term) for term in _terms(node)]
        first, *others = sorted(terms, key=self._is_constant)
        for other in others:
            first = ast.BinOp(first, ast.Add(), other)
        return first

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``log`` in place, since a call would take longer than the rest of the line."""
        (argument,) = map(ast.unparse, node.args)
        written = f"log2({argument}) if {argument} > 1 else 0.0"
        return ast.parse(written, mode="eval").body

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Numbers are floats, as quantities are."""
        return ast.Constant(float(str(node.value)))

    def _is_constant(self, term: ast.expr) -> bool:
        return isinstance(term, ast.Name) and term.id in self._constants


def _terms(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_terms(node.left), node.right]
    return [node]


def _two(equation: str) -> tuple[str, str]:
    symbol, _, expression = equation.partition(" = ")
    return symbol, expression
