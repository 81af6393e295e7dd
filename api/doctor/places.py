"""Checks caches, the data directory, temporary files, and the files beside a catalog."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_cache_path

from ...documents.checks import CheckDocument
from ...documents.numbers import counted
from ...planning.errors import UsageError
from .check import GIGABYTE, check, content, existing, refusal, size, writable_by_others

_LEAST_FREE = 1 * GIGABYTE
"""The least space for temporary files and checkpoints: a spooled input and the state of Spark."""


def kernel_cache() -> CheckDocument:
    """The folder of the operators' machine code."""
    name = "kernel cache"
    try:
        from ...executor.kernels.compiling import code_folder
    except ImportError as error:
        return check(name, f"numba cannot be imported: {error}", "missing", "install numba again")
    try:
        folder = code_folder()
    except OSError as error:
        return check(
            name,
            f"no folder for compiled code can be made: {error.strerror}",
            "missing",
            "let NUMBA_CACHE_DIR name a folder that you may write to",
        )
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen and not folder.is_relative_to(chosen):
        return check(
            name,
            f"{folder}, since NUMBA_CACHE_DIR={chosen} cannot be written",
            "warning",
            "let NUMBA_CACHE_DIR name a folder that you may write to",
        )
    if folder.is_relative_to(tempfile.gettempdir()) and not chosen:
        return check(
            name,
            f"{folder}, among temporary files: no other folder can be written",
            "warning",
            "let NUMBA_CACHE_DIR name a folder that lasts, else the code is compiled again",
        )
    kernels, _ = content(folder, "*.nbi")
    _, used = content(folder)
    if not kernels:
        return check(
            name,
            f"{folder}, empty",
            "warning",
            "`headrace warm` compiles all operators now; otherwise the first queries do",
        )
    return check(name, f"{folder}, {counted(kernels, 'kernel')}, {size(used)}")


def class_archive() -> CheckDocument:
    """The archives of Spark's classes, by which Spark starts faster."""
    name = "class archive"
    folder = user_cache_path("headrace") / "spark-classes"
    why = refusal(folder)
    if why is not None:
        return check(
            name,
            why,
            "warning",
            "make the folder writable, or let XDG_CACHE_HOME name another; Spark starts slower",
            optional=True,
        )
    if not folder.exists():
        return check(name, f"{folder}, made by the first run on Spark", optional=True)
    if writable_by_others(folder):
        return check(
            name,
            f"{folder} is not used: it belongs to another user, or others can write to it",
            "warning",
            f"chmod go-w {folder}, or remove the folder",
            optional=True,
        )
    archives, used = content(folder, "classes-*.jsa")
    text = (
        f"{counted(archives, 'archive')}, {size(used)}"
        if archives
        else "made by the next run on Spark"
    )
    return check(name, f"{folder}, {text}", optional=True)


def data_directory(folder: Path) -> CheckDocument:
    """The folder of the service's queries and of calibrated constants."""
    name = "data directory"
    why = refusal(folder)
    if why is not None:
        return check(
            name,
            why,
            "warning",
            "make the folder writable, or let HEADRACE_HOME name another; the service needs it",
            optional=True,
        )
    if not folder.exists():
        return check(name, f"{folder}, made by `headrace serve` and `headrace calibrate`")
    files, used = content(folder)
    return check(name, f"{folder}, {counted(files, 'file')}, {size(used)}")


def constants() -> CheckDocument:
    """The constants of the cost model."""
    from ...planning.calibration import chosen_calibration

    name = "cost constants"
    try:
        calibration = chosen_calibration(None)
    except UsageError as error:
        return check(name, error.message, "missing", error.hint)
    if calibration is None:
        return check(name, "those that Headrace is shipped with", optional=True)
    return check(name, calibration.origin, optional=True)


def free_space(name: str, folder: Path, variable: str) -> CheckDocument:
    """The free space of a folder for temporary files or checkpoints.

    Args:
        name: the name of the check.
        folder: the folder, which may not exist yet.
        variable: how a user names another folder.
    """
    why = refusal(folder)
    if why is not None:
        return check(name, why, "missing", f"make it writable, or let {variable} name another")
    free = shutil.disk_usage(existing(folder)).free
    text = f"{folder}, {size(free)} free"
    if free < _LEAST_FREE:
        return check(
            name, text, "warning", f"free some space, or let {variable} name a larger folder"
        )
    return check(name, text)


def temporary_files() -> CheckDocument:
    """The folder for temporary files, in which a run has its input and Spark its shuffles."""
    try:
        folder = Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        return check(
            "temporary files",
            str(error),
            "missing",
            "free some space, or let TMPDIR name a folder that you may write to",
        )
    return free_space("temporary files", folder, "TMPDIR")


def beside_catalog(path: Path) -> Iterator[CheckDocument]:
    """Yields checks of a catalog, its samples and the figures that runs measured."""
    from ...catalog.feedback import FeedbackFileError
    from ...catalog.feedback import read as read_figures
    from ...catalog.sample import SampleFileError
    from ...catalog.sample import read as read_samples
    from ...planning.loading import load_catalog

    try:
        catalog = load_catalog(path)
    except UsageError as error:
        yield check("catalog", error.message, "missing", error.hint or "mend the catalog")
        return
    yield check("catalog", f"{path}, {counted(len(catalog.streams), 'stream')}")
    again = "`headrace stats --out` measures the streams anew"
    if catalog.sample_file is None:
        yield check("samples", "none; plans follow the statistics alone", optional=True)
    else:
        file = Path(catalog.sample_file.path)
        try:
            streams = read_samples(catalog.sample_file)
        except SampleFileError as error:
            yield check("samples", str(error), "warning", again, optional=True)
        else:
            text = f"{file}, {counted(len(streams), 'stream')}, {size(file.stat().st_size)}"
            yield check("samples", text, optional=True)
    if catalog.feedback is None:
        return
    figures = catalog.feedback.path
    why = refusal(figures.parent)
    try:
        known = read_figures(figures, 0.0)
    except FeedbackFileError as error:
        why = str(error)
    if why is not None:
        advice = "make the folder writable, or remove a damaged file"
        yield check("measured figures", why, "warning", advice, optional=True)
    else:
        yield check(
            "measured figures", f"{figures}, of {counted(len(known), 'relation')}", optional=True
        )
