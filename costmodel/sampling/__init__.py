"""Estimates of paths and joins from a sample of the stream.

In: a logical operator, what its inputs are on the sample, and the estimate by formula. Out: the
estimate with population, rate and distinct values as the sample has them, with a standard error.

Invariant: the estimates depend on the sample, the query's scans and the order of the requests, and
on no clock; steps bound the work.

Start with: `estimator.py`, then `evaluation.py`.
"""
