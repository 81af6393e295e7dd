"""Kuzu, an embedded Cypher engine, as an independent evaluator of queries over one snapshot.

Kuzu matches relationships of a pattern without the rule that they are different. So the texts for
Kuzu compare the identifiers of relationships, and write ``TRAIL`` for paths.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import kuzu

from tests.languages.cypher.streams import EDGE_LABELS, NODE_LABELS, Graph, Relationship, Row


class Engine:
    """A database of the nodes of a graph, with the relationships of one snapshot at a time."""

    def __init__(self, graph: Graph) -> None:
        """Initializes the database with the nodes of a graph and of its relationships."""
        database = kuzu.Database(":memory:", buffer_pool_size=1 << 28, max_db_size=1 << 32)
        self._connection = kuzu.Connection(database, num_threads=1)
        flags = ", ".join(f"{label} BOOLEAN" for label in NODE_LABELS)
        self._run(f"CREATE NODE TABLE N(id INT64 PRIMARY KEY, age INT64, HasRow BOOLEAN, {flags})")
        ends = {v for r in graph.relationships for v in (r.source, r.target)}
        known = {node.id: node for node in graph.nodes}
        for id_ in sorted(ends | known.keys()):
            node = known.get(id_)
            labels = () if node is None else node.labels
            flags = ", ".join(f"{one}: {str(one in labels).lower()}" for one in NODE_LABELS)
            age = "" if node is None or node.age is None else f"age: {node.age}, "
            has_row = bool(labels) or (node is not None and graph.has_all_rows)
            age += f"HasRow: {str(has_row).lower()}, "
            self._run(f"CREATE (:N {{id: {id_}, {age}{flags}}})")

    def rows(self, query: str, relationships: Iterable[Relationship]) -> list[Row]:
        """The rows of a query over the nodes and these relationships."""
        # Kuzu 0.11.3 gives wrong rows after deletions of relationships, so the tables are new.
        for label in EDGE_LABELS:
            self._run(f"DROP TABLE IF EXISTS {label}")
            self._run(f"CREATE REL TABLE {label}(FROM N TO N, ts INT64, w INT64)")
        for r in relationships:
            w = "" if r.w is None else f", w: {r.w}"
            self._run(
                f"MATCH (a:N {{id: {r.source}}}), (b:N {{id: {r.target}}}) "
                f"CREATE (a)-[:{r.type} {{ts: {r.ts}{w}}}]->(b)"
            )
        return [tuple(row) for row in self._run(query)]

    def _run(self, query: str) -> list[list[Any]]:
        result = self._connection.execute(query)
        assert isinstance(result, kuzu.QueryResult)
        return [row for row in result.get_all() if isinstance(row, list)]
