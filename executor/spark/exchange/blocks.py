"""Blocks: the rows that leave the last stage of a plan.

Results leave it as RESULTS, or, where Headrace writes the result files itself, as PART.

This module imports nothing: Spark starts a Python process only to ask which state a stage keeps,
and the process imports this module.
"""

RESULTS = "results"
"""Results as an Arrow stream."""

LATE = "late"
"""Late edges as JSON lines."""

PART = "part"
"""A file of results, as JSON (:class:`headrace.executor.spark.results.parts.Part`)."""

REPORT = "report"
"""The metrics of a partition of a stage, as JSON."""

BLOCKS = "kind string, rows bigint, payload binary"
"""The schema of blocks: a kind as above, the number of rows in the payload, and the payload."""
