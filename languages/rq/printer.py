"""Prints a Regular Query as RQ text; ``explain --stage query`` does so for every language.

:func:`headrace.languages.rq.parser.parse` is the inverse for every query whose variables are names
and whose conditions are comparisons.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from ...algebra import durations, moments, notation, regex
from ...algebra.regex import Ref, Regex
from ...algebra.window import Window
from ..query.atoms import (
    ANY_VERTEX_LABEL,
    Atom,
    BinaryAtom,
    Constant,
    DerivedAtom,
    EdgeAtom,
    PathAtom,
    Term,
    Variable,
    VertexAtom,
    group_of,
    variables_of,
)
from ..query.condition_text import (
    condition_text,
    label_set_text,
    name_text,
    output_text,
    value_text,
)
from ..query.conditions import with_names
from ..query.predicates import first_free, parts_by, predicates
from ..query.regular_query import (
    Emit,
    Limit,
    Output,
    Property,
    RegularQuery,
    Rule,
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
    steps, inner = _steps(query), parts_by(query.rules)
    inner -= {name for rule in query.rules for atom in rule.body for name in predicates(atom)}
    inner -= {head for head, rules in Counter(r.head for r in query.rules).items() if rules > 1}
    parts = {rule.head: rule for rule in query.rules if rule.head in inner and not _repeats(rule)}
    shown = [rule for rule in query.rules if rule.window is None and rule.head not in parts]
    return [_rule(rule, steps, parts) for rule in shown]


def _repeats(part: Rule) -> bool:
    """Whether the rule of a part has a variable in two columns, which braces do not say."""
    outputs = {name: Variable(name) for name in part.variables} | dict(part.properties)
    variables = [of for of in outputs.values() if isinstance(of, Variable)]
    return len(set(variables)) < len(variables)


def rule_text(rule: Rule) -> str:
    """The text of a rule without label sets and inner windows."""
    return _rule(rule, _NO_STEPS, {})


def _rule(rule: Rule, sets: _Steps, parts: Mapping[str, Rule]) -> str:
    properties = dict(rule.properties)
    columns = [_column(name, properties.get(name)) for name in rule.variables]
    body, different = _body(rule, sets, parts)
    after = different + _limit(rule.limit)
    return f"{name_text(rule.head)}({', '.join(columns)}) <- {', '.join(body)}{after}."


def _limit(limit: Limit | None) -> str:
    if limit is None:
        return ""
    order = [name_text(name) + " DESC" * (direction == "desc") for name, direction in limit.order]
    by = f" ORDER BY {', '.join(order)}" if order else ""
    return f"{by} LIMIT {limit.rows}" + f" OFFSET {limit.offset}" * bool(limit.offset)


_DIFFERENT = " DIFFERENT EDGES"


def _body(rule: Rule, sets: _Steps, parts: Mapping[str, Rule]) -> tuple[list[str], str]:
    """The atoms, conditions and parts of a rule, and the clause behind them.

    ``parts`` has the rules of the negated and optional parts.
    """
    groups = {atom.different for atom in rule.body if isinstance(atom, BinaryAtom)}
    different = "" if len(groups) != 1 or None in groups else _DIFFERENT
    body = list(_atoms(rule.body, sets, () if different else groups))
    for part in rule.optional:
        body.append(f"optional {_part(part.predicate, part.columns, sets, parts)}")
    body += map(condition_text, rule.conditions)
    for negation in rule.negated:
        columns = tuple(map(Variable, negation.variables))
        body.append(f"not {_part(negation.predicate, columns, sets, parts)}")
    return body, different


def _atoms(atoms: Sequence[Atom], sets: _Steps, groups: Collection[int | None]) -> Iterator[str]:
    """The atoms; those of a group with different edges are in parentheses."""
    written: set[int] = set()
    for place, atom in enumerate(atoms):
        group = group_of(atom)
        if place in written:
            continue
        if group is None or group not in groups:
            yield _atom(atom, sets)
            continue
        own = [k for k in range(place, len(atoms)) if group_of(atoms[k]) == group]
        between = [k for k in range(place, own[-1] + 1) if isinstance(atoms[k], BinaryAtom)]
        if between == own:  # vertices and derived rows among them keep their places
            own = list(range(place, own[-1] + 1))
        written |= set(own)
        yield f"({', '.join(_atom(atoms[k], sets) for k in own)}{_DIFFERENT})"


def _part(
    name: str, columns: Sequence[Variable | Property], sets: _Steps, parts: Mapping[str, Rule]
) -> str:
    """The body of a part, or its head where its rule is not known."""
    part = parts.get(name)
    if part is None:
        names = [of.name for of in columns if isinstance(of, Variable)]
        return f"{name_text(name)}({', '.join(names)})"
    inner, clause = _body(_with_columns(part, columns), sets, parts)
    alone = len(inner) == 1 and not inner[0].startswith("(") and not clause
    return inner[0] if alone else f"{{{', '.join(inner)}{clause}}}"


def _with_columns(part: Rule, columns: Sequence[Variable | Property]) -> Rule:
    """The rule of a part whose variables have the names of ``columns``, as around the part."""
    values = dict(part.properties)
    outputs = [values.get(name, Variable(name)) for name in part.variables]
    names = {
        own.name: of.name if isinstance(of, Variable) else f"{of.edge}.{of.name}"
        for own, of in zip(outputs, columns, strict=True)
        if isinstance(own, Variable)
    }
    used = {*variables_of(part.body), *names.values()}
    for other in sorted({*variables_of(part.body)} & {*names.values()} - names.keys()):
        names[other] = first_free(other, used)
        used.add(names[other])

    def name(of: str) -> str:
        return names.get(of, of)

    return with_names(part, name, name)


def _column(name: str, of: Output | None) -> str:
    if of is None or (isinstance(of, Witnessed) and of.path == name):
        return name_text(name) if of is not None else name
    return f"{output_text(of)} as {name_text(name)}"


def _emit(emit: Emit, time_unit: str | None) -> str:
    mode = "SNAPSHOT" if emit.mode == "snapshot" else f"ON {emit.mode.upper()}"
    every = "" if emit.every is None else f" EVERY {_length(emit.every, time_unit)}"
    if emit.events is not None:
        every = f" EVERY {notation.events(emit.events).upper()}"
    start = f" STARTING AT {_moment(emit.start, time_unit)}" if emit.start else ""
    return f"EMIT {mode}{every}{start}"


def _moment(ticks: int, time_unit: str | None) -> str:
    text = str(ticks) if time_unit is None else moments.text(ticks, time_unit)
    return text if text.isdecimal() else f'"{text}"'


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
    if isinstance(atom, DerivedAtom):
        return f"{_step(atom.predicate, sets)}({', '.join(map(_term, atom.terms))})"
    source, target = _term(atom.source), _term(atom.target)
    if isinstance(atom, VertexAtom):
        row = "" if atom.edge is None else f" as {name_text(atom.edge)}"
        any_label = atom.predicate == ANY_VERTEX_LABEL
        return f"{'_' if any_label else name_text(atom.predicate)}({source}){row}"
    if isinstance(atom, EdgeAtom):
        name = atom.edge or atom.alias
        edge = "" if name is None else f" as {name_text(name)}"
        return f"{_labels(atom, sets)}({source}, {target}){edge}"
    name = atom.path or atom.alias
    alias = "" if name is None else f" as {name_text(name)}"
    which = "" if atom.shortest is None else f"{atom.shortest} "
    over = f" over {' -> '.join(map(_term, atom.over))}" if atom.over else ""
    return f"{which}{_path(atom, source, target, sets)}{alias}{over}"


def _path(atom: PathAtom, source: str, target: str, sets: _Steps) -> str:
    """``a+(x, y)``, or ``x a/b y``."""
    match atom.regex:
        case regex.Star(regex.Symbol(ref, False)) if not _negates(ref, sets):
            return f"{_step(ref, sets)}*({source}, {target})"
        case regex.Plus(regex.Symbol(ref, False)) if not _negates(ref, sets):
            return f"{_step(ref, sets)}+({source}, {target})"
        case path:
            return f"{source} {path_text(path, sets)} {target}"


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
            (base,) = predicates(atom)
            windows[rule.head] = (base, rule.window)
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
