"""The constructs of Cypher and Seraph that are refused, each with one message.

The translation raises them. :mod:`.unsupported` has the faults of forms without a grammar rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..query.atoms import Location
from ..query.errors import QueryError


class NoRowsError(QueryError):
    """The error of a query whose alternatives all give no rows for the same reason."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The code, reason and advice of an error."""

    code: str
    reason: str
    hint: str = ""

    def because(self, reason: str, hint: str) -> Fault:
        """The fault with a reason of its own."""
        return Fault(self.code, reason, hint or self.hint)

    def error(self, at: Location, text: str) -> QueryError:
        """The error of a part of a query."""
        return QueryError(self.code, self.reason, at=at, text=text, hint=self.hint)

    def without_rows(self, at: Location, text: str) -> NoRowsError:
        """The error of a part of which an alternative gives no rows."""
        return NoRowsError(self.code, self.reason, at=at, text=text, hint=self.hint)


def later(what: str, hint: str = "") -> Fault:
    """The fault of a part of the language that is not supported yet."""
    return Fault("E-LATER", f"{what} not supported yet", hint)


# -- REGISTER QUERY -------------------------------------------------------------------------

TWO_STARTS = Fault(
    "E-SYNTAX", "the query has a time to start at already", "leave one of the two STARTING out"
)
NO_REPORTS = Fault(
    "E-SYNTAX",
    "a time to start at is that of the first report",
    "add EMIT SNAPSHOT EVERY PT1M, or write Earliest: a run decides where it reads",
)

# -- clauses --------------------------------------------------------------------------------

UNION_ALL = Fault(
    "E-LATER",
    "a result is a set of rows, so a row that two queries of UNION ALL give would be there once",
    "write UNION, or return a constant of each query that differs, as 'first' AS part or type(r)",
)
OTHER_COLUMNS = Fault(
    "E-SYNTAX",
    "the queries joined by UNION have different columns",
    "give their columns the same names in the same order, with AS",
)
SKIP_ONLY = Fault(
    "E-ORDER",
    "a result is a set of rows, so SKIP needs a LIMIT",
    "add LIMIT, or leave rows out after the query",
)
ROWS = Fault(
    "E-SYNTAX",
    "SKIP and LIMIT take whole numbers, not negative ones",
    "write them out, as LIMIT 10",
)
SORTED = later(
    "ORDER BY a value that the columns do not decide is",
    "return the value too, and order by its column",
)
ORDER_ONLY = Fault(
    "E-ORDER",
    "a result is a set of rows, so it has no order without LIMIT",
    "add LIMIT, or sort the answers after the query",
)
NO_ALIAS = Fault("E-SYNTAX", "WITH needs a name for a value", "add AS and a name")
SAME_COLUMN = Fault("E-SYNTAX", "two columns have this name", "give one of them another one by AS")
NO_COLUMNS = Fault("E-SYNTAX", "there are no variables for *", "name a node of a pattern, as (a)")
EDGE_COLUMN = later(
    "a relationship as a value is",
    "return its type and properties, as r.amount, and the nodes at its ends",
)
NO_ROWS = Fault("E-SYNTAX", "a query reads a pattern first", "begin with MATCH (a)-[:KNOWS]->(b)")

# -- patterns -------------------------------------------------------------------------------

