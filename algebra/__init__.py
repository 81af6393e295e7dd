"""The Streaming Graph Algebra: the values that every other folder exchanges.

In: nothing (this folder imports no other). Out: logical operators and expressions
(`algebra.logical`), physical operators (`algebra.physical`), their properties
(`algebra.properties`), regexes and automata, predicates, windows, and the plan document
(`algebra.plan`).

Invariant: everything here is an immutable value; equal values are equal objects, because
each has one normal form.

>>> from algebra import regex
>>> regex.text(regex.star(regex.plus(regex.Symbol("a"))))
'a*'
"""
