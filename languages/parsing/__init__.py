"""The parsing that languages share: lark's parser, tokens, paths, windows, the EMIT clause.

In: a grammar and a text. Out: values, or a `QueryError` with the place of the error.

Invariant: nothing here knows the grammar of one language.

May import: algebra, and `query` of the folder above.

Start reading at: `lark_parser`, then `tokens`.
"""
