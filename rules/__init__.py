"""Transformation rules and implementation rules, one class each.

In: a binding of memo expressions. Out: equivalent expressions over group references.

Invariant: a rule is pure; only the search inserts into the memo. Names and numbers are
those of the thesis and never change.
"""
