"""The command line, the REST service and the page.

In: what users type, click or send. Out: documents, and renderings of them.

Invariant: no logic of its own: all call the same functions of `headrace` and show the same
documents.

- ``cli``, ``commands`` and ``options``: the command line; ``request``: from options to a request;
- ``explanation`` and ``render``: documents as text, DOT, Mermaid and HTML;
- ``service``: the REST service; ``page``: the built files of the page.

May import: all folders.
Start with: ``cli.py``, or ``service/app.py``.
"""
