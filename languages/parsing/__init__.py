"""Reading a text, as all languages do it: lark's parser, tokens, paths, windows, the EMIT clause.

In: a grammar and a text. Out: values, or a `QueryError` that says where the text is wrong.

Invariant: nothing here knows the grammar of one language.

May import: algebra, and `query` of the folder above.

Start reading at: `lark_parser`, then `tokens`.
"""
