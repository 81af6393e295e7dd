"""Operators, columns and groups in one line of text for people.

In: operators of the algebra, and the names that a query gives its variables. Out: text in the signs
of the thesis, such as ``⋈ x = y``.

Invariant: notation is for reading; no part of Headrace parses it back.

>>> from headrace.notation.operators import SYMBOLS
>>> SYMBOLS["PATTERN"]
'⋈'
"""
