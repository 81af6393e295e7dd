"""Sixty lively days of MathOverflow: who answered and commented on whom, and five queries.

In: nothing. Out: ``a2q.csv.gz``, ``c2a.csv.gz``, ``c2q.csv.gz`` (src, trg, ts, sorted by
ts), their statistics in ``catalog.yaml``, and the queries ``*.rq``.

Invariant: ``make_slice.py`` makes these very files from the publisher's.
"""
