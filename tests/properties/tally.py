"""Counts of the property tests, for the summary at the end of a test run."""

from collections import Counter

TRIED: Counter[str] = Counter()
"""Counts by activity: "queries optimized", "plans walked over", "runs judged", ..."""
