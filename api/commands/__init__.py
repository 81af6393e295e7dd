"""The commands of ``headrace``, a module each.

In: options of the command line. Out: documents and results on stdout or in files, messages on
stderr.

Invariant: a command imports its modules when it runs, so that small commands start fast.

May import: all folders.
Start with: ``explain.py``.
"""
