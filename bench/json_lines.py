"""Files of JSON lines, to which a benchmark appends what it measures and goes on later."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file; the last line may be torn."""
    if not path.exists():
        return
    for line in path.read_text("utf-8").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Appends a row, on a line of its own even if the last line is torn."""
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            torn = file.read(1) != b"\n"
            file.write(b"\n" * torn)
        file.write(json.dumps(row).encode() + b"\n")
