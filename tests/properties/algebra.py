"""Evaluates logical expressions and plans on a snapshot, without the executor.

A failure here is the fault of a rule and not of an operator. The evaluation is quick enough for all
plans of a memo.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp

from headrace.algebra import logical, physical, regex, scalar
from headrace.algebra.aggregates import AggregateCall, Call
from headrace.algebra.logical import LogicalExpression
from headrace.algebra.logical.bound import behind_sources
from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.predicate import Predicate
from headrace.costmodel.reached import words_of
from tests.executor.typed_predicates import arithmetic, compare, is_number, kept
from tests.oracles.conditions import Vert
from tests.oracles.functions import result
from tests.oracles.paths import (
    Identified,
    path_pairs,
    shortest_walks,
    simple_pairs,
    trail_pairs,
)
from tests.oracles.query import Alt, Back, Regex, Seq, Step, Vertex, maybe, plus, star
from tests.oracles.roots import Agg, Column, First, aggregated, first_rows
from tests.oracles.snapshot import EdgeSnapshot, Row, Snapshot

SIGNS: Mapping[type, str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
ARITHMETIC: Mapping[type, str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


def rows_of(expression: LogicalExpression, snapshot: Snapshot) -> set[Row]:
    """The rows of an expression where the scans of each label give the snapshot's edges."""
    inputs = [rows_of(child, snapshot) for child in expression.inputs]
    match expression.operator:
        case logical.WScan() | logical.WScanUnion() as leaf:
            read = [(scan.label, scan.predicate) for scan in leaf.scans]
            sql = [(label, p.sql if p else None) for label, p in read]
            return _scanned(sql, leaf.scans[0].properties, snapshot)
        case logical.Filter(predicate):
            return {row for row in inputs[0] if _holds(predicate.sql, row)}
        case logical.Union():
            return set().union(*inputs)
        case logical.Project(columns):
            return {tuple(row[column] for column in columns) for row in inputs[0]}
        case logical.Pattern(bindings, output):
            return _joined(bindings, output, inputs)
        case logical.AntiJoin() as join:
            return _unmatched(join.keys, inputs)
        case logical.LeftJoin() as join:
            return _left_joined(join.bindings, join.output, inputs)
        case logical.FilteredPattern(bindings, output, predicate):
            return _joined(bindings, output, inputs, predicate.sql)
        case logical.MultiwayPattern(reads, bindings, output, predicate):
            atoms = [inputs[read] for read in reads]
            return _joined(bindings, output, atoms, None if predicate is None else predicate.sql)
        case logical.Path(path, semantics):
            relations = {
                str(i): {(row[0], row[1]) for row in rows} for i, rows in enumerate(inputs)
            }
            simple = semantics is logical.PathSemantics.SIMPLE
            return set((simple_pairs if simple else path_pairs)(as_written(path), relations))
        case logical.Trail(path, relations):
            return set(trail_pairs(as_written(path), _identified(relations, inputs)))
        case logical.Shortest() as shortest:
            return _nearest(as_written(shortest.regex), shortest, inputs)
        case logical.BoundPath(path, semantics, sources, of_pairs):
            steps, sources_too = expression.inputs[: len(inputs) - of_pairs], None
            if semantics is logical.PathSemantics.SIMPLE and sources is None:
                steps, path, sources_too = steps[1:], behind_sources(path), inputs[0]
            pairs = rows_of(LogicalExpression(logical.Path(path, semantics), steps), snapshot)
            return {
                row
                for row in pairs
                if (sources is None or _holds(sources.sql, row))
                and (sources_too is None or (row[0], row[0]) in sources_too)
                and (not of_pairs or row in inputs[-1])
            }
        case logical.Rewindow():
            raise AssertionError("what is valid in a window of a result, no snapshot tells")
        case logical.Empty():
            return set()
        case logical.Compute(values):
            return _calculated([scalar.text(value) for value in values], inputs[0])
        case logical.Aggregate(keys, calls, output):
            return _grouped(keys, [c.call for c in calls], output, inputs[0])
        case logical.PartialAggregate(keys, calls):
            return _parts(keys, [c.call for c in calls], inputs[0])
        case logical.Top() as top:  # of each partition too: all rows may lie on one
            return _first(top, inputs[0], expression.width)
        case logical.Witness(output=output):
            return _with_a_path(output, inputs[0])
        case logical.Report() | logical.EventReport():
            return inputs[0]
        case other:
            raise AssertionError(f"no snapshot says what {other} means")


def _with_a_path(output: Sequence[int], rows: set[Row]) -> set[Row]:
    """Rows with any path each."""
    return {tuple((*row, "path")[c] for c in output) for row in rows}


