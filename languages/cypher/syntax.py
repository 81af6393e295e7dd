"""The syntax tree of expressions and patterns: immutable values with their places in the text.

A tree represents everything that the grammar accepts, including constructs that are not supported.
:mod:`.clauses` has the tree of a whole query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..query import regular_query as rq
from ..query.atoms import Location
from .leaves import (
    Direction,
    HasLabels,
    Hops,
    Literal,
    Name,
    Parameter,
    Property,
    Quantifier,
    Shortest,
    TextTest,
    Variable,
)

# -- expressions ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MapOf:
    """``{key: value, ...}``, or ``owner {.key, key: value}``, which is null where the owner is."""

    values: tuple[tuple[Name, Expression], ...]
    at: Location = field(compare=False)
    depth: int = field(compare=False, default=1)
    owner: Expression | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """``function(argument, ...)``; ``is_star`` is that of ``count(*)``."""

    function: Name
    arguments: tuple[Expression, ...]
    distinct: bool = False
    is_star: bool = False
    depth: int = field(compare=False, default=1)

    @property
    def at(self) -> Location:
        """The place in the text."""
        return self.function.at


@dataclass(frozen=True, slots=True)
class Access:
    """``function(argument).key``."""

    of: Expression
    key: Name
    depth: int = field(compare=False, default=1)

    @property
    def at(self) -> Location:
        """The place in the text."""
        return self.of.at


@dataclass(frozen=True, slots=True)
class Case:
    """``CASE subject WHEN test THEN value ... ELSE otherwise END``.

    Attributes:
        subject: the value that the tests are compared with; None if they are conditions.
        branches: the tests, each with its value.
        otherwise: the value where no test is true; None for null.
        at: the place in the text.
        depth: how deep the parts nest.
    """

    subject: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None
    at: Location = field(compare=False)
    depth: int = field(compare=False, default=1)


@dataclass(frozen=True, slots=True)
class Computed:
    """Arithmetic: ``+ - * / % ^`` of two values, ``NEG`` of one; ``depth`` is how deep it nests."""

    function: str
    arguments: tuple[Expression, ...]
    at: Location = field(compare=False)
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """``a < b <= c``: each value is compared with the next one."""

    values: tuple[Expression, ...]
    signs: tuple[Name, ...]
    depth: int = field(compare=False, default=1)

    @property
    def at(self) -> Location:
        """The place in the text."""
        return self.values[0].at


@dataclass(frozen=True, slots=True)
class InList:
    """``value IN list``."""

    value: Expression
    members: Expression
    depth: int = field(compare=False, default=1)

    @property
    def at(self) -> Location:
        """The place in the text."""
        return self.value.at


@dataclass(frozen=True, slots=True)
class TextComparison:
    """``value STARTS WITH part``, and its like; ``at`` is the place of the words."""

    value: Expression
    test: TextTest
    part: Expression
    at: Location = field(compare=False)
    depth: int = field(compare=False, default=1)


@dataclass(frozen=True, slots=True)
class NullTest:
    """``value IS NULL``, or ``IS NOT NULL``."""

    value: Expression
    is_null: bool
    depth: int = field(compare=False, default=1)

    @property
    def at(self) -> Location:
        """The place in the text."""
        return self.value.at


@dataclass(frozen=True, slots=True)
class Exists:
    """A pattern as a condition, or ``EXISTS { patterns WHERE condition }``.

    Attributes:
        parts: the patterns.
        condition: the condition after WHERE, if any.
        is_block: whether it is written with EXISTS and braces, and may bind new variables.
        at: the place in the text.
    """

    parts: tuple[Part, ...]
    condition: Expression | None
    is_block: bool
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class MatchCount:
    """``COUNT { patterns WHERE condition }``: how many matches there are."""

    parts: tuple[Part, ...]
    condition: Expression | None
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Known:
    """A value that a rule knows already, in place of an expression; no text writes it.

    ``text`` tells it from others.
    """

    value: rq.Value
    text: str
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class MatchList:
    """``[pattern WHERE condition | value]``: a value of each match."""

    parts: tuple[Part, ...]
    condition: Expression | None
    value: Expression
    at: Location = field(compare=False)
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """The conjunction of ``parts``; ``depth`` is how deep conditions nest."""

    parts: tuple[Expression, ...]
    depth: int = field(compare=False)

    @property
    def at(self) -> Location:
        """The place in the text."""
        return self.parts[0].at


@dataclass(frozen=True, slots=True)
class Or:
    """The disjunction of ``parts``."""

    parts: tuple[Expression, ...]
    depth: int = field(compare=False)

    @property
    def at(self) -> Location:
        """The place in the text."""
        return self.parts[0].at


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of ``part``."""

    part: Expression
    at: Location = field(compare=False)
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class ListOf:
    """``[item, ...]``."""

    items: tuple[Expression, ...]
    at: Location = field(compare=False)
    depth: int = field(compare=False, default=1)


