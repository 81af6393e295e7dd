"""Events that are graphs, in both layouts: the rows of their nodes and relationships."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.catalog import CatalogError, EdgeFile, dumps, loads, measured_catalog
from headrace.catalog.document import from_document
from headrace.catalog.edges import read
from headrace.catalog.inputs import files_of_stream
from headrace.catalog.live import edges_of_messages, live_source
from headrace.catalog.schema_inference import inferred_schema
from tests.strategies.amount import examples

FIGURE_12 = {
    "nodes": [
        {
            "id": 2564832,
            "labels": ["Observation"],
            "properties": {
                "property": ["WindSpeed"],
                "value": [12.0],
                "unit_of_measure": ["milesPerHour"],
            },
        },
        {"id": 4684, "labels": ["Sensor"], "properties": {"name": ["FOR"]}},
    ],
    "edges": [{"id": 2564833, "from": 4684, "to": 2564832, "labels": ["HAS_OBSERVED"]}],
}
"""The event that Figure 12 of the Seraph paper prints, which has no time."""

OF_NODES = {"name": "string", "value": "number", "unit_of_measure": "string"}


def file_of(
    tmp_path: Path, events: Sequence[object], *, vertices: bool = False, **more: Any
) -> EdgeFile:
    """A file of the events; an event that is text is a line as it stands."""
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    path = tmp_path / "events.jsonl"
    path.write_text("".join(line + "\n" for line in lines), "utf-8", errors="surrogateescape")
    return EdgeFile(str(path), "graph", vertices=vertices, **more)


def rows_of(file: EdgeFile) -> list[tuple[Any, ...]]:
    """The rows without the second end of nodes."""
    rows = [tuple(row.values()) for batch in read(file) for row in batch.edges.to_pylist()]
    return [(row[0], *row[2:]) if file.vertices else row for row in rows]


def rejected_of(file: EdgeFile) -> list[tuple[int, str]]:
    return [(one.line, one.reason) for batch in read(file) for one in batch.rejected]


def test_the_event_of_the_paper_is_read(tmp_path: Path) -> None:
    events = [{"timestamp": "1970-01-01T00:00:07Z", **FIGURE_12}]
    nodes = file_of(tmp_path, events, vertices=True, properties=OF_NODES)
    assert rows_of(nodes) == [
        ("2564832", "Observation", 7, None, 12.0, "milesPerHour"),
        ("4684", "Sensor", 7, "FOR", None, None),
    ]
    edges = file_of(tmp_path, events, properties={"id": "integer"})
    assert rows_of(edges) == [("4684", "2564832", "HAS_OBSERVED", 7, 2564833)]


def test_a_stored_graph_needs_no_time(tmp_path: Path) -> None:
    nodes = file_of(tmp_path, [FIGURE_12], vertices=True, stored=True)
    assert rows_of(nodes) == [("2564832", "Observation", 0), ("4684", "Sensor", 0)]
    assert rejected_of(file_of(tmp_path, [FIGURE_12])) == [(1, "ts is missing")]


def test_a_node_has_a_row_for_each_label_and_a_relationship_for_its_type(tmp_path: Path) -> None:
    event = {
        "ts": 3,
        "nodes": [
            {"id": "a", "labels": ["Person", "Staff"], "properties": {"n": 1}},
            {"id": "b", "labels": []},
            {"id": "c"},
            {"id": "d", "properties": {"n": 2}},
        ],
        "relationships": [
            {"id": "r", "type": "KNOWS", "start": "a", "end": "b", "properties": {"id": "own"}},
            {"type": "KNOWS", "start": "b", "end": "a", "properties": {"id": ["own"]}},
        ],
    }
    nodes = file_of(tmp_path, [event], vertices=True, properties={"n": "integer"})
    assert rows_of(nodes) == [
        ("a", "Person", 3, 1),
        ("a", "Staff", 3, 1),
        ("d", "(no label)", 3, 2),
    ]
    edges = file_of(tmp_path, [event], properties={"id": "string"})
    assert rows_of(edges) == [("a", "b", "KNOWS", 3, "r"), ("b", "a", "KNOWS", 3, "own")]


def test_the_catalog_names_the_time_and_properties(tmp_path: Path) -> None:
    event = {"timestamp": 1, "at": 9, "nodes": [{"id": 1, "labels": ["P"], "properties": {"x": 2}}]}
    columns = {"ts": "at", "n": "x"}
    file = file_of(tmp_path, [event], vertices=True, columns=columns, properties={"n": "integer"})
    assert rows_of(file) == [("1", "P", 9, 2)]


REJECTED: list[tuple[object, str]] = [
    ("{", "not JSON"),
    ("[]", "not a JSON object"),
    ("{}", "neither nodes nor relationships"),
    ('{"ts": 1, "nodes": 5}', "nodes is not a list"),
    ('{"ts": 1, "nodes": [5]}', r"nodes\[0\] is not a JSON object"),
    ('{"ts": 1, "nodes": [{"id": 1}, {"labels": ["P"]}]}', r"nodes\[1\] has no id"),
    ('{"ts": 1, "nodes": [{"id": 1, "labels": "P"}]}', r"nodes\[0\].labels is not a list"),
    ('{"ts": 1, "nodes": [{"id": 1.5, "labels": ["P"]}]}', "id is 1.5: expected text or a whole"),
    ('{"ts": 1, "nodes": [{"id": 1, "labels": ["P"], "properties": 5}]}', "properties is not"),
    (
        '{"ts": 1, "nodes": [{"id": 1, "labels": ["P"], "properties": {"n": [1, 2]}}]}',
        r"n is \[1, 2\]: expected a single value",
    ),
    (
        '{"ts": 1, "nodes": [{"id": 1, "labels": ["P"], "properties": {"n": "x"}}]}',
        "n 'x' is not a whole number",
    ),
    ('{"ts": "soon", "nodes": [{"id": 1, "labels": ["P"]}]}', "neither a whole number nor ISO"),
    ('{"nodes": [{"id": 1, "labels": ["P"]}]}', "ts is missing"),
    ('{"ts": 1, "nodes": [{"id": "\\ud800", "labels": ["P"]}]}', "half a surrogate pair"),
    ('{"ts": 1, "nodes": ["\udcff"]}', "not UTF-8"),
]


@pytest.mark.parametrize(("line", "reason"), REJECTED)
def test_a_broken_event_is_rejected_with_the_reason(tmp_path: Path, line: str, reason: str) -> None:
    good = {"ts": 1, "nodes": [{"id": 1, "labels": ["P"], "properties": {"n": []}}]}
    file = file_of(tmp_path, [good, line, "", good], vertices=True, properties={"n": "integer"})
    assert rows_of(file) == [("1", "P", 1, None)] * 2
    ((number, why),) = rejected_of(file)
    assert number == 2
    assert re.search(reason, why), why


@pytest.mark.parametrize(
    ("relationship", "reason"),
    [
        ({"type": "K", "start": 1}, "relationships[0] has no start and end, or from and to"),
        ({"type": ["K"], "start": 1, "end": 2}, 'label is ["K"]: expected text or a whole number'),
        ({"labels": "K", "start": 1, "end": 2}, "relationships[0].labels is not a list"),
    ],
)
def test_a_broken_relationship_rejects_its_event(
    tmp_path: Path, relationship: object, reason: str
) -> None:
    assert rejected_of(file_of(tmp_path, [{"ts": 1, "relationships": [relationship]}])) == [
        (1, reason)
    ]


# -- changes of Neo4j ------------------------------------------------------------------------------

Kind = Literal["node", "relationship"]


def change(kind: Kind, milliseconds: int, **payload: object) -> dict[str, Any]:
    """A change as Neo4j Streams writes it."""
    meta = {
        "timestamp": milliseconds,
        "username": "neo4j",
        "tx_id": 3,
        "tx_event_id": 0,
        "tx_events_count": 2,
        "operation": "updated",
        "source": {"hostname": "neo4j.example"},
    }
    whole = {"id": "1004", "type": kind, "before": None, "after": None, **payload}
    return {"meta": meta, "payload": whole, "schema": {"properties": {}, "constraints": []}}


def ends(start: str, end: str) -> dict[str, object]:
    return {
        "start": {"id": start, "labels": ["Person"], "ids": {"email": "a@example"}},
        "end": {"id": end, "labels": ["Person"], "ids": {}},
    }


def test_changes_of_nodes_are_rows_and_lost_labels_deletions(tmp_path: Path) -> None:
    ann = {"labels": ["Person"], "properties": {"name": "Ann", "tags": ["x", "y"]}}
    anna = {"labels": ["Person", "Staff"], "properties": {"name": "Anna"}}
    other = {"labels": ["Staff"], "properties": {"name": "Anna"}}
    events = [
        change("node", 1999, after=ann),
        change("node", 3000, before=ann, after=anna),
        change("node", 4000, before=anna, after=other),
        change("node", 5000, before=other),
        change("relationship", 6000, label="KNOWS", after={"properties": {}}, **ends("1", "2")),
    ]
    file = file_of(
        tmp_path,
        events,
        vertices=True,
        layout="neo4j",
        deletions=True,
        properties={"name": "string"},
    )
    assert rows_of(file) == [
        ("1004", "Person", 1, "+", "Ann"),
        ("1004", "Person", 3, "+", "Anna"),
        ("1004", "Staff", 3, "+", "Anna"),
        ("1004", "Person", 4, "-", None),
        ("1004", "Staff", 4, "+", "Anna"),
        ("1004", "Staff", 5, "-", None),
        ("1004", "(no label)", 5, "-", None),
    ]


def test_changes_of_relationships_have_their_id_among_the_properties(tmp_path: Path) -> None:
    state = {"properties": {"since": 2020}}
    events = [
        change("relationship", 1000, label="KNOWS", after=state, **ends("1", "2")),
        change("relationship", 2000, label="KNOWS", before=state, after=state, **ends("1", "2")),
        change("relationship", 3000, label="KNOWS", before=state, **ends("1", "2")),
        change("node", 4000, after={"labels": ["Person"]}),
    ]
    more: dict[str, Any] = {"layout": "neo4j", "properties": {"id": "string", "since": "integer"}}
    assert rows_of(file_of(tmp_path, events, deletions=True, **more)) == [
        ("1", "2", "KNOWS", 1, "+", "1004", 2020),
        ("1", "2", "KNOWS", 2, "+", "1004", 2020),
        ("1", "2", "KNOWS", 3, "-", None, None),
    ]
    ((line, reason),) = rejected_of(file_of(tmp_path, events, **more))
    assert (line, reason) == (3, "op '-' deletes, and the stream declares no deletions")


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"meta": {"timestamp": 1}}, "payload.type is neither node nor relationship"),
        (change("node", 1, id=None, after={"labels": ["P"]}), "payload has no id"),
        ({**change("node", 1, after={"labels": ["P"]}), "meta": {}}, "meta.timestamp is not a"),
        (change("node", 10**18, after={"labels": ["P"]}), "meta.timestamp is out of range"),
        (change("node", 1, after=[]), "payload.after is not a JSON object"),
    ],
)
def test_a_broken_change_is_rejected(tmp_path: Path, event: object, reason: str) -> None:
    ((_, why),) = rejected_of(file_of(tmp_path, [event], vertices=True, layout="neo4j"))
    assert why.startswith(reason)


def test_a_relationship_of_neo4j_needs_the_ids_of_its_ends(tmp_path: Path) -> None:
    event = change("relationship", 1, label="K", after={}, start={"id": "1"}, end={})
    assert rejected_of(file_of(tmp_path, [event], layout="neo4j")) == [
        (1, "payload.start or payload.end has no id")
    ]


# -- change data capture of Neo4j 5 ----------------------------------------------------------------

DOCUMENTED: dict[str, Any] = {
    "id": "A7fjWXMK_0L6hztd4xhoy0oAAAAAAAAADAAAAAAAAAAA",
    "txId": 12,
    "seq": 0,
    "metadata": {
        "executingUser": "neo4j",
        "captureMode": "FULL",
        "txStartTime": "2023-03-03T11:58:30.429Z",
        "txCommitTime": "2023-03-03T11:58:30.526Z",
        "txMetadata": {"correlationId": "123456789"},
    },
    "event": {
        "elementId": "4:b7e35973:1",
        "keys": {"Person": [{"firstName": "john"}, {"ssn": "Y654321"}]},
        "eventType": "n",
        "state": {
            "before": None,
            "after": {"properties": {"title": "Apollo 13"}, "labels": ["MOVIE"]},
        },
        "operation": "c",
        "labels": ["MOVIE"],
    },
}
"""The event of a new node that Neo4j's manual prints, without some of its metadata."""
COMMIT = 1677844710


