"""The Streaming Graph Algebra: the values that every other folder exchanges.

In: nothing (this folder imports no other). Out: logical operators and expressions
(`headrace.algebra.logical`), physical operators (`headrace.algebra.physical`), their properties
(`headrace.algebra.properties`), regexes and automata, predicates, windows, and the plan document
(`headrace.algebra.plan`).

Invariant: everything here is an immutable value; equal values are equal objects, because
each has one normal form.

>>> from headrace.algebra import regex
>>> regex.text(regex.star(regex.plus(regex.Symbol("a"))))
'a*'
"""