UNBOUND = Fault("E-SAFE", "no pattern binds it", "name it in a MATCH before")
REBOUND = Fault("E-SYNTAX", "the name is bound already", "choose another name")
UNKNOWN_LABELS = later(
    "a property of a node without a label or a relationship in this pattern is",
    "write the label, as (a:Person), or give the node a relationship",
)
PATH_VARIABLE = later(
    "a variable for the relationships of a path is", "leave the variable out, or name the path"
)
PATH_OF_STEPS = later(
    "a name for a path of several parts is",
    "name a path of one relationship with *, as p = (a)-[:KNOWS*]->(b)",
)
PATH_ALONE = later("a path without the nodes at its ends is", "return them too, as RETURN a, p, b")
READ_UNBOUNDED = later(
    "reading the nodes, relationships or length of a path without an upper bound is",
    "bound the path, as *1..3; all and none need no bound where they read nothing but the member",
)
READ_SHORTEST = later(
    "reading the nodes or relationships of a shortest path one by one in this way is",
    "write UNWIND nodes(p) AS n behind the MATCH, return nodes(p), or match paths of bounded "
    "lengths, as p = (a)-[:KNOWS*1..3]->(b)",
)
UNWOUND_AGAIN = later(
    "a second UNWIND of the nodes or relationships of all shortest paths is",
    "read one of them by UNWIND and return the other one, or take one path by shortestPath",
)
STEP_VALUE = later(
    "a relationship of a shortest path as a value, or a property of it, is",
    "read type(r), startNode(r) and endNode(r), or match the relationship between these nodes",
)
READ_BEHIND = later(
    "reading the nodes or relationships of a path behind a WITH with DISTINCT, an aggregate or "
    "LIMIT is",
    "read them before that WITH",
)
UNWOUND_NOTHING = Fault(
    "E-SYNTAX", "the path has no relationships, so there is no row", "give it a length, as *1..3"
)
NO_PATH = Fault("E-TYPE", "it is not a path", "name a path, as MATCH p = (a)-[:KNOWS]->(b)")
READ_COLUMN = later(
    "a path as a column beside a use of its nodes, relationships or length is",
    "return its ends, or the rows of UNWIND nodes(p) AS n",
)
COUNTED_COLUMN = later(
    "a path as a column beside an aggregate, or a LIMIT of its rows, but for a shortest one, is",
    "return the nodes at its ends, or write WITH DISTINCT a, b before another MATCH of the path",
)
OTHER_MEMBER = Fault(
    "E-TYPE",
    "only a relationship can be one of relationships(p)",
    "name it in a MATCH, as -[r:KNOWS]->",
)
SHORTEST_STEPS = Fault(
    "E-SYNTAX",
    "shortestPath takes a pattern of one relationship with *",
    "write shortestPath((a)-[:KNOWS*]->(b))",
)
SHORTEST_BOUND = Fault(
    "E-SHORTEST",
    "the least length of a shortest path is 0 or 1",
    "write *, or *..4 for a largest length",
)
SHORTEST_CONDITION = later(
    "a condition in the brackets of a shortest path is", "write it in WHERE, over its two ends"
)
NO_LENGTH = Fault(
    "E-SYNTAX", "no path has such a length", "write the smaller bound first, as *1..3"
)
CHAIN_CONDITION = later(
    "WHERE in the brackets of a path is", "test properties of its relationships by {key: value}"
)
SHARED_PATH = later(
    "a path without an upper bound beside a relationship that it could repeat is",
    "bound the path, as *1..3, or write it in a MATCH of its own",
)
ZERO_HOPS = later(
    "a path of zero relationships here is",
    "write at least *1, or give the node a label",
)
EMPTY_PATH = later(
    "a path of zero relationships as a column, but for a shortest one, is",
    "write at least *1, or return the nodes at its ends, or nodes(p) of a path with an upper bound",
)
OPTIONAL_NODE = later(
    "a pattern over a node of an OPTIONAL MATCH is", "match it in the same OPTIONAL MATCH"
)
OPTIONAL_EDGE = later(
    "a relationship of an OPTIONAL MATCH as a value is", "use its properties, or its other node"
)
FIRST_OPTIONAL = Fault(
    "E-LATER",
    "where its pattern has no match, a first clause gives a row of nulls, and no row holds without "
    "input",
    "leave that row out, as by WITH a, b WHERE a IS NOT NULL, or aggregate values of the pattern "
    "without keys, as count(b)",
)
LONE_OPTIONAL = later(
    "an OPTIONAL MATCH without a node that is bound before is",
    "let its pattern begin at a node of a MATCH",
)
LONE_EXISTS = later(
    "a pattern in a condition without a node that is bound outside is",
    "let it have a node of a MATCH",
)
INNER_NEW = Fault(
    "E-SAFE",
    "a pattern in a condition binds no new variables",
    "leave the name out, or write EXISTS { MATCH ... }",
)
OPTIONAL_PATH = later("a path of an OPTIONAL MATCH as a value is", "return the nodes at its ends")
DEEP_EXISTS = later(
    "a pattern over a node that only a query further outside binds is",
    "let a pattern beside it bind the node",
)
OUTER_VALUE = later(
    "a value from outside in the condition of OPTIONAL MATCH or EXISTS is",
    "compare nodes and their properties there; compare other values in WITH ... WHERE",
)
RELATIONSHIP_AGAIN = later("a relationship in two places is", "match it once, and use its name")
DERIVED_NODE = later(
    "a pattern over a value is", "keep the node itself in WITH, and match it without OPTIONAL"
)

