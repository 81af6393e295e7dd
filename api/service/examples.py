"""The example queries of Headrace, for the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import takewhile

from ...catalog import load
from ...catalog.document import to_document
from ...documents.explanation import without_sources
from ...languages import detect
from ...languages.registry import LANGUAGES
from .bodies import ExampleDocument

_ENDINGS = frozenset(ending for language in LANGUAGES for ending in language.endings)
_COMMENT = re.compile(rf"(?:{'|'.join(re.escape(one.comment) for one in LANGUAGES)})\s?(.*)")


@cache
def examples() -> tuple[ExampleDocument, ...]:
    """Returns the queries of ``examples/``, without their comments and without sources."""
    return tuple(_read_examples())


def _read_examples() -> Iterator[ExampleDocument]:
    with resources.as_file(resources.files("headrace.examples")) as folder:
        for file in sorted(folder.glob("*/catalog.yaml")):
            catalog = without_sources(to_document(load(file)))
            for query in sorted(q for q in file.parent.iterdir() if q.suffix in _ENDINGS):
                text = query.read_text("utf-8")
                comment, rest = _comment_and_rest(text)
                yield ExampleDocument(
                    name=f"{file.parent.name}/{query.name}",
                    title=re.split(r"(?<=\w)[.](?:\s|$)", comment, maxsplit=1)[0],
                    language=detect(text, query.name),
                    query=rest,
                    catalog=catalog,
                )


def _comment_and_rest(text: str) -> tuple[str, str]:
    """Splits a query into its first comment and the rest."""
    lines = text.splitlines(keepends=True)
    comments = list(takewhile(lambda match: match is not None, map(_COMMENT.match, lines)))
    return " ".join(c[1] for c in comments if c is not None), "".join(lines[len(comments) :])
