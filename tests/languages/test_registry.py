"""Languages are told by the ending of a file, else by what a text looks like."""

import pytest

from headrace.languages import detect, parse
from headrace.languages.registry import LANGUAGES, language_named


@pytest.mark.parametrize(
    ("text", "file_name", "language"),
    [
        ("?x, ?y <- ?x a* ?y", None, "rq"),
        ("A(x,y):-a(x,y)", "query.txt", "rq"),
        ("% nothing <- here", "folder.d/query.RQ", "rq"),
        ("what is this", None, "rq"),
        ("what is this", "query.gcore", "gcore"),
        ("MATCH", "query.GC", "gcore"),
        ("CONSTRUCT (x)-[:r]->(y) MATCH (x)<-[:a]-(y)", None, "gcore"),
        ("construct (x)<-[:r]-(y) match (x)<-[:a]-(y)", None, "gcore"),
        ("// x <- y\nselect x MATCH (x)<-[:a]-(y)", None, "gcore"),
        ("/* a\n */ Path D = (x)<-[:a]-(y)", None, "gcore"),
        ("GRAPH  VIEW v AS (", None, "gcore"),
        ("CONSTRUCT (x)-[:r]->(y) MATCH (x)<-[:a]-(y)", "query.rq", "rq"),
        ("path(x, y) <- a(x, y)", None, "rq"),
        ("construct(x, y) <- match(x, y)", None, "rq"),
        ("select (x) <- match (x, x)", None, "rq"),
        ("", "query", "rq"),
    ],
)
def test_detection(text: str, file_name: str | None, language: str) -> None:
    assert detect(text, file_name) == language


def test_what_rq_recognizes() -> None:
    rq = language_named("RQ")
    assert rq.name == "rq"
    assert rq.recognizes("A(x, y) ← a(x, y)")
    assert not rq.recognizes("% A(x, y) <- a(x, y)\nMATCH (x)-[:a]->(y)")


def test_a_language_can_be_named() -> None:
    text = "A(x, y) <- a(x, y) WINDOW 5m"
    assert parse(text, "RQ", "minute").windows[0].window.range == 5


def test_names_and_endings_are_taken_once() -> None:
    names = [language.name for language in LANGUAGES]
    endings = [ending for language in LANGUAGES for ending in language.endings]
    assert len(set(names)) == len(names)
    assert len(set(endings)) == len(endings)
    assert all(ending.startswith(".") and ending == ending.lower() for ending in endings)
