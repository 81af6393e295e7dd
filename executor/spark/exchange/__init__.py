"""How rows travel between the tasks of Spark, and lie in its state."""
