"""Spark itself: the JVM, its settings and packages, and the Python workers."""
