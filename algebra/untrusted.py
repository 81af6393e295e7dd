"""What a plan document may hold, whoever wrote it.

A plan is a file that changes hands, so nothing about it is believed. Here stands all that can be
said of it without running anything: the JSON, sizes, numbers, names, windows, automata. What
needs the widths and places of rows is said where they are known
(:mod:`headrace.executor.checking`), and what a predicate may hold in
:mod:`headrace.algebra.predicate`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from . import predicate
from .automaton import MOST_STATES
from .physical import (
    AutomatonPath,
    EmptyRelation,
    Exchange,
    FilterRows,
    HashJoin,
    ProjectColumns,
    WindowScan,
    WindowScanUnion,
    WitnessPaths,
)
from .window import LONGEST_WINDOW

if TYPE_CHECKING:
    from .plan import PhysicalPlan, PlanNode

LONGEST_DOCUMENT: Final = 50_000_000
"""Characters of a document."""
DEEPEST_DOCUMENT: Final = 16
"""How deep its lists and objects nest."""
LONGEST_STRING: Final = predicate.LONGEST
"""Characters of a string in it."""
MOST_NODES: Final = 30_000
MOST_OPERATORS: Final = 100_000
"""Nodes times partitions: each partition has an operator for each node."""
MOST_INPUTS: Final = 1_000
"""Inputs of a node."""
WIDEST: Final = 1_000
"""Columns of a node, and parts of a list of columns, variables, labels or properties."""
MOST_TRANSITIONS: Final = 100_000
"""Transitions of an automaton, which has at most ``MOST_STATES`` and a start."""
MOST_VARIABLES: Final = 100_000
"""Numbers of variables in a join."""

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class DocumentError(ValueError):
    """A document that is refused; the message says where and why."""


# -- the text -------------------------------------------------------------------------------


def parsed(text: str) -> object:
    """The value of a JSON text.

    Raises:
        DocumentError: if it is no JSON (RFC 8259), too long or too deep, has a key twice, or a
            number that is none of 64 bits.
    """
    if len(text) > LONGEST_DOCUMENT:
        raise DocumentError(f"it has more than {LONGEST_DOCUMENT:,} characters")
    try:
        return json.loads(
            text,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_no_number,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        raise DocumentError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise DocumentError(_TOO_DEEP) from error


def _integer(text: str) -> int:
    value = int(text) if len(text) <= 20 else _LARGEST + 1
    if not _SMALLEST <= value <= _LARGEST:
        raise DocumentError(f"{text[:24]}... is no integer of 64 bits")
    return value


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise DocumentError(f"{text[:24]} is no number of 64 bits")
    return value


def _no_number(text: str) -> float:
    raise DocumentError(f"{text} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = _repeated(key for key, _ in pairs)
        raise DocumentError(f"the key {twice!r} stands twice in one object")
    return found


_TOO_DEEP = f"its lists and objects nest more than {DEEPEST_DOCUMENT} deep"


def refuse_values(document: object) -> None:
    """Looks at every value of a document, before anything else does.

    Raises:
        DocumentError: if it nests too deep, or holds a string that is too long or no text, a
            number beyond 64 bits, or what JSON does not have.
    """
    pending: list[tuple[object, int]] = [(document, 0)]
    while pending:
        value, depth = pending.pop()
        if depth > DEEPEST_DOCUMENT:
            raise DocumentError(_TOO_DEEP)
        match value:
            case bool() | None:
                pass
            case str():
                _refuse_string(value)
            case int():
                if not _SMALLEST <= value <= _LARGEST:
                    raise DocumentError("it holds an integer beyond 64 bits")
            case float():
                if not math.isfinite(value):
                    raise DocumentError(f"it holds {value}, which is not JSON")
            case dict():
                pending.extend((part, depth + 1) for pair in value.items() for part in pair)
            case list() | tuple():
                pending.extend((part, depth + 1) for part in value)
            case _:
                raise DocumentError(f"it holds a {type(value).__name__}, which is not JSON")


def _refuse_string(value: str) -> None:
    if len(value) > LONGEST_STRING:
        raise DocumentError(f"it holds a string of more than {LONGEST_STRING:,} characters")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise DocumentError(f"it holds {value[:40]!r}, which is no Unicode text") from error


# -- the plan -------------------------------------------------------------------------------


def refuse_plan(plan: PhysicalPlan) -> None:
    """Looks at everything in a plan that its types do not say.

    Raises:
        DocumentError: with the node.
    """
    _most(len(plan.nodes), MOST_NODES, "nodes")
    _most(len(plan.nodes) * plan.parallelism, MOST_OPERATORS, "nodes times partitions")
    _refuse_unneeded(plan)
    _refuse_names(plan)
    for node in plan.nodes:
        try:
            _most(len(node.inputs), MOST_INPUTS, "inputs")
            _most(len(node.columns), WIDEST, "columns")
            _refuse_operator(node, plan)
        except ValueError as error:
            raise DocumentError(f"node {node.id} ({node.op}): {error}") from error


def _refuse_unneeded(plan: PhysicalPlan) -> None:
    needed = {plan.root}
    for node in reversed(plan.nodes):
        if node.id not in needed:
            raise DocumentError(f"node {node.id} ({node.op}) is not needed for the root")
        needed.update(node.inputs)


def _refuse_names(plan: PhysicalPlan) -> None:
    _distinct([stream.name for stream in plan.streams], "stream")
    for stream in plan.streams:
        _distinct(stream.labels, f"label of {stream.name[:80]!r}")


def _refuse_operator(node: PlanNode, plan: PhysicalPlan) -> None:
    match node.operator:
        case WindowScan() | WindowScanUnion() as scan:
            if node.inputs:
                raise ValueError("it has no input")
            _refuse_scan(scan, plan)
        case FilterRows(predicate=sql):
            _ = predicate.checked(sql)
        case ProjectColumns(columns=columns) | Exchange(columns=columns):
            _most(len(columns), WIDEST, "columns")
        case HashJoin(bindings=bindings, output=output, variables=names, residual=residual):
            if residual is not None:
                _ = predicate.checked(residual)
            for listed in (*bindings, output, names):
                _most(len(listed), WIDEST, "columns")
            _between([v for binding in bindings for v in binding], 0, MOST_VARIABLES, "a variable")
        case AutomatonPath() as path:
            _refuse_path(path, len(node.inputs))
        case WitnessPaths() as witness:
            _refuse_path(witness, len(node.inputs) - 1)
            for listed in (witness.keys, witness.output, witness.labels):
                _most(len(listed), WIDEST, "columns or labels")
        case EmptyRelation(width=width):
            _between([width], 0, WIDEST + 1, "the width")
        case _:
            pass


def _refuse_scan(scan: WindowScan | WindowScanUnion, plan: PhysicalPlan) -> None:
    if not scan.scans:
        raise ValueError("it reads no label")
    _most(len(scan.scans), WIDEST, "labels")
    _most(len(scan.properties), WIDEST, "properties")
    length, slide = scan.range, scan.slide
    if length is not None and slide is not None and not 0 < slide <= length <= LONGEST_WINDOW:
        raise ValueError(
            f"a window needs 0 < slide <= range <= {LONGEST_WINDOW}, got range {length}, "
            f"slide {slide}"
        )
    labels = {stream.name: stream.labels for stream in plan.streams}
    if scan.stream not in labels:
        raise ValueError(f"the plan has no stream {scan.stream[:80]!r}")
    for each in scan.scans:
        if each.label not in labels[scan.stream]:
            raise ValueError(f"the stream {scan.stream[:80]!r} has no label {each.label[:80]!r}")
        if each.predicate is not None:
            _ = predicate.checked(each.predicate)


def _refuse_path(path: AutomatonPath | WitnessPaths, inputs: int) -> None:
    _between([path.states], 1, MOST_STATES + 2, "the number of states")
    _most(len(path.transitions), MOST_TRANSITIONS, "transitions")
    _between([i for _, i, _, _ in path.transitions], 0, inputs, "the input of a transition")
    _between([q for q, *_ in path.transitions], 0, path.states, "a state")
    _between([q for *_, q in path.transitions], 1, path.states, "the state that one leads to")
    _between(path.accepting, 1, path.states, "an accepting state")
    _distinct(path.accepting, "accepting state")
    _distinct([step[:3] for step in path.transitions], "transition of a state, input and direction")
    if inputs < 1:
        raise ValueError("a path has at least one input")


def _most(number: int, most: int, what: str) -> None:
    if number > most:
        raise DocumentError(f"it has {number:,} {what}, where {most:,} are the most")


def _between(values: Iterable[int], least: int, end: int, what: str) -> None:
    for value in values:
        if not least <= value < end:
            raise ValueError(f"{what} is {value}, and has to be from {least} to {end - 1}")


def _distinct(values: Sequence[Hashable], what: str) -> None:
    if len(set(values)) < len(values):
        raise DocumentError(f"the {what} {_repeated(values)!r} stands there twice")


def _repeated(values: Iterable[Hashable]) -> str:
    """The first value that stands there more than once, shortened; one does."""
    return str(next(value for value, times in Counter(values).items() if times > 1))[:80]
