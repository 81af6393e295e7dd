"""The grammar is unambiguous, and the tree has every part of a text with its place."""

import logging
from collections.abc import Iterator, Sequence

import pytest
from lark import Lark, Token
from lark.lexer import Lexer

from headrace.languages.cypher.clauses import Match, With
from headrace.languages.cypher.expression_text import expression_text
from headrace.languages.cypher.leaves import Direction, Hops, Name, Shortest
from headrace.languages.cypher.parser import PARSER, tree
from headrace.languages.cypher.syntax import Part, Pattern, Relationship
from headrace.languages.query.atoms import Location
from tests.languages.cypher.examples import PAPER, TRANSLATED

TEXTS = [*PAPER.values(), *TRANSLATED]


def test_one_token_of_lookahead_decides(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="lark")
    Lark(PARSER.grammar, parser="lalr", lexer="contextual", debug=True)
    assert "conflict" not in caplog.text


class _Tokens(Lexer):
    """Passes the tokens of a text on to a parser that cannot find them by its own state."""

    def __init__(self, _: object) -> None:
        """Needs nothing of the parser's configuration."""

    def lex(self, data: Sequence[Token]) -> Iterator[Token]:  # type: ignore[override]
        return iter(data)


def test_each_example_has_exactly_one_tree() -> None:
    """An Earley parser of the same grammar, over the same tokens, finds every tree of a text."""
    lalr = Lark(PARSER.grammar, parser="lalr", lexer="contextual")
    earley = Lark(PARSER.grammar, parser="earley", lexer=_Tokens, ambiguity="explicit")
    for text in TEXTS:
        tokens = list(lalr.parse_interactive(text).iter_parse())
        trees = earley.parse(tokens)
        assert not list(trees.find_data("_ambig")), text
        assert trees == lalr.parse(text)


def parts(text: str) -> tuple[Part, ...]:
    (clause, *_) = tree(f"MATCH {text} RETURN 1 AS one").parts[0].clauses
    assert isinstance(clause, Match)
    return clause.parts


def relationship(text: str) -> Relationship:
    ((part),) = parts(f"(a){text}(b)")
    return part.pattern.relationships[0]


def test_a_relationship_has_three_directions() -> None:
    links = "-[:K]->", "<-[:K]-", "-[:K]-", "<-[:K]->", "-->", "<--", "--", "<-->", "- [ ] - >"
    right, left, either = Direction.RIGHT, Direction.LEFT, Direction.EITHER
    expected = [right, left, either, either, right, left, either, either, right]
    assert [relationship(link).direction for link in links] == expected


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("*", 1, None),
        ("*2", 2, 2),
        ("*2..", 2, None),
        ("*..3", 1, 3),
        ("*0..", 0, None),
        ("*1..3", 1, 3),
    ],
)
def test_the_bounds_of_a_path(text: str, least: int, most: int | None) -> None:
    assert relationship(f"-[:K{text}]->").hops == Hops(least, most, Location(1, 1))


def test_the_parts_of_a_node_and_a_relationship() -> None:
    one, other = parts("p = (a:Person:`my label` {name: 'x', on: -1}), shortestPath((a)-[*]->(b))")
    (node,) = one.pattern.nodes
    assert one.variable == Name("p", Location(1, 1))
    assert [label.text for label in node.labels] == ["Person", "my label"]
    assert [(k.text, expression_text(v)) for k, v in node.properties] == [
        ("name", '"x"'),
        ("on", "-1"),
    ]
    assert other.shortest is Shortest.ONE
    link = relationship("-[r:K|:L|match {in: 1} WHERE r.w > 2]->")
    assert link.variable == Name("r", Location(1, 1))
    assert [name.text for name in link.types] == ["K", "L", "match"]
    assert link.condition is not None
    assert link.at == Location(1, 10)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a.x + 1 * 2 - -3", "(a.x + (1 * 2)) - -3"),
        ("not a.x = 1 and b.y or c.z xor d.w", "((NOT (a.x = 1)) AND b.y) OR ((c.z OR d.w) AND "),
        ("1 < a.x <= 3", "1 < a.x <= 3"),
        ("a.x IN [1, 'b'] AND a.y starts  WITH 'c'", '(a.x IN [1, "b"]) AND (a.y STARTS WITH "c")'),
        ("a.x IS NOT NULL", "a.x IS NOT NULL"),
        ("exists(a.x)", "a.x IS NOT NULL"),
        ("(a.x - 1) - 2 > 0", "((a.x - 1) - 2) > 0"),
        ("a:Person:Student", "a:Person:Student"),
        ("count(DISTINCT a) > $most", "count(DISTINCT a) > $most"),
        ("(a)-->(b)", "EXISTS {...}"),
        ("(a)<--(b {x: ')'})", "EXISTS {...}"),
        ("exists((a)-[:K]-())", "EXISTS {...}"),
        ("a <-1", "a < -1"),
        ("(a) <- 1", "a < -1"),
    ],
)
def test_operators_bind_as_in_cypher(text: str, read: str) -> None:
    (clause,) = tree(f"WITH 1 AS one WHERE {text} RETURN one").parts[0].clauses
    assert isinstance(clause, With)
    assert clause.condition is not None
    assert expression_text(clause.condition).startswith(read)


def test_keywords_are_names_of_labels_types_and_keys() -> None:
    query = tree("MATCH (a:Where {with: 1})-[r:MATCH]->(`return`) RETURN r.limit AS `order`")
    (item,) = query.parts[0].result.items
    assert item.alias == Name("order", Location(1, 1))
    assert isinstance(query.parts[0].clauses[0], Match)
    pattern: Pattern = query.parts[0].clauses[0].parts[0].pattern
    assert pattern.nodes[1].variable == Name("return", Location(1, 1))


def test_the_clauses_of_a_registered_query() -> None:
    query = tree(PAPER["location"])
    assert query.name == "people_in_the_same_location"
    assert query.source is not None
    assert query.source.stream.text == "room-topic"
    assert query.source.range is not None
    assert query.source.range.ticks("second") == 120
    assert query.emit is not None
    assert query.emit.mode == "entering"
    assert query.into == Name("event-topic", Location(1, 1))