def captured(**event: object) -> dict[str, Any]:
    """The documented record of another event."""
    return {**DOCUMENTED, "event": {"elementId": "5:a:0", **event}}


def test_captured_changes_of_nodes_are_rows(tmp_path: Path) -> None:
    more = {"elementId": "4:b7e35973:1", "eventType": "n"}
    metadata = {**DOCUMENTED["metadata"], "captureMode": "DIFF"}
    # In the mode DIFF, a state has the labels and properties that have changed.
    update = {
        "before": {"properties": {}, "labels": ["MOVIE"]},
        "after": {"properties": {"title": "Apollo"}, "labels": ["FILM"]},
    }
    gone = {"before": {"properties": {"title": "Apollo"}, "labels": ["OLD", "FILM"]}}
    events = [
        DOCUMENTED,
        captured(**more, operation="u", labels=["OLD", "MOVIE"], state=update)
        | {"metadata": metadata},
        captured(**more, operation="d", labels=["OLD", "FILM"], state=gone),
        captured(eventType="r", operation="c", type="K", state={}, **captured_ends("1", "2")),
    ]
    of: dict[str, Any] = {"layout": "neo4j-cdc", "deletions": True}
    file = file_of(tmp_path, events, vertices=True, properties={"title": "string"}, **of)
    assert rows_of(file) == [
        ("4:b7e35973:1", label, COMMIT, op, title)
        for label, op, title in [
            ("MOVIE", "+", "Apollo 13"),
            ("MOVIE", "-", None),
            ("OLD", "+", "Apollo"),
            ("FILM", "+", "Apollo"),
            ("(no label)", "+", "Apollo"),
            ("OLD", "-", None),
            ("FILM", "-", None),
            ("(no label)", "-", None),
        ]
    ]
    assert rejected_of(file) == []


