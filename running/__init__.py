"""From a plan and its inputs to results on Spark, and what the operators did on the way.

In: a plan, the files or live sources of its streams, a place for the results. Out: result files or
a DataFrame, and a report of what was counted beside what was estimated.

Invariant: a plan is run as it is; nothing here chooses between plans.
"""
