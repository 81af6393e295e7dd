"""Blocks: the rows that leave the last stage of a plan.

Spark also starts a Python process only to ask which state a stage keeps, so this module imports
nothing.
"""

RESULTS = "results"
"""Results as an Arrow stream."""

LATE = "late"
"""Edges that came too late, as JSON lines."""

REPORT = "report"
"""What a partition of a stage has counted, as JSON."""

BLOCKS = "kind string, rows bigint, payload binary"
"""The schema of blocks: a kind as above, the number of rows in the payload, and the payload."""
