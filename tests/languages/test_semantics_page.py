"""The conditions in docs/semantics.md have the documented results."""

import json
import re
from pathlib import Path

import pytest

from headrace.algebra.window import Window
from headrace.catalog.defaults import DEFAULT_STATISTICS
from headrace.catalog.model import Catalog, Stream
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from tests.oracles.snapshot import Edge, EdgeSnapshot
from tests.properties.algebra import rows_of

PAGE = (Path(__file__).parents[2] / "docs" / "semantics.md").read_text("utf-8")
TABLE = re.search(r"<!-- conditions -->\n.*?\n.*?\n(.*?)<!-- end -->", PAGE, re.DOTALL)
ROWS = re.findall(r"^\| `(.*)` \| `(.*)` \| (yes|no) \|$", TABLE[1] if TABLE else "", re.MULTILINE)
CATALOG = Catalog(
    {
        "s": Stream(
            "s",
            {"a": DEFAULT_STATISTICS},
            properties={
                "amount": "integer",
                "rate": "number",
                "note": "string",
                "urgent": "boolean",
            },
        )
    }
)


@pytest.mark.parametrize(("condition", "properties", "counts"), ROWS)
def test_conditions_have_the_documented_results(
    condition: str, properties: str, counts: str
) -> None:
    query = parse(f"Answer(x) <- a(x, y) as e, {condition}", "rq")
    edge = Edge(0, "u", "v", "a", tuple(json.loads(properties).items()))
    expression = translate(query, CATALOG, Window(9)).expression
    assert rows_of(expression, EdgeSnapshot({"a": [edge]})) == (
        {("u",)} if counts == "yes" else set()
    )


def test_every_row_of_the_documented_table_is_tested() -> None:
    assert TABLE is not None
    assert len(ROWS) == len(TABLE[1].splitlines()) >= 5
