"""The output: from blocks of results to files that appear whole, and to rows that are set aside.

In: blocks of the last stage. Out: result files, standard output, calls of a function, rows of other
sinks of Spark's; files of late edges and of rows that are not edges.

Invariant: a result is published once, also where Spark runs a batch again after a crash, and an
output belongs to one run.

May import: host, session, exchange.
Start with: ``sinks.py``, ``delivery.py``, then ``parts.py`` (in Spark's tasks) and ``claims.py``.
"""
