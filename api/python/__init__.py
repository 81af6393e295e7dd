"""Python programs and notebooks: one call plans a query, one more runs the plan.

In: the text of a query with keywords, or a `PlanRequest`. Out: a `PlannedQuery`, which explains,
draws, compares and runs its plan; `Rows`, the results of a run.

Invariant: this folder has no logic of planning or running; it calls what the command line calls.
IPython is imported only where it runs.

- ``optimizing``: `headrace.optimize`; ``planned``: the planned query;
- ``alternatives``: other plans of the query;
- ``rows``: the results of a run; ``display``: what a notebook shows; ``magic``: ``%%headrace``.

Start with: ``optimizing.py``.
"""
