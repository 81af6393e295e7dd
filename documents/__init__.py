"""The JSON documents of every stage, which the command line, the service and the page show.

In: a `Planned` of `planning`. Out: values of JSON: the query, the memo, the plan with costs, the
reasons for it, the trace of the search.

Invariant: a rendering reads these documents only, so that all faces show the same.

>>> from headrace.documents.matches import match_document
>>> from headrace.languages import parse
>>> match_document(parse("Answer(x, y) <- a(x, y). WINDOW 1d").query)["vertices"]
['x', 'y']
"""
