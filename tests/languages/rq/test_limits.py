"""ORDER BY, LIMIT and OFFSET in RQ: what they read as, print as, and mean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

from headrace.algebra.plan import PhysicalPlan
from headrace.algebra.text import one_line
from headrace.catalog.defaults import DEFAULT_STATISTICS
from headrace.catalog.document import from_document
from headrace.catalog.model import Catalog, Stream
from headrace.executor.local import Edge, run_plan
from headrace.languages.query.errors import QueryError
from headrace.languages.query.regular_query import Limit
from headrace.languages.rq import printer
from headrace.languages.rq.parser import parse
from headrace.languages.translation.canonical import translate
from headrace.planning.errors import UsageError
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from tests.oracles.query import text
from tests.strategies.amount import examples
from tests.strategies.first import limited_cases
from tests.strategies.negation import negated_cases
from tests.strategies.queries import Case

HEAD = "Answer(x, y, count(*) as n) <- a(x, y)"
RATES = {"rate": 1.0, "distinct_src": 20, "distinct_trg": 20}
CATALOG = Catalog({"s": Stream("s", dict.fromkeys(("a", "b"), DEFAULT_STATISTICS))})


def limit_of(query: str) -> Limit | None:
    """The limit of the answer's first rule."""
    parsed = parse(query)
    assert parse(printer.text(parsed)) == parsed
    return next(rule.limit for rule in parsed.rules if rule.head == parsed.answer)


@pytest.mark.parametrize(
    ("clause", "order", "rows"),
    [
        ("LIMIT 10", (), 10),
        ("limit 1.", (), 1),
        ("ORDER BY n LIMIT 3", (("n", "asc"),), 3),
        ("order by n desc limit 3.", (("n", "desc"),), 3),
        ("ORDER BY n DESC, x ASC, ?y LIMIT 3", (("n", "desc"), ("x", "asc"), ("y", "asc")), 3),
        ("ORDER % by\n BY `n` LIMIT % so many\n 3.", (("n", "asc"),), 3),
        ("ORDER BY n LIMIT 3 WINDOW 1h EMIT SNAPSHOT EVERY 5m", (("n", "asc"),), 3),
        ("ORDER BY n LIMIT 3 b(z, z) <- c(z, z)", (("n", "asc"),), 3),
    ],
)
def test_clauses(clause: str, order: tuple[tuple[str, str], ...], rows: int) -> None:
    limit = limit_of(f"{HEAD} {clause}")
    assert limit is not None
    assert (limit.order, limit.rows) == (order, rows)


@pytest.mark.parametrize(
    ("clause", "rows", "offset"),
    [
        ("LIMIT 10 OFFSET 20", 10, 20),
        ("limit 10 offset 20.", 10, 20),
        ("ORDER BY n DESC LIMIT 3 OFFSET % before\n 1", 3, 1),
        ("ORDER BY n LIMIT 3 OFFSET 0", 3, 0),
        ("LIMIT 3 OFFSET 2 WINDOW 1h EMIT SNAPSHOT EVERY 5m", 3, 2),
        ("ORDER BY n OFFSET 2 LIMIT 3", 3, 2),
        ("OFFSET 2 LIMIT 3", 3, 2),
        ("LIMIT 3 OFFSET 2 b(z, z) <- c(z, z)", 3, 2),
        ("LIMIT 3 offset(z, z) <- c(z, z)", 3, 0),
    ],
)
def test_offsets(clause: str, rows: int, offset: int) -> None:
    limit = limit_of(f"{HEAD} {clause}")
    assert limit is not None
    assert (limit.rows, limit.offset) == (rows, offset)


@pytest.mark.parametrize(
    "body",
    [
        "a(x, y), x != y", "x a y", "x (a|b)+ y", "a(x, y) as e, e.n > 3", "a(x, y), Person(x)",
        "a(x, y), not b(x, y)", "a(x, y), not x b y", "a(x, y), not Person(x)",
        "a(x, y), not {b(x, z), z != x}", "(a|^b)(x, y)", "x a 7, y a 8", "a+(x, y) as p",
    ],
)  # fmt: skip
def test_it_stands_after_any_body(body: str) -> None:
    for clause in ("LIMIT 3", "ORDER BY y DESC LIMIT 3", "OFFSET 1 LIMIT 3"):
        limit = limit_of(f"Answer(x, y) <- {body} {clause}")
        assert limit is not None
        assert limit.rows == 3


@pytest.mark.parametrize(
    "query",
    [
        "Answer(limit, order) <- order(limit, order).",
        "Answer(x, by) <- x order by.",
        "Answer(x, y) <- x limit y. limit(x, y) <- a(x, y)",
        "Answer(x, y) <- a(x, y) limit(x, y) <- b(x, y)",
        "Answer(x, y) <- a(x, y) order, by <- order a by",
        "Answer(desc, asc) <- desc(desc, asc), asc(asc, desc).",
        "Answer(offset, y) <- offset offset y, offset(y, 7), y offset 7.",
    ],
)
def test_the_words_are_names_elsewhere(query: str) -> None:
    assert limit_of(query) is None


def test_a_head_in_the_order_of_a_keyword_is_a_column() -> None:
    limit = limit_of("Answer(desc, limit) <- a(desc, limit) ORDER BY limit DESC, desc LIMIT 2")
    assert limit is not None
    assert limit.order == (("limit", "desc"), ("desc", "asc"))


