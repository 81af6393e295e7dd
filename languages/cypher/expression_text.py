"""The text of an expression: the name of a column without an alias, and messages."""

from __future__ import annotations

import json

from .leaves import HasLabels, Literal, Parameter, Property, Variable
from .syntax import (
    Access,
    And,
    Call,
    Case,
    Comparison,
    Comprehension,
    Computed,
    Exists,
    Expression,
    Indexed,
    InList,
    Known,
    ListOf,
    MapOf,
    MatchCount,
    MatchList,
    Not,
    NullTest,
    Or,
    Quantified,
    Reduced,
    Sliced,
    TextComparison,
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
        case Comprehension(variable, members, condition, value):
            inside = f"{variable.text} IN {expression_text(members)}"
            chosen = "" if condition is None else f" WHERE {expression_text(condition)}"
            given = "" if value is None else f" | {expression_text(value)}"
            return f"[{inside}{chosen}{given}]"
        case Indexed(members, place):
            return f"{_inside(members)}[{expression_text(place)}]"
        case Sliced(members, start, end):
            bounds = ("" if bound is None else expression_text(bound) for bound in (start, end))
            return f"{_inside(members)}[{'..'.join(bounds)}]"
        case Reduced(result, initial, variable, members, value):
            first = f"{result.text} = {expression_text(initial)}"
            each = f"{variable.text} IN {expression_text(members)}"
            return f"reduce({first}, {each} | {expression_text(value)})"
        case MapOf(values, owner=owner):
            before = "" if owner is None else f"{expression_text(owner)} "
            inside = ", ".join(f"{key.text}: {expression_text(of)}" for key, of in values)
            return f"{before}{{{inside}}}"
        case Access(owner, key):
            return f"{expression_text(owner)}.{key.text}"
        case Case(subject, branches, otherwise):
            head = "" if subject is None else f" {expression_text(subject)}"
            tests = "".join(
                f" WHEN {expression_text(test)} THEN {expression_text(value)}"
                for test, value in branches
            )
            last = "" if otherwise is None else f" ELSE {expression_text(otherwise)}"
            return f"CASE{head}{tests}{last} END"
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
        case Known(_, text):
            return text
        case MatchCount():
            return "COUNT {...}"
        case MatchList(_, _, value):
            return f"[... | {expression_text(value)}]"
        case Exists():
            return "EXISTS {...}"
        case Quantified(quantifier, variable, members, condition):
            inside = f"{variable.text} IN {expression_text(members)}"
            return f"{quantifier.value}({inside} WHERE {expression_text(condition)})"


def _inside(of: Expression) -> str:
    """The text of an operand, in parentheses where it has operators itself."""
    plain = (
        Variable | Property | Literal | Parameter | ListOf | Comprehension | Indexed | Sliced
        | Reduced | MapOf | Call | Access | Case | HasLabels | Exists | Quantified | MatchCount
        | MatchList | Known
    )  # fmt: skip
    text = expression_text(of)
    return text if isinstance(of, plain) else f"({text})"
