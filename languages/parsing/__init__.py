"""What front ends share while they read a text: tokens, paths, windows, the EMIT clause.

In: a lark grammar and a text. Out: values, or the place where the text was refused.

Invariant: nothing here knows the grammar of one language; it imports `query`, and no front end.
Start reading at `lark_parser`, then `tokens`.
"""
