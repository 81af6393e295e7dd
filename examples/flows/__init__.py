"""An hour of network flows with a bot among them, and a query for hosts that fan out.

In: nothing. Out: ``flows.csv.gz`` (src, trg, label, ts and four properties, sorted by ts), its
statistics in ``catalog.yaml``, and one query in both languages, ``fanout.rq`` and
``fanout.gcore``.

Invariant: ``make_slice.py`` makes this very file from the publisher's.
"""
