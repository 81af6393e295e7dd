"""Catalogs for random queries, with equal or random statistics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from random import Random

from headrace.catalog.model import Catalog, LabelStatistics, PropertyType, Stream
from tests.oracles.query import Query


def catalog_of(
    query: Query, integers: bool, seed: int = 0, deletions: Collection[str] = ()
) -> Catalog:
    """The streams of a query, with statistics of a seed (0: all equal).

    An odd seed has few vertices and many edges, so that joins derive pairs several times and
    COALESCE below an operator may pay.

    The streams named by ``deletions`` have deletions.
    """
    random = Random(seed)
    few_vertices = seed % 2 == 1
    labels: dict[str, dict[str, LabelStatistics]] = defaultdict(dict)
    stored: set[str] = set()
    for label, source in query.sources:
        known = statistics(random, few_vertices) if seed else ALIKE
        if source.stored:
            stored.add(source.stream)
            known = replace(known, rate=0.0, population=50 * known.rate)
        labels[source.stream][label] = known
    return Catalog(
        {
            name: Stream(
                name,
                found,
                vertex_type="integer" if integers else "string",
                deletions=name in deletions,
                stored=name in stored,
                properties={name: TYPES[kind] for name, kind in query.properties},
                vertices=any(label in query.vertices for label in found),
            )
            for name, found in labels.items()
        }
    )


TYPES: dict[str, PropertyType] = {kind: kind for kind in ("string", "integer", "number", "boolean")}
ALIKE = LabelStatistics(rate=10.0, distinct_src=50.0, distinct_trg=50.0, vertices=80.0)


def statistics(random: Random, few_vertices: bool = False) -> LabelStatistics:
    """Statistics over five decades, or of many edges between few vertices."""
    if few_vertices:
        source, target = random.uniform(3, 30), random.uniform(3, 30)
        rate = 10 ** random.uniform(1, 3)
        return LabelStatistics(rate, source, target, vertices=max(source, target))
    source, target = 10 ** random.uniform(0, 5), 10 ** random.uniform(0, 5)
    return LabelStatistics(
        rate=10 ** random.uniform(-2, 3),
        distinct_src=source,
        distinct_trg=target,
        vertices=max(source, target) * random.uniform(1, 2),
    )
