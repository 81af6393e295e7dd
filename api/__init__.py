"""The faces of Headrace: command line, REST service and web page.

In: what users type. Out: documents and their renderings.

Invariant: no logic of its own: all faces call the same functions of `headrace` and show
the same documents.
"""
