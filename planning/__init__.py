"""Plans queries: parses the text, translates it to the algebra, and searches for a plan.

In: a `PlanRequest`: query text, catalog or input files, options. Out: a `Planned` with the result
of each stage.

Invariant: command line, service and Python plan through this folder. Every error that a user can
correct is a `HeadraceError`.

May import: algebra, catalog, languages, memo, costmodel, rules, optimizer, notation; of executor:
the check of a stored plan, and the predicates that conditions are decided with.
Start with: ``requests.py``, then ``translating.py`` and ``planner.py``.

>>> from headrace import PlanRequest, PlanningOptions, optimize
>>> request = PlanRequest("Answer(x, y) <- x (a/b)+ y", options=PlanningOptions(window="1d"))
>>> optimize(request).plan.columns
('x', 'y')
"""
