"""Views of a catalog are inlined into the queries that read them, in both languages."""

from pathlib import Path

import pytest

from headrace.algebra.text import one_line
from headrace.algebra.window import Window
from headrace.catalog import dump, load, loads
from headrace.languages import QueryError, parse
from headrace.languages.translation.canonical import translate

STREAMS = """
streams:
  s:
    labels:
      a: {rate: 2, distinct_src: 5, distinct_trg: 7}
      b: {rate: 2, distinct_src: 5, distinct_trg: 7}
  t: {labels: {c: {rate: 2, distinct_src: 5, distinct_trg: 7}}}
views:
  friends: {query: "GRAPH VIEW friends AS (CONSTRUCT (x)-[:knows]->(z), (z)-[:known]->(x)
    MATCH (x)-[:a]->(y)-[:b]->(z) ON s WINDOW (9) SLIDE (3))"}
  reach: {query: "reach(x, y) <- knows+(x, y), x !a/_ y. WINDOW 30", language: rq}
  old: {query: "reach2(x, y) <- knows(x, y). ON friends WINDOW 4"}
  bad: {query: "bad(x, y) <- nothing(x, y) WINDOW 5"}
  wide: {query: "wide(x, y, z) <- a(x, y), b(y, z) WINDOW 5"}
  ping: {query: "ping(x, y) <- pong(x, y)"}
  pong: {query: "pong(x, y) <- ping(x, y)"}
"""
CATALOG = loads(STREAMS)
F = "J[src1,trg2,friends.knows ; trg1=src2](W[9,3](s.a), W[9,3](s.b))"


def canonical(text: str, window: int | None = None) -> str:
    default = None if window is None else Window(window)
    return one_line(translate(parse(text), CATALOG, default).expression)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("A(x, y) <- knows+(x, y)", f"P[A;friends.knows+]({F})"),
        ("A(x, y) <- `friends.knows`+(x, y) WINDOW 2", f"P[A;friends.knows+]({F})"),
        (
            "A(x, y) <- knows+(x, y) ON friends WINDOW 20 SLIDE 5",
            f"P[A;friends.knows[20,5]+](W[20,5]({F}))",
        ),
        (
            "A(x, y) <- knows(x, y), knows[WINDOW 7](y, x) ON friends(knows) WINDOW 20",
            f"J[src1,trg1,A ; trg1=src2 & src1=trg2](W[20]({F}), W[7]({F}))",
        ),
        (
            "SELECT x, y MATCH (x)-/<:knows+>/->(y) ON friends WINDOW (20) SLIDE (5)",
            f"P[Answer;friends.knows[20,5]+](W[20,5]({F}))",
        ),
        ("A(x, y) <- reach2(x, y)", f"W[4]({F})"),
    ],
)
def test_a_view_is_inlined_and_keeps_its_intervals_without_a_window(text: str, meant: str) -> None:
    algebra = canonical(text).replace("(a)", "(s.a)").replace("(b)", "(s.b)").replace("s_", "s")
    assert algebra == meant


def test_views_may_read_views_and_label_sets() -> None:
    algebra = canonical("A(x, y) <- reach(x, y), friends._+(x, y), c(x, y) ON t WINDOW 8")
    assert algebra.count("W[9,3]") == 6
    assert "W[30]" in algebra
    assert "W[8](t.c)" in algebra


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("A(x, y) <- bad(x, y)", "E-UNKNOWN", "in the view bad: no stream has this label"),
        ("A(x, y) <- `wide.wide`(x, y)", "E-ARITY", "in the view wide: a view gives edges"),
        ("A(x, y) <- ping(x, y)", "E-REC", "the view ping depends on itself: ping <- pong <- ping"),
        ("A(x, y) <- `friends.knws`(x, y)", "E-UNKNOWN", "did you mean knows?"),
        ("A(x, y) <- knows(x, y) as e, e.n > 3", "E-PROPERTY", "has no properties"),
        ("A(x, y) <- a(x, y), knows(x, y)", "E-NOWIN", "the stream s has no window"),
    ],
)
def test_invalid_views_are_refused(text: str, code: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        canonical(text)
    assert caught.value.code == code
    assert message in str(caught.value)


def test_a_view_may_be_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "v.gcore").write_text(
        "CONSTRUCT (x)-[:far]->(y) MATCH (x)-/<:a+>/->(y) ON s WINDOW (6)", "utf-8"
    )
    streams = STREAMS.partition("views:")[0]
    (tmp_path / "c.yaml").write_text(f"{streams}views: {{v: {{file: v.gcore}}}}", "utf-8")
    catalog = load(tmp_path / "c.yaml")
    expression = translate(parse("A(x, y) <- far(x, y)"), catalog).expression
    assert one_line(expression) == "P[v.far;a+](W[6](a))"
    dump(catalog, tmp_path / "again.yaml")
    assert load(tmp_path / "again.yaml") == catalog


def test_a_window_over_retractable_results_is_refused() -> None:
    catalog = loads(STREAMS.partition("views:")[0].replace("t: {", "t: {deletions: true, "))
    query = "d(x, y) <- c+(x, y). A(x, y) <- d[WINDOW 5](x, y) WINDOW 9"
    with pytest.raises(QueryError, match="not supported with streams with deletions"):
        translate(parse(query), catalog)
