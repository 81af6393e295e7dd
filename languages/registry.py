"""Which query languages there are, and how to tell them apart.

A front end is one module with a ``parse`` and a ``recognizes``; it becomes known by a line
in :data:`LANGUAGES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from algebra.deadline import Deadline
from languages import gcore, rq
from languages.errors import QueryError, listed
from languages.regular_query import RegularQuery


@dataclass(frozen=True, slots=True)
class Language:
    """A front end: ``parse(text, time_unit, deadline)``, and what gives its texts away."""

    name: str
    title: str
    endings: tuple[str, ...]
    recognizes: Callable[[str], bool]
    parse: Callable[[str, str, Deadline], RegularQuery]
    parse_view: Callable[[str, str, Deadline], RegularQuery]


LANGUAGES: tuple[Language, ...] = (
    Language(
        "gcore",
        "G-CORE with windows",
        (".gcore", ".gc"),
        gcore.recognizes,
        gcore.parse,
        gcore.parse_view,
    ),
    Language(
        "rq", "Regular Queries (Datalog with paths)", (".rq",), rq.recognizes, rq.parse, rq.parse
    ),
)
"""In the order in which a text is offered to them; the last takes what none recognizes."""


def language_named(name: str) -> Language:
    """The front end of a name.

    Raises:
        QueryError: E-LANGUAGE if there is none.
    """
    for language in LANGUAGES:
        if language.name == name.lower():
            return language
    raise QueryError(
        "E-LANGUAGE",
        "there is no such query language",
        text=name,
        hint=f"known are {listed([language.name for language in LANGUAGES])}",
    )


def detect(text: str, file_name: str | None = None) -> str:
    """The name of the language of a text: by the file's ending, else by its content.

    A text that no language recognizes is taken for RQ, whose errors then say what is
    missing.
    """
    ending = PurePath(file_name).suffix.lower() if file_name else ""
    for language in LANGUAGES:
        if ending in language.endings:
            return language.name
    for language in LANGUAGES:
        if language.recognizes(text):
            return language.name
    return LANGUAGES[-1].name
