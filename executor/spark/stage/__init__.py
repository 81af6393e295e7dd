"""The work on a micro-batch: the operators of a stage inside Spark's tasks.

In: messages to a partition. Out: messages to the partitions of the next stage, or results, as
blocks or in a file; then a report of what was counted.

Invariant: a batch that runs again from the same committed state gives the same rows.

May import: host, session, exchange, reading, results, state.
Start with: ``dataflow.py``, the chain of stages; then ``partition.py``, one batch of one partition.
"""
