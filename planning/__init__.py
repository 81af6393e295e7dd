"""From a query's text to its plan: read, translate, search.

In: a `PlanRequest`: query text, catalog or input files, options. Out: a `Planned`, which holds the
result of every stage on the way.

Invariant: every face plans here, and everything that a user can mend is a `HeadraceError`.

>>> from headrace import PlanRequest, PlanningOptions, optimize
>>> request = PlanRequest("Answer(x, y) <- x (a/b)+ y", options=PlanningOptions(window="1d"))
>>> optimize(request).plan.columns
('x', 'y')
"""
