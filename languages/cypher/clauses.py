"""The syntax tree of a Cypher or Seraph query: its clauses over the trees of :mod:`.syntax`."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..parsing.emit import EmitText
from ..parsing.windows import Length
from ..query.atoms import Location
from .leaves import Name
from .syntax import Expression, Part


@dataclass(frozen=True, slots=True)
class Match:
    """``OPTIONAL MATCH parts WITHIN window WHERE condition``."""

    parts: tuple[Part, ...]
    is_optional: bool
    within: Length | None
    condition: Expression | None
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Item:
    """A column of RETURN or WITH, and its text if it has no alias."""

    value: Expression
    alias: Name | None
    text: str = field(compare=False)

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.text if self.alias is None else self.alias.text


@dataclass(frozen=True, slots=True)
class Sorted:
    """``value DESC`` of an ORDER BY."""

    value: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class First:
    """The first row of each group.

    Attributes:
        groups: the names of the items that rows are grouped by.
        order: the order of the rows of a group.
    """

    groups: tuple[str, ...]
    order: tuple[Sorted, ...]


@dataclass(frozen=True, slots=True)
class Projection:
    """``DISTINCT *, items ORDER BY ... SKIP ... LIMIT ...``.

    With ``first``, which no text writes, it has the first row of each group.
    """

    items: tuple[Item, ...]
    distinct: bool
    order: tuple[Sorted, ...]
    skip: Expression | None
    limit: Expression | None
    at: Location = field(compare=False)
    is_star: bool = False
    first: First | None = None


@dataclass(frozen=True, slots=True)
class With:
    """``WITH projection WHERE condition``."""

    projection: Projection
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class Unwind:
    """``UNWIND members AS variable``."""

    members: Expression
    variable: Name
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Single:
    """The clauses of a query without UNION, and its RETURN.

    ``created`` is the type of the relationships that it constructs, whose ends it returns.
    """

    clauses: tuple[Match | With | Unwind, ...]
    result: Projection
    created: Name | None = None


@dataclass(frozen=True, slots=True)
class From:
    """``FROM STREAM stream STARTING FROM start WITH WINDOW RANGE range``."""

    stream: Name
    start: Name | None
    range: Length | None


@dataclass(frozen=True, slots=True)
class Query:
    """Queries joined by UNION, and the clauses of REGISTER QUERY.

    Attributes:
        parts: the queries.
        union_all: the places of UNION ALL.
        emit: the EMIT clause, if any.
        source: the FROM STREAM clause, if any.
        start: the word or time of STARTING AT, if any.
        into: the target, if any.
        name: the name of a registered query.
    """

    parts: tuple[Single, ...]
    union_all: tuple[Location, ...] = ()
    emit: EmitText | None = None
    source: From | None = None
    start: Name | None = None
    into: Name | None = None
    name: str | None = None
