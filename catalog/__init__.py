"""The catalog: the streams, their layout and their statistics.

In: a YAML file, or input files. Out: a `Catalog` (`model`), and the edges of files as record
batches (`edges`).

Invariant: a catalog is an immutable value. A statistic is measured, declared, or the default of
`default_catalog`. The reader returns every row of a file as an edge, or rejects it with its place
and the reason.

May import: algebra.

Start reading at: `model`, then `document` for catalogs in YAML, or `edges` for files.

>>> from headrace.catalog import loads
>>> catalog = loads("streams: {s: {labels: {a: {rate: 2, distinct_src: 5, distinct_trg: 7}}}}")
>>> catalog.streams["s"].labels["a"].vertices
7.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .defaults import DEFAULT_STATISTICS, default_catalog
    from .document import CatalogError, from_document, to_document
    from .edges import EdgeBatch, EdgeFile, EdgeFileError, Rejected, RejectedRowError
    from .inputs import Layout, files_of_inputs, files_of_stream, measured_catalog
    from .live import LiveSource, live_source
    from .measurement import Measurement, measure, measure_files
    from .model import Catalog, LabelStatistics, Source, Stream
    from .store import dump, dumps, load, loads

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

__getattr__ = lazily(
    __name__,
    {
        "defaults": ("DEFAULT_STATISTICS", "default_catalog"),
        "document": ("CatalogError", "from_document", "to_document"),
        "edges": ("EdgeBatch", "EdgeFile", "EdgeFileError", "Rejected", "RejectedRowError"),
        "inputs": ("Layout", "files_of_inputs", "files_of_stream", "measured_catalog"),
        "live": ("LiveSource", "live_source"),
        "measurement": ("Measurement", "measure", "measure_files"),
        "model": ("Catalog", "LabelStatistics", "Source", "Stream"),
        "store": ("dump", "dumps", "load", "loads"),
    },
)
