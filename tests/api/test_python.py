"""Planning and running a query from Python: one call each."""

from __future__ import annotations

import gc
import inspect
import re
import threading
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headrace
from headrace import InvalidQueryError, PlanningOptions, PlanRequest, UsageError
from headrace.catalog import Catalog, LabelStatistics, Stream
from headrace.documents.picture import picture_of_plan

EXAMPLE = Path(__file__).parents[2] / "examples" / "mathoverflow"
CHAIN = "Answer(x, z) <- a(x, y), b(y, z)"
EDGES = "src,trg,label,ts\n1,2,a,0\n2,3,b,5\n2,4,b,6\n"
EXPECTED = [
    {"x": "1", "z": "3", "ts": 5, "exp": 10},
    {"x": "1", "z": "4", "ts": 6, "exp": 10},
]


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "edges.csv"
    path.write_text(EDGES)
    return path


def test_keywords_plan_as_the_request_does(edges: Path) -> None:
    catalog = EXAMPLE / "catalog.yaml"
    request = PlanRequest(
        (EXAMPLE / "chains.rq").read_text("utf-8"), catalog=headrace.load_catalog(catalog)
    )
    by_request = headrace.optimize(request)
    assert headrace.optimize(EXAMPLE / "chains.rq", catalog=catalog).plan == by_request.plan
    assert isinstance(by_request, headrace.Planned)
    options = PlanningOptions(window="10", parallelism=2)
    by_name = headrace.optimize(CHAIN, inputs=edges, window="20", options=options)
    files = headrace.read_inputs([str(edges)])
    in_full = PlanningOptions(window="20", parallelism=2)
    assert by_name.plan == headrace.optimize(PlanRequest(CHAIN, inputs=files, options=in_full)).plan


