"""The unsupported constructs of G-CORE, in two tables.

:data:`LATER` has the constructs that the grammar accepts and the translation does not support yet.
:data:`OUTSIDE` has the constructs without a grammar rule, by the word or sign at which the parser
stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..query.atoms import Location
from ..query.errors import QueryError


@dataclass(frozen=True, slots=True)
class Fault:
    """The code, reason and advice of an error."""

    code: str
    reason: str
    hint: str = ""

    def error(self, at: Location, text: str) -> QueryError:
        """The error of a part of a query."""
        return QueryError(self.code, self.reason, at=at, text=text, hint=self.hint)


LATER: Mapping[str, Fault] = MappingProxyType(
    {
        "vertices": Fault(
            "E-LATER",
            "constructed vertices by themselves are not supported yet",
            "construct edges between them, or select them",
        ),
        "edge value": Fault(
            "E-LATER",
            "an edge as a value is not supported yet",
            "select its two vertices or its properties, as e.amount",
        ),
        "optional path": Fault(
            "E-LATER",
            "a path of an OPTIONAL block in the answer is not supported yet",
            "match it without OPTIONAL, or select the two vertices that it joins",
        ),
        "same path": Fault(
            "E-LATER",
            "one path in two places is not supported yet",
            "give the second a variable of its own, or none",
        ),
        "named graph": Fault(
            "E-LATER",
            "a whole stream as a part of the answer is not supported yet",
            "construct the edges that are wanted of it; the name of a GRAPH VIEW can stand there",
        ),
        "two windows": Fault(
            "E-LATER",
            "one label of vertices under two windows is not supported yet",
            "read the label under one window, or split the query in two",
        ),
        "one column": Fault(
            "E-LATER",
            "one vertex in two columns is not supported yet where these have names of their own",
            "select it once",
        ),
    }
)
"""The constructs that the grammar accepts and the translation does not support yet."""


_UPDATE = Fault(
    "E-UPDATE",
    "a query over streams does not change stored data",
    "construct edges; other queries can read them as a stream",
)
_SHORTEST = Fault(
    "E-SHORTEST",
    "paths have no cost: any path that matches may be returned",
    "write the path without it, as -/p<:likes+>/->",
)
_MODE = Fault(
    "E-MODE",
    "a path is any walk, and is identified by its two ends",
    "write the path without it, as -/p<:likes+>/->",
)
_SKOLEM = Fault(
    "E-SKOLEM",
    "a query constructs no new vertices, so there are none for each group",
    "construct edges between vertices that MATCH binds",
)
_ORDER = Fault(
    "E-ORDER",
    "the result is unbounded, so it has no order and no limit",
    "leave it out, and sort or cut the answers after the query",
)
_NEGATION = Fault(
    "E-NEG",
    "an edge that is missing now may still arrive, so its absence proves nothing",
    "write what must be there instead",
)
_COUNTED = Fault(
    "E-PHYS",
    "a window is a length of time, not a number of edges",
    "write a length, as WINDOW (24h)",
)
_NO_FUNCTION = Fault(
    "E-FUNC",
    "expressions of this kind are not supported",
    "compare properties with each other or with constants",
)

NEGATION = _NEGATION
NO_FUNCTION = Fault("E-FUNC", "no function has this name", "abs(e.amount) is one")
NO_NUMBER = Fault(
    "E-SYNTAX", "only a number has an absolute value", "write a property, as e.amount"
)
DERIVED_EDGE = Fault(
    "E-PROPERTY",
    "edges that a query constructs have no properties",
    "test the edges that they are constructed from, in the query in ON",
)
ONE_ARGUMENT = Fault("E-SYNTAX", "it takes one argument", "write count(*), or sum(e.amount)")
AGGREGATE_INSIDE = Fault(
    "E-AGG", "aggregates are allowed only in the final result", "move it to SELECT"
)
PATH_AS_VALUE = Fault("E-PATHVAR", "a path has no value", "it can only be returned as it is")
OTHER_ENDS = Fault(
    "E-PATHVAR",
    "a path is constructed between the vertices that it joins",
    "write it as in MATCH: of (x)-/p<:a+>/->(y), construct (x)-/p/->(y)",
)
NO_STORED_PATH = Fault("E-SYNTAX", "it is not a path", "construct an edge, as (x)-[:label]->(y)")
NO_PATH = Fault("E-SAFE", "no MATCH binds it", "name a path of a pattern, as in -/p<:likes+>/->")
CONSTRUCTED = Fault(
    "E-SYNTAX",
    "an edge is constructed with its label only, between vertices as they are",
    "construct (x)-[:label]->(y)",
)
BARE_VERTEX = Fault("E-SYNTAX", "vertices are compared in brackets", "write (x) = (y)")
NO_EDGE = Fault("E-SAFE", "no MATCH binds it", "name an edge of a pattern, as in -[e:likes]->")
NO_LABEL = Fault(
    "E-SYNTAX",
    "only labels can be left out, each forwards or backwards",
    "write :likes!, or (:likes | :follows^)! for any other label",
)
EXISTS = Fault(
    "E-SYNTAX", "EXISTS takes no query here", "write its pattern in WHERE, as (x)-[:likes]->()"
)
ANY_VERTEX = Fault(
    "E-SAFE",
    "the query does not say which vertices it may be",
    "say what it is, as (x:Person), or which edge of the same graph it has",
)
NEW_VERTEX = Fault(
    "E-SKOLEM",
    "it is bound by no MATCH, and no new vertices are constructed",
    "construct edges between vertices that MATCH binds",
)
OPTIONAL = Fault(
    "E-OPT",
    "the answer would have to show that it is missing",
    "write two queries, with and without it, or use its vertices in an edge or condition",
)

OUTSIDE: Mapping[str, Fault] = MappingProxyType(
    {
        "SHORTEST": _SHORTEST,
        "COST": _SHORTEST,
        "ALL": _MODE,
        **dict.fromkeys(("ANY", "WALK", "TRAIL", "SIMPLE", "ACYCLIC"), _MODE),
        "GROUP": _SKOLEM,
        **dict.fromkeys(("ORDER", "LIMIT", "SKIP", "OFFSET"), _ORDER),
        **dict.fromkeys(("MINUS", "EXCEPT"), _NEGATION),
        "INTERSECT": Fault(
            "E-SYNTAX",
            "graphs are joined by UNION only",
            "match both patterns in one MATCH",
        ),
        **dict.fromkeys(
            ("SET", "REMOVE", "WHEN", "INSERT", "DELETE", "CREATE", "MERGE", "@"), _UPDATE
        ),
        "HAVING": Fault(
            "E-AGG",
            "aggregates are allowed only in the final result",
            "leave it out, and filter the answers after the query",
        ),
        **dict.fromkeys(
            ("ELEMENTS", "TRIPLES", "EDGES", "ROWS", "EVENTS", "TUPLES", "EVENT"), _COUNTED
        ),
        **dict.fromkeys(("CASE", "UNWIND", "CALL", "IN"), _NO_FUNCTION),
        "DISTINCT": Fault("E-SYNTAX", "it has no effect", "answers are a set; leave it out"),
        "~": Fault(
            "E-UNDIR",
            "every edge has a direction",
            "-[:likes]- takes an edge of either direction",
        ),
    }
)
"""The constructs without a grammar rule, by their first word in upper case."""
