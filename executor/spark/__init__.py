"""Runs a physical plan inside Spark Structured Streaming.

In: a plan document and edges (files, live sources, or streaming DataFrames). Out: result files, or
a DataFrame of result rows.

Invariant: killed anywhere and started again on its checkpoint, the union of its results has the
same snapshots as an undisturbed run, and each result is published once.

The modules here put the rooms together; rows flow through ``reading``, ``stage`` and ``results``:

- ``host``: files, folders and limits of the machine, and the errors that users see;
- ``session``: the JVM, Spark's settings and packages, the Python workers;
- ``exchange``: rows on their way between Spark's tasks;
- ``reading``: files and live sources as rows of a plan's scans;
- ``state``: what a partition keeps between two micro-batches;
- ``stage``: the work on a micro-batch inside Spark's tasks;
- ``results``: files of results, and their publication.

May import: executor, algebra, catalog.
Start with: ``run.py`` (``bounded.py`` over files, ``live.py`` over live sources), or ``stream.py``
for a user's own session.
"""
