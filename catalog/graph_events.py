"""Events that are graphs, as JSON: each line holds one event, which is several rows.

In: lines of the ``seraph`` layout (an event has nodes and relationships, as in JSON-PG), or of a
layout whose event is a change of one node or relationship: ``neo4j``, as Neo4j Streams writes it,
and ``neo4j-cdc``, as the change data capture of Neo4j 5 does.
Out: a row for each label of a node, one with `NO_LABEL` for the properties of a node without
labels, or a row for each label of a relationship. An event that cannot be read as a whole is one
malformed row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import pyarrow as pa

from .lines import Block
from .model import NO_LABEL, Layout
from .raw import Malformed, RawRows, as_text

_TIMES = ("timestamp", "ts")
"""The members of an event of the layout ``seraph`` that may hold its time."""
_LISTS = {True: ("nodes",), False: ("relationships", "edges")}
"""The members with the nodes (True) and the relationships of an event."""


_NODE = {"n": True, "NODE": True, "r": False, "RELATIONSHIP": False}
"""The types of events of the layout ``neo4j-cdc``, and whether they are of nodes."""
_WRITE, _DELETE = ("c", "CREATE", "u", "UPDATE"), ("d", "DELETE")
"""The operations of the layout ``neo4j-cdc``."""
_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)"
    r"(?:(\.[0-9]{1,6})[0-9]*)?(Z|[+-][0-9]{2}:[0-9]{2})(?:\[.*\])?"
)
"""A time of a commit: with up to nine digits of a second, and the name of a zone."""


class UnfitError(Exception):
    """An event that cannot be read; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Element:
    """A label of a node or relationship at the time of an event.

    Attributes:
        ends: the ids of its two ends; both are its own id for a node.
        label: the label of the node, or the type of the relationship.
        time: the time of the event: text or a whole number, or None.
        properties: its properties; ``id`` is the id of a relationship that has one.
        op: ``+``, or ``-`` for an element that is deleted.
    """

    ends: tuple[object, object]
    label: str
    time: object
    properties: Mapping[str, object]
    op: Literal["+", "-"] = "+"


def rows_of(
    blocks: Iterator[Block],
    layout: Layout,
    roles: Sequence[str],
    properties: Sequence[str],
    *,
    vertices: bool,
    time: str | None = None,
) -> Iterator[RawRows]:
    """The values of ``roles``, then of ``properties``, of each node (``vertices``) or relationship.

    A role is ``id``, ``src``, ``trg``, ``label``, ``op`` or ``ts``. ``time`` is the member with the
    time of an event, by default that of the layout. Blank lines are skipped.
    """
    for block in blocks:
        if block.overlong:
            yield RawRows.of_overlong(block)
            continue
        rows = _Rows(layout, roles, properties, vertices, time)
        for number, line in enumerate(block.lines(), start=block.first_line):
            if line.strip():
                rows.add(number, line)
        yield rows.raw()


class _Rows:
    """The rows of the events of a block."""

    def __init__(
        self,
        layout: Layout,
        roles: Sequence[str],
        properties: Sequence[str],
        vertices: bool,
        time: str | None,
    ) -> None:
        self._layout: Layout = layout
        self._roles = roles
        self._properties = properties
        self._vertices = vertices
        self._time = time
        self._values: list[list[str | None]] = [[] for _ in (*roles, *properties)]
        self._numbers: list[int] = []
        self._texts: list[bytes] = []
        self._malformed: list[Malformed] = []

    def add(self, number: int, line: bytes) -> None:
        """Adds the rows of the event in a line, or a malformed row."""
        try:
            elements = elements_of(event_of(line), self._layout, self._vertices, self._time)
            rows = [self._row(element) for element in elements]
        except UnfitError as unfit:
            self._malformed.append(Malformed(number, str(unfit), as_text(line)))
            return
        for row in rows:
            self._numbers.append(number)
            self._texts.append(line)
            for column, value in zip(self._values, row, strict=True):
                column.append(value)

    def _row(self, element: Element) -> list[str | None]:
        source, target = element.ends
        roles: dict[str, object] = {
            "id": source,
            "src": source,
            "trg": target,
            "label": element.label,
            "op": element.op,
            "ts": element.time,
        }
        values = [_id_or_text(role, roles[role]) for role in self._roles]
        return values + [_property(name, element.properties.get(name)) for name in self._properties]

    def raw(self) -> RawRows:
        """The rows so far."""
        columns = [pa.array(column, pa.string()) for column in self._values]
        return RawRows.of_records(columns, self._numbers, self._texts, self._malformed)


