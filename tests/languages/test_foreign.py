"""Texts in foreign languages are recognized, and sketched in RQ and G-CORE."""

from __future__ import annotations

import pytest

from headrace.languages import QueryError, detect, parse
from headrace.languages.foreign import foreign_error, foreign_language
from headrace.languages.registry import LANGUAGES

ON = "ON stream WINDOW (24h)"


def error_of(text: str, language: str | None = None) -> QueryError:
    with pytest.raises(QueryError) as caught:
        parse(text, language)
    return caught.value


@pytest.mark.parametrize(
    ("text", "name", "written"),
    [
        (
            "SELECT a.src, b.trg FROM s.follows a JOIN likes AS b ON a.trg = b.src WHERE a.ts > 3",
            "SQL",
            "in RQ write Answer(x, z) <- follows(x, y), likes(y, z). WINDOW 24h",
        ),
        ("SELECT * FROM t", "SQL", "Answer(x, y) <- t(x, y). WINDOW 24h"),
        ("-- all\nWITH t AS (SELECT 1) SELECT 2", "SQL", "a query in G-CORE is SELECT"),
        ("insert into t values (1)", "SQL", "a query in G-CORE is SELECT"),
        (
            "PREFIX f: <http://x/>\nSELECT ?x ?z WHERE { ?x f:knows ?y . ?y f:likes+ ?z }",
            "SPARQL",
            "in RQ write Answer(x, z) <- knows(x, y), ?y likes+ ?z WINDOW 24h",
        ),
        (
            "SELECT ?x WHERE { ?x <http://a/b#c> ?y }",
            "SPARQL",
            f"in G-CORE write SELECT x MATCH (x)-[:c]->(y) {ON}, in RQ write Answer(x) <- c(x, y)",
        ),
        ("ASK { ?x ?p 5 }", "SPARQL", "a query in G-CORE is SELECT"),
        ("CONSTRUCT { ?x :p ?y } WHERE { ?x :q ?y }", "SPARQL", "Answer(x, y) <- q(x, y)"),
        (
            "g.V().hasLabel('person').out('knows').in('likes').values('name')",
            "Gremlin",
            "in RQ write Answer(x, z) <- knows(x, y), likes(z, y). WINDOW 24h",
        ),
        ("g.V()", "Gremlin", "a query in G-CORE is SELECT"),
    ],
)
@pytest.mark.parametrize("language", [None, "rq", "gcore"])
def test_a_foreign_language_is_named_whatever_language_was_requested(
    text: str, name: str, written: str, language: str | None
) -> None:
    error = error_of(text, language)
    assert error.code == "E-LANGUAGE"
    assert error.message.startswith(f"this looks like {name}, ")
    assert written in error.hint


def test_the_place_of_a_foreign_language_is_its_first_word() -> None:
    error = error_of("// friends\n  SELECT a FROM b")
    assert (error.line, error.column, error.text) == (2, 3, "SELECT")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT x.from MATCH (x)-[:a]->(y",
        "SELECT x MATCH (x {k = 1})-[:a]->(y) WINDOW (5)",
        "Match(x, y) <- a(x, return",
        "Create(x, y) <- a(x y)",
        "Select(x, y) <- from(x, y), a(x",
        "CONSTRUCT (x)-[:p]->(y) MATCH (x)-[:q]->(y",
        "% MATCH (a) RETURN a\nAnswer(x, y) <- a(x y)",
        "g(x, y) <- a(x y)",
        "MATCH (x)-[:a]->(y)",
    ],
)
def test_errors_in_registered_languages_name_no_foreign_language(text: str) -> None:
    assert foreign_language(text) is None
    assert error_of(text).code == "E-SYNTAX"


def test_keywords_of_foreign_languages_are_valid_names() -> None:
    assert parse("Return(x, y) <- create(x, y), from(y, x) WINDOW 5").answer == "Return"


def test_a_match_without_a_return_clause_is_gcore() -> None:
    text = "MATCH (x)-[:a]->(y)"
    assert detect(text) == "gcore"
    assert "say first what the query gives" in error_of(text).hint


@pytest.mark.parametrize(
    "text", ["SELECT " * 20_000, "MATCH (" * 20_000, "MATCH (a) RETURN " + "-[a:b|" * 20_000]
)
def test_long_texts_are_inspected_in_part(text: str) -> None:
    error = foreign_error(text, LANGUAGES)
    assert error is None or len(error.hint) < 1_000
