"""Which query languages there are, and how to tell them apart.

A front end is one module with a ``parse`` and a ``recognizes``; it becomes known by a line
in :data:`LANGUAGES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from ..algebra.deadline import NO_DEADLINE, Deadline
from . import gcore, rq
from .foreign import foreign_error
from .query.errors import QueryError, listed
from .query.regular_query import RegularQuery


@dataclass(frozen=True, slots=True)
class Language:
    """A front end: how it reads the texts of queries and of views, and what gives them away."""

    name: str
    title: str
    endings: tuple[str, ...]
    recognizes: Callable[[str], bool]
    read: Callable[[str, str, Deadline], RegularQuery]
    read_view: Callable[[str, str, Deadline], RegularQuery]

    def parse(self, text: str, time_unit: str, deadline: Deadline = NO_DEADLINE) -> RegularQuery:
        """The query of a text; windows with a unit are counted in ``time_unit``.

        Raises:
            QueryError: if it is none; E-LANGUAGE if it looks like one of a language that is not
                read here.
            algebra.deadline.OutOfTimeError: if the time is over.
        """
        return _read(self.read, text, time_unit, deadline)

    def parse_view(
        self, text: str, time_unit: str, deadline: Deadline = NO_DEADLINE
    ) -> RegularQuery:
        """The query of a view, which may construct edges of several labels; errors as `parse`."""
        return _read(self.read_view, text, time_unit, deadline)


def _read(
    read: Callable[[str, str, Deadline], RegularQuery],
    text: str,
    time_unit: str,
    deadline: Deadline,
) -> RegularQuery:
    try:
        return read(text, time_unit, deadline)
    except QueryError as error:
        raise foreign_error(text) or error from None


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
