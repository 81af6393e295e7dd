"""The identity of the rows of a logical expression: equal in all processes, queries and plans.

The identity is a digest of a normal form. Joins below joins are one join of *parts*, in an order
and with numbers of variables that do not depend on how the query was written; conditions and
concatenations of paths are parts of the join too. Unions below unions are one union, and a path
over paths is one path, where that gives the same rows. The identity leaves out the order of the
columns. Any other operator stands as its text over the identities of its inputs, so an operator
that this module does not know has an identity too.

Equal identities mean equal rows. Equal rows may have different identities, where only a search
can find that they are equal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import permutations
from typing import Any

from . import regex
from .digests import digest
from .labelling import Atom, canonical_atoms, canonical_labels
from .logical import (
    Filter,
    FilteredPattern,
    LogicalOperator,
    Path,
    PathSemantics,
    Pattern,
    Project,
    Union,
    WScan,
    WScanUnion,
)
from .predicate import Predicate
from .regex import Regex, Symbol

MOST_PARTS = 16
"""The most parts of a join in normal form; a larger join is written as its own joins are."""
MOST_UNITED = 64
"""The most inputs of a union, and symbols of a path, that are taken into another one."""
MOST_PERMUTED = 3
"""The most columns of a condition, or of a union, that are tried in every order."""


@dataclass(frozen=True, slots=True)
class Part:
    """A relation in normal form that joins do not take apart.

    Attributes:
        key: determines its rows, with an order of its columns.
        condition: whether it is a condition on variables.
        regex: the regex of a path, whose symbols are keys of ``leaves``; None for other parts, and
            for a path that no other path takes in.
        leaves: the relations of two columns that the path runs over.
        either: the inputs of a union.
    """

    key: str
    condition: bool = False
    regex: Regex | None = field(default=None, compare=False)
    leaves: Mapping[str, _Form] = field(default_factory=dict, compare=False)
    either: tuple[_Form, ...] = field(default=(), compare=False)


Bound = tuple[Part, tuple[int, ...]]
"""A part with a variable for each of its columns."""


@dataclass(frozen=True, slots=True)
class _Form:
    """A join of parts; ``columns`` are the variables of its columns."""

    parts: tuple[Bound, ...]
    columns: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Relation:
    """The rows of an operator over relations.

    The identity is computed when it is asked for.
    """

    operator: LogicalOperator
    inputs: tuple[Relation, ...] = ()

    @cached_property
    def identity(self) -> str:
        """The digest of the rows, without the order of their columns."""
        for relation in _below(self, "_form"):
            _ = relation._form
        return _closed(self._form)[0].key

    @cached_property
    def scans(self) -> frozenset[tuple[str, str, int | None, int | None]]:
        """Stream, label, range and slide of each scan below; None for those of a stored graph."""
        for relation in _below(self, "scans"):
            _ = relation.scans
        if isinstance(self.operator, WScan | WScanUnion):
            return frozenset(
                (scan.stream, scan.label, *((w.range, w.slide) if w is not None else (None, None)))
                for scan in self.operator.scans
                for w in [scan.window]
            )
        return frozenset().union(*(below.scans for below in self.inputs))

    @cached_property
    def _form(self) -> _Form:
        return _form(self.operator, [below._form for below in self.inputs])


def _below(relation: Relation, name: str) -> list[Relation]:
    """The relations below one without a computed property, each after its inputs.

    Expressions may be deeper than Python's recursion limit.
    """
    ordered: list[Relation] = []
    pending = list(relation.inputs)
    begun: set[int] = set()
    while pending:
        top = pending[-1]
        missing = [i for i in top.inputs if name not in vars(i) and id(i) not in begun]
        if name in vars(top) or id(top) in begun:
            pending.pop()
            continue
        if missing:
            pending += missing
            continue
        begun.add(id(top))
        ordered.append(pending.pop())
    return ordered


def _form(operator: LogicalOperator, inputs: list[_Form]) -> _Form:
    match operator:
        case WScan():
            return _scan(operator)
        case WScanUnion():
            return _union([_scan(scan) for scan in operator.scans])
        case Filter():
            return _filtered(inputs[0], operator.predicate)
        case Project():
            width = len(inputs[0].columns)
            return _join((tuple(range(width)),), operator.columns, inputs)
        case Pattern():
            return _join(operator.bindings, operator.output, inputs)
        case FilteredPattern():
            return _join(operator.bindings, operator.output, inputs, operator.predicate)
        case Union():
            return _union(inputs)
        case Path(semantics=PathSemantics.ARBITRARY):
            return _path(operator.regex, inputs)
        case _:
            return _other(operator, inputs)


def _scan(scan: WScan) -> _Form:
    window = scan.window
    text = [scan.stream, scan.label, window and [window.range, window.slide], scan.properties]
    columns = tuple(range(scan.width(())))
    form = _of_part(Part(digest("WSCAN", json.dumps(text), str(scan.deletions))), columns)
    return form if scan.predicate is None else _filtered(form, scan.predicate)


def _filtered(form: _Form, predicate: Predicate) -> _Form:
    """The rows that satisfy a condition; of a union those of each input."""
    columns = tuple(range(len(form.columns)))
    part, variables = form.parts[0]
    if len(form.parts) > 1 or not part.either or len({*variables}) < len(variables):
        return _join((columns,), columns, [form], predicate)
    place = [variables.index(c) for c in form.columns]
    inputs = [
        replace(each, columns=tuple([each.columns[k] for k in place])) for each in part.either
    ]
    return _union([_join((columns,), columns, [each], predicate) for each in inputs])


def _other(operator: LogicalOperator, inputs: Sequence[_Form]) -> _Form:
    """An operator by its own text, over inputs with their columns in order."""
    dataclass_fields: Any = operator
    arguments = [
        f"{f.name}={getattr(operator, f.name)!r}" for f in fields(dataclass_fields) if f.compare
    ]
    below = [_ordered_key(form) for form in inputs]
    width = operator.width([len(form.columns) for form in inputs])
    key = digest(operator.op, type(operator).__name__, *arguments, *below)
    return _of_part(Part(key), tuple(range(width)))


def _of_part(part: Part, columns: tuple[int, ...]) -> _Form:
    """A part alone; ``columns`` says which of its columns each column of the form is."""
    variables = tuple(range(1 + max(columns, default=-1)))
    return _Form(((part, variables),), columns)


# -- joins ----------------------------------------------------------------------------------


def _join(
    bindings: Sequence[tuple[int, ...]],
    output: Sequence[int],
    inputs: Sequence[_Form],
    predicate: Predicate | None = None,
) -> _Form:
    """The join of forms as one form, with a condition on its variables."""
    if sum(len(form.parts) for form in inputs) > MOST_PARTS:
        inputs = [_of_part(*_closed(form)) for form in inputs]
    count = 1 + max((v for binding in bindings for v in binding), default=-1)
    leader = list(range(count))
    parts: list[Bound] = []
    for binding, form in zip(bindings, inputs, strict=True):
        place: dict[int, int] = {}
        for inner, variable in zip(form.columns, binding, strict=True):
            if place.setdefault(inner, variable) != variable:
                # The input has a column twice: two variables are one.
                one, other = leader[place[inner]], leader[variable]
                leader = [min(one, other) if v in (one, other) else v for v in leader]
        for part, variables in form.parts:
            for inner in variables:
                if inner not in place:
                    place[inner] = len(leader)
                    leader.append(len(leader))
            parts.append((part, tuple([place[v] for v in variables])))
    if predicate is not None:
        for conjunct in predicate.conjuncts:
            parts += _conditions(conjunct)
    different = dict.fromkeys((part, tuple([leader[v] for v in vs])) for part, vs in parts)
    return _Form(tuple(different), tuple([leader[v] for v in output]))


def _conditions(condition: Predicate) -> list[Bound]:
    """A condition as parts: its least text over any order of its columns.

    A condition that has its least text in several orders stands once for each of them.
    """
    columns = tuple(sorted(condition.columns))
    if not columns:
        return [(Part(condition.normal.sql, condition=True), ())]
    orders = list(permutations(columns)) if len(columns) <= MOST_PERMUTED else [columns]
    texts = [_renumbered(condition.sql, order) for order in orders]
    least = min(texts)
    part = Part(least, condition=True)
    return [(part, order) for order, text in zip(orders, texts, strict=True) if text == least]


@lru_cache(maxsize=4096)
def _renumbered(sql: str, order: tuple[int, ...]) -> str:
    return Predicate(sql).renumbered({c: k for k, c in enumerate(order)}).normal.sql


def _closed(form: _Form) -> tuple[Part, tuple[int, ...]]:
    """A form as one part with the columns that the form keeps, each once.

    Returns:
        The part, and for each column of the form the column of the part.
    """
    part, variables = form.parts[0]
    plain = len(form.parts) == 1 and len({*variables}) == len(variables)
    if plain and {*form.columns} == {*variables}:
        return part, tuple([variables.index(c) for c in form.columns])
    rank = {key: k for k, key in enumerate(sorted({p.key for p, _ in form.parts}))}
    atoms: tuple[Atom, ...] = tuple([(rank[p.key], vs) for p, vs in form.parts])
    labels = canonical_labels(atoms, tuple(sorted({*form.columns})))
    kept = sorted({labels[c] for c in form.columns})
    text = json.dumps([canonical_atoms(atoms, labels), kept])
    return Part(digest("PATTERN", text, *rank)), tuple(
        [kept.index(labels[c]) for c in form.columns]
    )


def _ordered_key(form: _Form) -> str:
    part, order = _closed(form)
    return f"{part.key}{list(order)}"


def _swapped(form: _Form) -> _Form:
    return replace(form, columns=form.columns[::-1])


# -- unions ---------------------------------------------------------------------------------


def _union(inputs: Sequence[_Form]) -> _Form:
    """The union of forms, in the order of columns with the least text, up to a few columns."""
    flat: dict[str, _Form] = {}
    for form in inputs:
        part, order = _closed(form)
        taken_in = part.either if len(part.either) <= MOST_UNITED else ()
        for each in taken_in:
            moved = replace(each, columns=tuple([each.columns[c] for c in order]))
            flat.setdefault(_ordered_key(moved), moved)
        if not taken_in:
            flat.setdefault(_ordered_key(form), form)
    if len(flat) == 1:
        return next(iter(flat.values()))
    width = len(inputs[0].columns)
    columns = tuple(range(width))
    orders = permutations(columns) if width <= MOST_PERMUTED else [columns]

    def ordered(order: tuple[int, ...]) -> tuple[list[str], tuple[int, ...], list[_Form]]:
        moved = [replace(f, columns=tuple([f.columns[c] for c in order])) for f in flat.values()]
        keyed = sorted(zip(map(_ordered_key, moved), moved, strict=True), key=lambda pair: pair[0])
        return [key for key, _ in keyed], order, [form for _, form in keyed]

    keys, order, forms = min(map(ordered, orders), key=lambda union: union[:2])
    part = Part(digest("UNION", *keys), either=tuple(forms))
    return _of_part(part, tuple([order.index(c) for c in columns]))


# -- paths ----------------------------------------------------------------------------------


def _path(expression: Regex, inputs: Sequence[_Form]) -> _Form:
    """A path over forms, with the paths and chains of edges among its inputs put in."""
    leaves: dict[str, _Form] = {}

    def own(symbol: Symbol) -> Regex:
        assert isinstance(symbol.ref, int)
        below = inputs[symbol.ref]
        path = _as_regex(below, leaves)
        if len(list(regex.symbols(path))) > MOST_UNITED:
            path = _as_symbol(below, leaves)
        return regex.inverse(path) if symbol.inverse else path

    return _of_regex(regex.nonempty(regex.substitute(expression, own)), leaves)


def _as_regex(form: _Form, leaves: dict[str, _Form]) -> Regex:
    """A relation of two columns as a regex; adds the relations of its symbols to ``leaves``."""
    chain = _chain(form)
    if chain is not None:
        return regex.concat(
            [
                regex.inverse(path) if backwards else path
                for part, backwards in chain
                for path in [_part_as_regex(part, leaves)]
            ]
        )
    return _as_symbol(form, leaves)


def _as_symbol(form: _Form, leaves: dict[str, _Form]) -> Symbol:
    part, order = _closed(form)
    if order not in ((0, 1), (1, 0)):  # both columns are one
        key = _ordered_key(form)
        leaves[key] = form
        return Symbol(key)
    backwards = order == (1, 0)
    leaves[part.key] = _swapped(form) if backwards else form
    return Symbol(part.key, backwards)


def _part_as_regex(part: Part, leaves: dict[str, _Form]) -> Regex:
    if part.regex is not None:
        leaves.update(part.leaves)
        return part.regex
    if part.either:
        return regex.alternation([_as_regex(form, leaves) for form in part.either])
    leaves[part.key] = _of_part(part, (0, 1))
    return Symbol(part.key)


def _chain(form: _Form) -> list[tuple[Part, bool]] | None:
    """The parts of a chain from the first column to the second; None for another form.

    Each part comes with whether the chain runs through it backwards.
    """
    if len(form.columns) != 2 or form.columns[0] == form.columns[1]:
        return None
    steps: dict[int, list[tuple[int, int, bool]]] = {}
    for number, (part, variables) in enumerate(form.parts):
        if part.condition or len(variables) != 2:
            return None
        for backwards, (one, other) in enumerate((variables, variables[::-1])):
            steps.setdefault(one, []).append((number, other, bool(backwards)))
    at, end = form.columns
    uses = sum(map(len, steps.values()))
    if len(steps) != len(form.parts) + 1 or uses != 2 * len(form.parts):
        return None
    chain: list[tuple[Part, bool]] = []
    taken: set[int] = set()
    while at != end:
        further = [step for step in steps[at] if step[0] not in taken]
        if len(further) != 1:
            return None
        number, at, backwards = further[0]
        taken.add(number)
        chain.append((form.parts[number][0], backwards))
    return chain if len(chain) == len(form.parts) else None


def _of_regex(path: Regex, leaves: Mapping[str, _Form]) -> _Form:
    """A path in normal form: a leaf, a union, a join of paths, or a part."""
    match path:
        case Symbol(str(ref), backwards):
            return _swapped(leaves[ref]) if backwards else leaves[ref]
        case regex.Alternation(parts):
            return _union([_of_regex(regex.nonempty(part), leaves) for part in parts])
        case regex.Concat(parts) if not any(map(regex.nullable, parts)):
            steps = [(k, k + 1) for k in range(len(parts))]
            return _join(steps, (0, len(parts)), [_of_regex(part, leaves) for part in parts])
        case regex.Concat(parts) if (words := _without_options(parts)) is not None:
            return _union([_of_regex(word, leaves) for word in words])
        case _:
            texts = [regex.text(one) for one in (path, regex.inverse(path))]
            backwards = texts[1] < texts[0]
            run = regex.inverse(path) if backwards else path
            taken_in = not regex.nullable(run)  # no PATH reports the empty word
            own = {str(ref): leaves[str(ref)] for ref in regex.refs(run)}
            part = Part(digest("PATH", min(texts)), regex=run if taken_in else None, leaves=own)
            return _of_part(part, (1, 0) if backwards else (0, 1))


def _without_options(parts: Sequence[Regex]) -> list[Regex] | None:
    """A concatenation as alternatives whose parts accept no empty word; None if there are many.

    ``a·b*`` is ``a | a·b+``; the alternative of no part is left out, as no PATH reports it.
    """
    if sum(map(regex.nullable, parts)) > MOST_PERMUTED:
        return None
    words: list[list[Regex]] = [[]]
    for part in parts:
        filled = regex.nonempty(part)
        if regex.nullable(filled):
            return None
        words = [*([*w, filled] for w in words), *(words if regex.nullable(part) else [])]
    return [regex.concat(word) for word in words if word]
