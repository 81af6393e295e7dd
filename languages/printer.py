"""A Regular Query as RQ text: what ``explain --stage query`` shows, whatever it came from.

The text reads back as an equal query: :func:`languages.rq.parse` is its inverse for every
query whose variables are names, and whose conditions are comparisons.
"""

from __future__ import annotations

import json
import re

from algebra import durations, regex
from algebra.regex import Ref, Regex
from languages.regular_query import (
    Atom,
    Constant,
    EdgeAtom,
    Emit,
    Output,
    RegularQuery,
    Rule,
    Term,
    WindowClause,
)
from languages.values_text import condition_text, output_text, value_text

__all__ = ["condition_text", "path_text", "rule_text", "text", "value_text"]

_PLAIN = re.compile(r"(?!_(?!\w))[^\W0-9]\w*")
_KEYWORDS = {"as", "on", "window", "slide", "emit", "every", "entering", "exit", "snapshot", "not"}


def text(query: RegularQuery) -> str:
    """The rules and windows of a query, one a line."""
    lines = [rule_text(rule) for rule in query.rules]
    lines += [_window(clause, query.time_unit) for clause in query.windows]
    if query.emit is not None:
        lines.append(_emit(query.emit, query.time_unit))
    return "\n".join(lines)


def rule_text(rule: Rule) -> str:
    """``Head(x, y) <- atom, atom.``"""
    properties = dict(rule.properties)
    columns = [_column(name, properties.get(name)) for name in rule.variables]
    body = [*map(_atom, rule.body), *map(condition_text, rule.conditions)]
    return f"{_name(rule.head)}({', '.join(columns)}) <- {', '.join(body)}."


def _column(name: str, of: Output | None) -> str:
    if of is None:
        return name
    return f"{output_text(of)} as {_name(name)}"


def _emit(emit: Emit, time_unit: str | None) -> str:
    mode = "SNAPSHOT" if emit.mode == "snapshot" else f"ON {emit.mode.upper()}"
    every = "" if emit.every is None else f" EVERY {_length(emit.every, time_unit)}"
    return f"EMIT {mode}{every}"


def _length(ticks: int, time_unit: str | None) -> str:
    return str(ticks) if time_unit is None else durations.text(ticks, time_unit)


def path_text(path: Regex) -> str:
    """A path expression; `()` is the empty word, which RQ has no letter for."""
    match path:
        case regex.Epsilon():
            return "()"
        case regex.Nothing():
            return "(){1,0}"
        case _:
            return regex.text(path, _label)


def _atom(atom: Atom) -> str:
    source, target = _term(atom.source), _term(atom.target)
    if isinstance(atom, EdgeAtom):
        edge = "" if atom.edge is None else f" as {_name(atom.edge)}"
        return f"{_name(atom.predicate)}({source}, {target}){edge}"
    alias = "" if atom.alias is None else f" as {_name(atom.alias)}"
    match atom.regex:
        case regex.Symbol(ref, False):
            return f"{_label(ref)}({source}, {target}){alias}"
        case regex.Star(regex.Symbol(ref, False)):
            return f"{_label(ref)}*({source}, {target}){alias}"
        case regex.Plus(regex.Symbol(ref, False)):
            return f"{_label(ref)}+({source}, {target}){alias}"
        case path:
            return f"{source} {path_text(path)} {target}{alias}"


def _window(clause: WindowClause, time_unit: str | None) -> str:
    labels = f" ({', '.join(map(_name, clause.labels))})" if clause.labels else ""
    on = f"ON {_name(clause.stream)}{labels} " if clause.stream is not None else ""
    slide = f" SLIDE {_length(clause.window.slide, time_unit)}" if clause.window.slide != 1 else ""
    return f"{on}WINDOW {_length(clause.window.range, time_unit)}{slide}"


def _term(term: Term) -> str:
    match term:
        case Constant(str() as value):
            return json.dumps(value, ensure_ascii=False)
        case Constant(value):
            return str(value)
        case _:
            return term.name


def _label(ref: Ref) -> str:
    return _name(str(ref))


def _name(name: str) -> str:
    if _PLAIN.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    return f"`{name.replace('`', '``')}`"
