"""The REST service: the same functions and documents as the command line.

In: requests over HTTP, a catalog, a database. Out: plans and their documents, running queries and
their results, and problem details (RFC 9457).

Invariant: no file is read or written that a client names, unless that is allowed; searches and runs
are in processes of their own, and delay no answer that does not need them.

- ``app``, ``routes``, ``bodies`` and ``problems``: HTTP, and what clients send and receive;
- ``limits``, ``tokens``, ``connections`` and ``logs``: what stands around the routes;
- ``searches``, ``workers`` and ``jobs``: searches in worker processes;
- ``queries``, ``engine_keeper`` and ``engine_process``: running queries, and Spark's process;
- ``store`` and ``kept_*``: the database; ``data_directory``: the files of queries.

May import: all folders.
Start with: ``app.py``, then ``service.py``.
"""

from .app import create_app
from .settings import Settings

__all__ = ["Settings", "create_app"]
