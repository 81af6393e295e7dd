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
    """Events over three nodes, some of whose labels and properties are missing."""
    random = Random(seed)
    events = []
    for ts in range(count):
        nodes = [
            {
                "id": x,
                "labels": random.choice([["P"], ["P"], []]),
                "properties": random.choice([{}, {"name": [f"{x}{ts}"]}]),
            }
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
    labelled: set[str] = set()
    names: dict[str, str | None] = {}
    weights: dict[tuple[str, str], int | None] = {}
    for event in events:
        if 0 <= instant - event["ts"] < LENGTH:
            for node in event["nodes"]:
                name = node["properties"].get("name", [names.get(node["id"])])
                names[node["id"]] = name[0]
                labelled |= {node["id"]} if node["labels"] else set()
            for edge in event["edges"]:
                ends = edge["from"], edge["to"]
                weights[ends] = edge["properties"].get("w", weights.get(ends))
    return {(x, names[x], y, w) for (x, y), w in weights.items() if x in labelled}


NAMED = "Answer(x, x.name as n, y, y.name as m, k.w as w) <- P(x), P(y), K(x, y) as k. WINDOW 1000"
"""A query over a database, of which :func:`changes` tells."""


def changes(count: int, seed: int) -> tuple[list[dict[str, Any]], list[set[tuple[Any, ...]]]]:
    """Changes of a database as Neo4j 5 captures them, one each second, and the answers of `NAMED`
    after each.

    Each is written as the database or as its connector for Kafka does. An odd seed is for the mode
    DIFF. Nodes and relationships keep the properties that they got.
    """
    random, mode = Random(seed), ("FULL", "DIFF")[seed % 2]
    nodes: dict[str, tuple[list[str], dict[str, Any]]] = {}
    edges: dict[tuple[str, str], dict[str, Any]] = {}
    records, found = [], []
    for ts in range(count):
        event: dict[str, Any]
        free = [x for x in nodes if not any(x in ends for ends in edges)]
        pairs = [(x, y) for x in nodes for y in nodes]
        kind = random.choice(["node", "node", "edge", "edge", "edge", "gone"])
        if kind == "node" or (kind == "edge" and not nodes):
            x = random.choice("abcd")
            old = nodes.get(x)
            labels = random.choice([["P"], ["P"], ["P", "Q"], ["Q"], []])
            values = {**(old[1] if old else {}), **random.choice([{}, {"name": f"{x}{ts}"}])}
            nodes[x] = labels, values
            event = _node(x, old, nodes[x])
        elif kind == "edge":
            pair = random.choice(pairs)
            before = edges.get(pair)
            edges[pair] = {**(before or {}), **random.choice([{}, {"w": ts}])}
            event = _relationship(pair, before, edges[pair])
        elif edges and random.random() < 0.7:
            pair = random.choice(list(edges))
            event = _relationship(pair, edges.pop(pair), None)
        elif free:
            x = random.choice(free)
            event = _node(x, nodes.pop(x), None)
        else:
            event = _node("z", None, ([], {}))
        records.append(_record(event, ts, mode, random))
        found.append(
            {
                (x, nodes[x][1].get("name"), y, nodes[y][1].get("name"), values.get("w"))
                for (x, y), values in edges.items()
                if "P" in nodes[x][0] and "P" in nodes[y][0]
            }
        )
    return records, found


_State = tuple[list[str], dict[str, Any]]


def _node(x: str, before: _State | None, after: _State | None) -> dict[str, Any]:
    old, new = (s and {"labels": s[0], "properties": s[1]} for s in (before, after))
    event = _changed(x, "n", old, new)
    return {**event, "labels": (before or after or ([], {}))[0], "keys": {"P": [{"id": x}]}}


def _relationship(
    ends: tuple[str, str], before: dict[str, Any] | None, after: dict[str, Any] | None
) -> dict[str, Any]:
    old, new = (None if s is None else {"properties": s} for s in (before, after))
    start, end = ({"elementId": x, "labels": [], "keys": {}} for x in ends)
    event = _changed("-".join(ends), "r", old, new)
    return {**event, "type": "K", "start": start, "end": end, "keys": []}


def _changed(own: str, kind: str, before: Any, after: Any) -> dict[str, Any]:
    operation = "c" if before is None else "d" if after is None else "u"
    state = {"before": before, "after": after}
    return {"elementId": own, "eventType": kind, "operation": operation, "state": state}


def _record(event: dict[str, Any], ts: int, mode: str, random: Random) -> dict[str, Any]:
    """The record of a change at a time, in one of the spellings."""
    before, after = event["state"].values()
    if mode == "DIFF" and before is not None and after is not None:
        event["state"] = {"before": _less(before, after), "after": _less(after, before)}
    time: Any = f"1970-01-01T00:00:{ts % 60:02}.666000000Z"
    time = time.replace("T00:00", f"T00:{ts // 60:02}")
    if by_connector := random.random() < 0.5:
        event["eventType"] = {"n": "NODE", "r": "RELATIONSHIP"}[event["eventType"]]
        event["operation"] = {"c": "CREATE", "u": "UPDATE", "d": "DELETE"}[event["operation"]]
        time = {"type": "TZDT", "B": None, "TZDT": f"{time}[Etc/UTC]"}
        event["state"] = {
            name: state and {**state, "properties": _typed(state["properties"])}
            for name, state in event["state"].items()
        }
    metadata = {"captureMode": mode, "serverId": "e605bd8f", "txCommitTime": time}
    record = {"id": f"A{ts}", "txId": ts, "seq": 0, "metadata": metadata, "event": event}
    enveloped = by_connector and random.random() < 0.5
    return {"schema": {"type": "struct"}, "payload": record} if enveloped else record


def _less(state: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The labels and properties of a state that the other one has not."""
    values = {k: v for k, v in state["properties"].items() if other["properties"].get(k) != v}
    labels = [one for one in state.get("labels", ()) if one not in other["labels"]]
    return {"properties": values, **({"labels": labels} if "labels" in state else {})}


def _typed(properties: dict[str, Any]) -> dict[str, Any]:
    """Properties with their types, as the connector writes them."""
    letters = {name: "S" if isinstance(of, str) else "I64" for name, of in properties.items()}
    return {name: {"type": letters[name], letters[name]: of} for name, of in properties.items()}
