"""The settings of a service."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from platformdirs import user_data_path

from ...catalog.model import Catalog
from .engine_messages import EngineOptions
from .jobs import Limits
from .results import Kept
from .tokens import Token


def default_home() -> Path:
    """The folder for a user's data on this system."""
    return user_data_path("headrace", appauthor=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """A service: its database, what it knows at the start, who may use it, and its bounds.

    ``database`` is an address as SQLAlchemy reads it. ``catalog`` is for requests that bring
    none. ``hosts`` are the names by which the service may be called and ``origins`` the pages
    that may use it from a browser; without ``hosts`` all names are fine, without ``origins`` no
    page. Without ``tokens`` none is asked for. In ``home`` are the files of queries that run;
    ``results`` of each are kept. With ``allow_sources`` a stream that is put may say where it is
    read.
    """

    database: str = field(repr=False)  # it may have a password
    catalog: Catalog | None = None
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


@cache
def release() -> str:
    """The version of Headrace."""
    try:
        return version("headrace")
    except PackageNotFoundError:
        return "unknown"
