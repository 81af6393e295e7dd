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
    "lag": ("headrace_query_lag_seconds", "How far its results are behind the clock"),
    "state_entries": ("headrace_query_state_entries", "Entries of the state of its operators"),
    "state_bytes": ("headrace_query_state_bytes", "Memory of that state"),
}
_COUNTERS = {
    "edges": ("headrace_query_edges", "Edges that it has read"),
    "results": ("headrace_query_results", "Results that it gave"),
    "late": ("headrace_query_late", "Edges that came too late"),
    "rejected": ("headrace_query_rejected", "Rows that are no edges"),
}


class QueryCollector(Collector):
    """The queries that are kept, so that their number bounds that of the labels."""

    def __init__(self, queries: Queries, followers: Followers) -> None:
        self._queries = queries
        self._followers = followers

    def collect(self) -> Iterator[Metric]:
        """The metrics as they are now."""
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
            "headrace_query_restarts", "How often it was taken up again", labels=["query"]
        )
        for query in queries:
            restarts.add_metric([query.kept.id], query.kept.restarts)
        yield restarts
        yield GaugeMetricFamily(
            "headrace_engine_up", "Whether Spark is there", int(self._queries.engine_up)
        )
        yield CounterMetricFamily(
            "headrace_engine_starts", "Engines started", self._queries.engine_starts
        )
        yield GaugeMetricFamily(
            "headrace_followers", "Clients that follow results", self._followers.count
        )
