"""The command line, the REST service, the calls for Python and notebooks, and the page.

In: commands, requests, calls and clicks of users. Out: documents, and renderings of documents.

Invariant: this folder has no logic of its own. Command line, service and page call the same
functions of `headrace` and show the same documents.

- ``cli``, ``commands`` and ``options``: the command line; ``request``: requests from options;
- ``explanation`` and ``render``: documents as text, DOT, Mermaid and HTML;
- ``python``: what `headrace.optimize` returns, and ``%%headrace``;
- ``service``: the REST service; ``page``: the built files of the page.

May import: all folders.
Start with: ``cli.py``, or ``service/app.py``.
"""
