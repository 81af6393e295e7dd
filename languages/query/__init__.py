"""The Regular Query, which every language is read into, and its checks.

In: rules, conditions and windows as a language reads them. Out: a checked `RegularQuery`.

Invariant: nothing here knows a catalog or the text of a language.

May import: algebra; none of the rooms beside this one.

Start reading at: `regular_query`, then `checks`.
"""
