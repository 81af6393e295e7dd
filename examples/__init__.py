"""Runnable examples with real data.

In: nothing. Out: data files, catalogs and queries, found as package data
(``importlib.resources.files("headrace.examples") / "mathoverflow"``).

Invariant: the data is a publisher's, unchanged but for what the script beside it does, and
attributed in the README beside it.
"""
