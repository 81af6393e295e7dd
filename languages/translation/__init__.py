"""From the Regular Query to the canonical expression of the Streaming Graph Algebra.

In: a `RegularQuery` of any language and a catalog. Out: a `LogicalQuery`.

Invariant: nothing here depends on the language of the text; views alone ask the registry to read
theirs. It imports `query` and `parsing`. Start reading at `canonical`.
"""