@given(case=limited_cases(negated_cases()))
@examples(60)
def test_queries_print_as_they_read(case: Case) -> None:
    query = parse(text(case.query))
    assert parse(printer.text(query)) == query


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (f"{HEAD} ORDER BY n DESC", "E-ORDER 1:40: ORDER BY: an answer is a set of rows"),
        (f"{HEAD} LIMIT 0", "E-ORDER 1:40: LIMIT 0: a LIMIT of 0 leaves no row"),
        (f"{HEAD} ORDER BY m LIMIT 1", "E-ORDER 1:40: m: ORDER BY names m, which is no column"),
        (
            f"{HEAD} LIMIT 1. {HEAD} LIMIT 1",
            "E-ORDER 1:88: LIMIT: Answer has a LIMIT already, in line 1",
        ),
        (
            "Answer(x, p) <- x a+ y as p LIMIT 1",
            "E-LATER 1:29: LIMIT: a LIMIT on an answer with paths is not supported yet",
        ),
        (f"{HEAD} ORDER BY LIMIT 1", "E-SYNTAX 1:55"),
        (f"{HEAD} OFFSET 1", "E-ORDER 1:40: OFFSET: an answer is a set of rows, so OFFSET needs"),
        (f"{HEAD} ORDER BY n OFFSET 1", "E-ORDER 1:40: ORDER BY: an answer is a set of rows"),
        (f"{HEAD} OFFSET 1 LIMIT 0", "E-ORDER 1:40: LIMIT 0: a LIMIT of 0 leaves no row"),
        (f"{HEAD} LIMIT 1 OFFSET n", "E-SYNTAX 1:55"),
    ],
)
def test_errors(query: str, error: str) -> None:
    with pytest.raises(QueryError, match=f"^{re.escape(error)}"):
        parse(query)


@pytest.mark.parametrize(
    ("query", "algebra"),
    [
        (
            f"{HEAD} ORDER BY n DESC, x LIMIT 3",
            "A[c0,c1,c2 ; ](TOP[first 3 by c3 desc, c1](A[c0,c1 ; count(*) ; retracts]("
            "W[9](a(ts)))))",
        ),
        (
            f"{HEAD} ORDER BY n DESC LIMIT 3 OFFSET 2",
            "A[c0,c1,c2 ; ](TOP[first 3 after 2 by c3 desc](A[c0,c1 ; count(*) ; retracts]("
            "W[9](a(ts)))))",
        ),
        (
            "T(x) <- a(x, y) LIMIT 3. T(y) <- b(y, x). Answer(x) <- T(x)",
            "A[c0 ; ](TOP[first 3](U(C[src](W[9](a)), C[src](W[9](b)))))",
        ),
        (
            f"{HEAD} LIMIT 3 WINDOW 9 EMIT SNAPSHOT EVERY 3",
            "R[snapshot every 3](TOP[first 3](A[c0,c1 ; count(*) ; retracts](W[9](a(ts)))))",
        ),
    ],
)
def test_the_algebra(query: str, algebra: str) -> None:
    window = "" if "WINDOW" in query else " WINDOW 9"
    assert one_line(translate(parse(query + window), CATALOG).expression) == algebra


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "T(x, y) <- a(x, y) LIMIT 2. Answer(x, y) <- T[WINDOW 5](x, y)",
            "windows over results are not supported with `LIMIT` yet",
        ),
        (
            "T(x, y) <- a(x, y) LIMIT 2. Answer(x, p) <- x T+ y as p",
            "paths in the answer are not supported with `LIMIT` yet",
        ),
    ],
)
def test_what_is_not_supported_yet(query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        translate(parse(query + " WINDOW 9"), CATALOG)


def planned(query: str, options: PlanningOptions) -> PhysicalPlan:
    catalog = from_document({"streams": {"s": {"labels": {"a": RATES}}}})
    return optimize(PlanRequest(query, catalog=catalog, options=options)).plan


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        (
            "Answer(x, y) <- a(x, y) LIMIT 2. WINDOW 9",
            PlanningOptions(evaluate="slide"),
            "rules with `LIMIT` are not supported with evaluation per slide yet",
        ),
        (
            "T(x, y) <- a(x, y) LIMIT 2. Answer(x, y) <- x T+ y. WINDOW 9",
            PlanningOptions(path_semantics="simple"),
            "simple paths are not supported with `LIMIT` yet",
        ),
        (
            "T(x, y) <- a(x, y) LIMIT 2. Answer(x, y) <- x T/T y. WINDOW 9",
            PlanningOptions(path_semantics="trail"),
            "trails that differ from any paths are not supported with `LIMIT` yet",
        ),
    ],
)
def test_what_is_refused_before_anything_runs(
    query: str, options: PlanningOptions, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        planned(query, options)


def _query_of_the_page() -> str:
    page = (Path(__file__).parents[3] / "docs" / "language.md").read_text("utf-8")
    section = page.split("## The first rows")[1].split("\n## ")[0]
    (query, *_) = re.findall(r"```\n(.*?)```", section, re.DOTALL)
    assert isinstance(query, str)
    return query


def test_the_example_of_the_page() -> None:
    """Account 1 pays twelve others, account 2 pays it; ten further accounts pay less."""
    catalog = from_document({"streams": {"s": {"labels": {"pays": RATES}}}})
    plan = optimize(PlanRequest(_query_of_the_page(), catalog=catalog)).plan
    edges: list[Edge] = [("1", f"b{k}", "pays", 0, "s") for k in range(12)]
    edges += [("2", "1", "pays", 0, "s"), ("2", "b1", "pays", 0, "s")]
    edges += [(f"c{k}", "d", "pays", 0, "s") for k in range(10)]
    rows = {tuple(result.bindings) for result in run_plan(plan, edges)}
    assert ("1", "b3", 12) in rows
    assert ("2", "b1", 2) in rows
    assert not any(row[:2] == ("2", "1") for row in rows), "1 is one of the busiest"
    assert ("c7", "d", 1) in rows
    assert not any(row[0] in ("c8", "c9") for row in rows), "equal counts: by name"
