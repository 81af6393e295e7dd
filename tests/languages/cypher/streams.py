"""Small property graphs as streams, and runs of Cypher queries over them in this process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from headrace.catalog.model import Catalog, Stream
from headrace.executor import local
from headrace.executor.batch import FOREVER
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from tests.properties.catalogs import ALIKE

Row = tuple[Any, ...]
EDGE_LABELS = ("K", "L")
NODE_LABELS = ("Person", "City")
WINDOW = 6
MOST_EXPRESSIONS = 300
"""The size of the search: answers are compared here, not plans."""


@dataclass(frozen=True)
class Relationship:
    """A relationship of a stream, with its time and its property ``w``."""

    source: int
    target: int
    type: str
    ts: int
    w: int | None = None


@dataclass(frozen=True)
class Node:
    """A stored node with its labels, and its property ``age``."""

    id: int
    labels: tuple[str, ...]
    age: int | None = None


@dataclass(frozen=True)
class Graph:
    """A stream of relationships in the order of time, over stored nodes.

    Nodes without a label have rows where ``has_all_rows`` is true, as those of events have.
    """

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]
    has_all_rows: bool = False

    def at(self, instant: int, window: int = WINDOW) -> list[Relationship]:
        """The relationships in the window ``(instant - window, instant]``."""
        return [r for r in self.relationships if instant - window < r.ts <= instant]

    @property
    def rows(self) -> list[local.Edge]:
        """The rows as the executor reads them."""
        return rows_of(self)

    @property
    def catalog(self) -> Catalog:
        """The stream and the stored graphs."""
        return catalog()

    @property
    def end(self) -> int:
        """The first instant at which no relationship is left."""
        return max((r.ts for r in self.relationships), default=0) + WINDOW


def catalog() -> Catalog:
    """A stream of relationships ``s`` and stored nodes ``people`` and ``places``."""
    streams = {
        "s": Stream(
            "s",
            dict.fromkeys(EDGE_LABELS, ALIKE),
            vertex_type="integer",
            properties={"w": "integer"},
        )
    }
    for name, label in (("people", "Person"), ("places", "City")):
        streams[name] = Stream(
            name,
            {label: ALIKE},
            vertex_type="integer",
            stored=True,
            vertices=True,
            properties={"age": "integer"},
        )
    return Catalog(streams)


def rows_of(graph: Graph) -> list[local.Edge]:
    """The rows of a graph as the executor reads them."""
    rows: list[local.Edge] = []
    for name, label in (("people", "Person"), ("places", "City")):
        rows += [
            (n.id, n.id, label, 0, name, {"age": n.age}) for n in graph.nodes if label in n.labels
        ]
    rows += [(r.source, r.target, r.type, r.ts, "s", {"w": r.w}) for r in graph.relationships]
    return rows


class Input(Protocol):
    """What a query reads: rows, the catalog of their streams, and the first instant after all."""

    @property
    def rows(self) -> list[local.Edge]:
        """The rows in the order of time."""

    @property
    def catalog(self) -> Catalog:
        """The streams."""

    @property
    def end(self) -> int:
        """The first instant at which no row is left."""


def planned(query: str, streams: Catalog, plans: int = 0, seed: int = 0) -> list[Any]:
    """The best plan of a query, and others."""
    options = PlanningOptions(budget_expressions=MOST_EXPRESSIONS)
    request = PlanRequest(query, language="cypher", catalog=streams, options=options)
    found = optimize(request).optimization
    return [found.plan, *(found.plans.sample(plans, seed=seed) if plans else ())]


def reports(query: str, graph: Input, plans: int = 0, seed: int = 0) -> dict[int, list[Row]]:
    """The rows of each report of a query with EMIT SNAPSHOT EVERY 1, of several equal plans.

    Reports of rows that hold forever end soon after the input, in each plan at another instant.
    """
    answers = []
    for plan in planned(query, graph.catalog, plans, seed):
        found: dict[int, list[Row]] = defaultdict(list)
        for result in local.run_plan(plan, graph.rows, 3):
            found[result.ts].append(result.bindings)
        answers.append({at: sorted(rows, key=repr) for at, rows in found.items()})
    last = max((row[3] for row in graph.rows), default=0)
    for answer in answers:
        compared = {at for at in (*answer, *answers[0]) if at <= last} | answer.keys() & answers[0]
        assert all(answer.get(at) == answers[0].get(at) for at in compared)
    return answers[0]


def snapshots(
    query: str, graph: Input, plans: int = 0, seed: int = 0
) -> Mapping[int, Sequence[Row]]:
    """The rows that are valid at each instant, of a query without EMIT."""
    answers = []
    for plan in planned(query, graph.catalog, plans, seed):
        valid: dict[Row, set[int]] = defaultdict(set)
        for result in local.run_plan(plan, graph.rows, 3):
            if result.exp < 0:
                valid[result.bindings] -= set(range(result.ts, graph.end + 1))
            else:
                end = graph.end + 1 if result.exp == FOREVER else result.exp
                valid[result.bindings] |= set(range(result.ts, end))
        at: dict[int, list[Row]] = {}
        for instant in range(graph.end + 1):
            rows = [row for row, instants in valid.items() if instant in instants]
            if rows:
                at[instant] = sorted(rows, key=repr)
        answers.append(at)
    assert all(answer == answers[0] for answer in answers)
    return answers[0]
