"""The state of input files: what a checkpoint belongs to, and whether it changed under a reader."""

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
"""How a file is read, its size and age, as JSON-able values."""


def fingerprint(inputs: Inputs) -> list[FileState]:
    """Identifies inputs by their files, how they are read, sizes and ages.

    Raises:
        InputError: if a file is not there.
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
    """Compares files with their :func:`fingerprint` of before they were read.

    Raises:
        ChangedInputError: if one has changed: the rows may be of two states.
    """
    try:
        after = fingerprint(inputs)
    except InputError as error:
        path, _, told = error.message.partition(": ")
        raise ChangedInputError(path, f"{told} It was there when the run began.") from error
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    if changed:
        raise ChangedInputError(changed[0]["reading"]["path"])
