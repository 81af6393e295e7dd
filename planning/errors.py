"""The errors that every face shows as one message: what is wrong, where, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.remedy import Names, Remedy, advice

if TYPE_CHECKING:
    from ..languages.query.errors import QueryError


class HeadraceError(Exception):
    """Something a user can do something about.

    ``code`` is stable (spec: languages 0.7 for those of a query); ``hint`` says what to do, and
    ``remedies`` which settings help as well.
    """

    def __init__(
        self, message: str, *, code: str, hint: str = "", remedies: tuple[Remedy, ...] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.remedies = remedies

    def advice(self, names: Names | None = None) -> str:
        """What to do, with the ``names`` that a face has for settings."""
        return advice(self.hint, self.remedies, names)

    def display(self, names: Names | None = None) -> str:
        """The message, and on a line of its own what to do, with a face's ``names``."""
        told = self.advice(names)
        return f"{self.message}\n  {told}" if told else self.message


class UsageError(HeadraceError):
    """The request itself is wrong: a file that is not there, options that do not fit."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "E-USAGE",
        hint: str = "",
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        super().__init__(message, code=code, hint=hint, remedies=remedies)


class InvalidQueryError(UsageError):
    """The query is wrong: a front end's error together with the text that it speaks of.

    ``warnings`` are about the input: they may say why the query does not fit it.
    """

    def __init__(self, error: QueryError, source: str, warnings: tuple[str, ...] = ()) -> None:
        super().__init__(error.message, code=error.code, hint=error.hint, remedies=error.remedies)
        self.error = error
        self.source = source
        self.warnings = warnings

    def display(self, names: Names | None = None) -> str:
        """The error with the line of the query and a caret under the place."""
        return self.error.render(self.source, names)


class RunError(HeadraceError):
    """The request was right, but carrying it out failed."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "E-RUN",
        hint: str = "",
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        super().__init__(message, code=code, hint=hint, remedies=remedies)


class StoppedError(HeadraceError):
    """The user stopped it (Ctrl-C)."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "E-STOPPED",
        hint: str = "",
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        super().__init__(message, code=code, hint=hint, remedies=remedies)
