"""Measurements of Headrace, each one command: ``python -m bench.search`` and its siblings.

The benchmarks are not part of the installed package. ``docs/benchmarks.md`` describes what they
measure, with results.
"""