def rows_of_plan(plan: PhysicalPlan, snapshot: Snapshot) -> set[Row]:
    """The rows of a plan's root on a snapshot, operators by their own arguments."""
    known: list[set[Row]] = []
    for node in plan.nodes:
        inputs = [known[i] for i in node.inputs]
        match node.operator:
            case physical.WindowScan(label=label, predicate=condition, properties=properties):
                rows: set[Row] = _scanned([(label, condition)], properties, snapshot)
            case physical.WindowScanUnion(selections=selections, properties=properties):
                rows = _scanned(selections, properties, snapshot)
            case physical.FilterRows(predicate):
                rows = {row for row in inputs[0] if _holds(predicate, row)}
            case physical.MergeUnion():
                rows = set().union(*inputs)
            case physical.ProjectColumns(columns):
                rows = {tuple(row[column] for column in columns) for row in inputs[0]}
            case physical.HashJoin(bindings, output, residual=residual):
                rows = _joined(bindings, output, inputs, residual)
            case physical.AntiJoin() as join:
                rows = _unmatched(join.keys, inputs)
            case physical.LeftJoin() as join:
                rows = _left_joined(join.bindings, join.output, inputs)
            case physical.SemiJoin(bindings, output):
                rows = _joined(bindings, output, inputs)
            case physical.MultiwayJoin(reads, bindings, output, residual=residual):
                rows = _joined(bindings, output, [inputs[read] for read in reads], residual)
            case physical.PairPath() as path:
                rows = _walked(path, inputs[:-1]) & inputs[-1]
            case physical.SPath() as path:
                rows = _walked(path, inputs)
            case physical.SimplePath() as path:
                rows = _walked_simply(path, inputs)
            case physical.ShortestPath() as path:
                words = words_of(path.states, path.transitions, path.accepting)
                rows = _nearest(as_written(words), path, inputs)
            case physical.TrailPath() as path:
                rows = _walked_trails(path, inputs)
            case physical.Coalesce() | physical.Exchange() | physical.ToKernel():
                rows = inputs[0]
            case physical.WitnessPaths(output=output):
                rows = _with_a_path(output, inputs[0])
            case physical.Rewindow():
                raise AssertionError("what is valid in a window of a result, no snapshot tells")
            case physical.ReportRows() | physical.EventReportRows():
                rows = inputs[0]
            case physical.ComputeColumns(values):
                rows = _calculated(values, inputs[0])
            case physical.AggregateRows(keys, calls, output, partial=True):
                rows = {tuple(row[i] for i in output) for row in _parts(keys, calls, inputs[0])}
            case physical.AggregateRows(keys, calls, output):
                rows = _grouped(keys, calls, output, inputs[0])
            case physical.TopRows() as top:
                rows = _first(top, inputs[0], len(node.columns))
            case physical.EmptyRelation():
                rows = set()
        assert all(len(row) == len(node.columns) for row in rows), f"columns of node {node.id}"
        known.append(rows)
    return known[plan.root]


def _calculated(values: Sequence[str], rows: set[Row]) -> set[Row]:
    trees = [_parsed(value) for value in values]
    return {tuple(_value(tree, row) for tree in trees) for row in rows}


def _grouped(
    keys: Sequence[int],
    calls: Sequence[Call],
    output: Sequence[int],
    rows: set[Row],
) -> set[Row]:
    columns: list[Column] = [Vert(str(key)) for key in keys]
    columns += map(_aggregate, map(AggregateCall.read, calls))
    head = [columns[place] for place in output]
    bindings = [{str(i): x for i, x in enumerate(row)} for row in rows]
    return aggregated([head], [bindings])


def _aggregate(call: AggregateCall) -> Agg:
    function = re.sub("(?<=^partial)_|_(?=distinct$|partial$)", " ", call.function)
    of, time = (None if column is None else Vert(str(column)) for column in (call.column, call.by))
    return Agg(function, of, time, call.percentile)


def _parts(keys: Sequence[int], calls: Sequence[Call], rows: set[Row]) -> set[Row]:
    """The groups of each part of the rows, with the number of the part; no plan says how rows are
    divided, so any division has to do."""
    parts: dict[int, set[Row]] = defaultdict(set)
    for row in rows:
        parts[zlib.crc32(repr(row).encode()) % 2].add(row)
    output = range(len(keys) + len(calls))
    return {(*row, k) for k, own in parts.items() for row in _grouped(keys, calls, output, own)}


def _first(top: logical.Top | physical.TopRows, rows: set[Row], width: int) -> set[Row]:
    order = tuple((str(column), direction == "desc") for column, direction in top.order)
    return first_rows(list(map(str, range(width))), First(order, top.limit, top.offset or 0), rows)


def _unmatched(keys: Sequence[int], inputs: list[set[Row]]) -> set[Row]:
    """The rows of the first input whose key is not a row of the second."""
    left, right = inputs
    return {row for row in left if tuple(row[k] for k in keys) not in right}


