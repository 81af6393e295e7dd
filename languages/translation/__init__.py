"""From a Regular Query to the canonical expression of the Streaming Graph Algebra.

In: a `RegularQuery` of any language, and a catalog. Out: a `LogicalQuery`.

Invariant: nothing here depends on the language of a text; `views` parses views by the registry.

May import: algebra, catalog, and of the folder above `query`, `parsing` and `registry`.

Start reading at: `canonical`, then `atoms` and `path_expressions`.
"""
