"""Checks a machine on which Headrace is installed, for ``headrace doctor``.

In: the environment of the process, and the folders, port and catalog that a user names. Out:
`CheckDocument`s: what was found, and what to do about it.

Invariant: no check starts Spark; a JVM starts only to print its version. A check creates no file
that it leaves behind, except for the folder of compiled code, which each command creates.

Start with: ``doctor.py``.
"""
