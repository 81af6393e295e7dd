"""Counts of the property tests, for the summary at the end of a test run."""

from collections import Counter

TRIED: Counter[str] = Counter()
"""By what was done: "queries optimized", "plans walked over", "runs judged", ..."""
