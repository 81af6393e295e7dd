"""Runs a physical plan: in this process, or on Spark Structured Streaming.

In: a plan document and sources. Out: result rows with their validity.

Invariant: the snapshots of the results equal those of the query over the windowed input
(snapshot reducibility, thesis Definition 15). The executor does not use memo, rules or costs.

May import: algebra, catalog.
Start with: ``local.py``, a run in this process; then ``pipeline.py``, which drives the operators
(``operators/``, over compiled ``kernels/``); then ``spark/``.
"""
