"""Runs a physical plan: in process, or on Spark Structured Streaming.

In: a plan document and sources. Out: result rows with their validity.

Invariant: the snapshots of the results equal those of the query over the windowed input
(snapshot reducibility, thesis Definition 15). Knows nothing of memo, rules or costs.
"""
