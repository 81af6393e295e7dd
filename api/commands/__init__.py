"""The commands of ``headrace``, a module each.

In: options of the command line. Out: documents and results on stdout or in files, messages on
stderr.

Invariant: a command imports what it needs when it runs, so that a small one answers at once.

May import: all folders.
Start with: ``explain.py``.
"""
