"""Compares Headrace with other systems on the same edges, windows and queries: ``python -m
bench.peers``."""
