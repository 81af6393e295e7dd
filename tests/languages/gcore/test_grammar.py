"""The grammar is unambiguous, and the tree has every part of a text with its place."""

import logging
from dataclasses import FrozenInstanceError

import pytest
from lark import Lark

from headrace.languages.gcore.parser import PARSER, tree
from headrace.languages.gcore.syntax import (
    And,
    Basic,
    Comparison,
    Construct,
    Direction,
    Edge,
    Literal,
    Name,
    Node,
    Not,
    Or,
    Path,
    Pattern,
    Property,
    Query,
    Select,
    VertexComparison,
)
from headrace.languages.query.atoms import Location


def test_one_token_of_lookahead_decides(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="lark")
    Lark('start: e\ne: e "+" e | "a"', parser="lalr", debug=True)
    assert "Shift/Reduce conflict" in caplog.text
    caplog.clear()
    Lark(PARSER.grammar, parser="lalr", lexer="contextual", debug=True)
    assert "conflict" not in caplog.text


def basic(text: str) -> Basic:
    (part,) = tree(text).parts
    assert isinstance(part, Basic)
    return part


def patterns(text: str) -> list[Pattern]:
    return [m.pattern for m in basic(f"SELECT x MATCH {text}").matches[0].block.matched]


def names(link: Edge) -> list[str]:
    return [name.text for name in link.labels]


def test_an_edge_has_four_direction_forms() -> None:
    links = "-[:a]->", "<-[:a]-", "-[:a]-", "<-[:a]->", "-->", "<--", "--", "<-->", "-[]->"
    edges = [patterns(f"(x){link}(y)")[0].links[0] for link in links]
    right, left, either = Direction.RIGHT, Direction.LEFT, Direction.EITHER
    directions = [right, left, either, either, right, left, either, either, right]
    assert [link.direction for link in edges] == directions


def test_the_tree_has_every_part_of_a_vertex_and_an_edge() -> None:
    (pattern,) = patterns(
        "(x:A|B:C {k = 'it''s'})-[e:a|`b c` {on = 3, at=-1.5, is = TRUE}]->()".replace("''", r"\'")
    )
    node, end = pattern.nodes
    (edge,) = pattern.links
    assert isinstance(edge, Edge)
    assert [[name.text for name in one] for one in node.labels] == [["A", "B"], ["C"]]
    assert [(key.text, value.value) for key, value in node.properties] == [("k", "it's")]
    assert names(edge) == ["a", "b c"]
    assert [(key.text, value.value) for key, value in edge.properties] == [
        ("on", 3),
        ("at", -1.5),
        ("is", True),
    ]
    assert end.variable is None
    assert edge.variable == Name("e", Location(1, 1))


def test_places_count_lines_and_columns_from_one() -> None:
    text = "CONSTRUCT (x)-[:r]->(y)\n  MATCH (x)-[:a]->(y),\n (y)-/p<:b>/->(z)"
    read = basic(text)
    assert isinstance(read.head, Construct)
    assert read.head.at == Location(1, 1)
    first, second = (matched.pattern for matched in read.matches[0].block.matched)
    assert (first.nodes[0].at, first.links[0].at) == (Location(2, 9), Location(2, 13))
    path = second.links[0]
    assert isinstance(path, Path)
    assert path.at == Location(3, 6)
    assert [(name.text, name.at) for name in path.names] == [(":b", Location(3, 10))]


@pytest.mark.parametrize("word", ["match", "ON", "window", "where", "path", "all", "not", "union"])
def test_a_keyword_may_be_a_label_a_key_or_the_name_of_a_stream(word: str) -> None:
    read = basic(
        f"PATH {word} = (x)-[:{word}]->(y) SELECT x.{word} AS {word} "
        f"MATCH (x:{word} {{{word} = 1}})-/<~{word}|:({word}/{word})>/->(y) ON {word} WINDOW (9) "
        f"WHERE x.{word} = 1"
    )
    on = read.matches[0].block.matched[0].on
    assert on is not None
    assert (read.macros[0].name, on.graph) == (Name(word, on.at), Name(word, on.at))


def test_the_tree_has_views_unions_and_nested_queries() -> None:
    assert tree("graph view v as (select count(*) as n, f(x, y.k, 2), x match (x))").view == Name(
        "v", Location(1, 12)
    )
    union = tree("SELECT x MATCH (x) UNION friends UNION `a b`")
    assert [part.text for part in union.parts if isinstance(part, Name)] == ["friends", "a b"]
    nested = tree("SELECT x MATCH (x) ON (CONSTRUCT (x)-[:r]->(y) MATCH (x) ON g)")
    assert nested.depth == 2
    read = basic("SELECT x MATCH (x), (y) ON s OPTIONAL ((x)-[:a]->() WHERE x.k = 1) OPTIONAL (z)")
    assert isinstance(read.head, Select)
    assert [len(block.matched) for block in read.matches[0].optional] == [1, 1]


def test_or_binds_loosest_and_not_tightest() -> None:
    condition = (
        basic("SELECT x MATCH (x) WHERE x.k < 1 OR NOT (x) = (y) AND (x)-[:a]->(y) AND (x.k = 'a')")
        .matches[0]
        .block.condition
    )
    assert isinstance(condition, Or)
    first, both = condition.parts
    assert first == Comparison(
        Property(Name("x", HERE), Name("k", HERE)), Name("<", HERE), Literal(1, HERE)
    )
    assert isinstance(both, And)
    negated, pattern, last = both.parts
    assert isinstance(negated, Not)
    assert isinstance(negated.part, VertexComparison)
    assert isinstance(pattern, Pattern)
    assert isinstance(last, Comparison)


HERE = Location(1, 1)


def test_less_than_before_a_negative_number_is_not_an_arrow() -> None:
    condition = basic("SELECT x MATCH (x) WHERE x.k <-1").matches[0].block.condition
    assert isinstance(condition, Comparison)
    assert condition.right == Literal(-1, HERE)
    pattern = basic("SELECT x MATCH (x) WHERE (x)<-[:a]-(y)").matches[0].block.condition
    assert isinstance(pattern, Pattern)


def test_trees_compare_by_value_without_places() -> None:
    one, other = tree("SELECT x MATCH (x)-[:a]->()"), tree("SELECT x\nMATCH (x)-[:a]->()")
    assert one == other
    assert isinstance(one, Query)
    assert hash(one) == hash(other)
    with pytest.raises(FrozenInstanceError):
        one.view = None  # type: ignore[misc]  # that is the point
    assert Node(None, (), (), HERE) == Node(None, (), (), Location(3, 3))
