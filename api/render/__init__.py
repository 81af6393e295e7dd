"""Documents as text, DOT, Mermaid and HTML.

In: documents. Out: text that can be shown as it is: every renderer escapes names for its own
format.

Invariant: a renderer reads documents only, never plans, operators or a search.

May import: documents.
Start with: ``text.py``.
"""
