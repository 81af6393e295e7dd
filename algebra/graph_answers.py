"""Answers that are streams of graphs, by their columns.

``CONSTRUCT CREATE (a)-[:KNOWS]->(b)`` of Seraph gives a row for each relationship. Reports of such
rows are written as events that are graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

GRAPH_COLUMNS: Final = ("(start)", "[type]", "(end)")
"""The columns of a relationship: its two ends, and its type between them."""


def is_of_graphs(columns: Sequence[str]) -> bool:
    """Whether the rows of an answer with these columns are relationships."""
    return tuple(columns) == GRAPH_COLUMNS
