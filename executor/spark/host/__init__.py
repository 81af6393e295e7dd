"""The machine: whole files, folders, disks, limits and clock, and the errors that users see.

In: paths; errors of the operating system and of Spark. Out: files that are whole or absent, and an
`ExecutionError` that says what is wrong and what to do.

Invariant: no reader ever sees half a file, and a damaged file is reported, never used.

May import: nothing of the other rooms.
Start with: ``errors.py``, then ``files.py``.
"""