def captured_ends(start: str, end: str) -> dict[str, Any]:
    of = {"keys": {}, "labels": ["P"]}
    return {"start": {"elementId": start, **of}, "end": {"elementId": end, **of}}


def test_captured_changes_of_relationships_have_their_id(tmp_path: Path) -> None:
    state = {"properties": {"since": 2020}}
    more = {"eventType": "r", "type": "KNOWS", **captured_ends("4:a:1", "4:a:2")}
    events = [
        captured(operation="c", state={"before": None, "after": state}, **more),
        captured(operation="d", state={"before": state, "after": None}, **more),
        DOCUMENTED,
    ]
    properties = {"id": "string", "since": "integer"}
    file = file_of(tmp_path, events, layout="neo4j-cdc", deletions=True, properties=properties)
    assert rows_of(file) == [
        ("4:a:1", "4:a:2", "KNOWS", COMMIT, "+", "5:a:0", 2020),
        ("4:a:1", "4:a:2", "KNOWS", COMMIT, "-", None, None),
    ]


NODE: dict[str, Any] = {"eventType": "n", "operation": "c", "labels": []}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"id": "A", "txId": 1}, "event.eventType is neither n nor r"),
        (captured(**{**NODE, "eventType": "x"}), "event.eventType is neither n nor r"),
        (captured(**{**NODE, "operation": "x"}), "event.operation is none of c, u and d"),
        (captured(**{**NODE, "elementId": None}), "event has no elementId"),
        ({**captured(**NODE), "metadata": {}}, "metadata.txCommitTime is not an ISO 8601 time"),
        (captured(**NODE, state=[]), "event.state is not a JSON object"),
        (captured(**{**NODE, "labels": "P"}), "event.labels is not a list"),
        (captured(**{**NODE, "labels": [["P"]]}), 'label is ["P"]: expected text or a whole'),
    ],
)
def test_a_broken_captured_change_is_rejected(tmp_path: Path, record: object, reason: str) -> None:
    ((_, why),) = rejected_of(file_of(tmp_path, [record], vertices=True, layout="neo4j-cdc"))
    assert why.startswith(reason)