# -- expressions ----------------------------------------------------------------------------

NO_VALUE = Fault(
    "E-PARAM",
    "the parameter has no value",
    "give its value among the parameters of the request, or write it into the query",
)
MAP_PARAMETER = later("a map as a parameter is", "write its keys, as {name: $name}")
MAPS = later(
    "properties of values are",
    "write variable.property of a node or a relationship, or a part of a time, as r.ts.month",
)
MAP_VALUE = later(
    "a map as a value is",
    "return its values as columns, as a.name AS name; collect takes a map, and so do point, "
    "datetime and duration",
)
LISTS = later(
    "a list as a value is",
    "name its values by UNWIND; a list that collect gives has size, head, last, IN and "
    "[x IN xs WHERE ...]",
)
FILTERED = Fault("E-SYNTAX", "WHERE chooses members of a list", "write [x IN xs WHERE condition]")
MAPPED = Fault(
    "E-SYNTAX", "a list of values has the members of another one", "write [x IN xs | x.name]"
)
CHOSEN_OF_COLUMN = later(
    "a list of chosen members or of their values, of a list whose members are not known, is",
    "collect what is wanted, as collect(CASE WHEN b.age > 3 THEN b.name END)",
)
CHOSEN_MEMBERS = later(
    "a place in a list of chosen members, or comparing it, is",
    "take its first or last member by head and last, or choose by another condition",
)
MIXED_LIST = later(
    "a list of lists that has other values or deeper lists too is",
    "return the lists as columns of their own",
)
CHOSEN_OF_COLLECT = later(
    "a list of values of collected members that may be null, or that a pattern chooses, is",
    "leave nulls out, as [x IN xs WHERE x.name IS NOT NULL | x.name]",
)
MATCH_LIST = later(
    "a list of a value of each match of a pattern is",
    "match it by OPTIONAL MATCH, and collect the value, as WITH a, collect(b.name) AS names; "
    "COUNT { (a)-->(b) } counts the matches",
)
LONE_COUNT = later(
    "COUNT of a pattern without a node that is bound outside is",
    "let it have a node of a MATCH, as COUNT { (a)-->() }",
)
NUMBER_RANGE = Fault(
    "E-SYNTAX", "the number does not fit into 64 bits", "write a number from -2^63 to 2^63 - 1"
)
ORDER_OF_LISTS = later("an order of lists is", "compare their members, as xs[0] < ys[0]")
PLACE = Fault("E-TYPE", "a place in a list is a whole number", "write xs[0] for the first member")
BOUNDS = later("a slice of a list between other places than numbers is", "write xs[0..3]")
LIST_OF_VALUES = later(
    "a list behind a WITH whose other columns are not all nodes that are never null is",
    "collect it by nodes, as WITH a, collect(b) AS bs",
)
NOT_IN_LIST = later(
    "NOT IN of a value that is not a node, and a list that a WITH collects is",
    "ask for a node, as NOT b IN bs, or match the pattern in NOT EXISTS { ... }",
)
REPEATED_LIST = later(
    "UNWIND of a list that may repeat values in what an aggregate counts is",
    "write collect(DISTINCT x), or UNWIND the list right behind its WITH",
)
TRUTH_VALUE = later(
    "a pattern or a label in all, any, none or single as a value, or in a list, is",
    "write it in WHERE, joined by AND, OR and NOT with other conditions",
)
NOT_CONDITION = Fault(
    "E-SYNTAX", "it is no condition", "write a comparison, as a.age > 3 or a.flag = true"
)
NO_EXPRESSION = Fault(
    "E-TYPE",
    "it is not a valid regular expression",
    "write it in the syntax of RE2, without look-around and references to groups",
)
LONG = Fault("E-SIZE", "it has too many parts for a value", "name a part of it in a WITH before")
DEEP_VALUE = Fault("E-SIZE", "the value is nested too deep", "name a part of it in a WITH before")
NO_LENGTH_OF_TICK = Fault(
    "E-FUNC",
    "the time unit of the catalog has no length",
    "compare times as numbers of ticks, or declare a time_unit such as second",
)
NO_TIME = Fault("E-TYPE", "it is not a time", "write ISO 8601, as datetime('2021-06-01T12:00Z')")
NO_PERIOD = Fault(
    "E-TYPE",
    "it is not the name of a period",
    "write 'year', 'quarter', 'month', 'week', 'day', 'hour', 'minute' or 'second' in quotes",
)
TIME_MAP = later(
    "a time of these parts is",
    "write datetime({epochMillis: x}), or year, month, day, hour, minute and second as numbers",
)
NOW = Fault(
    "E-FUNC",
    "a query has no present time, since it gives the same answers whenever it runs",
    "compare the times of relationships, as r.ts, or let a window choose them",
)
LENGTH = Fault("E-TYPE", "it is not a length of time", "write ISO 8601, as duration('PT15M')")
POINT = later(
    "a point as a value is", "measure its distance to another one, and return its coordinates"
)
NO_POINT = Fault(
    "E-TYPE",
    "it is not a point",
    "write point({x: a.x, y: a.y}), or point({latitude: a.lat, longitude: a.lon})",
)
OTHER_POINTS = Fault(
    "E-TYPE",
    "the two points have different coordinates, so they have no distance",
    "give both x and y, or both latitude and longitude",
)
PATH_VALUE = Fault(
    "E-PATHVAR",
    "a path has no value but its length and its lists of nodes and relationships",
    "return the path by itself, or length(p)",
)
NO_AGGREGATE = Fault(
    "E-AGG",
    "aggregates stand in RETURN and WITH",
    "name it in a WITH, and compare the name after it",
)
INNER_AGGREGATE = Fault(
    "E-AGG", "an aggregate inside an aggregate", "name the inner one in a WITH before"
)
NOT_A_KEY = Fault(
    "E-AGG",
    "beside an aggregate a value has to be a column by itself",
    "return it as a column too, or name it in a WITH before",
)
COUNTED_PATHS = later(
    "an aggregate over paths without an upper bound, or a LIMIT of their rows, is",
    "bound the path, as *1..3, or take distinct values: count(DISTINCT b), WITH DISTINCT b",
)

