"""From a query's text to its plan: read, translate, search.

In: a `PlanRequest`: query text, catalog or input files, options. Out: a `Planned`, which holds the
result of every stage on the way.

Invariant: every program plans here, and every error that a user can mend is a `HeadraceError`.

May import: algebra, catalog, languages, memo, costmodel, rules, optimizer, notation; of executor,
the check of a stored plan.
Start with: ``requests.py``, then ``planner.py``.

>>> from headrace import PlanRequest, PlanningOptions, optimize
>>> request = PlanRequest("Answer(x, y) <- x (a/b)+ y", options=PlanningOptions(window="1d"))
>>> optimize(request).plan.columns
('x', 'y')
"""
