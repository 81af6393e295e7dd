"""Random queries and streams for property-based tests, in the oracle's terms.

In: hypothesis. Out: `tests.oracles.query.Query` values and edges in time order.

Invariant: everything drawn is valid: a product that refuses it is wrong.
"""
