"""The input: files and live sources as streaming rows of a plan's scans.

In: edge files, live sources and stored graphs of a catalog. Out: DataFrames of edges, and of packed
rows for the first stage.

Invariant: a row that is not an edge is set aside with its exact text and a reason; every edge with
a label that the plan reads arrives once.

May import: host, session, exchange.
Start with: ``replay.py`` for files, ``sources.py`` for live sources; then ``scan_rows.py``.
"""
