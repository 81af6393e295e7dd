"""The Regular Query, which every language is read into, and its checks without a catalog.

In: rules, conditions and windows as a front end read them. Out: a checked `RegularQuery`.

Invariant: nothing here knows the text of a language; it imports `algebra` and `catalog` only.
Start reading at `regular_query`, then `checks`.
"""