def test_columns_of_files_may_have_any_names(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text("when;who;whom;what\n0;1;2;a\n5;2;3;b\n6;2;4;b\n")
    planned = headrace.optimize(
        CHAIN,
        inputs=path,
        window="10",
        columns="src=who,trg=whom,label=what,ts=when",
        separator=";",
    )
    assert planned.run(engine="local").to_arrow().to_pylist() == EXPECTED
    with pytest.raises(UsageError, match="no input files for them to describe"):
        headrace.optimize(CHAIN, window="10", columns="src=who,trg=whom")
    with pytest.raises(UsageError, match="columns is for files without a catalog"):
        headrace.optimize(CHAIN, catalog=EXAMPLE / "catalog.yaml", columns="src=who,trg=whom")


def test_optimize_refuses_contradicting_arguments(edges: Path) -> None:
    with pytest.raises(UsageError, match="the request says window, inputs itself"):
        headrace.optimize(PlanRequest(CHAIN), window="10", inputs=edges)
    catalog = EXAMPLE / "catalog.yaml"
    with pytest.raises(UsageError, match="a catalog names the files"):
        headrace.optimize(CHAIN, catalog=catalog, inputs=edges)
    with pytest.raises(UsageError, match="time_unit is for files without a catalog"):
        headrace.optimize(CHAIN, catalog=catalog, time_unit="day")
    plan = headrace.QueryText(headrace.optimize(CHAIN, window="10").plan.to_json(), "stored")
    with pytest.raises(UsageError, match="stored is a plan"):
        headrace.optimize(plan)


def test_a_planned_query_explains_itself(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned = headrace.optimize(CHAIN, inputs=edges, window="10")
    assert re.fullmatch(
        r"<PlannedQuery \(x, z\): \d operators, cost .+/\w+, plan [0-9a-f]{12}>", repr(planned)
    )
    text = planned.explain()
    assert "HASH_JOIN" in text
    assert "next best" in planned.explain(why=True)
    assert "3 edges" in planned.explain(analyze=True)
    assert planned.explain(format="html").startswith("<!doctype html>")
    with pytest.raises(UsageError, match="why needs the stage physical"):
        planned.explain(why=True, stage="memo")
    planned.show()
    assert capsys.readouterr().out.rstrip("\n") == text.rstrip("\n")


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "link", "html", "body"}
        self.open.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_notebook_gets_the_graph_as_one_self_contained_element(edges: Path) -> None:
    planned = headrace.optimize(CHAIN, inputs=edges, window="10")
    shown = planned._repr_html_()
    read = _Tags(shown)
    boxes = picture_of_plan(planned.plan).boxes
    ids = [value for name, value in read.attributes if name == "id"]
    assert len(ids) == len(boxes)
    assert all(planned.plan.digest[:12] in str(id_) for id_ in ids)
    assert not [
        n for n, v in read.attributes if n in {"src", "href"} and not str(v).startswith("#")
    ]
    assert "prefers-color-scheme: dark" in shown
    # Every rule is inside the rule of the element, so none styles the rest of the notebook.
    style = re.sub(
        r"/\*.*?\*/", "", shown.partition("<style>")[2].partition("</style>")[0], flags=re.S
    )
    depth, outer, start = 0, [], 0
    for place, character in enumerate(style):
        if character == "{":
            if depth == 0:
                outer.append(style[start:place].strip())
            depth += 1
        elif character == "}":
            depth -= 1
            start = place + 1
    assert depth == 0
    assert outer == [".headrace-plan", "div.headrace-plan"]


def test_alternatives_are_ranked_and_can_be_run(edges: Path) -> None:
    planned = headrace.optimize("Answer(x, y) <- x (a/b)+ y", inputs=edges, window="10")
    plans = planned.alternatives(3)
    assert [one.rank for one in plans] == [1, 2, 3]
    assert [one.cost for one in plans] == sorted(one.cost for one in plans)
    (chosen,) = (one for one in plans if one.chosen)
    assert chosen.difference == ""
    inputs = headrace.inputs_of_plan(planned.plan, None, [str(edges)])
    answers = [sorted(headrace.results(one.plan, inputs)) for one in plans]
    assert answers[0] == answers[1] == answers[2] != []
    assert plans[1].difference in repr(plans)
    assert repr(plans).startswith(f"3 of {plans.different} different plans\n")
    _Tags(plans._repr_html_())
    cut = planned.alternatives(3, cancelled=lambda: True)
    assert [one.rank for one in cut] == [None]
    assert repr(cut).startswith("1 plans; the list is incomplete")


def test_rows_come_one_by_one_and_convert(edges: Path) -> None:
    planned = headrace.optimize(CHAIN, inputs=edges, window="10")
    assert list(planned.run()) == EXPECTED
    rows = planned.run()
    assert (rows.columns, rows.report) == (("x", "z", "ts", "exp"), None)
    assert next(rows) == EXPECTED[0]
    assert rows.to_arrow().to_pylist() == EXPECTED[1:]
    assert rows.to_arrow().num_rows == 1
    assert rows.report is not None
    assert (rows.report.edges, rows.report.results) == (3, 2)
    assert "2 results" in repr(rows)
    assert list(rows) == []
    frame = planned.run().to_pandas()
    assert frame.to_dict("records") == EXPECTED
    assert str(frame.dtypes["exp"]) == "Int64"
    assert pa.concat_tables(planned.run().tables()).to_pylist() == EXPECTED


LISTS = "Answer(x, collect(y) as ys, collect(distinct e.n) as ns) <- a(x, y) as e"
OF_LISTS = "src,trg,label,ts,n\n1,3,a,0,7\n1,2,a,0,7\n"
EXPECTED_LISTS = [{"x": "1", "ys": ["2", "3"], "ns": [7], "ts": 0, "exp": 10}]


def test_lists_are_lists_in_every_conversion(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text(OF_LISTS)
    planned = headrace.optimize(LISTS, inputs=tmp_path / "edges.csv", window="10")
    assert list(planned.run()) == EXPECTED_LISTS
    table = planned.run().to_arrow()
    assert table.schema.field("ns").type == pa.list_(pa.int64())
    (row,) = planned.run().to_pandas().to_dict("records")
    assert (list(row["ys"]), list(row["ns"])) == (["2", "3"], [7])


def test_rows_of_other_files_than_those_of_the_plan(edges: Path, tmp_path: Path) -> None:
    planned = headrace.optimize(CHAIN, window="10")
    with pytest.raises(UsageError, match="there is no input for"):
        planned.run()
    assert list(planned.run(inputs=edges)) == EXPECTED
    with pytest.raises(UsageError, match="no engine is called 'flink'"):
        planned.run("flink", inputs=edges)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a checkpoint"):
        planned.run(inputs=edges, options=headrace.RunOptions(checkpoint=tmp_path))


def test_reading_rows_raises_the_errors_of_the_run(edges: Path) -> None:
    planned = headrace.optimize(CHAIN, inputs=edges, window="10")
    edges.write_text(EDGES + "5,6,a,soon\n")
    rows = planned.run(options=headrace.RunOptions(strict=True))
    with pytest.raises(headrace.RunError, match=r"E-ROW: .*soon"):
        list(rows)


def _threads() -> int:
    return sum(thread.name == "headrace-run" for thread in threading.enumerate())


def test_rows_that_are_closed_or_dropped_stop_the_run(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    lines = (f"{n},{n + 1},{'ab'[n % 2]},{n}\n" for n in range(20_000))
    path.write_text("src,trg,label,ts\n" + "".join(lines))
    planned = headrace.optimize(CHAIN, inputs=path, window="10")
    options = headrace.RunOptions(largest_slice=100)
    with planned.run(options=options) as rows:
        assert next(rows) == {"x": "0", "z": "2", "ts": 1, "exp": 10}
        assert _threads() == 1
    assert _threads() == 0
    assert (list(rows), rows.report) == ([], None)
    rows = planned.run(options=options)
    next(rows)
    del rows
    gc.collect()
    assert _threads() == 0
    assert len(list(planned.run(options=options))) == 10_000


@pytest.mark.long
@pytest.mark.spark
def test_rows_of_spark_are_those_of_this_process(spark: SparkSession, edges: Path) -> None:
    planned = headrace.optimize(CHAIN, inputs=edges, window="10")
    frame = planned.run("spark", spark=spark).to_spark()
    assert [row.asDict() for row in frame.collect()] == EXPECTED
    (edges.parent / "lists.csv").write_text(OF_LISTS)
    lists = headrace.optimize(LISTS, inputs=edges.parent / "lists.csv", window="10")
    frame = lists.run("spark", spark=spark).to_spark()
    assert [row.asDict() for row in frame.collect()] == EXPECTED_LISTS
    with pytest.raises(UsageError, match="a Spark session"):
        planned.run("local", spark=spark)


def test_errors_say_place_and_code(edges: Path) -> None:
    with pytest.raises(InvalidQueryError) as invalid:
        headrace.optimize("Answer(x, y) <-\n  a(x, z)")
    assert re.match(r"E-SAFE \d+:\d+: ", str(invalid.value))
    with pytest.raises(UsageError) as wrong:
        headrace.optimize(CHAIN, window="3", slide="5")
    assert str(wrong.value) == f"E-WINDOW: {wrong.value.message}"
    with pytest.raises(UsageError, match=r"E-FILE: .*nothing\.csv"):
        headrace.optimize(CHAIN, inputs=edges.with_name("nothing.csv"))
    semicolons = edges.with_name("semicolons.csv")
    semicolons.write_text("src;trg;label;ts\n1;2;a;5\n")
    with pytest.raises(UsageError, match=r"say separator=';'$"):
        headrace.optimize(CHAIN, inputs=semicolons)
    finer = edges.with_name("finer.csv")
    finer.write_text("src,trg,label,ts\n1,2,a,1700000000000\n1,2,b,1700000000000\n")
    (warning,) = headrace.optimize(CHAIN, inputs=finer, window="10").warnings
    assert warning.endswith("if they are milliseconds, say time_unit='millisecond'")


def test_the_package_lists_its_api_and_version() -> None:
    assert {*headrace.__all__, "__version__"} <= set(dir(headrace))
    assert re.match(r"\d+\.\d+", headrace.__version__)
    documented = inspect.getdoc(headrace.optimize) or ""
    for name in inspect.signature(headrace.optimize).parameters:
        assert f"    {name}: " in documented


def test_a_catalog_is_shown_in_a_line() -> None:
    """Its statistics would fill pages of a notebook."""
    catalog = headrace.load_catalog(EXAMPLE / "catalog.yaml")
    assert repr(catalog) == "<Catalog of mathoverflow (a2q, c2a, c2q)>"
    labels = {f"l{k}": LabelStatistics(1.0, 2, 2, 3) for k in range(17)}
    assert repr(Catalog({"s": Stream("s", labels)})) == (
        "<Catalog of s (l0, l1, l2, l3, l4, l5 and 11 more)>"
    )
