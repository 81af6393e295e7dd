"""What a partition of a stage keeps between two micro-batches.

In: a partition's input, its metadata and its in-memory index. Out: the same, for the next batch or
after a restart.

Invariant: metadata and log, committed by Spark together, suffice to rebuild the index; the cache
and the snapshot only make that faster.

May import: exchange.
Start with: ``metadata.py`` and ``log.py``, then ``snapshot.py`` and ``cache.py``.
"""