@dataclass(frozen=True, slots=True)
class Quantified:
    """``quantifier(variable IN members WHERE condition)``."""

    quantifier: Quantifier
    variable: Name
    members: Expression
    condition: Expression
    at: Location = field(compare=False)
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Comprehension:
    """``[variable IN members WHERE condition | value]``.

    Attributes:
        variable: the name of each member.
        members: the list whose members it has.
        condition: which of them it has; None for all.
        value: the value that it has of each; None for the member itself.
        at: the place in the text.
        depth: how deep the parts nest.
    """

    variable: Name
    members: Expression
    condition: Expression | None
    value: Expression | None
    at: Location = field(compare=False)
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Indexed:
    """``list[place]``, of which places below 0 count from the end."""

    members: Expression
    place: Expression
    at: Location = field(compare=False)
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Sliced:
    """``list[start..end]``; None for a bound that is left out."""

    members: Expression
    start: Expression | None
    end: Expression | None
    at: Location = field(compare=False)
    depth: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Reduced:
    """``reduce(result = initial, variable IN members | value)``.

    Attributes:
        result: the name of the result so far.
        initial: the result of no members.
        variable: the name of each member.
        members: the list.
        value: the result with one member more.
        at: the place in the text.
        depth: how deep the parts nest.
    """

    result: Name
    initial: Expression
    variable: Name
    members: Expression
    value: Expression
    at: Location = field(compare=False)
    depth: int = field(compare=False)


Condition = (
    Comparison | InList | TextComparison | NullTest | HasLabels | Exists | And | Or | Not
    | Quantified
)  # fmt: skip
"""The expressions that are true, false or null."""
Expression = (
    Variable | Property | Literal | Parameter | ListOf | Comprehension | Indexed | Sliced | Reduced
    | MapOf | Call | MatchCount | MatchList | Known | Access | Computed | Case | Condition
)  # fmt: skip

# -- patterns -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Node:
    """``(variable:Label:Label {key: value} WHERE condition)``."""

    variable: Name | None
    labels: tuple[Name, ...]
    properties: tuple[tuple[Name, Expression], ...]
    condition: Expression | None
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Relationship:
    """``-[variable:TYPE|TYPE*hops {key: value} WHERE condition]->``.

    Attributes:
        variable: the variable, if any.
        types: the alternative types; empty matches any type.
        hops: the bounds of its length, or None for one relationship.
        properties: the required values of properties.
        condition: the condition in the brackets, if any.
        direction: the direction.
        at: the place in the text.
    """

    variable: Name | None
    types: tuple[Name, ...]
    hops: Hops | None
    properties: tuple[tuple[Name, Expression], ...]
    condition: Expression | None
    direction: Direction
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Nodes, and the relationships between each and the next; at least one node."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]

    def steps(self) -> Iterator[tuple[Node, Relationship, Node]]:
        """Each relationship with the nodes before and after it in the text."""
        return zip(self.nodes, self.relationships, self.nodes[1:], strict=False)


@dataclass(frozen=True, slots=True)
class Part:
    """``variable = pattern``, or a pattern alone; ``shortest`` is None for any paths."""

    variable: Name | None
    pattern: Pattern
    shortest: Shortest | None
    at: Location = field(compare=False)


def depth_of(expression: Expression) -> int:
    """The nesting of a condition; 1 for a test."""
    return expression.depth if isinstance(expression, And | Or | Not) else 1


def nesting_of(expression: Expression) -> int:
    """The nesting of an expression; 0 for one without parts."""
    leaf = Variable | Property | Literal | Parameter | HasLabels | Exists | MatchCount | Known
    return 0 if isinstance(expression, leaf) else expression.depth
