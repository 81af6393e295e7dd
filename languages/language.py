"""The description of a query language in the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..algebra.deadline import Deadline
from .parsing.parameters import Parameters
from .query.regular_query import RegularQuery

Read = Callable[[str, str, Deadline], RegularQuery]
"""Reads (text, time unit of the catalog, deadline) into a Regular Query; raises QueryError."""
ReadWith = Callable[[str, str, Deadline, Parameters], RegularQuery]
"""As `Read`, with the values of parameters."""


@dataclass(frozen=True, slots=True)
class Language:
    """One query language.

    Attributes:
        name: the name in options and documents, in lower case.
        title: the name in messages.
        endings: the endings of its files, in lower case, each with its dot.
        comment: the sign that begins a comment up to the end of the line.
        recognizes: returns whether a text looks like this language.
        read: reads the text of a query.
        read_view: reads the text of a view, which may construct edges of several labels.
        read_with: reads the text of a query with parameters; None for a language without them.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    comment: str
    recognizes: Callable[[str], bool]
    read: Read
    read_view: Read
    read_with: ReadWith | None = None
