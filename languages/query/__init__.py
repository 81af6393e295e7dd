"""The Regular Query, the common result of all languages, and its checks.

In: rules, conditions and windows as a language reads them. Out: a checked `RegularQuery`.

Invariant: nothing here knows a catalog or the text of a language.

May import: algebra; none of the rooms beside this one.

Start reading at: `atoms` and `regular_query`, then `checks`.
"""
