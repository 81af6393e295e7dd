"""The whole of Headrace against the oracle, from query text to result lines.

In: random and named cases of `tests.strategies`. Out: a judgement of `tests.oracles`.

Invariant: the product sees nothing but the text of the query, a catalog and the edges.
"""
