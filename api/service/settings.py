"""The settings of a service."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from platformdirs import user_data_path

from ...catalog.model import Catalog
from ...costmodel.constants import Constants
from .engine_messages import EngineOptions
from .query_size import Limits
from .results import Kept
from .tokens import Token

FIGURES = "measured.sqlite"
"""The name of the file of measured figures, in the data directory."""


def default_home() -> Path:
    """Returns the folder for a user's data on this system."""
    return user_data_path("headrace", appauthor=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a service.

    Attributes:
        database: the address of the database, for SQLAlchemy.
        catalog: the catalog for requests without one.
        constants: the constants of the cost model; None for the shipped ones.
        hosts: the host names of the service; empty to allow all names.
        origins: the origins of other pages that may use the service from a browser.
        tokens: the tokens that clients need; empty to allow all clients.
        searches_at_once: the number of search processes.
        most_waiting: the maximum number of waiting searches.
        longest_search_ms: the time limit of a search, in milliseconds.
        most_requests: the maximum number of requests at once.
        largest_body: the maximum size of a request body, in bytes.
        most_plans: the maximum number of stored plans.
        most_streams: the maximum number of streams.
        cache_bytes: the maximum size of cached answers, in bytes.
        limits: the bounds on a query and its answer.
        home: the data directory.
        allow_sources: whether a stream put over REST may have a source.
        engine: the options of the engine.
        most_running: the maximum number of queries that run at once.
        most_queries: the maximum number of queries.
        most_partitions: the maximum number of partitions of a running plan.
        most_followers: the maximum number of clients that follow results.
        results: the bounds on the results of each query.
        feedback: whether queries keep measured figures, and plans use them.
    """

    database: str = field(repr=False)  # the address may have a password
    catalog: Catalog | None = None
    constants: Constants | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    tokens: tuple[Token, ...] = ()
    searches_at_once: int = 2
    most_waiting: int = 16
    longest_search_ms: float = 10_000.0
    most_requests: int = 100
    largest_body: int = 1_000_000
    most_plans: int = 10_000
    most_streams: int = 1_000
    cache_bytes: int = 64_000_000
    limits: Limits = field(default_factory=Limits)
    home: Path = field(default_factory=default_home)
    allow_sources: bool = False
    engine: EngineOptions = field(default_factory=EngineOptions)
    most_running: int = 8
    most_queries: int = 100
    most_partitions: int = 64
    most_followers: int = 100
    results: Kept = field(default_factory=Kept)
    feedback: bool = True

    @property
    def figures(self) -> Path | None:
        """The file of the figures that queries measure; None to keep none."""
        return self.home / FIGURES if self.feedback else None


@cache
def release() -> str:
    """The version of Headrace."""
    try:
        return version("headrace")
    except PackageNotFoundError:
        return "unknown"
