"""The queries that come with Headrace, as the page offers them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import resources

from api.service.documents import ExampleDocument
from catalog import load
from catalog.document import to_document
from catalog.model import Catalog
from languages import detect

_COMMENT = re.compile(r"(?:%|//)\s?(.*)")


@cache
def examples() -> tuple[ExampleDocument, ...]:
    """Each query of ``examples/``, called by its folder and file; its catalog has no sources."""
    return tuple(_found())


def _found() -> Iterator[ExampleDocument]:
    with resources.as_file(resources.files("examples")) as folder:
        for file in sorted(folder.glob("*/catalog.yaml")):
            catalog = to_document(_without_sources(load(file)))
            for query in sorted((*file.parent.glob("*.rq"), *file.parent.glob("*.gcore"))):
                text = query.read_text("utf-8")
                yield {
                    "name": f"{file.parent.name}/{query.name}",
                    "title": _title(text),
                    "language": detect(text, query.name),
                    "query": text,
                    "catalog": catalog,
                }


def _title(text: str) -> str:
    """What the comment at the start of a query says, up to the end of its first sentence."""
    said = []
    for line in text.splitlines():
        comment = _COMMENT.fullmatch(line)
        if comment is None:
            break
        said.append(comment[1])
    return re.split(r"(?<=\w)[.](?:\s|$)", " ".join(said), maxsplit=1)[0]


def _without_sources(catalog: Catalog) -> Catalog:
    streams = {name: replace(s, source=None) for name, s in catalog.streams.items()}
    return replace(catalog, streams=streams)