def test_a_captured_relationship_needs_the_ids_of_its_ends(tmp_path: Path) -> None:
    event = captured(eventType="r", operation="c", type="K", start={"elementId": "1"}, state={})
    assert rejected_of(file_of(tmp_path, [event], layout="neo4j-cdc")) == [
        (1, "event.start or event.end has no elementId")
    ]


# -- in a catalog ----------------------------------------------------------------------------------


def stream(source: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"streams": {"s": {"source": source, **more}}}


@pytest.mark.parametrize("of_changes", ["neo4j", "neo4j-cdc"])
def test_a_catalog_keeps_the_layout(of_changes: str) -> None:
    source = {"format": "kafka", "value": "graph", "layout": of_changes}
    catalog = from_document(stream(source, vertices=True))
    assert loads(dumps(catalog)) == catalog
    message = live_source(catalog.streams["s"], "second").message
    assert message is not None
    assert (message.format, message.layout, message.vertices) == ("graph", of_changes, True)
    followed = from_document(stream({"format": "graph", "path": "in", "follow": True}))
    (layout,) = live_source(followed.streams["s"], "second").layouts.values()
    assert (layout.format, layout.layout) == ("graph", "seraph")


@pytest.mark.parametrize(
    ("document", "mention"),
    [
        (stream({"format": "json", "path": "a", "layout": "neo4j"}), "only events that are graphs"),
        (stream({"format": "graph", "path": "a", "layout": "other"}), "neo4j"),
        (stream({"format": "graph", "path": "a"}, label="P"), "their own labels"),
        (stream({"format": "graph", "path": {"P": "a"}}), "their own labels"),
        (stream({"format": "graph", "path": "a"}, columns={"src": "x"}), "says where"),
        (
            stream({"format": "graph", "path": "a", "layout": "neo4j"}, columns={"ts": "x"}),
            "says where",
        ),
    ],
)
def test_entries_that_the_layout_decides_are_refused(
    document: dict[str, Any], mention: str
) -> None:
    with pytest.raises(CatalogError, match=mention):
        from_document(document)


