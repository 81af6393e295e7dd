"""Runs a physical plan inside Spark Structured Streaming.

In: a plan document and edges (files, or streaming DataFrames). Out: result files, or a
DataFrame of result rows.

Invariant: killed anywhere and started again on its checkpoint, the union of its results
has the same snapshots as an undisturbed run, and each result is published once.
"""
