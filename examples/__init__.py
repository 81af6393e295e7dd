"""Runnable examples with real data.

In: nothing. Out: data files, catalogs and queries, found as package data
(``importlib.resources.files("examples") / "mathoverflow"``).

Invariant: the data is a publisher's, unchanged but for the cut that the script beside it
makes, and attributed in the README beside it.
"""
