"""Errors and warnings of queries: codes and texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from types import MappingProxyType

from ...algebra.remedy import Names, Remedy, advice
from .atoms import Location

CODES: Mapping[str, str] = MappingProxyType(
    {
        "E-SYNTAX": "not in the grammar of the language",
        "E-REC": "a rule that depends on itself; only closure repeats",
        "E-ARITY": "an atom with another number of terms than its label or head has columns, "
        "or a path over values",
        "E-SAFE": "a variable of a head, condition or negated part that the body does not bind",
        "E-EDB": "an input label, or a name already taken, defined anew",
        "E-NEG": "a negation in another form than `not` before an atom",
        "E-NOWIN": "a stream without a window",
        "E-WINDOW": "an invalid window: slide > range, a bad length, or two windows for one stream",
        "E-ANSWER": "no predicate that is the answer",
        "E-UNKNOWN": "a label, stream or property that the catalog does not have",
        "E-AMBIGUOUS": "a label that several streams have",
        "E-TYPE": "a constant that is not a vertex of its stream, or types that cannot be compared",
        "E-PROPERTY": "a property, or a comparison, of what is not an edge of an input label",
        "E-STORED": "a window for a stored graph, or the time of an edge of one, which has neither;"
        " events of stored graphs alone",
        "E-SIZE": "a query, path or set of labels too large to plan, or than the time allows",
        "E-LANGUAGE": "no known query language, or a text in one that is not read here",
        "E-LATER": "in the language, and not supported yet",
        "E-AGG": "an aggregate that is not a column by itself; a list that is read",
        "E-ORDER": "an order or offset without a limit, or an order that is not of the head",
        "E-OPT": "an OPTIONAL whose absence the answer would have to show",
        "E-UPDATE": "a change of stored data",
        "E-SKOLEM": "new vertices: a query constructs edges between bound ones only",
        "E-SHORTEST": "shortest or cheapest paths",
        "E-MODE": "all paths, or paths of a certain kind",
        "E-PHYS": "a window that counts edges and not time",
        "E-LABELS": "any label, or any but some, where the labels are not known",
        "E-FUNC": "a function that is not known",
        "E-PARAM": "a parameter without a value, or a value without a parameter",
        "E-UNDIR": "edges that have no direction",
        "E-PATHVAR": "a path used as a value",
        "W-CARET": "a star or plus behind a reversed step",
        "W-CROSS": "body parts that share no variable: a cross product",
        "W-EMPTY": "a path expression that no path fits",
        "W-UNUSED": "a rule or window that the answer does not use",
        "W-TYPE": "a join of vertices of different types",
        "W-ORDER": "an order of a result without a limit, which chooses no rows",
        "W-RUN": "a clause for what a setting of the run decides",
        "W-SLIDE": "a slide that does not divide the range",
    }
)
"""The codes of errors and warnings, and the cause of each."""

WIDEST = 160
"""The number of characters of a line of the query that are shown, at most."""


class QueryError(Exception):
    """A query that is wrong or not supported.

    Attributes:
        code: a key of :data:`CODES`.
        message: the reason.
        line, column: the place of the error, from 1; None for an error without a place.
        text: the offending part of the query.
        expected: the constructs allowed at the place, in words.
        hint: the advice to the user.
        remedies: settings of the request that also solve the problem.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        at: Location | None = None,
        text: str = "",
        expected: tuple[str, ...] = (),
        hint: str = "",
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        assert code in CODES, code
        if at is not None and at.view is not None and not message.startswith("in the view "):
            message = f"in the view {at.view}: {message}"
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.line = at.line if at else None
        self.column = at.column if at else None
        self.text = text
        self.expected = expected
        self.hint = hint
        self.remedies = remedies

    def __str__(self) -> str:
        return self._line(None)

    def _line(self, names: Names | None) -> str:
        reason = self.message
        if self.expected:
            reason += f"; expected {either(self.expected)}"
        hint = advice(self.hint, self.remedies, names)
        return line_of(self.code, self._at, self.text, reason, hint)

    @property
    def _at(self) -> Location | None:
        if self.line is None or self.column is None:
            return None
        return Location(self.line, self.column)

    def render(self, source: str, names: Names | None = None) -> str:
        """The error with its line of ``source`` below it and a caret under the place.

        ``names`` are the names of the settings of ``remedies`` in the calling interface.

        >>> error = QueryError("E-SAFE", "y is not bound", at=Location(1, 11), text="y")
        >>> print(error.render("Answer(x, y) <- a(x, z)"))
        E-SAFE 1:11: y: y is not bound
          1 | Answer(x, y) <- a(x, z)
            |           ^
        """
        lines = source.splitlines()
        if self.line is None or self.column is None or not 0 < self.line <= len(lines):
            return self._line(names)
        shown, start = lines[self.line - 1], self.column - 1
        marked = self.text if self.text and shown.startswith(self.text, start) else " "
        if len(shown) > WIDEST:
            # Show the part of a long line around the place.
            cut = max(0, start - WIDEST // 2)
            before, after = "…" if cut else "", "…" if cut + WIDEST < len(shown) else ""
            shown = before + shown[cut : cut + WIDEST] + after
            start = start - cut + len(before)
        number = f"{self.line:>3}"
        caret = "^" * min(len(marked), max(len(shown) - start, 1))
        return "\n".join(
            (
                self._line(names),
                f"{number} | {_printable(shown)}",
                f"{' ' * len(number)} | {' ' * start}{caret}",
            )
        )


def line_of(code: str, at: Location | None, text: str, reason: str, hint: str = "") -> str:
    """``CODE line:col: construct: reason; hint``, the one form of errors and warnings."""
    place = f"{code} {at}" if at else code
    construct = text if len(text) <= 60 else f"{text[:60]}…"
    line = f"{place}: {_printable(construct)}: {reason}" if text else f"{place}: {reason}"
    return f"{line}; {hint}" if hint else line


_MOST_COMPARED = 5_000
"""The number of names to compare with, at most; more would take seconds."""


def suggestion(name: str, names: Iterable[str], introduction: str, also: Iterable[str] = ()) -> str:
    """The hint of an unknown name: the name that was probably meant, and all ``names``.

    ``introduction`` precedes the names; ``also`` are further candidates, which are not listed.
    """
    in_order = sorted(names)
    everything = f"{introduction} {listed(in_order)}" if in_order else "the catalog has none at all"
    by_folded = {other.casefold(): other for other in likely(name, (*sorted(also), *in_order))}
    close = closest(name.casefold(), by_folded)
    return f"did you mean {by_folded[close]}? {everything}" if close else everything


def closest(name: str, names: Iterable[str]) -> str | None:
    """The most similar of the :func:`likely` names, if any is similar."""
    close = get_close_matches(name, likely(name, names), n=1)
    return close[0] if close else None


def likely(name: str, names: Iterable[str]) -> list[str]:
    """The names; of very many, only those of equal first letter and similar length."""
    candidates = list(names)
    if len(candidates) <= _MOST_COMPARED:
        return candidates
    length, start = len(name), name[:1]
    alike = (n for n in candidates if abs(len(n) - length) <= 1 and n[:1] == start)
    return list(islice(alike, _MOST_COMPARED))


def listed(names: tuple[str, ...] | list[str], most: int = 12) -> str:
    """``a, b, c and 5 more``."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def either(words: tuple[str, ...]) -> str:
    """``a, b or c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _printable(text: str) -> str:
    """``text`` on one line, each control character as one sign, so that columns stay aligned."""
    return "".join(
        c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text
    )
