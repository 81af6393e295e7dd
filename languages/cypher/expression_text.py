"""The text of an expression: the name of a column without an alias, and messages."""

from __future__ import annotations

import json

from .syntax import (
    And,
    Call,
    Comparison,
    Computed,
    Exists,
    Expression,
    HasLabels,
    InList,
    ListOf,
    Literal,
    Not,
    NullTest,
    Or,
    Parameter,
    Property,
    TextComparison,
    Variable,
)


def expression_text(of: Expression) -> str:
    """The text of an expression, in one line and without needless blanks."""
    match of:
        case Variable(name):
            return name.text
        case Property(owner, key, more):
            return ".".join(name.text for name in (owner, key, *more))
        case Literal(value):
            return "null" if value is None else json.dumps(value, ensure_ascii=False)
        case Parameter(name):
            return f"${name.text}"
        case ListOf(items):
            return f"[{', '.join(map(expression_text, items))}]"
        case Call(function, arguments, distinct, is_star):
            inside = "*" if is_star else ", ".join(map(expression_text, arguments))
            return f"{function.text}({'DISTINCT ' if distinct else ''}{inside})"
        case Computed("NEG", (argument,)):
            return f"-{_inside(argument)}"
        case Computed(function, arguments):
            return f" {function} ".join(map(_inside, arguments))
        case Comparison(values, signs):
            signed = (f" {s.text} {_inside(v)}" for s, v in zip(signs, values[1:], strict=True))
            return _inside(values[0]) + "".join(signed)
        case InList(value, members):
            return f"{_inside(value)} IN {_inside(members)}"
        case TextComparison(value, test, part):
            return f"{_inside(value)} {test.value} {_inside(part)}"
        case NullTest(value, is_null):
            return f"{_inside(value)} IS {'' if is_null else 'NOT '}NULL"
        case HasLabels(name, labels):
            return name.text + "".join(f":{label.text}" for label in labels)
        case Not(part):
            return f"NOT {_inside(part)}"
        case And(parts):
            return " AND ".join(map(_inside, parts))
        case Or(parts):
            return " OR ".join(map(_inside, parts))
        case Exists():
            return "EXISTS {...}"


def _inside(of: Expression) -> str:
    """The text of an operand, in parentheses where it has operators itself."""
    plain = Variable | Property | Literal | Parameter | ListOf | Call | HasLabels | Exists
    text = expression_text(of)
    return text if isinstance(of, plain) else f"({text})"
