"""The forms of Cypher without a grammar rule, each with one message.

:data:`OUTSIDE` has those that begin with a word of their own, :data:`FORMS` those that are told by
the text around the place where the parser stops, and :data:`FUNCTIONS` functions with a reason of
their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .errors import Fault, later

_UPDATE = Fault(
    "E-UPDATE",
    "a query over streams reads, and changes no stored data",
    "leave the clause out; answers are written to the sink of the run",
)
_CALL = Fault("E-FUNC", "procedures and subqueries are not called", "write patterns instead")
_PLANS = Fault("E-SYNTAX", "a query has no word for its plan", "use headrace explain")
_SETS = later("a difference or an intersection of queries is", "write NOT EXISTS { ... } or EXISTS")

OUTSIDE: Mapping[str, Fault] = MappingProxyType(
    {
        **dict.fromkeys(
            ("CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "FOREACH"), _UPDATE
        ),
        "LOAD": Fault(
            "E-UPDATE",
            "a query reads the streams of the catalog, and no files",
            "name the file in the catalog",
        ),
        "CALL": _CALL,
        "YIELD": _CALL,
        "OFFSET": Fault("E-SYNTAX", "rows are left out by SKIP", "write SKIP 10 before LIMIT"),
        "USING": Fault("E-SYNTAX", "the optimizer takes no hints in a query", "leave it out"),
        "USE": Fault("E-SYNTAX", "a query has one graph", "name streams by FROM STREAM"),
        "FINISH": _UPDATE,
        "FILTER": Fault("E-SYNTAX", "rows are chosen by WITH", "write WITH * WHERE condition"),
        "LET": Fault("E-SYNTAX", "values are named by WITH", "write WITH *, value AS name"),
        "NEXT": Fault("E-SYNTAX", "WITH hands rows on", "write WITH and the columns"),
        "GROUP": Fault(
            "E-SYNTAX",
            "the columns that are no aggregates are the groups",
            "leave GROUP BY out, and return its keys beside the aggregates",
        ),
        "HAVING": Fault(
            "E-SYNTAX", "WITH chooses groups", "write WITH a, count(*) AS n WHERE n > 1"
        ),
        "INTERSECT": _SETS,
        "EXCEPT": _SETS,
        "START": Fault("E-SYNTAX", "START was a clause of older Cypher", "begin with MATCH"),
        "EXPLAIN": _PLANS,
        "PROFILE": _PLANS,
        "CYPHER": Fault("E-SYNTAX", "a query has no version and no options", "begin with MATCH"),
    }
)
"""The constructs without a grammar rule, by their first word in upper case."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form without a grammar rule.

    Attributes:
        name: what it is, for the documentation.
        before: what the text before the place where the parser stops ends with.
        here: what the text begins with at that place.
        fault: the message.
    """

    name: str
    before: re.Pattern[str]
    here: re.Pattern[str]
    fault: Fault


def _form(name: str, before: str, here: str, fault: Fault) -> Form:
    flags = re.IGNORECASE
    return Form(name, re.compile(rf"(?:{before})\s*\Z", flags), re.compile(here, flags), fault)


_LABELS = later(
    "this expression of labels or types is",
    "write (a:Person|City), (a:Person:City) or -[:KNOWS|LIKES]->, and other conditions in WHERE, "
    "as NOT a:City",
)
_TYPE_TEST = Fault(
    "E-SYNTAX", "a property has its type in the catalog", "convert a value, as toInteger(a.name)"
)
_QUANTIFIED = later("a quantified path pattern is", "write -[:KNOWS*1..3]->")
_CHOSEN_PATHS = later(
    "a word for which paths a pattern finds is",
    "write shortestPath((a)-[:KNOWS*]->(b)) or allShortestPaths(...); other paths have no "
    "relationship twice",
)
_OLD_LISTS = Fault(
    "E-SYNTAX",
    "filter and extract were functions of older Cypher",
    "write [x IN xs WHERE condition | value]",
)

FORMS = (
    _form("`COLLECT { }`", r"\bCOLLECT\s*\{\s*\w*", r"[(\w]", later(
        "COLLECT { } is", "collect values behind an OPTIONAL MATCH, as WITH a, collect(b.name) AS l"
    )),
    _form("`OPTIONAL CALL`", r"\bOPTIONAL", r"CALL\b", _CALL),
    _form("`EXISTS { ... RETURN }`, `COUNT { ... RETURN }`", r"\b(?:EXISTS|COUNT)\s*\{[^{}]*",
          r"(?:RETURN|WITH|UNWIND|OPTIONAL|CALL|UNION|MATCH)\b", later(
        "a clause behind the MATCH in EXISTS { } or COUNT { } is",
        "write one MATCH with WHERE; RETURN is not needed")),
    _form("`{name}`, a parameter", r"\{\s*\w+", r"\}", Fault(
        "E-SYNTAX", "a parameter begins with a dollar sign", "write $name")),
    _form("`a {.*}`", r"\.", r"\*", later(
        "a map of all properties of a node is", "name the properties, as a {.name, .age}")),
    _form("`:!A`, `:(A|B)&C`, `:%`, `-[:A&B]->`", r"[:|&!]\s*[\w`]*", r"[!%(&|]", _LABELS),
    _form("`(a IS Person)`", r"\(\s*\w+", r"IS\b", _LABELS),
    _form("`x IS NORMALIZED`", r"\bIS(?:\s+NOT)?", r"(?:NF\w+\s+)?NORMALIZED", Fault(
        "E-FUNC", "texts are compared as they are, without normal forms", "leave the test out")),
    _form("`x IS :: INTEGER`, `x IS TYPED INTEGER`, `x::INTEGER`", "", r"::|TYPED\b", _TYPE_TEST),
    _form("`x IS TRUE`", r"\bIS(?:\s+NOT)?", r"(?:TRUE|FALSE|UNKNOWN)\b", Fault(
        "E-SYNTAX", "IS tests for null", "write x = true, or x IS NULL")),
    _form("`filter(x IN xs WHERE ...)`, `extract(x IN xs | ...)`",
          r"\b(?:filter|extract)\s*\(\s*\w+\s+IN\b[^()]*", r"WHERE\b|\|", _OLD_LISTS),
    _form("`reduce` without a first result", r"\breduce\s*\([^()]*", r"[|)]", Fault(
        "E-SYNTAX", "reduce takes a first result and a list",
        "write reduce(s = 0, x IN xs | s + x)")),
    _form("`x || y`", r"", r"\|\|", Fault(
        "E-SYNTAX", "texts and lists are joined by +", "write x + y")),
    _form("`->+`, `->{1,3}`, `((a)-->(b))+`", r"[->)]", r"[+{*(]", _QUANTIFIED),
    _form("`MATCH ANY SHORTEST`, `MATCH TRAIL`, `MATCH REPEATABLE ELEMENTS`",
          r"\bMATCH(?:\s+(?:SHORTEST|ANY|ALL|TRAIL|WALK|ACYCLIC|SIMPLE|REPEATABLE|DIFFERENT))?",
          r"(?:SHORTEST|ANY|ALL|PATHS?|ELEMENTS?|RELATIONSHIPS?|\d)\b|\(", _CHOSEN_PATHS),
    _form("`x BETWEEN 1 AND 2`", "", r"BETWEEN\b", Fault(
        "E-SYNTAX", "values are compared by signs", "write 1 <= x <= 2")),
    _form("`x LIKE 'a%'`", "", r"I?LIKE\b", Fault(
        "E-SYNTAX", "parts of texts are compared by words",
        "write STARTS WITH, ENDS WITH, CONTAINS, or =~ and a regular expression")),
    _form("`x NOT IN xs`", "", r"NOT\s+(?:IN|STARTS|ENDS|CONTAINS)\b", Fault(
        "E-SYNTAX", "NOT stands before the whole condition", "write NOT x IN xs")),
    _form("`ORDER BY x NULLS LAST`", "", r"NULLS\b", Fault(
        "E-SYNTAX", "a null comes last in every order", "leave NULLS LAST out")),
    _form("`RETURN ALL`, `LIMIT ALL`", r"\b(?:RETURN|WITH|LIMIT)", r"ALL\b", Fault(
        "E-SYNTAX", "ALL stands behind UNION", "leave ALL out")),
    _form("`1_000`", "", r"\d+_[\d_]+\b", Fault(
        "E-SYNTAX", "a number has no underscores", "write 1000")),
    _form("`(x).key`, `{key: x}.key`", r"[)}\]]", r"\.\s*\w", later(
        "a property of such a value is",
        "name the value in a WITH before, or write a.name, head(xs).name or xs[0].name")),
)  # fmt: skip
"""The forms that are told by the text around them; the first one that fits is meant."""

_RANDOM = Fault(
    "E-FUNC",
    "a query has no random values, since it gives the same answers whenever it runs",
    "choose rows by their values, as a.id % 10 = 0",
)
_KEYS = later(
    "a list or a map of the properties of a node or a relationship is",
    "name the properties, as a.name; the catalog has them by label",
)
_OF_PATTERN = Fault(
    "E-SYNTAX", "a path has a name", "write MATCH p = shortestPath((a)-[:KNOWS*]->(b)) before"
)
FUNCTIONS: Mapping[str, Fault] = MappingProxyType(
    {
        "keys": _KEYS,
        "properties": _KEYS,
        "labels": later("the list of the labels of a node is", "ask for one, as a:Person"),
        "rand": _RANDOM,
        "randomuuid": _RANDOM,
        "shortestpath": _OF_PATTERN,
        "allshortestpaths": _OF_PATTERN,
        **dict.fromkeys(("filter", "extract"), _OLD_LISTS),
    }
)
"""The functions that are refused for a reason of their own, in lower case."""


def form_at(before: str, here: str) -> Fault | None:
    """The fault of the form that a text has around the place where the parser stops, if any."""
    for form in FORMS:
        if form.here.match(here) and form.before.search(before[-300:]):
            return form.fault
    return None
