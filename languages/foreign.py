"""Recognizes texts in foreign query languages, and sketches the same query in RQ and G-CORE.

In: a text that a language has refused. Out: an error that names the language of the text, with the
pattern of the query in RQ and G-CORE as a hint. The hint shows only sketches that RQ or G-CORE can
parse; without a sketch, the hint is an example. A registered language is never foreign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..algebra.deadline import NO_DEADLINE
from .language import Language, Read
from .query.atoms import Location
from .query.errors import QueryError, either
from .query.regular_query import RegularQuery
from .rq import printer

_WINDOW = " WINDOW 24h"
_ON = " ON stream WINDOW (24h)"
_EXAMPLE = "Answer(x, z) <- follows(x, y), likes(y, z) WINDOW 24h"
_GCORE_EXAMPLE = "SELECT x, z MATCH (x)-[:follows]->(y)-[:likes]->(z) ON stream WINDOW (24h)"
_LONGEST_TEXT = 5_000
"""The number of characters of a text that are inspected, at most."""
_LONGEST_SKETCH = 300
_COMMENT = re.compile(r"\s+|(?://|--|#|%)[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sketch:
    """A query in RQ, in G-CORE, or in both; an absent one is empty."""

    rq: str = ""
    gcore: str = ""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A language that Headrace cannot read.

    Attributes:
        name: the name of the language.
        begins: a pattern of the start of a text, after comments.
        sketch: translates the pattern of a text to RQ or G-CORE without guarantees; only results
            that these languages parse are shown.
    """

    name: str
    begins: re.Pattern[str]
    sketch: Callable[[str], Sketch]


def foreign_language(text: str) -> Foreign | None:
    """The foreign language of a text (:data:`FOREIGN`); None for any other text."""
    start = _start(text)
    end = start + _LONGEST_TEXT
    return next((one for one in FOREIGN if one.begins.match(text, start, end)), None)


def foreign_error(text: str, languages: Sequence[Language]) -> QueryError | None:
    """The error of a text in a foreign language that ``languages`` lacks; None for other texts."""
    read = {language.name: language.read for language in languages}
    language = foreign_language(text)
    if language is None or language.name.lower() in read:
        return None
    start = _start(text)
    before = text[:start]
    word = re.match(r"g\.\w+|\w+", text[start:])
    sketch = _checked(language.sketch(text[start : start + _LONGEST_TEXT]), read)
    titles = tuple(language.title for language in reversed(languages))
    return QueryError(
        "E-LANGUAGE",
        f"this looks like {language.name}, and queries are written in {either(titles)} here",
        at=Location(before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1),
        text=word[0] if word else "",
        hint=_hint(sketch),
    )


def _hint(sketch: Sketch) -> str:
    written = {"G-CORE": sketch.gcore, "RQ": sketch.rq}
    sketches = [f"in {name} write {text}" for name, text in written.items() if text]
    if sketches:
        return ", ".join(sketches)
    return f"a query in G-CORE is {_GCORE_EXAMPLE}, the same in RQ {_EXAMPLE}"


def _start(text: str) -> int:
    """The offset after the leading blanks and comments of a text, in any language."""
    at = 0
    while (skipped := _COMMENT.match(text, at)) is not None:
        at = skipped.end()
    return at


def _checked(sketch: Sketch, read: Mapping[str, Read]) -> Sketch:
    """The sketches that RQ and G-CORE parse; a G-CORE sketch may provide the one in RQ."""
    gcore = _parsed(read["gcore"], sketch.gcore)
    rq = sketch.rq
    if gcore is not None and _parsed(read["rq"], rq) is None:
        # Without a stream its labels have their own names.
        bare = _parsed(read["gcore"], sketch.gcore.replace(_ON, ""))
        rq = "" if bare is None else " ".join(printer.rules_text(bare)) + _WINDOW
    return Sketch(
        "" if _parsed(read["rq"], rq) is None else rq, "" if gcore is None else sketch.gcore
    )


def _parsed(read: Read, text: str) -> RegularQuery | None:
    if not text or len(text) > _LONGEST_SKETCH:
        return None
    try:
        return read(text, "second", NO_DEADLINE)
    except QueryError:
        return None


_TABLE = re.compile(r"\s*(?:\w+\.)*(\w+)\b(?!\s*\()")


