"""Reads what is kept beside a catalog: samples of its streams, and figures that runs measured.

In: a catalog and the options of a request. Out: the catalog with samples and figures, and a warning
for each file that cannot be read. The model ``thesis`` uses neither.
"""

from __future__ import annotations

from dataclasses import replace
from time import time

from ..catalog.model import Catalog
from .requests import PlanningOptions


def with_kept_figures(
    catalog: Catalog, options: PlanningOptions
) -> tuple[Catalog, tuple[str, ...]]:
    """Returns the catalog with what its options let the cost model read, and warnings."""
    doubts: tuple[str, ...] = ()
    if options.sample:
        catalog, doubts = _with_samples(catalog)
    if options.feedback and options.cost_model != "thesis":
        catalog, unread = _with_feedback(catalog)
        doubts += unread
    return catalog, doubts


def _with_samples(catalog: Catalog) -> tuple[Catalog, tuple[str, ...]]:
    """Reads the samples that a catalog names; a missing or damaged file is a warning."""
    if catalog.sample_file is None or catalog.samples:
        return catalog, ()
    from ..catalog.sample import SampleFileError, read

    try:
        return replace(catalog, samples=read(catalog.sample_file)), ()
    except SampleFileError as error:
        return catalog, (
            f"{error}; estimates use the statistics alone, until the stream is measured anew",
        )


def _with_feedback(catalog: Catalog) -> tuple[Catalog, tuple[str, ...]]:
    """Reads the figures that earlier runs measured; an unreadable file is a warning."""
    if catalog.feedback is None or catalog.measured:
        return catalog, ()
    from ..catalog.feedback import FeedbackFileError, read

    try:
        return replace(catalog, measured=read(catalog.feedback.path, time())), ()
    except FeedbackFileError as error:
        return catalog, (f"{error}; estimates do without them",)
