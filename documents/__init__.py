"""The JSON documents of every stage of a query, as immutable pydantic models.

In: a `Planned` of `planning`, or what a run counted. Out: `Document`s: the query, its canonical
expression, the memo, the plan with costs, pictures, reasons and the trace of the search; plans in a
list; the progress and metrics of a run.

Invariant: command line, REST, Python and the page show these documents, each built in one place;
renderings read them and nothing else.

- ``query``: the stages before the search; ``explained``: the chosen plan; ``memo``: all that was
  found; ``trace`` and ``why``: how the search went, and what decided;
- ``plan`` and ``picture``: a plan, and how it is drawn; ``alternatives``: plans in a list;
  ``explanation``: what the service answers of a plan;
- ``runs`` and ``matches``: what a run did, and what its results look like;
- ``model`` and ``numbers``: what all documents share, and how numbers are written.

May import: all folders but api and examples.
Start with: ``model.py``, then ``explained.py``.

>>> from headrace.documents.matches import match_document
>>> from headrace.languages import parse
>>> match_document(parse("Answer(x, y) <- a(x, y). WINDOW 1d").query).vertices
('x', 'y')
"""
