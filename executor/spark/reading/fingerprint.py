"""The states of input files, to identify them and to detect changes during a run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ....catalog.edges import EdgeFile
from ..host.errors import ChangedInputError, InputError

Inputs = Mapping[str, Sequence[EdgeFile]]
"""The files of each stream of a plan, by the stream's name."""
FileState = dict[str, Any]
"""The layout of a file, its size in bytes and modification time, as JSON-able values."""


def fingerprint(inputs: Inputs) -> list[FileState]:
    """Describes each input file by its layout, size and modification time.

    Raises:
        InputError: if a file is missing.
    """
    described = []
    for stream, files in sorted(inputs.items()):
        for file in files:
            try:
                status = os.stat(file.path)
            except OSError as error:
                raise InputError(f"{file.path}: cannot be read: {error.strerror}") from error
            reading = {f.name: getattr(file, f.name) for f in fields(file) if f.compare}
            reading |= {
                "path": os.path.abspath(file.path),
                "columns": dict(file.columns),
                "properties": dict(file.properties),
            }
            if file.format != "graph":
                del reading["layout"]  # checkpoints of earlier versions do not have it
            described.append(
                {
                    "stream": stream,
                    "bytes": status.st_size,
                    "mtime_ns": status.st_mtime_ns,
                    "reading": reading,
                }
            )
    return described


def check_unchanged(before: Sequence[FileState], inputs: Inputs) -> None:
    """Compares files with their :func:`fingerprint` from before the read.

    Raises:
        ChangedInputError: if a file has changed, so that its rows may come from two states.
    """
    try:
        after = fingerprint(inputs)
    except InputError as error:
        message = f"{error.message}, although the file was there when the run began."
        raise ChangedInputError(message) from error
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    if changed:
        path = changed[0]["reading"]["path"]
        raise ChangedInputError(f"{path}: the file was changed while it was read.")
