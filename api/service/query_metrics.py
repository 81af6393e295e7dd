"""Metrics of running queries, collected when Prometheus asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from .follow import Followers
from .kept_queries import State
from .queries import Queries

_GAUGES = {
    "lag": ("headrace_query_lag_seconds", "Seconds that its results are behind the clock"),
    "state_entries": ("headrace_query_state_entries", "Entries in the states of its operators"),
    "state_bytes": ("headrace_query_state_bytes", "Bytes of the states of its operators"),
}
_COUNTERS = {
    "edges": ("headrace_query_edges", "Edges read"),
    "results": ("headrace_query_results", "Results"),
    "late": ("headrace_query_late", "Late edges"),
    "rejected": ("headrace_query_rejected", "Rejected rows"),
}


class QueryCollector(Collector):
    """Metrics of all queries; the maximum number of queries bounds the number of labels."""

    def __init__(self, queries: Queries, followers: Followers) -> None:
        self._queries = queries
        self._followers = followers

    def collect(self) -> Iterator[Metric]:
        """Yields the current metrics."""
        queries = self._queries.all()
        states = Counter(query.kept.state for query in queries)
        by_state = GaugeMetricFamily("headrace_queries", "Queries by state", labels=["state"])
        for state in get_args(State):
            by_state.add_metric([state], states[state])
        yield by_state
        kinds: list[tuple[str, Metric]] = [
            *((f, GaugeMetricFamily(*of, labels=["query"])) for f, of in _GAUGES.items()),
            *((f, CounterMetricFamily(*of, labels=["query"])) for f, of in _COUNTERS.items()),
        ]
        for field, metric in kinds:
            for query in queries:
                value = (query.progress or {}).get(field)
                if value is not None:
                    metric.add_metric([query.kept.id], value)  # type: ignore[attr-defined]
            yield metric
        restarts = CounterMetricFamily(
            "headrace_query_restarts", "Restarts after failures", labels=["query"]
        )
        for query in queries:
            restarts.add_metric([query.kept.id], query.kept.restarts)
        yield restarts
        yield GaugeMetricFamily(
            "headrace_engine_up", "Whether Spark has started", int(self._queries.engine_up)
        )
        yield CounterMetricFamily(
            "headrace_engine_starts", "Engines started", self._queries.engine_starts
        )
        yield GaugeMetricFamily(
            "headrace_followers", "Clients that follow results", self._followers.count
        )
