"""Logical expressions in one line of text, for the cases of rules.

* ``a``: the scan of label ``a`` of stream ``s`` under the window 6, slide 2;
  ``a['x' = c0]`` selects edges; ``a@20`` and ``a@20/5`` have another window (range, slide),
  ``a@t`` another stream, ``a@stored`` is of the stored graph ``g``;
* ``{a, b}``: one scan of several labels;
* ``σ[c0 = c1](E)``, ``π[1, 0](E)``, ``E ∪ F``: filter, projection, union;
* ``[x, z : E(x, y) ⋈ F(y, z)]``: a join, by variables of the inputs' columns; before the colon
  those of the result. ``where x < z`` at the end is a residual condition;
* ``multiway[x, z : E(x, y) ⋈ F(y, z) ⋈ ..]``: the same of three or more inputs at once;
* ``path[a·b*]``, ``simple[a+]``: any paths and simple paths along a regular expression of ``·``,
  ``|``, ``*``, ``+``, ``?`` and ``^a``; ``<E>`` is an expression in place of a label;
* ``path[a+] from [c0 = 'x']``: a path whose sources satisfy a condition; ``path[<π[0, 0](a)>·b+]
  from d``, one whose sources are those of its first step, and ``⋉`` in place of ``⋈`` the join with
  the relation that binds a path.

Variables are numbered by their first occurrence, inputs of a path too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from lark import Lark, Token, Transformer

from headrace.algebra import regex
from headrace.algebra.logical import (
    BoundPath,
    BoundPattern,
    Filter,
    FilteredPattern,
    LogicalExpression,
    MultiwayPattern,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Union,
    WScan,
    WScanUnion,
)
from headrace.algebra.predicate import Predicate
from headrace.algebra.regex import Regex, Symbol
from headrace.algebra.window import Window

WINDOW = Window(6, 2)

GRAMMAR = r"""
?start: expression
?expression: factor | expression "∪" factor -> union
?factor: scan | scans | filter | project | join | multiway | path | "(" expression ")"
scan: LABEL CONDITION? SOURCE?
scans: "{" scan ("," scan)+ "}"
filter: "σ" CONDITION "(" expression ")"
project: "π" "[" INT ("," INT)* "]" "(" expression ")"
join: "[" joined "]"
multiway: "multiway" "[" joined "]"
joined: names ":" atom (("⋈" | BINDING) atom)+ WHERE?
names: LABEL ("," LABEL)*
atom: factor "(" names ")"
path: SEMANTICS "[" regex "]" SOURCES?
?regex: sequence ("|" sequence)* -> alternation
?sequence: repeated ("·" repeated)* -> concat
?repeated: step REPEAT? -> repeat
step: BACK? (scan | "<" expression ">" | "(" regex ")")
SEMANTICS.2: "path" | "simple"
LABEL: /[a-z]\w*/
CONDITION: /\[[^\]]+\]/
SOURCE: /@\w+(\/\d+)?/
SOURCES.2: /from (d|\[[^\]]+\])/
BINDING: "⋉"
WHERE.2: /where [^\]]+/
REPEAT: "*" | "+" | "?"
BACK: "^"
%import common.INT
%ignore /\s+/
"""
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
    """The parts of a join: bindings, output, residual and inputs, and whether one input binds the
    other."""

    bindings: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    predicate: Predicate | None
    inputs: tuple[LogicalExpression, ...]
    binding: bool


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
        binding = any(item == "⋉" for item in atoms)
        atoms = [item for item in atoms if item != "⋉"]
        where = str(atoms.pop()) if isinstance(atoms[-1], Token) else None
        number = {v: k for k, v in enumerate(dict.fromkeys(v for _, vs in atoms for v in vs))}
        bindings = tuple(tuple(number[v] for v in names) for _, names in atoms)
        predicate = None
        if where is not None:
            sql = re.sub(r"(?<!')\b[a-z]\w*\b(?!')", lambda m: _column(m[0], number), where[6:])
            predicate = Predicate(sql)
        inputs = tuple(expression for expression, _ in atoms)
        return _Join(bindings, tuple(number[v] for v in output), predicate, inputs, binding)

    def join(self, joins: list[_Join]) -> LogicalExpression:
        ((bindings, kept, predicate, inputs, binding),) = joins
        if predicate is None:
            kind = BoundPattern if binding else Pattern
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
        kind, steps, *sources = items
        semantics = PathSemantics.SIMPLE if kind == "simple" else PathSemantics.ARBITRARY
        if sources:
            condition = None if sources[0] == "from d" else Predicate(sources[0][6:-1])
            return LogicalExpression(BoundPath(steps.regex, semantics, condition), steps.inputs)
        return LogicalExpression(Path(steps.regex, semantics), steps.inputs)


_PARSER = Lark(GRAMMAR, parser="lalr", maybe_placeholders=False)


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
        case Project(columns):
            return f"π[{', '.join(map(str, columns))}]({parts[0]})"
        case Union():
            right = expression.inputs[1].operator
            return f"{parts[0]} ∪ " + (f"({parts[1]})" if isinstance(right, Union) else parts[1])
        case Pattern(bindings, output):
            sign = " ⋉ " if isinstance(expression.operator, BoundPattern) else " ⋈ "
            return _join(bindings, output, expression.inputs, parts, "", sign)
        case FilteredPattern(bindings, output, predicate):
            return _join(bindings, output, expression.inputs, parts, _where(predicate))
        case BoundPath(tree, semantics, sources):
            path = replace(expression, operator=Path(tree, semantics))
            return f"{written(path)} from {f'[{sources.sql}]' if sources else 'd'}"
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
