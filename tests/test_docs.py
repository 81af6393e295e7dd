"""The pages of the documentation agree with the code."""

import re
from collections.abc import Callable
from dataclasses import replace
from inspect import getdoc
from pathlib import Path

import pytest
import typer

from headrace.algebra import predicate_syntax, scalar, untrusted
from headrace.algebra.automaton import MOST_STATES
from headrace.algebra.combinations import FORMS, Feature, go_together
from headrace.algebra.physical import OPERATORS
from headrace.algebra.values import PropertyType
from headrace.algebra.window import LONGEST_WINDOW
from headrace.api.cli import app, main
from headrace.catalog import default_catalog
from headrace.catalog.defaults import DEFAULT_STATISTICS, DEFAULT_STORED
from headrace.catalog.model import Catalog, Stream
from headrace.executor.scans import MOST_FILTERS
from headrace.executor.spark.session.packages import packages_for_kafka
from headrace.languages import cypher, parse
from headrace.languages.cypher import errors as cypher_errors
from headrace.languages.cypher import unsupported
from headrace.languages.gcore.errors import LATER, OUTSIDE
from headrace.languages.gcore.parser import recognizes
from headrace.languages.query.errors import CODES
from headrace.languages.translation.canonical import translate
from headrace.planning.query_text import LONGEST_QUERY
from headrace.rules.registry import implementation_rules, transformation_rules

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*/*.md")]
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))


@every_page
def test_links_between_pages_resolve(page: Path) -> None:
    text = re.sub(r"`[^`]*`", "", page.read_text("utf-8"))
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_shown_connector_of_kafka_is_that_of_sparks_version() -> None:
    shown = [
        found
        for page in PAGES
        for found in re.findall(
            r"org\.apache\.spark:spark-sql-kafka[\w.:-]+", page.read_text("utf-8")
        )
    ]
    assert shown
    assert set(shown) == set(packages_for_kafka({}))


def test_gcore_examples_of_the_pages_mean_the_same_as_the_rules_beside_them() -> None:
    blocks = BLOCK.findall((ROOT / "docs" / "gcore.md").read_text("utf-8"))
    queries = [block for block in blocks if recognizes(block)]
    assert len(queries) == 6
    for query in queries:
        assert parse(query, "gcore").warnings == ()
    paths, paths_in_rq, _view, conditions, conditions_in_rq, vertices, vertices_in_rq, *_ = blocks
    social = default_catalog(["social.follows", "social.likes", "social.posts"], streams=["social"])
    pays = dict.fromkeys(["pays"], DEFAULT_STATISTICS)
    properties: dict[str, PropertyType] = {"amount": "number", "currency": "string"}
    bank = Catalog({"bank": Stream("bank", pays, properties=properties)})
    what = dict.fromkeys(["Person", "Company"], DEFAULT_STORED)
    known: dict[str, PropertyType] = {"country": "string", "income": "number"}
    people = Stream("people", what, properties=known, stored=True, vertices=True)
    payments = Stream("payments", pays, properties=properties)
    for query, rules, catalog in (
        (paths, paths_in_rq, social),
        (conditions, conditions_in_rq, bank),
        (vertices, vertices_in_rq, Catalog({"payments": payments, "people": people})),
    ):
        assert recognizes(query)
        assert translate(parse(query), catalog) == translate(parse(rules), catalog)


def test_a_cypher_example_of_the_page_means_the_same_as_the_rules_beside_it() -> None:
    blocks = BLOCK.findall((ROOT / "docs" / "cypher.md").read_text("utf-8"))
    queries = [block for block in blocks if cypher.LANGUAGE.recognizes(block)]
    assert len(queries) == 6
    for query in queries:
        assert parse(query).warnings == ()
    _, query, rules, *_ = blocks
    what = Stream(
        "people",
        {"Person": DEFAULT_STORED},
        properties={"country": "string"},
        stored=True,
        vertices=True,
    )
    amount: dict[str, PropertyType] = {"amount": "number"}
    payments = Stream("payments", {"pays": DEFAULT_STATISTICS}, properties=amount)
    catalog = Catalog({"payments": payments, "people": what})
    window = "WINDOW 1h"
    assert translate(parse(f"{rules} {window}"), catalog) == translate(
        replace(parse(query), windows=parse(f"a(x, y) <- b(x, y) {window}").windows), catalog
    )


@every_page
def test_commands_of_the_pages_use_existing_options(page: Path) -> None:
    """Every `headrace COMMAND --option ...` in code, in a block or in a line."""
    text = page.read_text("utf-8")
    code = BLOCK.findall(text) + re.findall(r"`(headrace [^`]+)`", text)
    shown = [line for piece in code for line in piece.splitlines() if line.startswith("headrace ")]
    commands = {
        name: {
            option
            for parameter in command.params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
        for name, command in typer.main.get_group(app).commands.items()
    }
    for line in shown:
        name = line.split()[1]
        assert set(re.findall(r"(?<=\s)--?\w[\w-]*", line)) <= commands[name], line


SHOWN: dict[str, tuple[str, Callable[[str], str]]] = {
    "explain chains --why": ("--why", lambda said: said.partition("\ncost ")[0]),
    "explain chains --stage memo": ("--stage memo", lambda said: said),
    "explain chains --trace": (
        "--trace",
        lambda said: said[said.index("How the plan") : said.rindex("\nrule ")],
    ),
    "explain chains --analyze": (
        "--analyze",
        lambda said: (
            re.sub(r" +(work|\d+\.\d\d s)$", "", said.partition("\n\n")[0], flags=re.MULTILINE)
            + "\n...\n"
            + next(line for line in said.splitlines() if line.startswith("furthest off"))
        ),
    ),
}
"""What a page shows of the command line: options, and the part that is the same every time."""


@pytest.mark.parametrize("name", SHOWN)
def test_explain_output_of_the_pages_is_current(
    name: str, golden: Callable[[Path, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    options, cut = SHOWN[name]
    example = ROOT / "examples" / "mathoverflow"
    query, catalog = example / "chains.rq", example / "catalog.yaml"
    assert main(["explain", str(query), "--catalog", str(catalog), *options.split()]) == 0
    said = cut(capsys.readouterr().out).strip("\n")
    _between(ROOT / "docs" / "explain.md", name, f"```\n{said}\n```", golden)


def test_the_documented_bounds_of_a_plan_document_are_current() -> None:
    """Each is a line of a table, with its number."""
    page = (ROOT / "docs" / "plan.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| ([^|]+?) \| (\d[\d,^ -]*) \|$", page, re.MULTILINE))
    assert rows == {
        "characters of a document": f"{untrusted.LONGEST_DOCUMENT:,}",
        "characters of one given to the command line": f"{LONGEST_QUERY:,}",
        "lists and objects in each other": f"{untrusted.DEEPEST_DOCUMENT:,}",
        "characters of a string, so of a predicate": f"{untrusted.LONGEST_STRING:,}",
        "nodes": f"{untrusted.MOST_NODES:,}",
        "partitions": "1,024",
        "nodes times partitions": f"{untrusted.MOST_OPERATORS:,}",
        "inputs of a node": f"{untrusted.MOST_INPUTS:,}",
        "columns, labels or properties of a node": f"{untrusted.WIDEST:,}",
        "variables of a join": f"{untrusted.MOST_VARIABLES:,}",
        "states of an automaton": f"{MOST_STATES + 1:,}",
        "its transitions": f"{untrusted.MOST_TRANSITIONS:,}",
        "time units of a window": "2^62 - 1",
        "FILTERs on one scan": f"{MOST_FILTERS:,}",
        "nesting of a predicate": f"{predicate_syntax.DEEPEST:,}",
        "nesting of arithmetic in it": f"{scalar.DEEPEST_VALUE:,}",
    }
    assert LONGEST_WINDOW == 2**62 - 1


def _between(path: Path, name: str, content: str, golden: Callable[[Path, str], None]) -> None:
    """Compares what stands between two marks of a page; --update-golden writes it."""
    text = path.read_text("utf-8")
    inside = re.compile(rf"<!-- {name} -->.*?<!-- end -->", re.DOTALL)
    assert len(inside.findall(text)) == 1
    wanted = f"<!-- {name} -->\n{content}\n<!-- end -->"
    golden(path, inside.sub(lambda _: wanted, text))


def _said(of: type) -> str:
    """The first line of a docstring, for a cell of a table."""
    first = (getdoc(of) or "").partition("\n")[0]
    return " ".join(first.replace("|", "\\|").replace("``", "`").split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


TABLES: dict[tuple[str, str], list[tuple[str, ...]]] = {
    ("language.md", "error codes"): [
        ("code", "raised for"),
        *((f"`{code}`", reason) for code, reason in CODES.items()),
    ],
    ("gcore.md", "not yet"): [
        ("what", "code", "reason", "instead"),
        *((entry, f"`{f.code}`", f.reason, _cell(f.hint)) for entry, f in LATER.items()),
    ],
    ("gcore.md", "outside"): [
        ("what", "code", "reason", "instead"),
        *((f"`{word}`", f"`{f.code}`", f.reason, _cell(f.hint)) for word, f in OUTSIDE.items()),
    ],
    ("cypher.md", "refused"): [
        ("what", "code", "reason", "instead"),
        *(
            (f"`{word}`", f"`{f.code}`", _cell(f.reason), _cell(f.hint))
            for word, f in unsupported.OUTSIDE.items()
        ),
        *(
            (
                _cell(form.name),
                f"`{form.fault.code}`",
                _cell(form.fault.reason),
                _cell(form.fault.hint),
            )
            for form in unsupported.FORMS
        ),
        *(
            (f"`{name}()`", f"`{f.code}`", _cell(f.reason), _cell(f.hint))
            for name, f in unsupported.FUNCTIONS.items()
        ),
        *(
            ("", f"`{f.code}`", _cell(f.reason), _cell(f.hint))
            for f in vars(cypher_errors).values()
            if isinstance(f, cypher_errors.Fault)
        ),
    ],
    ("semantics.md", "combinations"): [
        ("", *Feature),
        *(
            (name, *("yes" if go_together(form, feature) else "no" for feature in Feature))
            for name, form in sorted(FORMS.items())
        ),
    ],
    ("plan.md", "operators"): [
        ("`op`", "does", "holds rows"),
        *(
            (f"`{op}`", _said(operator), "yes" if operator.holds_state else "")
            for op, operator in sorted(OPERATORS.items())
        ),
    ],
    ("rules.md", "transformation rules"): [
        ("rule", "no.", "rewrites"),
        *(
            (f"`{rule.name}`", str(rule.number or ""), f"`{_said(type(rule))}`")
            for rule in transformation_rules()
        ),
    ],
    ("rules.md", "implementation rules"): [
        ("rule", "implements"),
        *((f"`{rule.name}`", f"`{_said(type(rule))}`") for rule in implementation_rules()),
    ],
}


@pytest.mark.parametrize(("page", "name"), TABLES)
def test_reference_tables_of_the_pages_are_complete(
    page: str, name: str, golden: Callable[[Path, str], None]
) -> None:
    """What is between the marks is made from the code: --update-golden writes it."""
    head, *rows = TABLES[page, name]
    lines = [f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows)]
    _between(ROOT / "docs" / page, name, "\n".join(lines), golden)
