"""The REST service: the same functions and documents as the command line.

In: requests over HTTP, a catalog, a database. Out: plans, what was found on the way to them, and
problem details (RFC 9457).

Invariant: nothing is run, no file is read that a client names, and no search holds back an
answer that needs none.
"""

from api.service.app import create_app
from api.service.settings import Settings

__all__ = ["Settings", "create_app"]
