"""Live sources, and the edges of messages."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.catalog import CatalogError, EdgeFileError, from_document, to_document
from headrace.catalog.live import LiveSource, edges_of_messages, live_source


def source_of(source: dict[str, Any], **stream: Any) -> LiveSource:
    document = {"streams": {"s": {"source": source, "open_labels": True, **stream}}}
    catalog = from_document(document)
    assert to_document(catalog)["streams"]["s"]["source"] == source
    return live_source(catalog.streams["s"], catalog.time_unit)


def test_json_messages_become_edges() -> None:
    source = source_of(
        {"format": "kafka", "options": {"subscribe": "t"}},
        label="pays",
        columns={"src": "from"},
        properties={"amount": "number"},
    )
    assert source.message is not None
    received = edges_of_messages(
        source.message,
        [
            b'{"from": "a", "trg": "b", "ts": 5, "amount": 1.5}',
            None,
            b'{\n "from": "a",\n "trg": "c", "ts": "1970-01-01T00:00:09Z"\n}\n',
            b"not json",
            b'{"from": "a", "ts": 7}',
            b'{"from": "a", "trg": "b", "ts": 8, "amount": "much"}',
            b" ",
        ],
    )
    assert received.edges.to_pylist() == [
        {"src": "a", "trg": "b", "label": "pays", "ts": 5, "amount": 1.5},
        {"src": "a", "trg": "c", "label": "pays", "ts": 9, "amount": None},
    ]
    positions, reasons = zip(*received.bad, strict=True)
    assert positions == (1, 3, 4, 5, 6)
    assert reasons[0] == reasons[4] == "the message is empty"
    assert reasons[1].startswith("not JSON")
    assert reasons[2:4] == ("trg is missing", "amount 'much' is not a number")


def test_csv_messages_become_edges() -> None:
    source = source_of(
        {"format": "socket", "value": "csv", "fields": ["ts", "_", "src", "trg"]},
        label="a",
        vertex_type="integer",
        deletions=True,
    )
    assert source.message is not None
    received = edges_of_messages(source.message, [b'1,"x,y",2,3\r\n', b"1,2", b"2,,4,5"])
    assert [tuple(row.values()) for row in received.edges.to_pylist()] == [
        (2, 3, "a", 1, "+"),
        (4, 5, "a", 2, "+"),
    ]
    assert received.bad == ((1, "expected 4 fields, found 2"),)
    assert edges_of_messages(source.message, [b"", None]).edges.num_rows == 0


def test_a_followed_folder_is_a_live_source() -> None:
    source = source_of(
        {"format": "csv", "path": {"a": "in", "b": "of"}, "options": {"sep": ";"}, "follow": True}
    )
    assert source.followed
    layouts = {path: (f.label, f.format, f.separator) for path, f in source.layouts.items()}
    assert layouts == {"in": ("a", "csv", ";"), "of": ("b", "csv", ";")}
    assert source.description == "csv in, of"


@pytest.mark.parametrize(
    ("source", "mention"),
    [
        ({"format": "kafka", "follow": True}, "it is for folders of files"),
        ({"format": "csv", "path": "a", "value": "json"}, "value and fields are for messages"),
        ({"format": "kafka", "value": "json", "fields": ["src"]}, "only messages of CSV"),
    ],
)
def test_inconsistent_entries_of_live_sources_are_refused(
    source: dict[str, Any], mention: str
) -> None:
    with pytest.raises(CatalogError, match=mention):
        source_of(source)


@pytest.mark.parametrize(
    ("source", "more", "mention"),
    [
        ({"format": "csv", "path": "a"}, {}, "is not live"),
        ({"format": "csv", "follow": True}, {}, "give its path"),
        ({"format": "kafka", "value": "csv"}, {}, "name their fields"),
        ({"format": "kafka", "value": "csv", "fields": ["src", "ts"]}, {}, "no column 'trg'"),
        ({"format": "kafka"}, {"stored": True, "open_labels": False}, "is read once"),
    ],
)
def test_sources_that_are_not_live_are_refused(
    source: dict[str, Any], more: dict[str, Any], mention: str
) -> None:
    with pytest.raises(EdgeFileError, match=mention):
        source_of(source, **more)


def test_a_message_of_csv_is_one_record() -> None:
    layout = source_of(
        {
            "format": "kafka",
            "value": "csv",
            "fields": ["src", "trg", "ts", "note"],
            "options": {"sep": "\\t"},
        },
        properties={"note": "string"},
        label="a",
        open_labels=False,
    ).message
    assert layout is not None
    messages = [
        b'1\t2\t5\t"two\nlines"\n',
        b"1\t2\t6\t",  # the last field is empty, and no blank at the end of a line
        b'1\t2\t7\t"open',
        b"1\t2\t8\tx\n1\t2\t9\ty",
        b"\t\t\t",
        b" \n",
    ]
    received = edges_of_messages(layout, messages)
    rows = received.edges.to_pylist()
    assert [(row["ts"], row["note"]) for row in rows] == [(5, "two\nlines"), (6, None)]
    assert [position for position, _ in received.bad] == [2, 3, 4, 5]
    reasons = dict(received.bad)
    assert reasons[2] == "a quote of the line is never closed"
    assert reasons[3].startswith("the quotes of the record of 2 lines do not fit: new-line")
    assert reasons[4] == reasons[5] == "the message is empty"
