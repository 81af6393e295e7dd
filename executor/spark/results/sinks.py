"""The outputs of a run: a folder, one file, stdout, a function, a topic, or a sink of Spark's.

In: the output that a user names. Out: an immutable value, which
:mod:`headrace.executor.spark.results.delivery` publishes results to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from ....catalog.sinks import KAFKA, SINK_FILES, NamedSink
from ..host.errors import OutputError
from .formats import ResultFormat

NOTE = "_headrace"
"""Headrace's folder inside an output folder."""
_ENDINGS: dict[str, ResultFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
}


@dataclass(frozen=True, slots=True)
class ToFolder:
    """A file per batch and partition: ``part-<batch>-<partition>.<format>``."""

    path: Path
    format: ResultFormat = "jsonl"


@dataclass(frozen=True, slots=True)
class ToFile:
    """One file, which appears when the run has ended."""

    path: Path
    format: ResultFormat = "jsonl"


@dataclass(frozen=True, slots=True)
class ToStdout:
    """Standard output, batch by batch; a resumed run may repeat results."""

    format: ResultFormat = "jsonl"


@dataclass(frozen=True, slots=True)
class ToFunction:
    """A function in the driver, called with (batch, rows) as results come.

    The rows have the answer's columns, ``ts`` and ``exp``. A resumed run may repeat results.
    """

    function: Callable[[int, pa.Table], None]


@dataclass(frozen=True, slots=True)
class ToKafka:
    """A topic of Kafka, written by Spark: each result at least once.

    The key of a message is the JSON of the bindings, its value the JSON line of the result with an
    ``id``, which is the same if the result is written again.

    Attributes:
        servers: the brokers to connect to first, ``host:port``, separated by commas.
        topic: the name of the topic.
        options: further options of Spark's sink, such as ``kafka.security.protocol``; they may
            have passwords, so they are not shown.
        packages: the packages that Spark needs beside its own for Kafka.
    """

    servers: str
    topic: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToSink:
    """A sink of Structured Streaming, written by a streaming query of its own.

    It gets rows with the columns of Parquet results, and gives the guarantee that Spark gives for
    it: files of Spark's file sink have each result once.

    Attributes:
        sink: the sink of a catalog.
    """

    sink: NamedSink


Output = ToFolder | ToFile | ToStdout | ToFunction | ToKafka | ToSink
WrittenBySpark = ToKafka | ToSink
"""The outputs that Spark's own sinks write, from the parts of a batch."""
_KAFKA = "kafka://"
_NAMED = "sink:"


def output_of(
    text: str,
    result_format: ResultFormat | None = None,
    sinks: Mapping[str, NamedSink] | None = None,
) -> Output:
    """The output that a user names.

    That is ``-``, a file, a folder, ``kafka://HOST:PORT/TOPIC``, or ``sink:NAME`` for one of the
    named ``sinks`` of a catalog. A name that ends like a result file is a file, unless there is a
    folder of that name.

    Raises:
        OutputError: for a format that cannot go there, or an unknown sink.
    """
    if text.startswith((_KAFKA, _NAMED)):
        fixed = "jsonl" if text.startswith(_KAFKA) else None
        if result_format not in (None, fixed):
            what = "Messages to Kafka are JSON." if fixed else f"{text} has a format of its own."
            raise OutputError(what, "Leave the format of the output out.")
        return written_by_spark(text, sinks or {})
    if text == "-":
        if result_format == "parquet":
            raise OutputError("Parquet cannot go to standard output.", "Give a file or folder.")
        return ToStdout(result_format or "jsonl")
    path = Path(text)
    ending = _ENDINGS.get(path.suffix.lower())
    if ending is None or path.is_dir():
        return ToFolder(path, result_format or "jsonl")
    return ToFile(path, result_format or ending)


def written_by_spark(text: str, sinks: Mapping[str, NamedSink]) -> WrittenBySpark:
    """The output that ``kafka://HOST:PORT/TOPIC`` or ``sink:NAME`` names.

    Raises:
        OutputError: if it is neither a topic nor one of the ``sinks`` of a catalog.
    """
    if not text.startswith(_NAMED):
        servers, _, topic = text.removeprefix(_KAFKA).partition("/")
        if not servers or re.fullmatch(r"[a-zA-Z0-9._-]{1,249}", topic) is None:
            raise OutputError(f"{text} is not a topic of Kafka.", f"Write {_KAFKA}HOST:PORT/TOPIC.")
        return ToKafka(servers, topic)
    sink = sinks.get(text.removeprefix(_NAMED))
    if sink is None:
        known = f"It has {', '.join(sorted(sinks))}." if sinks else "It has none (sinks: ...)."
        raise OutputError(f"The catalog has no sink {text.removeprefix(_NAMED)!r}.", known)
    if sink.format != "kafka":
        return ToSink(sink)
    servers, topic = (sink.options[name] for name in KAFKA)
    options = {name: value for name, value in sink.options.items() if name not in KAFKA}
    return ToKafka(servers, topic, options, sink.packages)


def described_output(output: WrittenBySpark) -> str:
    """The place of an output and what it guarantees, in one line, without its options."""
    match output:
        case ToKafka(servers, topic):
            return f"the topic {topic} of {servers}, each result at least once, with an id"
        case ToSink(sink):
            place = f" at {sink.path}" if sink.path is not None else ""
            once = (
                "each result once" if sink.format in SINK_FILES else "as often as its format has it"
            )
            return f"the sink {sink.name} ({sink.format}{place}), {once}"


def packages_of_outputs(*outputs: Output | None) -> tuple[str, ...]:
    """The packages of named sinks among outputs, each once."""
    written = [output for output in outputs if isinstance(output, ToKafka | ToSink)]
    named = [o.sink.packages if isinstance(o, ToSink) else o.packages for o in written]
    return tuple(dict.fromkeys(package for packages in named for package in packages))


def set_aside(output: Output, folder: Path, rejected: Path | None, what: str) -> Path:
    """Returns the file for rows that are set aside.

    It is beside the results, or beside the file that the user named for rows that are not edges.

    Args:
        output: the output of the run.
        folder: the folder of the run, for outputs that are neither a folder nor a file.
        rejected: the file that the user named, if any.
        what: ``late`` or ``rejected``.
    """
    match output:
        case _ if rejected is not None:
            return rejected.with_name(f"{rejected.name}.{what}.jsonl")
        case ToFolder(path):
            return path / NOTE / f"{what}.jsonl"
        case ToFile(path):
            return path.with_name(f"{path.name}.{what}.jsonl")
        case _:
            return folder / f"{what}.jsonl"