def test_elements_of_graphs_are_merged_unless_the_catalog_says_otherwise() -> None:
    graph = {"format": "graph", "path": "a"}
    for source, more, merges in (
        (graph, {}, True),
        (graph, {"merge": False}, False),
        (graph, {"stored": True}, False),
        ({"format": "csv", "path": "a"}, {}, False),
        ({"format": "csv", "path": "a"}, {"merge": True}, True),
    ):
        catalog = from_document(stream(source, **more))
        assert catalog.streams["s"].merge is merges
        assert loads(dumps(catalog)) == catalog
    with pytest.raises(CatalogError, match="no newest one"):
        from_document(stream(graph, stored=True, merge=True))


def test_a_message_is_an_event(tmp_path: Path) -> None:
    source = {"format": "kafka", "value": "graph"}
    catalog = from_document(stream(source, properties={"n": "integer"}, vertices=True))
    message = live_source(catalog.streams["s"], "second").message
    assert message is not None
    node = {"id": 1, "labels": ["P", "Q"], "properties": {"n": 5}}
    broken = {"id": 2, "labels": ["P", "Q"], "properties": {"n": "x"}}
    texts = [json.dumps({"ts": 1, "nodes": [one]}, indent=1).encode() for one in (node, broken)]
    received = edges_of_messages(message, [texts[0], b"", b"[", *texts])
    assert received.edges["label"].to_pylist() == ["P", "Q", "P", "Q"]
    assert [position for position, _ in received.bad] == [1, 2, 4, 4]


