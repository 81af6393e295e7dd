"""Logical expressions in one line of text, for the cases of rules.

* ``a``: the scan of label ``a`` of stream ``s`` under the window 6, slide 2;
  ``a['x' = c0]`` selects edges; ``a@20`` and ``a@20/5`` have another window (range, slide),
  ``a@t`` another stream, ``a@stored`` is of the stored graph ``g``;
* ``{a, b}``: one scan of several labels;
* ``σ[c0 = c1](E)``, ``π[1, 0](E)``, ``E ∪ F``: filter, projection, union;
* ``[x, z : E(x, y) ⋈ F(y, z)]``: a join, by variables of the inputs' columns; before the colon
  those of the result. ``where x < z`` at the end is a residual condition;
* ``[x, y : E(x, y) ▷ F(y)]``: an anti-join;
* ``γ[c0 ; count(*), max(c1)](E)``: the aggregates of each c0, after the column of the keys;
  ``γ[c0 ; count(*) ; partial](E)``: those of each partition, with its number;
* ``τ[2 ; c1 desc](E)``: the first two rows by column 1, descending; ``τp[2 ; c1](E)`` those of each
  partition; ``τ[2+1 ; c1](E)`` two rows after the first one;
* ``multiway[x, z : E(x, y) ⋈ F(y, z) ⋈ ..]``: the same of three or more inputs at once;
* ``path[a·b*]``, ``simple[a+]``, ``trail[a·a]``, ``shortest[a+]``, ``steps[a+]``, ``over[a+]``:
  any paths, simple paths, trails, lengths of shortest paths, and of one for each pair the steps or
  the vertices with their places, where different inputs have no edge in common, along a regular
  expression of ``·``, ``|``, ``*``, ``+``, ``?`` and ``^a``; ``<E>`` is an expression in place of a
  label;
* ``path[a+] from [c0 = 'x']``: a path whose sources satisfy a condition; ``path[<π[0, 0](a)>·b+]
  from d``, one whose sources are those of its first step, and ``⋉`` in place of ``⋈`` the join with
  the relation that binds a path.

Variables are numbered by their first occurrence, inputs of a path too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lark import Lark, Token, Transformer

from headrace.algebra import regex
from headrace.algebra.aggregates import FUNCTIONS, AggregateCall
from headrace.algebra.logical import (
    Aggregate,
    AntiJoin,
    BoundPath,
    BoundPattern,
    Filter,
    FilteredPattern,
    LeftJoin,
    LogicalExpression,
    MultiwayPattern,
    PartialAggregate,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Shortest,
    Top,
    Trail,
    Union,
    VertexPaths,
    WScan,
    WScanUnion,
)
from headrace.algebra.orders import Direction
from headrace.algebra.path_values import PathValue
from headrace.algebra.predicate import Predicate
from headrace.algebra.regex import Regex, Symbol
from headrace.algebra.window import Window

WINDOW = Window(6, 2)
SHOWN: dict[str, tuple[PathValue, ...]] = {
    "shortest": ("length",), "steps": ("path",), "over": ("node", "place")
}  # fmt: skip
"""The values of the kinds of shortest paths."""

GRAMMAR = r"""
?start: expression
?expression: factor | expression "∪" factor -> union
?factor: scan | scans | filter | project | aggregate | first | join | multiway | path | closed
?closed: "(" expression ")"
scan: LABEL CONDITION? SOURCE?
scans: "{" scan ("," scan)+ "}"
filter: "σ" CONDITION "(" expression ")"
aggregate: "γ" CONDITION "(" expression ")"
first: FIRST CONDITION "(" expression ")"
project: "π" "[" INT ("," INT)* "]" "(" expression ")"
join: "[" joined "]"
multiway: "multiway" "[" joined "]"
joined: names ":" atom (("⋈" | BINDING | ANTI | LEFT) atom)+ WHERE?
names: LABEL ("," LABEL)*
atom: factor "(" names ")"
path: SEMANTICS "[" regex "]" SOURCES? pairs?
pairs: "∩" "<" expression ">"
?regex: sequence ("|" sequence)* -> alternation
?sequence: repeated ("·" repeated)* -> concat
?repeated: step REPEAT? -> repeat
step: BACK? (scan | "<" expression ">" | "(" regex ")")
SEMANTICS.2: "path" | "simple" | "trail" | "shortest" | "steps" | "over"
LABEL: /[a-z]\w*/
FIRST: /τp?/
CONDITION: /\[[^\]]+\]/
SOURCE: /@\w+(\/\d+)?/
SOURCES.2: /from (d|\[[^\]]+\])/
BINDING: "⋉"
ANTI: "▷"
LEFT: "⟕"
WHERE.2: /where [^\]]+/
REPEAT: "*" | "+" | "?"
BACK: "^"
%import common.INT
%ignore /\s+/
"""
_SIGNS = ("⋉", "▷", "⟕")
REPEATS = {"*": regex.star, "+": regex.plus, "?": regex.optional}


def parse(text: str) -> LogicalExpression:
    """Reads an expression.

    Raises:
        lark.UnexpectedInput: for a text that is not in the notation.
    """
    tree = _PARSER.parse(text)
    read = _Reader().transform(tree)
    assert isinstance(read, LogicalExpression)
    return read


class _Join(NamedTuple):
    """The parts of a join: bindings, output, residual and inputs, and its sign."""

    bindings: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    predicate: Predicate | None
    inputs: tuple[LogicalExpression, ...]
    sign: str


class _Steps:
    """A regular expression over expressions, whose symbols are numbered by first occurrence."""

    def __init__(self, tree: Regex, inputs: tuple[LogicalExpression, ...]) -> None:
        self.regex = tree
        self.inputs = inputs

    def mapped(self, change: Any) -> _Steps:
        """The same with the regex changed."""
        return _Steps(change(self.regex), self.inputs)

    @staticmethod
    def merged(parts: Iterable[_Steps], build: Any) -> _Steps:
        """Several parts as one, over the inputs of all, equal ones once."""
        inputs: list[LogicalExpression] = []
        built = []
        for part in parts:
            for own in part.inputs:
                if own not in inputs:
                    inputs.append(own)
            places = [inputs.index(own) for own in part.inputs]
            built.append(_renumbered(part.regex, places))
        return _Steps(build(built), tuple(inputs))


def _renumbered(tree: Regex, places: list[int]) -> Regex:
    return regex.substitute(tree, lambda s: Symbol(places[int(s.ref)], s.inverse))


class _Reader(Transformer[Token, Any]):
    """Builds the expression; a method for each rule of the grammar."""

    def scan(self, items: list[Token]) -> LogicalExpression:
        given = {item.type: str(item) for item in items}
        sql = given.get("CONDITION")
        source = given.get("SOURCE", "")[1:]
        stream, window = "s", WINDOW
        if source[:1].isdigit():
            window = Window(*map(int, source.split("/")))
        elif source and source != "stored":
            stream = source
        predicate = None if sql is None else Predicate(sql[1:-1])
        if source == "stored":
            return LogicalExpression(WScan("g", given["LABEL"], None, predicate))
        return LogicalExpression(WScan(stream, given["LABEL"], window, predicate))

    def scans(self, parts: list[LogicalExpression]) -> LogicalExpression:
        scans = [part.operator for part in parts]
        return LogicalExpression(WScanUnion(tuple(s for s in scans if isinstance(s, WScan))))

    def filter(self, items: list[Any]) -> LogicalExpression:
        condition, below = items
        return LogicalExpression(Filter(Predicate(condition[1:-1])), (below,))

    def aggregate(self, items: list[Any]) -> LogicalExpression:
        written_as, below = items
        by, calls, *marks = written_as[1:-1].split(" ;")
        keys = tuple(int(column[1:]) for column in by.split(", ") if column)
        found = tuple(_call(*of) for of in re.findall(r"(\w+)\((\w+|\*)(?:, (\w+))?\)", calls))
        if marks:
            return LogicalExpression(PartialAggregate(keys, found), (below,))
        output = tuple(range(len(keys) + len(found)))
        return LogicalExpression(Aggregate(keys, found, output, retracts=True), (below,))

    def first(self, items: list[Any]) -> LogicalExpression:
        sign, said, below = items
        limit, _, columns = said[1:-1].partition(" ;")
        order: list[tuple[int, Direction]] = []
        for column, *down in map(str.split, columns.split(",") if columns.strip() else []):
            order.append((int(column[1:]), "desc" if down else "asc"))
        rows, _, before = limit.partition("+")
        top = Top(tuple(order), int(rows), sign == "τp", int(before or 0))
        return LogicalExpression(top, (below,))

    def project(self, items: list[Any]) -> LogicalExpression:
        *columns, below = items
        return LogicalExpression(Project(tuple(map(int, columns))), (below,))

    def union(self, parts: list[LogicalExpression]) -> LogicalExpression:
        return LogicalExpression(Union(), tuple(parts))

    def names(self, names: list[Token]) -> list[str]:
        return list(map(str, names))

    def atom(self, items: list[Any]) -> tuple[LogicalExpression, list[str]]:
        expression, names = items
        return expression, names

    def joined(self, items: list[Any]) -> _Join:
        output, *atoms = items
        sign = next((str(item) for item in atoms if item in _SIGNS), "⋈")
        atoms = [item for item in atoms if item not in _SIGNS]
        where = str(atoms.pop()) if isinstance(atoms[-1], Token) else None
        number = {v: k for k, v in enumerate(dict.fromkeys(v for _, vs in atoms for v in vs))}
        bindings = tuple(tuple(number[v] for v in names) for _, names in atoms)
        predicate = None
        if where is not None:
            sql = re.sub(r"(?<!')\b[a-z]\w*\b(?!')", lambda m: _column(m[0], number), where[6:])
            predicate = Predicate(sql)
        inputs = tuple(expression for expression, _ in atoms)
        return _Join(bindings, tuple(number[v] for v in output), predicate, inputs, sign)

    def join(self, joins: list[_Join]) -> LogicalExpression:
        ((bindings, kept, predicate, inputs, sign),) = joins
        if sign == "▷":
            left, right = bindings
            assert kept == left
            return LogicalExpression(AntiJoin((left, right)), inputs)
        if sign == "⟕":
            left, right = bindings
            assert kept == LeftJoin((left, right)).output
            return LogicalExpression(LeftJoin((left, right)), inputs)
        if predicate is None:
            kind = BoundPattern if sign == "⋉" else Pattern
            return LogicalExpression(kind(bindings, kept), inputs)
        left, right = bindings
        return LogicalExpression(FilteredPattern((left, right), kept, predicate), inputs)

    def multiway(self, joins: list[_Join]) -> LogicalExpression:
        ((bindings, kept, predicate, inputs, _),) = joins
        pattern = MultiwayPattern(tuple(range(len(inputs))), bindings, kept, predicate)
        operator, used = pattern.canonical(tuple(map(inputs.index, inputs)))
        return LogicalExpression(operator, tuple([inputs[k] for k in used]))

    def step(self, items: list[Any]) -> _Steps:
        inner = items[-1]
        if isinstance(inner, LogicalExpression):
            inner = _Steps(Symbol(0), (inner,))
        assert isinstance(inner, _Steps)
        return inner.mapped(regex.inverse) if len(items) == 2 else inner

    def repeat(self, items: list[Any]) -> _Steps:
        step, *sign = items
        assert isinstance(step, _Steps)
        return step.mapped(REPEATS[sign[0]]) if sign else step

    def concat(self, parts: list[_Steps]) -> _Steps:
        return _Steps.merged(parts, regex.concat)

    def alternation(self, parts: list[_Steps]) -> _Steps:
        return _Steps.merged(parts, regex.alternation)

    def path(self, items: list[Any]) -> LogicalExpression:
        kind, steps, *rest = items
        sources = [item for item in rest if isinstance(item, Token)]
        of_pairs = [item for item in rest if not isinstance(item, Token)]
        if kind in SHOWN:
            values = SHOWN[kind]
            named = len(steps.inputs) if kind != "shortest" else 0
            labels = tuple(f"s{k}" for k in range(named))
            own = Predicate(sources[0][6:-1]) if sources else None
            return LogicalExpression(
                Shortest(steps.regex, values, labels, every=1, sources=own), steps.inputs
            )
        if kind == "trail":
            return LogicalExpression(
                Trail(steps.regex, tuple(range(len(steps.inputs)))), steps.inputs
            )
        semantics: VertexPaths = PathSemantics.ARBITRARY
        if kind == "simple":
            semantics = PathSemantics.SIMPLE
        if sources:
            condition = None if sources[0] == "from d" else Predicate(sources[0][6:-1])
            bound = BoundPath(steps.regex, semantics, condition, bool(of_pairs))
            return LogicalExpression(bound, (*steps.inputs, *of_pairs))
        return LogicalExpression(Path(steps.regex, semantics), steps.inputs)

    def pairs(self, items: list[LogicalExpression]) -> LogicalExpression:
        return items[0]


_PARSER = Lark(GRAMMAR, parser="lalr", maybe_placeholders=False)


def _call(function: str, column: str, by: str) -> AggregateCall:
    assert function in FUNCTIONS
    time = int(by[1:]) if by else None
    return AggregateCall(function, None if column == "*" else int(column[1:]), time)


def _calls(calls: Sequence[AggregateCall]) -> str:
    columns = (", ".join(f"c{column}" for column in call.columns) or "*" for call in calls)
    return ", ".join(f"{call.function}({read})" for call, read in zip(calls, columns, strict=True))


def _column(word: str, number: Mapping[str, int]) -> str:
    return f"c{number[word]}" if word in number else word


def written(expression: LogicalExpression) -> str:
    """An expression in the notation, from which :func:`parse` reads an equal one."""
    parts = [written(below) for below in expression.inputs]
    match expression.operator:
        case WScan() as scan:
            return _scan(scan)
        case WScanUnion(scans):
            return "{" + ", ".join(map(_scan, scans)) + "}"
        case Filter(predicate):
            return f"σ[{predicate.sql}]({parts[0]})"
        case Aggregate(keys, calls, output, retracts=True) if output == tuple(
            range(len(keys) + len(calls))
        ):
            said = _calls(calls)
            return f"γ[{', '.join(f'c{key}' for key in keys)} ; {said}]({parts[0]})"
        case Top(order, limit, partial, offset):
            by = ", ".join(f"c{column}{' desc' * (d == 'desc')}" for column, d in order)
            return f"τ{'p' * partial}[{limit}{f'+{offset}' if offset else ''} ; {by}]({parts[0]})"
        case PartialAggregate(keys, calls):
            said = _calls(calls)
            return f"γ[{', '.join(f'c{key}' for key in keys)} ; {said} ; partial]({parts[0]})"
        case Project(columns):
            return f"π[{', '.join(map(str, columns))}]({parts[0]})"
        case Union():
            right = expression.inputs[1].operator
            return f"{parts[0]} ∪ " + (f"({parts[1]})" if isinstance(right, Union) else parts[1])
        case Pattern(bindings, output):
            sign = " ⋉ " if isinstance(expression.operator, BoundPattern) else " ⋈ "
            return _join(bindings, output, expression.inputs, parts, "", sign)
        case AntiJoin(bindings):
            return _join(bindings, bindings[0], expression.inputs, parts, "", " ▷ ")
        case LeftJoin() as join:
            return _join(join.bindings, join.output, expression.inputs, parts, "", " ⟕ ")
        case FilteredPattern(bindings, output, predicate):
            return _join(bindings, output, expression.inputs, parts, _where(predicate))
        case BoundPath(tree, semantics, sources, pairs):
            below = expression.inputs[: len(parts) - pairs]
            path = written(LogicalExpression(Path(tree, semantics), below))
            bound = f"{path} from {f'[{sources.sql}]' if sources else 'd'}"
            return f"{bound} ∩ <{parts[-1]}>" if pairs else bound
        case MultiwayPattern(reads, bindings, output, predicate):
            below = tuple([expression.inputs[read] for read in reads])
            names = [parts[read] for read in reads]
            return "multiway" + _join(bindings, output, below, names, _where(predicate))
        case Path(tree, semantics):
            steps = [
                part if isinstance(below.operator, WScan) else f"<{part}>"
                for part, below in zip(parts, expression.inputs, strict=True)
            ]
            kind = "simple" if semantics is PathSemantics.SIMPLE else "path"
            return f"{kind}[{regex.text(tree, lambda ref: steps[int(ref)])}]"
        case Trail(tree):
            path = written(LogicalExpression(Path(tree), expression.inputs))
            return "trail" + path.removeprefix("path")
        case Shortest(tree, values, sources=sources):
            path = written(LogicalExpression(Path(tree), expression.inputs))
            bound = f" from [{sources.sql}]" if sources else ""
            (kind,) = (kind for kind, shown in SHOWN.items() if shown == values)
            return kind + path.removeprefix("path") + bound
        case other:
            return repr(other)


def _where(predicate: Predicate | None) -> str:
    if predicate is None:
        return ""
    return " where " + re.sub(r"\bc(\d+)\b", lambda m: _name(int(m[1])), predicate.sql)


def _name(variable: int) -> str:
    return "xyzuvw"[variable] if variable < 6 else f"v{variable}"


def _names(variables: Iterable[int]) -> str:
    return ", ".join(map(_name, variables))


def _join(
    bindings: tuple[tuple[int, ...], ...],
    output: tuple[int, ...],
    inputs: tuple[LogicalExpression, ...],
    parts: list[str],
    where: str,
    sign: str = " ⋈ ",
) -> str:
    atoms = []
    for binding, below, part in zip(bindings, inputs, parts, strict=True):
        enclosed = f"({part})" if isinstance(below.operator, Union) else part
        atoms.append(f"{enclosed}({_names(binding)})")
    return f"[{_names(output)} : {sign.join(atoms)}{where}]"


def _scan(scan: WScan) -> str:
    condition = f"[{scan.predicate.sql}]" if scan.predicate else ""
    if scan.window is None:
        return f"{scan.label}{condition}@stored"
    if scan.stream != "s":
        return f"{scan.label}{condition}@{scan.stream}"
    length = f"@{scan.window.range}/{scan.window.slide}"
    return f"{scan.label}{condition}{'' if scan.window == WINDOW else length}"
