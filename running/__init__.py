"""Runs plans over inputs: to results on Spark, and to measured numbers of the operators.

In: a plan, the files or live sources of its streams, a place for the results. Out: result files or
a DataFrame, and a report with the counters of the operators beside the estimates.

Invariant: this folder runs a plan unchanged, and never chooses between plans.
"""
