"""Errors for users: a message with the place of the mistake, and advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.remedy import Names, Remedy, advice

if TYPE_CHECKING:
    from ..languages.query.errors import QueryError


class HeadraceError(Exception):
    """An error that a user can correct.

    ``code`` is stable, ``hint`` is advice, and ``remedies`` are changes of settings that help.
    """

    def __init__(
        self, message: str, *, code: str, hint: str = "", remedies: tuple[Remedy, ...] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.remedies = remedies

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def advice(self, names: Names | None = None) -> str:
        """Returns the advice, with the ``names`` of settings on the command line or over REST."""
        return advice(self.hint, self.remedies, names)

    def display(self, names: Names | None = None) -> str:
        """Returns the message, and on further lines the advice; see `advice` for ``names``."""
        advice = self.advice(names)
        return f"{self.message}\n  {advice}" if advice else self.message


class UsageError(HeadraceError):
    """The request is wrong: for example, a file is missing, or options contradict each other."""

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
    """The query is wrong: an error of its language, with the text of the query.

    ``warnings`` about the input may explain why the query does not fit the input.
    """

    def __init__(self, error: QueryError, source: str, warnings: tuple[str, ...] = ()) -> None:
        super().__init__(error.message, code=error.code, hint=error.hint, remedies=error.remedies)
        self.error = error
        self.source = source
        self.warnings = warnings

    def __str__(self) -> str:
        return str(self.error)

    def display(self, names: Names | None = None) -> str:
        """Returns the error with the line of the query and a caret under the position."""
        return self.error.render(self.source, names)


class RunError(HeadraceError):
    """A run failed although the request was right."""

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
    """The user stopped the run (Ctrl-C)."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "E-STOPPED",
        hint: str = "",
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        super().__init__(message, code=code, hint=hint, remedies=remedies)
