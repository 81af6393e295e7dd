"""Random events that are graphs, and the answers of a query over the union of those in a window."""

from __future__ import annotations

from random import Random
from typing import Any

LENGTH = 6
"""The length of the window of the query."""

QUERY = f"""\
Person(x, latest(p.name) as name) <- P(x) as p.
Answer(x, n, y, latest(k.w) as w) <- K(x, y) as k, Person(x, n). WINDOW {LENGTH}"""

MERGED = f"Answer(x, p.name as n, y, k.w as w) <- K(x, y) as k, P(x) as p. WINDOW {LENGTH}"
"""The same query over streams whose elements are merged."""


def random_events(count: int, seed: int) -> list[dict[str, Any]]:
    """Events over three nodes, some of whose properties are missing."""
    random = Random(seed)
    events = []
    for ts in range(count):
        nodes = [
            {"id": x, "labels": ["P"], "properties": random.choice([{}, {"name": [f"{x}{ts}"]}])}
            for x in random.sample("abc", random.randrange(3))
        ]
        edges = [
            {"from": x, "to": y, "labels": ["K"], "properties": random.choice([{}, {"w": ts}])}
            for x, y in [random.choices("abc", k=2) for _ in range(random.randrange(3))]
        ]
        events.append({"ts": ts, "nodes": nodes, "edges": edges})
    return events


def answers(events: list[dict[str, Any]], instant: int) -> set[tuple[Any, ...]]:
    """The answers over the union of the events in the window, elements merged as they come."""
    names: dict[str, str | None] = {}
    weights: dict[tuple[str, str], int | None] = {}
    for event in events:
        if 0 <= instant - event["ts"] < LENGTH:
            for node in event["nodes"]:
                name = node["properties"].get("name", [names.get(node["id"])])
                names[node["id"]] = name[0]
            for edge in event["edges"]:
                ends = edge["from"], edge["to"]
                weights[ends] = edge["properties"].get("w", weights.get(ends))
    return {(x, names[x], y, w) for (x, y), w in weights.items() if x in names}
