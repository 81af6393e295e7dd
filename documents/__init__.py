"""The JSON documents of every stage of a query, as immutable pydantic models.

In: a `Planned` of `planning`, or the counters of a run. Out: `Document`s: the query, its canonical
expression, the memo, the plan with costs, pictures, reasons and the trace of the search; lists of
plans; the progress and metrics of a run.

Invariant: command line, REST, Python and the page show these documents. One function
builds each document. Renderings read documents and nothing else.

- ``query``: the stages before the search; ``explained``: the chosen plan; ``memo``: the groups,
  goals and winners; ``trace`` and ``why``: the steps of the search, and the reasons for the plan;
- ``plan`` and ``picture``: a plan, and its drawing; ``alternatives``: lists of plans;
  ``explanation``: answers of the service about a plan;
- ``runs`` and ``matches``: the numbers of a run, and its results as graphs;
- ``model`` and ``numbers``: the base class of documents, and the format of numbers.

May import: all folders but api and examples.
Start with: ``model.py``, then ``explained.py``.

>>> from headrace.documents.matches import match_document
>>> from headrace.languages import parse
>>> match_document(parse("Answer(x, y) <- a(x, y). WINDOW 1d")).vertices
('x', 'y')
"""
