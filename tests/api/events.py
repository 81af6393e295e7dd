"""Server-sent events as a client receives them."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class Event:
    """An event; a client sends the last ``id`` when it reconnects."""

    name: str
    data: Any
    id: int | None


def events(
    client: httpx.Client, id_: str, last: int | None = None, **asked: int
) -> Generator[Event, None, None]:
    """The events of a query's results until their end; the caller may close it earlier."""
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    place = f"/queries/{id_}/results"
    with client.stream("GET", place, params=asked, headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        fields: dict[str, str] = {}
        for line in answer.iter_lines():
            if line:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
                continue
            if "event" in fields:
                number = int(fields["id"]) if "id" in fields else None
                yield Event(fields["event"], json.loads(fields["data"]), number)
            fields = {}


def numbered(found: list[Event]) -> dict[int, Any]:
    """The results among events by number; checks that no number is there twice."""
    results = [event for event in found if event.name == "result"]
    by_number = {event.id: event.data for event in results}
    assert len(by_number) == len(results)
    return {number: data for number, data in by_number.items() if number is not None}