def _left_joined(
    bindings: Sequence[tuple[int, ...]], output: tuple[int, ...], inputs: list[set[Row]]
) -> set[Row]:
    """The pairs, and the rows of the first input without one, with missing values."""
    left, _ = bindings
    pairs = _joined(bindings, output, inputs)
    paired = {row[: len(left)] for row in pairs}
    missing = (None,) * (len(output) - len(left))
    return pairs | {(*row, *missing) for row in inputs[0] - paired}


def _joined(
    bindings: Sequence[tuple[int, ...]],
    output: tuple[int, ...],
    inputs: list[set[Row]],
    residual: str | None = None,
) -> set[Row]:
    found: list[dict[int, Vertex]] = [{}]
    for binding, rows in zip(bindings, inputs, strict=True):
        found = [
            {**known, **dict(zip(binding, row, strict=True))}
            for known in found
            for row in rows
            if all(known.get(v, x) == x for v, x in zip(binding, row, strict=True))
        ]
    if residual is not None:
        found = [k for k in found if _holds(residual, tuple(k[v] for v in range(len(k))))]
    return {tuple(known[variable] for variable in output) for known in found}


Steps = Mapping[tuple[int, Vertex], set[tuple[int, Vertex]]]


def _steps(path: physical.AutomatonPath, inputs: list[set[Row]]) -> Steps:
    """From a state and a vertex to the next ones."""
    assert 0 not in path.accepting
    assert all(target != 0 for *_, target in path.transitions)
    steps: dict[tuple[int, Vertex], set[tuple[int, Vertex]]] = defaultdict(set)
    for state, number, inverse, target in path.transitions:
        for first, second in inputs[number]:
            start, end = (second, first) if inverse else (first, second)
            if state or path.sources is None or _holds(path.sources, (start,)):
                steps[state, start].add((target, end))
    return steps


def _walked_simply(path: physical.SimplePath, inputs: list[set[Row]]) -> set[Row]:
    """Pairs of vertices joined by an accepted walk that repeats no vertex.

    The step over a relation of sources stays at its vertex.
    """
    steps = _steps(path, inputs)
    found: set[Row] = set()
    pending: list[tuple[int, Row]] = [(0, (vertex,)) for state, vertex in steps if state == 0]
    if path.from_relation:
        pending = [(to, walk) for _, walk in pending for to, _ in steps[0, walk[0]]]
    while pending:
        state, walk = pending.pop()
        if state in path.accepting:
            found.add((walk[0], walk[-1]))
        nexts = steps.get((state, walk[-1]), set())
        pending += [(target, (*walk, v)) for target, v in nexts if v not in walk]
    return found


def _nearest(
    words: Regex, path: logical.Shortest | physical.ShortestPath, inputs: list[set[Row]]
) -> set[Row]:
    """The pairs and values of shortest paths, with the labels of their steps."""
    relations = {str(i): {(row[0], row[1]) for row in rows} for i, rows in enumerate(inputs)}
    sources = path.sources.sql if isinstance(path.sources, Predicate) else path.sources
    found: set[Row] = set()
    for (x, y), walks in shortest_walks(words, relations).items():
        if sources is not None and not _holds(sources, (x,)):
            continue
        named = [[(u, _named(step, path.labels), v) for u, step, v in walk] for walk in walks]
        named.sort(key=lambda walk: [(isinstance(v, str), v, step) for _, step, v in walk])
        for walk in named if path.all_paths else named[:1]:
            nodes = [x, *(v for *_, v in walk)]
            values = {"length": len(walk), "path": _json(walk), "nodes": _json(nodes)}
            steps = [(v, u) if step[0] == "^" else (u, v) for u, step, v in walk]
            members: list[dict[str, object]] = [{}]
            if "node" in path.values:
                members = [{"node": node} for node in nodes]
            elif {"start", "end"} & {*path.values}:
                members = [{"start": u, "end": v} for u, v in steps]
            for place, member in enumerate(members):
                own = {**values, **member, "place": place}
                found.add((x, y, *(own[value] for value in path.values)))
    return found


def _json(listed: object) -> str:
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))


def _named(step: str, labels: Sequence[str]) -> str:
    """The name of a step over an input, ``0`` or ``^0``."""
    if not labels:
        return step
    return ("^" if step[0] == "^" else "") + labels[int(step.removeprefix("^"))]


def _identified(relations: Sequence[int], inputs: Sequence[set[Row]]) -> dict[str, set[Identified]]:
    """The edges of the inputs of a path of trails."""
    return {
        str(i): {(row[0], row[1], (relations[i], row)) for row in rows}
        for i, rows in enumerate(inputs)
    }


