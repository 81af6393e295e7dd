"""Reads the bundled slices of `examples/` with the labels of the streams of the same names."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path

import headrace.examples

from .cuts import Row, Value
from .labels import by_size
from .published import flow_label

FOLDER = Path(headrace.examples.__file__).parent


def mathoverflow() -> Iterator[Row]:
    """Sixty days of MathOverflow."""
    return _labelled("mathoverflow", ("a2q", "c2a", "c2q"))


def ldbc() -> Iterator[Row]:
    """The relations of the bundled LDBC streams that have times."""
    return _labelled("ldbc", ("containerOf", "hasCreator", "knows", "likes"))


def flows() -> Iterator[Row]:
    """An hour of flows."""
    for r in _records("flows", "flows"):
        port = int(r["port"]) if r["port"] else None
        properties: Mapping[str, Value] = {
            "port": port,
            "bytes": int(r["bytes"]),
            "seconds": float(r["seconds"]),
            "bot": r["bot"] == "true",
        }
        yield r["src"], r["trg"], flow_label(r["label"], port), int(r["ts"]), properties


def amlsim() -> Iterator[Row]:
    """The transfers between the busiest accounts."""
    return by_size(
        (r["src"], r["trg"], int(r["ts"]), float(r["amount"]))
        for r in _records("amlsim", "transfer")
    )


def amlsim_accounts() -> dict[str, tuple[str, Mapping[str, Value]]]:
    """These accounts."""
    return {
        r["id"]: ("account", {"fraud": r["fraud"] == "true", "balance": float(r["balance"])})
        for r in _records("amlsim", "account")
    }


def _labelled(example: str, labels: tuple[str, ...]) -> Iterator[Row]:
    for label in labels:
        for r in _records(example, label):
            yield r["src"], r["trg"], label, int(r["ts"]), {}


def _records(example: str, name: str) -> Iterator[dict[str, str]]:
    with gzip.open(FOLDER / example / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        yield from csv.DictReader(file)
