"""Prints conditions and values as RQ; constructs that RQ lacks (OR, NOT, IS NULL) as SQL."""

from __future__ import annotations

import json
import re

from ...algebra.aggregates import call_text
from ...algebra.functions import FUNCTIONS
from ...algebra.scalar import ARITY, Literal
from .atoms import Variable
from .regular_query import (
    Aggregated,
    Both,
    Comparison,
    Computed,
    Condition,
    Either,
    LabelSet,
    Missing,
    Negated,
    Output,
    Property,
    Value,
    Witnessed,
)

_PLAIN = re.compile(r"(?!_(?!\w))[^\W0-9]\w*")
_KEYWORDS = {
    "as", "on", "window", "slide", "emit", "every", "entering", "exit", "snapshot", "not",
    "optional",
}  # fmt: skip


def condition_text(condition: Condition) -> str:
    """The text of a condition; a comparison or a conjunction of comparisons is valid RQ."""
    match condition:
        case Comparison(left, sign, right):
            return f"{value_text(left)} {sign} {value_text(right)}"
        case Missing(of):
            return f"{value_text(of)} IS NULL"
        case Negated(Missing(of)):
            return f"{value_text(of)} IS NOT NULL"
        case Negated(part):
            return f"NOT ({condition_text(part)})"
        case Both(parts):
            return " AND ".join(map(_inner, parts)) or "TRUE"
        case Either(parts):
            return " OR ".join(map(_inner, parts)) or "FALSE"


def name_text(name: str) -> str:
    """The name of a label, predicate or stream, in backquotes where RQ needs them."""
    if _PLAIN.fullmatch(name) and name.lower() not in _KEYWORDS and name not in FUNCTIONS:
        return name
    return f"`{_quoted(name)}`"


def _inner(condition: Condition) -> str:
    text = condition_text(condition)
    return f"({text})" if isinstance(condition, Both | Either) else text


def value_text(value: Value) -> str:
    """The text of a value; nested arithmetic is in parentheses."""
    match value:
        case Variable(name):
            return name
        case Property(edge, name):
            return f"{edge}.{name}" if name.isidentifier() else f"{edge}.`{_quoted(name)}`"
        case Literal(str() as text):
            return json.dumps(text, ensure_ascii=False)
        case Literal(bool() as truth):
            return "true" if truth else "false"
        case Literal(number):
            return repr(number)
        case Computed("ABS", (part,)):
            return f"abs({value_text(part)})"
        case Computed("NEG", (part,)):
            return f"-({value_text(part)})"
        case Computed(function, parts) if function in FUNCTIONS:
            return f"{function}({', '.join(map(value_text, parts))})"
        case Computed(sign, parts):
            first, *others = map(_operand, parts)
            if sign in "+*" and first.isidentifier() and others[0].startswith("("):
                first = f"({first})"  # in RQ, `x + (` begins a closure
            return f" {sign} ".join((first, *others))


def output_text(of: Output) -> str:
    """The text of a column of an answer, without its name."""
    if isinstance(of, Witnessed):
        return name_text(of.path)
    if not isinstance(of, Aggregated):
        return value_text(of)
    arguments = [value_text(value) for value in of.values] or ["*"]
    arguments += [] if of.percentile is None else [str(of.percentile)]
    return call_text(of.function, arguments)


def _operand(value: Value) -> str:
    nested = isinstance(value, Computed) and value.function in ARITY and value.function != "ABS"
    return f"({value_text(value)})" if nested else value_text(value)


def _quoted(name: str) -> str:
    return name.replace("`", "``")


def label_set_text(labels: LabelSet) -> str:
    """``_``, ``!a``, ``!(a|^b)`` or ``tx._``, as RQ writes it."""
    prefix = "" if labels.stream is None else f"{name_text(labels.stream)}."
    left_out = [name_text(name) for name in labels.forward or ()]
    left_out += [f"^{name_text(name)}" for name in labels.backward or ()]
    if not left_out:
        return f"{prefix}_"
    return f"{prefix}!{left_out[0]}" if len(left_out) == 1 else f"{prefix}!({'|'.join(left_out)})"
