"""Rows on their way between Spark's tasks, and the form in which they lie in state.

In: rows of scans, and batches of operators. Out: messages and blocks, few and large, as Arrow
streams.

Invariant: in each micro-batch every sender sends each partition at least one message, so that time
passes also where no rows come.

May import: host.
Start with: ``packing.py`` (messages) and ``wire.py`` (their rows), then ``blocks.py``.
"""
