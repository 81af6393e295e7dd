"""Money transfers of the AMLSim simulator, and a query for money that goes round in cycles.

In: nothing. Out: ``transfer.csv.gz`` (src, trg, ts, amount, sorted by ts), its statistics in
``catalog.yaml``, and one query in both languages, ``cycle.rq`` and ``cycle.gcore``.

Invariant: ``make_slice.py`` makes this very file from the publisher's.
"""
