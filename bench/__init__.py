"""Measurements of Headrace, each one command: ``python -m bench.search`` and its siblings.

They use what everybody can use, the folders above ``executor`` and ``optimizer``, and are
shipped with nothing. ``docs/benchmarks.md`` says what they measure and what came out.
"""
