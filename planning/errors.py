"""Errors with one message: what is wrong, where, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.remedy import Names, Remedy, advice

if TYPE_CHECKING:
    from ..languages.query.errors import QueryError


class HeadraceError(Exception):
    """An error that a user can act on.

    ``code`` is stable; ``hint`` says what to do, and ``remedies`` names settings that help.
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
        """What to do; ``names`` are those of settings on the command line or over REST."""
        return advice(self.hint, self.remedies, names)

    def display(self, names: Names | None = None) -> str:
        """The message, and on a line of its own what to do; ``names`` as of `advice`."""
        advice = self.advice(names)
        return f"{self.message}\n  {advice}" if advice else self.message


class UsageError(HeadraceError):
    """The request is wrong: a file is missing, or options do not fit."""

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
    """The query is wrong: the error of its language, with the text of the query.

    ``warnings`` about the input may say why the query does not fit it.
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
    """The request was right, but the run failed."""

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
