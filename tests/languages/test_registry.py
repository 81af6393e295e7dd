"""The ending of a file, else the text, decides the language."""

import pytest

from headrace import PlanRequest, optimize
from headrace.catalog import from_document
from headrace.languages import QueryError, detect, parse, registry
from headrace.languages.language import Language, Read
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
        ("MATCH (x)-[:a]->(y) RETURN x", None, "cypher"),
        ("// x <- y\noptional match (x)<-[:a]-(y) with x return x", None, "cypher"),
        ("REGISTER  QUERY q { MATCH", None, "cypher"),
        ("WITH 1 AS x RETURN x", None, "cypher"),
        ("MATCH (x)-[:a]->(y) RETURN x", "query.gcore", "gcore"),
        ("what is this", "query.Cypher", "cypher"),
        ("match (x, y) <- a(x, y), return(y, x)", None, "rq"),
        ("path(x, y) <- a(x, y)", None, "rq"),
        ("construct(x, y) <- match(x, y)", None, "rq"),
        ("select (x) <- match (x, x)", None, "rq"),
        ("", "query", "rq"),
    ],
)
def test_the_file_ending_or_the_text_decides_the_language(
    text: str, file_name: str | None, language: str
) -> None:
    assert detect(text, file_name) == language


def test_rq_recognizes_the_arrow_of_a_rule() -> None:
    rq = language_named("RQ")
    assert rq.name == "rq"
    assert rq.recognizes("A(x, y) ← a(x, y)")
    assert not rq.recognizes("% A(x, y) <- a(x, y)\nMATCH (x)-[:a]->(y)")


def test_parse_takes_the_name_of_a_language() -> None:
    text = "A(x, y) <- a(x, y) WINDOW 5m"
    assert parse(text, "RQ", "minute").windows[0].window.range == 5


def test_names_and_endings_are_unique() -> None:
    names = [language.name for language in LANGUAGES]
    endings = [ending for language in LANGUAGES for ending in language.endings]
    assert len(set(names)) == len(names)
    assert len(set(endings)) == len(endings)
    assert all(ending.startswith(".") and ending == ending.lower() for ending in endings)


CATALOG = from_document(
    {
        "streams": {"s": {"labels": {"a": {"rate": 1, "distinct_src": 9, "distinct_trg": 9}}}},
        "views": {"v": {"query": "EDGES a", "language": "toy"}},
    }
)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Language:
    """``EDGES label`` is read as the edges of a label."""

    def read_as(head: str) -> Read:
        return lambda text, unit, deadline: parse(
            f"{head}(x, y) <- {text.removeprefix('EDGES ')}(x, y) WINDOW 5", "rq", unit, deadline
        )

    language = Language(
        name="toy",
        title="Toy",
        endings=(".toy",),
        comment="#",
        recognizes=lambda text: text.startswith("EDGES "),
        read=read_as("Answer"),
        read_view=read_as("b"),
    )
    monkeypatch.setattr(registry, "LANGUAGES", (language, *LANGUAGES))
    return language


def test_a_registered_language_is_planned_by_ending_text_and_name(toy: Language) -> None:
    by_ending = optimize(PlanRequest("a", "query.TOY", catalog=CATALOG))
    by_text = optimize(PlanRequest("EDGES a", catalog=CATALOG))
    by_name = optimize(PlanRequest("EDGES a", language="Toy", catalog=CATALOG))
    in_rq = optimize(PlanRequest("Answer(x, y) <- a(x, y) WINDOW 5", catalog=CATALOG))
    assert {one.plan.digest for one in (by_ending, by_text, by_name)} == {in_rq.plan.digest}


def test_a_view_may_be_in_a_registered_language(toy: Language) -> None:
    planned = optimize(PlanRequest("Answer(x, y) <- b(x, y) WINDOW 5", catalog=CATALOG))
    assert [stream.name for stream in planned.plan.streams] == ["s"]


def test_messages_list_a_registered_language(toy: Language) -> None:
    with pytest.raises(QueryError, match="known are toy, cypher, gcore, rq"):
        language_named("sql")
    with pytest.raises(QueryError, match="queries are written in RQ, G-CORE, Cypher or Toy here"):
        parse("g.V()", "toy")
