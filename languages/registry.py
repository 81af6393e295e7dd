"""The query languages, and the detection of the language of a text.

A language is a folder beside this module whose ``__init__`` has a `Language`. An entry in
:data:`LANGUAGES` registers it. Nothing else in the package lists languages.
"""

from __future__ import annotations

from functools import partial
from pathlib import PurePath

from ..algebra.deadline import NO_DEADLINE, Deadline
from . import cypher, gcore, rq
from .foreign import foreign_error
from .language import Language, Read, ReadWith
from .parsing.parameters import NO_PARAMETERS, Parameters, check_unused, checked
from .query.errors import QueryError, listed
from .query.regular_query import RegularQuery

LANGUAGES: tuple[Language, ...] = (cypher.LANGUAGE, gcore.LANGUAGE, rq.LANGUAGE)
"""The languages in the order of detection; the last one reads texts that none recognizes."""


def parse(
    text: str,
    language: str | None = None,
    time_unit: str = "second",
    deadline: Deadline = NO_DEADLINE,
    parameters: Parameters = NO_PARAMETERS,
) -> RegularQuery:
    """Reads a query in ``language``; None detects the language from the text.

    ``time_unit`` is the time unit of the catalog, to which windows with a unit are converted.
    ``parameters`` are the values of ``$name`` in Cypher.

    Raises:
        QueryError: if the text is not a valid query of the language; E-LANGUAGE for an unknown
            language, or a text that looks like a foreign one; E-PARAM for a parameter without a
            value, or a value that the query does not use.
        algebra.deadline.OutOfTimeError: if the time is over.
    """
    read = _language_of(text, language)
    if not parameters or read.read_with is None:
        check_unused(parameters, read.title)
        return _read(read.read, text, time_unit, deadline)
    read_with, values = read.read_with, checked(parameters)
    bound = partial(_with_values, read_with, values)
    return _read(bound, text, time_unit, deadline)


def _with_values(
    read: ReadWith, values: Parameters, text: str, time_unit: str, deadline: Deadline
) -> RegularQuery:
    return read(text, time_unit, deadline, values)


def parse_view(
    text: str,
    language: str | None = None,
    time_unit: str = "second",
    deadline: Deadline = NO_DEADLINE,
) -> RegularQuery:
    """Reads the query of a view, which may construct edges of several labels; errors as `parse`."""
    return _read(_language_of(text, language).read_view, text, time_unit, deadline)


def language_named(name: str) -> Language:
    """The language of a name, in any case.

    Raises:
        QueryError: E-LANGUAGE if no language has the name.
    """
    for language in LANGUAGES:
        if language.name == name.lower():
            return language
    raise QueryError(
        "E-LANGUAGE",
        "no query language has this name",
        text=name,
        hint=f"known are {listed([language.name for language in LANGUAGES])}",
    )


def detect(text: str, file_name: str | None = None) -> str:
    """The name of the language of a text, by the file's ending, else by the text.

    A text that no language recognizes is read as RQ, whose errors explain the missing parts.
    """
    ending = PurePath(file_name).suffix.lower() if file_name else ""
    for language in LANGUAGES:
        if ending in language.endings:
            return language.name
    for language in LANGUAGES:
        if language.recognizes(text):
            return language.name
    return LANGUAGES[-1].name


def _language_of(text: str, name: str | None) -> Language:
    return language_named(name or detect(text))


def _read(read: Read, text: str, time_unit: str, deadline: Deadline) -> RegularQuery:
    try:
        return read(text, time_unit, deadline)
    except QueryError as error:
        raise foreign_error(text, LANGUAGES) or error from None
