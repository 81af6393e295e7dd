"""The experiments of thesis 6.5 again: ``python -m bench.figures``."""