def _of_sql(text: str) -> Sketch:
    """Translates the tables after FROM and JOIN to the steps of a chain."""
    rest = _split(r"\bFROM\b", text)[2]
    listed = _split(r"\b(?:WHERE|GROUP|ORDER|LIMIT|HAVING|WINDOW|EMIT|UNION)\b|;", rest)[0]
    parts = re.split(r",|\bJOIN\b", listed, flags=re.IGNORECASE)
    tables = [name[1] for part in parts if (name := _TABLE.match(part))]
    return _chain([(table, False) for table in tables])


def _of_gremlin(text: str) -> Sketch:
    """Translates the steps ``out('a')`` and ``in('a')`` to the steps of a chain."""
    steps = re.findall(r"\.(out|in)E?\(\s*['\"](\w+)['\"]\s*\)", text)
    return _chain([(label, direction == "in") for direction, label in steps])


def _chain(steps: Sequence[tuple[str, bool]]) -> Sketch:
    """A chain of edges; each step is a label, and whether the edge is reversed."""
    if not 0 < len(steps) <= 6:
        return Sketch()
    names = "xyzuvwt"[: len(steps) + 1]
    path = "".join(
        f"{f'<-[:{label}]-' if back else f'-[:{label}]->'}({name})"
        for (label, back), name in zip(steps, names[1:], strict=True)
    )
    return Sketch(gcore=f"SELECT {names[0]}, {names[-1]} MATCH ({names[0]}){path}{_ON}")


def _of_sparql(text: str) -> Sketch:
    """Translates the triples ``?x a:path ?y``, whose path syntax RQ shares."""
    inside = re.search(r"\{([^{}]*)\}[^{}]*$", text)
    if inside is None:
        return Sketch()
    plain = re.sub(r"<[^>]*[#/]([\w-]+)>", r"\1", inside[1])
    plain = re.sub(r"\w*:(\w+)", r"\1", plain)
    triples = re.findall(r"(\?\w+)\s+([^\s?]+)\s+(\?\w+)\s*(?=[.;}]|$)", plain)
    if not triples:
        return Sketch()
    head = re.match(
        r".*?\bSELECT\s+(?:DISTINCT\s+)?((?:\?\w+\s*)+)", text, re.IGNORECASE | re.DOTALL
    )
    columns = re.findall(r"\w+", head[1]) if head else [triples[0][0][1:], triples[-1][2][1:]]
    atoms = ", ".join(
        f"{path}({source[1:]}, {target[1:]})"
        if path.isidentifier()
        else f"{source} {path} {target}"
        for source, path, target in triples
    )
    bare = all(path.isidentifier() for _, path, _ in triples)
    pattern = ", ".join(f"({s[1:]})-[:{p}]->({t[1:]})" for s, p, t in triples)
    return Sketch(
        rq=f"Answer({', '.join(columns)}) <- {atoms}{_WINDOW}",
        gcore=f"SELECT {', '.join(columns)} MATCH {pattern}{_ON}" if bare else "",
    )


def _split(pattern: str, text: str) -> tuple[str, str, str]:
    """The text before the first match of a pattern, the match, and the text after it."""
    match = re.search(pattern, text, re.IGNORECASE)
    if match is None:
        return text, "", ""
    return text[: match.start()], match[0], text[match.end() :]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL | re.VERBOSE)


FOREIGN: tuple[Foreign, ...] = (
    Foreign(
        "SPARQL",
        _pattern(
            r"""(?: (?:PREFIX\s+[\w-]*:|BASE)\s*<
                  | SELECT\s+(?:DISTINCT\s+|REDUCED\s+)?(?:[*?$]|\(\s*\w+\s*\(\s*[*?$])[^{]*\{
                  | (?:ASK|CONSTRUCT)\s*(?:WHERE\s*)?\{
                  | DESCRIBE\s+[?<]
                  | REGISTER\s+[IDR]?STREAM\b )"""
        ),
        _of_sparql,
    ),
    Foreign(
        "SQL",
        _pattern(
            r"""(?: SELECT\s+(?!\()(?:(?!\bMATCH\b).)*?\sFROM\s
                  | WITH\s+(?:RECURSIVE\s+)?\w+\s*(?:\([^()]*\)\s*)?AS\s*\(
                  | INSERT\s+INTO\b | UPDATE\s+\w+\s+SET\b | DELETE\s+FROM\b
                  | CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP\w*\s+|MATERIALIZED\s+)?
                    (?:TABLE|VIEW|STREAM)\b )"""
        ),
        _of_sql,
    ),
    Foreign("Gremlin", _pattern(r"g\s*\.\s*(?:V|E|with\w*)\s*\("), _of_gremlin),
)
"""The foreign languages, in the order of detection."""
