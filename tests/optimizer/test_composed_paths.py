"""Which paths the search composes into longer ones."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from headrace.algebra.logical import Path
from headrace.catalog.document import from_document
from headrace.catalog.model import Catalog
from headrace.costmodel import CostModel
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options, SearchResult


def optimized(length: int, catalog: Catalog, options: Options) -> SearchResult:
    """The search for a chain of joins whose ends are returned."""
    atoms = ", ".join(f"l{k}(x{k}, x{k + 1})" for k in range(length))
    query = translate(parse(f"Answer(x0, x{length}) <- {atoms} WINDOW 1m."), catalog)
    return Optimizer(CostModel(catalog=catalog), options).optimize(query, (), "s")


def dense(length: int, seed: int) -> Catalog:
    """Streams with many edges per vertex, so that paths and joins cost about the same."""
    random = Random(seed)
    labels = {
        f"l{k}": {
            "rate": 10 ** random.uniform(0, 1),
            "distinct_src": int(10 ** random.uniform(1, 2)),
            "distinct_trg": int(10 ** random.uniform(1, 2)),
        }
        for k in range(length)
    }
    return from_document({"time_unit": "s", "streams": {"input": {"labels": labels}}})


def paths(result: SearchResult) -> int:
    """The number of PATHs in the memo."""
    return sum(isinstance(e.operator, Path) for e in result.memo.expressions)


def test_a_long_chain_has_a_part_of_its_segmentations() -> None:
    result = optimized(12, dense(12, 1), Options())
    assert result.stop_reason == "complete"
    assert paths(result) < 8_100 / 2


def test_a_short_chain_has_all_its_segmentations() -> None:
    catalog = dense(6, 1)
    pruned, all_paths = (optimized(6, catalog, Options(prune=p)) for p in (True, False))
    assert paths(pruned) == paths(all_paths)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_segmentation_is_among_those_composed(seed: int) -> None:
    catalog = dense(9, seed)
    options = Options()
    best = optimized(9, catalog, replace(options, prune=False)).cost
    assert optimized(9, catalog, options).cost <= 1.05 * best