def test_types_of_properties_are_inferred(tmp_path: Path) -> None:
    event = {"ts": 1, **FIGURE_12}
    other = {"ts": 2, "nodes": [{"id": 1, "labels": ["P"], "properties": {"many": [1, 2]}}]}
    nodes = file_of(tmp_path, [event, "broken", other], vertices=True)
    assert dict(inferred_schema([nodes]).properties) == {
        "name": "string",
        "property": "string",
        "unit_of_measure": "string",
        "value": "number",
    }
    edges = file_of(tmp_path, [event, "broken", other])
    catalog, _ = measured_catalog([edges])
    assert dict(catalog.streams["input"].properties) == {"id": "integer"}
    assert list(catalog.streams["input"].labels) == ["HAS_OBSERVED"]


def test_files_may_be_packed_and_longer_than_a_block(tmp_path: Path) -> None:
    events = [
        {"ts": ts, "nodes": [{"id": ts, "labels": ["P"], "properties": {"text": "x" * 9000}}]}
        for ts in range(300)
    ]
    path = tmp_path / "events.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, events)).encode()))
    catalog = from_document(stream({"format": "graph", "path": str(path)}, vertices=True))
    (file,) = files_of_stream(catalog.streams["s"], "second")
    assert rows_of(file) == [(str(ts), "P", ts) for ts in range(300)]


VALUES = st.one_of(st.none(), st.integers(-5, 5))
NODES = st.fixed_dictionaries(
    {"id": st.integers(0, 3), "labels": st.lists(st.sampled_from("PQ"), unique=True), "n": VALUES}
)
EDGES = st.fixed_dictionaries(
    {"id": VALUES, "ends": st.tuples(st.integers(0, 3), st.integers(0, 3)), "n": VALUES}
)
EVENTS = st.lists(st.tuples(st.integers(0, 9), st.lists(NODES), st.lists(EDGES)), max_size=6)


@given(events=EVENTS, seed=st.randoms(use_true_random=False))
@examples(60)
def test_both_spellings_of_an_event_have_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, events: list[Any], seed: Any
) -> None:
    """The names and forms of the paper's figure, and those of Neo4j's documents."""

    def properties(n: int | None) -> dict[str, Any]:
        listed = seed.random() < 0.5
        if n is None:
            missing: list[dict[str, Any]] = [{}, {"n": None}, {"n": []}]
            return missing[int(seed.randrange(3))]
        return {"n": [n] if listed else n}

    written = []
    for ts, nodes, edges in events:
        event: dict[str, Any] = {seed.choice(["ts", "timestamp"]): ts}
        event["nodes"] = [
            {"id": one["id"], "labels": one["labels"], "properties": properties(one["n"])}
            for one in nodes
        ]
        start, end = seed.choice([("from", "to"), ("start", "end")])
        event[seed.choice(["edges", "relationships"])] = [
            {
                **({} if one["id"] is None else {"id": one["id"]}),
                start: one["ends"][0],
                end: one["ends"][1],
                **seed.choice([{"type": "K"}, {"labels": ["K"]}]),
                "properties": properties(one["n"]),
            }
            for one in edges
        ]
        written.append(event)
    folder = tmp_path_factory.mktemp("events")
    of_nodes = file_of(folder, written, vertices=True, properties={"n": "integer"})
    assert rows_of(of_nodes) == [
        (str(one["id"]), label, ts, one["n"])
        for (ts, nodes, _), event in zip(events, written, strict=True)
        for one, node in zip(nodes, event["nodes"], strict=True)
        for label in one["labels"] or ["(no label)"] * bool(node["properties"])
    ]
    of_edges = file_of(folder, written, properties={"id": "integer", "n": "integer"})
    assert rows_of(of_edges) == [
        (str(one["ends"][0]), str(one["ends"][1]), "K", ts, one["id"], one["n"])
        for ts, _, edges in events
        for one in edges
    ]
