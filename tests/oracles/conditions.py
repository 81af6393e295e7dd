"""Conditions of a rule: the properties that they read, their text, and their evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.oracles.functions import result

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Vert:
    """A variable: the vertex, or the edge, that it is bound to."""

    name: str


@dataclass(frozen=True)
class Prop:
    """``edge.name``; ``ts`` is the edge's time. A variable may stand for the row of its vertex."""

    edge: str
    name: str


@dataclass(frozen=True)
class Lit:
    """A constant."""

    value: Scalar


@dataclass(frozen=True)
class Calc:
    """``+``, ``-``, ``*`` or ``/`` of two values, ``abs`` of one, or a function of
    :mod:`tests.oracles.functions`, in capitals."""

    sign: str
    parts: tuple[Expr, ...]


Expr = Vert | Prop | Lit | Calc


@dataclass(frozen=True)
class Compare:
    """``left sign right``."""

    left: Expr
    sign: str
    right: Expr


def holds(condition: Compare, binding: Mapping[str, Any]) -> bool:
    """Whether a condition is true; a condition over a missing value is not."""
    left, right = value(condition.left, binding), value(condition.right, binding)
    if left is None or right is None:
        return False
    if _kind(left) != _kind(right):
        return condition.sign == "<>"
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
    match condition.sign:
        case "=":
            return bool(left == right)
        case "<>":
            return bool(left != right)
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
        case _:
            return bool(left >= right)


def value(of: Expr, binding: Mapping[str, Any]) -> Any:
    """The value of an expression under a binding of vertices and edges; None without a value."""
    match of:
        case Vert(name):
            return binding[name]
        case Prop(edge, name):
            row = row_of(edge, binding)  # None for an edge of an optional part without a match
            return None if row is None else row.property(name)
        case Lit(written):
            return written
        case Calc(sign, parts):
            values = [value(part, binding) for part in parts]
            if sign.isupper():
                return result(sign, values)
            if any(_kind(v) != "number" for v in values):
                return None
            return _kept(_computed(sign, values))


def row_of(name: str, binding: Mapping[str, Any]) -> Any:
    """The edge of a name, or the row of a variable's vertex."""
    return binding.get(f"{name}.", binding[name])


def _computed(sign: str, values: list[Any]) -> Any:
    if sign == "abs":
        return abs(values[0])
    left, right = values
    if sign == "/":
        return float(left) / float(right) if right else None
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
    return left + right if sign == "+" else left - right if sign == "-" else left * right


def _kept(number: Any) -> Any:
    if isinstance(number, float):
        return number if math.isfinite(number) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


def _kind(of: Any) -> str:
    if isinstance(of, bool):
        return "boolean"
    if isinstance(of, int | float):
        return "number"
    return type(of).__name__


def text(condition: Compare) -> str:
    """A condition as RQ."""
    return f"{expr_text(condition.left)} {condition.sign} {expr_text(condition.right)}"


def expr_text(of: Expr) -> str:
    """An expression as RQ."""
    match of:
        case Vert(name):
            return name
        case Prop(edge, name):
            return f"{edge}.{name}"
        case Lit(str() as written):
            escaped = written.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'
        case Lit(bool() as truth):
            return str(truth).lower()
        case Lit(written):
            return repr(written)
        case Calc("abs", (part,)):
            return f"abs({expr_text(part)})"
        case Calc(sign, parts) if sign.isupper():
            return f"{sign}({', '.join(map(expr_text, parts))})"
        case Calc(sign, parts):
            return "(" + f" {sign} ".join(map(expr_text, parts)) + ")"
