"""The metrics of the service, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

MEDIA_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 200_000)


class Metrics:
    """The counters of one service."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "headrace_requests", "Requests", ["route", "method", "status"], registry=registry
        )
        self.request_seconds = Histogram(
            "headrace_request_seconds", "Time to answer", ["route"],
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self.searches = Counter(
            "headrace_searches", "Jobs of the search processes", ["kind"],
            registry=registry,
        )  # fmt: skip
        self.plans = Counter(
            "headrace_plans", "Searches by stop reason", ["stop_reason"], registry=registry
        )
        self.planning_seconds = Histogram(
            "headrace_planning_seconds", "Time of a search", buckets=_SECONDS, registry=registry
        )
        self.search_expressions = Histogram(
            "headrace_search_expressions", "Expressions in the memo of a search",
            buckets=_SIZES, registry=registry,
        )  # fmt: skip
        self.cache_hits = Counter(
            "headrace_cache_hits", "Answers without a search of their own", ["kept"],
            registry=registry,
        )  # fmt: skip
        self.running = Gauge("headrace_searches_running", "Searches now", registry=registry)
        self.waiting = Gauge("headrace_searches_waiting", "Searches queued", registry=registry)
        self.died = Counter(
            "headrace_workers_died", "Search processes that died during a job", registry=registry
        )

    def watch(self, collector: Collector) -> None:
        """Adds the metrics of a collector."""
        self._registry.register(collector)

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