def _walked_trails(path: physical.TrailPath, inputs: list[set[Row]]) -> set[Row]:
    """Pairs of vertices joined by an accepted walk that repeats no edge."""
    steps: dict[tuple[int, Vertex], list[tuple[int, Vertex, object]]] = defaultdict(list)
    for state, number, inverse, target in path.transitions:
        for row in inputs[number]:
            start, end = row[1::-1] if inverse else row[:2]
            if state or path.sources is None or _holds(path.sources, (start,)):
                steps[state, start].append((target, end, (path.relations[number], row)))
    found: set[Row] = set()
    pending: list[tuple[int, Vertex, Vertex, frozenset[object]]] = [
        (0, vertex, vertex, frozenset()) for state, vertex in list(steps) if state == 0
    ]
    while pending:
        state, root, vertex, used = pending.pop()
        if state in path.accepting:
            found.add((root, vertex))
        pending += [
            (target, root, end, used | {edge})
            for target, end, edge in steps.get((state, vertex), [])
            if edge not in used
        ]
    return found


def _walked(path: physical.AutomatonPath, inputs: list[set[Row]]) -> set[Row]:
    """Pairs of vertices joined by a walk that takes the automaton from 0 to acceptance."""
    steps = _steps(path, inputs)
    found: set[Row] = set()
    for root in {vertex for state, vertex in list(steps) if state == 0}:
        seen: set[tuple[int, Vertex]] = set()
        pending = [(0, root)]
        while pending:
            fresh = steps.get(pending.pop(), set()) - seen
            seen |= fresh
            pending.extend(fresh)
        found |= {(root, vertex) for state, vertex in seen if state in path.accepting}
    return found


def _scanned(
    selections: Iterable[tuple[str, str | None]], properties: Sequence[str], snapshot: Snapshot
) -> set[Row]:
    """The edges of some labels that satisfy the predicate beside each label."""
    found: set[Row] = set()
    for label, predicate in selections:
        rows: Iterable[Row] = snapshot[label]
        if properties:
            assert isinstance(snapshot, EdgeSnapshot)
            rows = {
                (edge.src, edge.trg, *map(edge.property, properties))
                for edge in snapshot.edges[label]
            }
        found |= {row for row in rows if predicate is None or _holds(predicate, row)}
    return found


def _value(node: Any, row: Row) -> Any:
    """The value of an expression in a row; None if it is unknown."""
    match node:
        case exp.Column():
            return row[int(node.name[1:])]
        case exp.Paren():
            return _value(node.this, row)
        case exp.Boolean():
            return bool(node.this)
        case exp.Literal():
            text = str(node.this)
            return text if node.is_string else int(text) if text.isdecimal() else float(text)
        case exp.Neg():
            inner = _value(node.this, row)
            return kept(-inner) if is_number(inner) else None
        case exp.Abs():
            inner = _value(node.this, row)
            return kept(abs(inner)) if is_number(inner) else None
        case exp.Anonymous():
            return result(str(node.this), [_value(part, row) for part in node.expressions])
    sides = _value(node.this, row), _value(node.expression, row)
    return arithmetic(ARITHMETIC[type(node)], *sides)


def _holds(sql: str, row: Row) -> bool:
    """Whether a predicate is true of a row; unknown counts as false."""

    def value(node: exp.Expression) -> Any:
        return _value(node, row)

    def true(node: exp.Expression) -> bool | None:
        match node:
            case exp.Boolean():
                return bool(node.this)
            case exp.Paren():
                return true(node.this)
            case exp.Not():
                inner = true(node.this)
                return None if inner is None else not inner
            case exp.And() | exp.Or():
                sides = {true(node.this), true(node.expression)}
                decisive = isinstance(node, exp.Or)
                if decisive in sides:
                    return decisive
                return None if None in sides else not decisive
            case exp.Is():
                return value(node.this) is None
        return compare(SIGNS[type(node)], value(node.this), value(node.expression))

    return true(_parsed(sql)) is True


@lru_cache(maxsize=10_000)
def _parsed(sql: str) -> exp.Expression:
    """The tree of an expression: one is evaluated over many rows of many plans."""
    tree = sqlglot.parse_one(sql, dialect="spark")
    assert isinstance(tree, exp.Expression)
    return tree


def as_written(path: regex.Regex) -> Regex:
    """A regex of the product in the oracle's form."""
    match path:
        case regex.Symbol(ref, inverse):
            return Back(Step(str(ref))) if inverse else Step(str(ref))
        case regex.Concat(parts):
            return Seq(tuple(map(as_written, parts)))
        case regex.Alternation(parts):
            return Alt(tuple(map(as_written, parts)))
        case regex.Star(part):
            return star(as_written(part))
        case regex.Plus(part):
            return plus(as_written(part))
        case regex.Optional(part):
            return maybe(as_written(part))
        case regex.Epsilon():
            return Seq(())
        case regex.Nothing():
            return Alt(())
