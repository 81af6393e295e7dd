"""The state of input files: what a checkpoint belongs to, and whether it changed under a reader."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ....catalog.edges import EdgeFile
from ..host.errors import InputError

Inputs = Mapping[str, Sequence[EdgeFile]]
"""The files of each stream of a plan, by the stream's name."""

_CHANGED = (
    "Nothing of it was processed. Start again when the file is complete. Put parts of what grows "
    "into a folder that is followed (follow: true in the catalog)."
)


def fingerprint(inputs: Inputs) -> list[dict[str, Any]]:
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


def check_unchanged(before: list[dict[str, Any]], inputs: Inputs) -> None:
    """Compares files with their :func:`fingerprint` of before they were read.

    Raises:
        InputError: if one has changed: what was read may be a part of two states.
    """
    try:
        after = fingerprint(inputs)
    except InputError as error:
        raise InputError(f"{error.message} It was there when the run began.", _CHANGED) from error
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    if changed:
        path = changed[0]["reading"]["path"]
        raise InputError(f"{path}: the file was changed while it was read.", _CHANGED)