NO_FUNCTION = Fault(
    "E-FUNC",
    "no function has this name and so many arguments",
    "docs/cypher.md lists the functions",
)
ENDS = later(
    "which end of this relationship is the start is",
    "match it in one direction, as (a)-[r:KNOWS]->(b)",
)
TYPE_OF = later("the type of a relationship of several types is", "match one type, as -[r:KNOWS]->")
ONE_ARGUMENT = Fault(
    "E-SYNTAX",
    "it takes one argument, a percentile two",
    "write count(*), sum(r.amount), or percentileCont(r.amount, 0.5)",
)
ADDED = later("adding a value that may be null to a list is", "write xs + [x], which is never null")
NO_MEMBERS = Fault("E-TYPE", "it is not a list", "write the values in brackets, or a parameter")

# -- CONSTRUCT ------------------------------------------------------------------------------

CREATED_NODE = later("CONSTRUCT of a node alone is", "create a relationship between two nodes")
CREATED_END = Fault(
    "E-SKOLEM",
    "a query constructs relationships between nodes of its patterns only",
    "name the node in MATCH, and write the name here",
)
CREATED_PARTS = later("CONSTRUCT of labels, properties and variables is", "write (a)-[:KNOWS]->(b)")
CREATED_TYPE = Fault(
    "E-SYNTAX", "a new relationship has a direction and one type", "write (a)-[:KNOWS]->(b)"
)
