"""The REST service: the same functions and documents as the command line.

In: requests over HTTP, a catalog, a database. Out: plans and their documents, running queries and
their results, and problem details (RFC 9457).

Invariant: the service reads and writes no file that a client names, unless a setting allows it.
Searches and runs are separate processes, and never delay other answers.

- ``app``, ``routes``, ``bodies`` and ``problems``: HTTP, and the bodies of requests and answers;
- ``limits``, ``tokens``, ``connections`` and ``logs``: the middleware around the routes;
- ``searches``, ``workers`` and ``jobs``: searches in worker processes;
- ``queries``, ``engine_keeper`` and ``engine_process``: running queries, and Spark's process;
- ``store`` and ``kept_*``: the database; ``data_directory``: the files of queries.

May import: all folders.
Start with: ``app.py``, then ``service.py``.
"""

from .app import create_app
from .settings import Settings

__all__ = ["Settings", "create_app"]
