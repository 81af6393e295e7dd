"""The REST service: the same functions and documents as the command line.

In: requests over HTTP, a catalog, a database. Out: plans, what was found on the way to them,
running queries and their results, and problem details (RFC 9457).

Invariant: no file is read or written that a client names, unless that is allowed; searches and runs
are in processes of their own, and hold back no answer that does not need them.
"""

from .app import create_app
from .settings import Settings

__all__ = ["Settings", "create_app"]
