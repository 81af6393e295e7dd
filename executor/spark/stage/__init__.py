"""The work of a plan's stages inside Spark's tasks."""
