"""Prints a Regular Query as RQ text; ``explain --stage query`` does so for every language.

:func:`headrace.languages.rq.parser.parse` is the inverse for every query whose variables are names
and whose conditions are comparisons.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from ...algebra import durations, regex
from ...algebra.regex import Ref, Regex
from ...algebra.window import Window
from ..query.condition_text import (
    condition_text,
    label_set_text,
    name_text,
    output_text,
    value_text,
)
from ..query.regular_query import (
    Atom,
    Constant,
    EdgeAtom,
    Emit,
    Output,
    RegularQuery,
    Rule,
    Term,
    VertexAtom,
    WindowClause,
    Witnessed,
)

__all__ = ["condition_text", "path_text", "rule_text", "rules_text", "text", "value_text"]

_Steps = Mapping[str, str]
"""The text of each predicate that is a step and not a name."""
_NO_STEPS: _Steps = MappingProxyType({})


def text(query: RegularQuery) -> str:
    """The rules and windows of a query, one on each line."""
    lines = rules_text(query)
    lines += [_window(clause, query.time_unit) for clause in query.windows]
    if query.emit is not None:
        lines.append(_emit(query.emit, query.time_unit))
    return "\n".join(lines)


def rules_text(query: RegularQuery) -> list[str]:
    """Each rule as ``Head(x, y) <- atom, atom.``"""
    steps = _steps(query)
    return [_rule(rule, steps) for rule in query.rules if rule.window is None]


def rule_text(rule: Rule) -> str:
    """The text of a rule without label sets and inner windows."""
    return _rule(rule, _NO_STEPS)


def _rule(rule: Rule, sets: _Steps) -> str:
    properties = dict(rule.properties)
    columns = [_column(name, properties.get(name)) for name in rule.variables]
    body = [_atom(atom, sets) for atom in rule.body]
    body += map(condition_text, rule.conditions)
    return f"{name_text(rule.head)}({', '.join(columns)}) <- {', '.join(body)}."


def _column(name: str, of: Output | None) -> str:
    if of is None or (isinstance(of, Witnessed) and of.path == name):
        return name_text(name) if of is not None else name
    return f"{output_text(of)} as {name_text(name)}"


def _emit(emit: Emit, time_unit: str | None) -> str:
    mode = "SNAPSHOT" if emit.mode == "snapshot" else f"ON {emit.mode.upper()}"
    every = "" if emit.every is None else f" EVERY {_length(emit.every, time_unit)}"
    return f"EMIT {mode}{every}"


def _length(ticks: int, time_unit: str | None) -> str:
    return str(ticks) if time_unit is None else durations.text(ticks, time_unit)


def path_text(path: Regex, sets: _Steps = _NO_STEPS) -> str:
    """The text of a path expression; `()` is the empty word."""
    match path:
        case regex.Epsilon():
            return "()"
        case regex.Nothing():
            return "(){1,0}"
        case _:
            return regex.text(path, lambda ref: _step(ref, sets))


def _atom(atom: Atom, sets: _Steps) -> str:
    source, target = _term(atom.source), _term(atom.target)
    if isinstance(atom, VertexAtom):
        row = "" if atom.edge is None else f" as {name_text(atom.edge)}"
        return f"{name_text(atom.predicate)}({source}){row}"
    if isinstance(atom, EdgeAtom):
        name = atom.edge or atom.alias
        edge = "" if name is None else f" as {name_text(name)}"
        return f"{_labels(atom, sets)}({source}, {target}){edge}"
    alias = "" if atom.alias is None else f" as {name_text(atom.alias)}"
    match atom.regex:
        case regex.Star(regex.Symbol(ref, False)) if not _negates(ref, sets):
            return f"{_step(ref, sets)}*({source}, {target}){alias}"
        case regex.Plus(regex.Symbol(ref, False)) if not _negates(ref, sets):
            return f"{_step(ref, sets)}+({source}, {target}){alias}"
        case path:
            return f"{source} {path_text(path, sets)} {target}{alias}"


def _labels(atom: EdgeAtom, sets: _Steps) -> str:
    """``a``, or ``(a|^b)`` for an edge of several labels or directions."""
    written = [f"{'^' * label.inverse}{_step(label.ref, sets)}" for label in atom.labels]
    (first, *others) = written
    return first if not (others or "!" in first) else f"({'|'.join(written)})"


def _window(clause: WindowClause, time_unit: str | None) -> str:
    labels = f" ({', '.join(map(name_text, clause.labels))})" if clause.labels else ""
    on = f"ON {name_text(clause.stream)}{labels} " if clause.stream is not None else ""
    return f"{on}{_window_text(clause.window, time_unit)}"


def _window_text(window: Window, time_unit: str | None) -> str:
    """``WINDOW 5 SLIDE 2``."""
    slide = f" SLIDE {_length(window.slide, time_unit)}" if window.slide != 1 else ""
    return f"WINDOW {_length(window.range, time_unit)}{slide}"


def _term(term: Term) -> str:
    match term:
        case Constant(str() as value):
            return json.dumps(value, ensure_ascii=False)
        case Constant(value):
            return str(value)
        case _:
            return term.name


def _steps(query: RegularQuery) -> _Steps:
    sets = {name: label_set_text(labels) for name, labels in query.label_sets}
    windows = {name: (leaf.label, leaf.window) for name, leaf in query.leaves}
    for rule in query.rules:
        if rule.window is not None:
            (atom,) = rule.body
            assert isinstance(atom, EdgeAtom)
            windows[rule.head] = (str(atom.refs[0]), rule.window)
    texts = dict(sets)

    def shown(name: str) -> str:
        if name not in texts:
            label, window = windows.get(name, (None, None))
            if label is None or window is None:
                return name_text(label or name)
            texts[name] = f"{shown(label)}[{_window_text(window, query.time_unit)}]"
        return texts[name]

    return {name: shown(name) for name in (*sets, *windows)}


def _step(ref: Ref, sets: _Steps) -> str:
    return sets.get(str(ref)) or name_text(str(ref))


def _negates(ref: Ref, sets: _Steps) -> bool:
    """Whether a predicate is a label set with ``!``, which RQ writes between the two terms."""
    return "!" in sets.get(str(ref), "")
