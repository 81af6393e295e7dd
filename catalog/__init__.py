"""The catalog: the streams, their layout and their statistics.

In: a YAML file, or input files. Out: a `Catalog` (`model`), and the edges of files as record
batches (`edges`).

Invariant: a catalog is an immutable value. A statistic is measured or declared, or it is the
default of `default_catalog`. Every row of a file is an edge, or is rejected with its place and the
reason.

May import: algebra.

Start reading at: `model`, then `document` for catalogs in YAML, or `edges` for files.

>>> from headrace.catalog import loads
>>> catalog = loads("streams: {s: {labels: {a: {rate: 2, distinct_src: 5, distinct_trg: 7}}}}")
>>> catalog.streams["s"].labels["a"].vertices
7.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .defaults import DEFAULT_STATISTICS, default_catalog
    from .document import CatalogError, from_document, to_document
    from .edges import EdgeBatch, EdgeFile, EdgeFileError, Rejected, RejectedRowError
    from .inputs import Layout, files_of_inputs, files_of_stream, measured_catalog
    from .live import LiveSource, live_source
    from .measurement import Measurement, measure, measure_files
    from .model import Catalog, LabelStatistics, Source, Stream
    from .store import dump, dumps, load, loads

_HOME = {
    "DEFAULT_STATISTICS": "defaults",
    "default_catalog": "defaults",
    "CatalogError": "document",
    "from_document": "document",
    "to_document": "document",
    "EdgeBatch": "edges",
    "EdgeFile": "edges",
    "EdgeFileError": "edges",
    "Rejected": "edges",
    "RejectedRowError": "edges",
    "Layout": "inputs",
    "files_of_inputs": "inputs",
    "files_of_stream": "inputs",
    "measured_catalog": "inputs",
    "LiveSource": "live",
    "live_source": "live",
    "Measurement": "measurement",
    "measure": "measurement",
    "measure_files": "measurement",
    "Catalog": "model",
    "LabelStatistics": "model",
    "Source": "model",
    "Stream": "model",
    "dump": "store",
    "dumps": "store",
    "load": "store",
    "loads": "store",
}
"""The module of each name, imported when it is first asked for: to plan a query needs no
reader of files, and a command line should answer at once."""

__all__ = [
    "DEFAULT_STATISTICS",
    "Catalog",
    "CatalogError",
    "EdgeBatch",
    "EdgeFile",
    "EdgeFileError",
    "LabelStatistics",
    "Layout",
    "LiveSource",
    "Measurement",
    "Rejected",
    "RejectedRowError",
    "Source",
    "Stream",
    "default_catalog",
    "dump",
    "dumps",
    "files_of_inputs",
    "files_of_stream",
    "from_document",
    "live_source",
    "load",
    "loads",
    "measure",
    "measure_files",
    "measured_catalog",
    "to_document",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value