def event_of(line: bytes) -> Mapping[str, Any]:
    """The event in a line.

    Raises:
        UnfitError: if the line is not a JSON object in UTF-8.
    """
    try:
        event = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise UnfitError("the line is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise UnfitError(f"not JSON: {error}") from error
    if not isinstance(event, dict):
        raise UnfitError("not a JSON object")
    return event


def elements_of(
    event: Mapping[str, Any], layout: Layout, vertices: bool, time: str | None = None
) -> list[Element]:
    """The labels of the nodes (``vertices``) or relationships of an event.

    Raises:
        UnfitError: if the event is not of the layout.
    """
    if layout == "neo4j":
        return list(_changed(event, vertices))
    if layout == "neo4j-cdc":
        return list(_captured(event, vertices))
    return list(_of_graph(event, vertices, time))


# -- the layout seraph -----------------------------------------------------------------------------


def _of_graph(event: Mapping[str, Any], vertices: bool, time: str | None) -> Iterator[Element]:
    at = next((event[name] for name in _TIMES if name in event), None)
    if time is not None:
        at = event.get(time)
    if not any(name in event for names in _LISTS.values() for name in names):
        raise UnfitError("the event has neither nodes nor relationships")
    for name in _LISTS[vertices]:
        for number, one in enumerate(_list(name, event.get(name))):
            where = f"{name}[{number}]"
            element = _object(where, one)
            properties = _object(f"{where}.properties", element.get("properties"))
            ends, labels = (element.get("id"),) * 2, element.get("labels")
            if not vertices:
                ends = _first(element, "start", "from"), _first(element, "end", "to")
                labels = [element["type"]] if "type" in element else labels
                properties = _with_id(properties, element.get("id"))
            for end in ends:
                if end is None:
                    what = "id" if vertices else "start and end, or from and to"
                    raise UnfitError(f"{where} has no {what}")
            for label in _labels(_list(f"{where}.labels", labels), properties, vertices):
                yield Element(ends, label, at, properties)


def _first(element: Mapping[str, Any], *names: str) -> object:
    """The value of the first member that an element has."""
    return next((element[name] for name in names if name in element), None)


# -- the layout neo4j ------------------------------------------------------------------------------


def _changed(event: Mapping[str, Any], vertices: bool) -> Iterator[Element]:
    payload, meta = _object("payload", event.get("payload")), _object("meta", event.get("meta"))
    kind = payload.get("type")
    if kind not in ("node", "relationship"):
        raise UnfitError("payload.type is neither node nor relationship")
    if vertices is not (kind == "node"):
        return
    time = _milliseconds(meta.get("timestamp"))
    before = _object("payload.before", payload.get("before"))
    after = _object("payload.after", payload.get("after"))
    properties = _object("payload.after.properties", after.get("properties"))
    if payload.get("id") is None:
        raise UnfitError("payload has no id")
    if vertices:
        ends = (payload["id"],) * 2
        left = _list("payload.before.labels", before.get("labels"))
        labels = _list("payload.after.labels", after.get("labels"))
        left = _lost(left, labels, gone=payload.get("after") is None)
    else:
        start, end = (_object(f"payload.{name}", payload.get(name)) for name in ("start", "end"))
        ends = start.get("id"), end.get("id")
        if None in ends:
            raise UnfitError("payload.start or payload.end has no id")
        own = _list("payload.label", [payload.get("label")])
        left, labels = ([], own) if payload.get("after") is not None else (own, [])
        properties = _with_id(properties, payload["id"])
    for label in left:
        yield Element(ends, label, time, {}, "-")
    for label in _labels(labels, properties, vertices):
        yield Element(ends, label, time, properties)


def _lost(before: Sequence[Any], after: Sequence[Any], *, gone: bool) -> list[Any]:
    """The labels whose rows a change of a node ends."""
    own = [NO_LABEL] if gone else []
    return [label for label in (*before, *own) if label not in after]


def _milliseconds(value: object) -> str:
    """The text of a time in milliseconds since 1970, in ISO 8601."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnfitError("meta.timestamp is not a whole number of milliseconds")
    try:
        second = datetime.fromtimestamp(value // 1000, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise UnfitError("meta.timestamp is out of range") from error
    return second.replace(microsecond=value % 1000 * 1000).isoformat()


# -- the layout neo4j-cdc --------------------------------------------------------------------------


def _captured(record: Mapping[str, Any], vertices: bool) -> Iterator[Element]:
    """The elements of a change event, of https://neo4j.com/docs/cdc/current/procedures/output-schema

    The database names types and operations by letters. Neo4j's connector for Kafka names them by
    words and adds types to values; its JSON converter may put the schema beside the event.
    """
    if "event" not in record:
        record = _object("payload", record.get("payload"))
    event = _object("event", record.get("event"))
    node, deletes = _NODE.get(str(event.get("eventType"))), str(event.get("operation")) in _DELETE
    if node is None:
        raise UnfitError("event.eventType is neither n nor r")
    if not deletes and str(event.get("operation")) not in _WRITE:
        raise UnfitError("event.operation is none of c, u and d")
    if vertices is not node:
        return
    own = event.get("elementId")
    if own is None:
        raise UnfitError("event has no elementId")
    metadata = _object("metadata", record.get("metadata"))
    time = _committed(metadata.get("txCommitTime"))
    state = _object("event.state", event.get("state"))
    before = _object("event.state.before", state.get("before"))
    after = _object("event.state.after", state.get("after"))
    values = _object("event.state.after.properties", after.get("properties"))
    properties: Mapping[str, object] = {name: _untyped(of) for name, of in values.items()}
    if node:
        ends = own, own
        old = _list("event.labels", event.get("labels"))
        # In the mode DIFF, ``before`` has the lost labels, ``after`` the new ones; properties that
        # no later event repeats must outlive the labels that they came with.
        lost = old if deletes else _list("event.state.before.labels", before.get("labels"))
        new = _list("event.state.after.labels", after.get("labels"))
        kept = [one for one in old if one not in lost]
        labels = [*kept, *(one for one in new if one not in kept)]
        left = _lost(lost, labels, gone=deletes)
        labels += [NO_LABEL] if properties and metadata.get("captureMode") == "DIFF" else []
    else:
        start, end = (_object(f"event.{name}", event.get(name)) for name in ("start", "end"))
        ends = start.get("elementId"), end.get("elementId")
        if None in ends:
            raise UnfitError("event.start or event.end has no elementId")
        left, labels = ([event.get("type")], []) if deletes else ([], [event.get("type")])
        properties = _with_id(properties, own)
    for label in left:
        yield Element(ends, label, time, {}, "-")
    for label in _labels(labels, properties, vertices):
        yield Element(ends, label, time, properties)


def _committed(value: object) -> str:
    """The text of the time of a commit, in microseconds and without the name of its zone."""
    match = _TIME.fullmatch(str(_untyped(value)))
    if match is None:
        raise UnfitError("metadata.txCommitTime is not an ISO 8601 time with a zone")
    return "".join(part or "" for part in match.groups())


def _untyped(value: object) -> object:
    """The value itself, of one that the connector for Kafka wrote with its type."""
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        return value.get(value["type"], value)
    return value


# -- values ----------------------------------------------------------------------------------------


def _labels(
    labels: Sequence[Any], properties: Mapping[str, object], vertices: bool
) -> Sequence[Any]:
    """The labels of the rows of a node or relationship."""
    return labels or ([NO_LABEL] if vertices and properties else ())


def _with_id(properties: Mapping[str, Any], own: object) -> Mapping[str, object]:
    return properties if own is None else {**properties, "id": own}


def _object(where: str, value: object) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UnfitError(f"{where} is not a JSON object")
    return value


def _list(where: str, value: object) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise UnfitError(f"{where} is not a list")
    return value


def _id_or_text(role: str, value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool | float | list | dict):
        raise UnfitError(f"{role} is {json.dumps(value)[:80]}: expected text or a whole number")
    return _encodable(role, str(value))


def single_value(value: object) -> object:
    """The value of a property, which a list of one value stands for; None for an empty list."""
    return (value[0] if value else None) if isinstance(value, list) and len(value) < 2 else value


def _property(name: str, value: object) -> str | None:
    single = single_value(value)
    if single is None:
        return None
    if isinstance(single, list | dict):
        raise UnfitError(f"{name} is {json.dumps(value)[:80]}: expected a single value")
    text = single if isinstance(single, str) else json.dumps(single)
    return _encodable(name, text)


def _encodable(name: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UnfitError(f"{name} is not Unicode: it has half a surrogate pair") from error
    return text
