"""Normal forms of relations: joins of parts, unions and paths.

The forms of :mod:`headrace.algebra.identity` are made here. Equal forms mean equal rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import permutations

from . import regex
from .digests import digest
from .labelling import Atom, canonical_atoms, canonical_labels
from .predicate import Predicate
from .regex import Regex, Symbol

MOST_PARTS = 16
"""The most parts of a join in normal form; a larger join is written as its own joins are."""
MOST_UNITED = 64
"""The most inputs of a union, and symbols of a path, that are taken into another one."""
MOST_OPTIONAL = 8
"""The most symbols of a path with options that is written as a union of paths without."""
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
    leaves: Mapping[str, Form] = field(default_factory=dict, compare=False)
    either: tuple[Form, ...] = field(default=(), compare=False)


Bound = tuple[Part, tuple[int, ...]]
"""A part with a variable for each of its columns."""


@dataclass(frozen=True, slots=True)
class Form:
    """A join of parts; ``columns`` are the variables of its columns."""

    parts: tuple[Bound, ...]
    columns: tuple[int, ...]


def filtered(form: Form, predicate: Predicate) -> Form:
    """The rows that satisfy a condition; of a union those of each input."""
    columns = tuple(range(len(form.columns)))
    part, variables = form.parts[0]
    if len(form.parts) > 1 or not part.either or len({*variables}) < len(variables):
        return join((columns,), columns, [form], predicate)
    place = [variables.index(c) for c in form.columns]
    inputs = [
        replace(each, columns=tuple([each.columns[k] for k in place])) for each in part.either
    ]
    return union([join((columns,), columns, [each], predicate) for each in inputs])


def of_part(part: Part, columns: tuple[int, ...]) -> Form:
    """A part alone; ``columns`` says which of its columns each column of the form is."""
    variables = tuple(range(1 + max(columns, default=-1)))
    return Form(((part, variables),), columns)


# -- joins ----------------------------------------------------------------------------------


def join(
    bindings: Sequence[tuple[int, ...]],
    output: Sequence[int],
    inputs: Sequence[Form],
    predicate: Predicate | None = None,
) -> Form:
    """The join of forms as one form, with a condition on its variables."""
    if sum(len(form.parts) for form in inputs) > MOST_PARTS:
        inputs = [of_part(*closed(form)) for form in inputs]
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
    return Form(tuple(different), tuple([leader[v] for v in output]))


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


def closed(form: Form) -> tuple[Part, tuple[int, ...]]:
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


def ordered_key(form: Form) -> str:
    """The key of a form with its columns in their order."""
    part, order = closed(form)
    return f"{part.key}{list(order)}"


def _swapped(form: Form) -> Form:
    return replace(form, columns=form.columns[::-1])


# -- unions ---------------------------------------------------------------------------------


def union(inputs: Sequence[Form]) -> Form:
    """The union of forms, in the order of columns with the least text, up to a few columns."""
    flat: dict[str, Form] = {}
    for form in inputs:
        part, order = closed(form)
        taken_in = part.either if len(part.either) <= MOST_UNITED else ()
        for each in taken_in:
            moved = replace(each, columns=tuple([each.columns[c] for c in order]))
            flat.setdefault(ordered_key(moved), moved)
        if not taken_in:
            flat.setdefault(ordered_key(form), form)
    if len(flat) == 1:
        return next(iter(flat.values()))
    width = len(inputs[0].columns)
    columns = tuple(range(width))
    orders = permutations(columns) if width <= MOST_PERMUTED else [columns]

    def ordered(order: tuple[int, ...]) -> tuple[list[str], tuple[int, ...], list[Form]]:
        moved = [replace(f, columns=tuple([f.columns[c] for c in order])) for f in flat.values()]
        keyed = sorted(zip(map(ordered_key, moved), moved, strict=True), key=lambda pair: pair[0])
        return [key for key, _ in keyed], order, [form for _, form in keyed]

    keys, order, forms = min(map(ordered, orders), key=lambda union: union[:2])
    part = Part(digest("UNION", *keys), either=tuple(forms))
    return of_part(part, tuple([order.index(c) for c in columns]))


# -- paths ----------------------------------------------------------------------------------


def path(expression: Regex, inputs: Sequence[Form]) -> Form:
    """A path over forms, with the paths and chains of edges among its inputs put in."""
    leaves: dict[str, Form] = {}

    def own(symbol: Symbol) -> Regex:
        assert isinstance(symbol.ref, int)
        below = inputs[symbol.ref]
        path = _as_regex(below, leaves)
        if len(list(regex.symbols(path))) > MOST_UNITED:
            path = _as_symbol(below, leaves)
        return regex.inverse(path) if symbol.inverse else path

    return _of_regex(regex.nonempty(regex.substitute(expression, own)), leaves)


def _as_regex(form: Form, leaves: dict[str, Form]) -> Regex:
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


def _as_symbol(form: Form, leaves: dict[str, Form]) -> Symbol:
    part, order = closed(form)
    if order not in ((0, 1), (1, 0)):  # both columns are one
        key = ordered_key(form)
        leaves[key] = form
        return Symbol(key)
    backwards = order == (1, 0)
    leaves[part.key] = _swapped(form) if backwards else form
    return Symbol(part.key, backwards)


def _part_as_regex(part: Part, leaves: dict[str, Form]) -> Regex:
    if part.regex is not None:
        leaves.update(part.leaves)
        return part.regex
    if part.either:
        return regex.alternation([_as_regex(form, leaves) for form in part.either])
    leaves[part.key] = of_part(part, (0, 1))
    return Symbol(part.key)


def _chain(form: Form) -> list[tuple[Part, bool]] | None:
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


def _of_regex(path: Regex, leaves: Mapping[str, Form]) -> Form:
    """A path in normal form: a leaf, a union, a join of paths, or a part."""
    match path:
        case Symbol(str(ref), backwards):
            return _swapped(leaves[ref]) if backwards else leaves[ref]
        case regex.Alternation(parts):
            return union([_of_regex(regex.nonempty(part), leaves) for part in parts])
        case regex.Concat(parts) if not any(map(regex.nullable, parts)):
            steps = [(k, k + 1) for k in range(len(parts))]
            return join(steps, (0, len(parts)), [_of_regex(part, leaves) for part in parts])
        case regex.Concat(parts) if (words := _without_options(parts)) is not None:
            return union([_of_regex(word, leaves) for word in words])
        case _:
            texts = [regex.text(one) for one in (path, regex.inverse(path))]
            backwards = texts[1] < texts[0]
            run = regex.inverse(path) if backwards else path
            taken_in = not regex.nullable(run)  # no PATH reports the empty word
            own = {str(ref): leaves[str(ref)] for ref in regex.refs(run)}
            part = Part(digest("PATH", min(texts)), regex=run if taken_in else None, leaves=own)
            return of_part(part, (1, 0) if backwards else (0, 1))


def _without_options(parts: Sequence[Regex]) -> list[Regex] | None:
    """A concatenation as alternatives whose parts accept no empty word; None if there are many.

    ``a·b*`` is ``a | a·b+``; the alternative of no part is left out, as no PATH reports it. Options
    within options, as in ``a·(b·(c·d?)?)?``, have alternatives for each, of as many parts.
    """
    if sum(map(regex.nullable, parts)) > MOST_PERMUTED:
        return None
    if sum(1 for part in parts for _ in regex.symbols(part)) > MOST_OPTIONAL:
        return None
    words: list[list[Regex]] = [[]]
    for part in parts:
        filled = regex.nonempty(part)
        if regex.nullable(filled):
            return None
        words = [*([*w, filled] for w in words), *(words if regex.nullable(part) else [])]
    return [regex.concat(word) for word in words if word]
