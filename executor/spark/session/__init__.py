"""Spark itself: its JVM, settings and packages, and the Python workers of the functions.

In: `SessionOptions`. Out: a Spark session, with workers that have Headrace.

Invariant: a session that was started here leaves no process, file or setting behind, and a user's
own session keeps its settings.

May import: host.
Start with: ``session.py``, then ``workers.py``.
"""
