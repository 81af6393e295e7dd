"""Named sinks of a catalog: what they may declare, and what is shown of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.catalog import CatalogError, dumps, load, loads
from headrace.catalog.sinks import NamedSink
from headrace.executor.spark.host.errors import OutputError
from headrace.executor.spark.results.sinks import (
    ToKafka,
    ToSink,
    described_output,
    output_of,
    packages_of_outputs,
)

STREAMS = "streams: {s: {labels: {a: {rate: 2, distinct_src: 5, distinct_trg: 7}}}}\n"
SINKS = """\
sinks:
  answers:
    format: kafka
    options: {kafka.bootstrap.servers: "a:9092", topic: t, kafka.linger.ms: 5, kafka.password: hush}
  archive: {format: parquet, path: archive, options: {compression: zstd}}
  lake: {format: delta, path: "s3://bucket/lake", packages: ["io.delta:delta-spark_2.13:4.0.0"]}
  screen: {format: console}
"""


def test_a_catalog_keeps_its_sinks(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text(STREAMS + SINKS)
    sinks = load(tmp_path / "catalog.yaml").sinks
    assert sinks["archive"] == NamedSink(
        "archive", "parquet", str(tmp_path / "archive"), {"compression": "zstd"}
    )
    assert sinks["lake"].path == "s3://bucket/lake"
    assert sinks["answers"].options["kafka.linger.ms"] == "5"
    catalog = loads(STREAMS + SINKS)
    assert loads(dumps(catalog)).sinks == catalog.sinks


@pytest.mark.parametrize(
    ("sink", "reason"),
    [
        ("{format: kafka, options: {topic: t}}", "needs kafka.bootstrap.servers"),
        ("{format: kafka, path: t}", "the option topic"),
        ("{format: parquet}", "needs path"),
        ("{format: text, path: p}", "text has one column"),
        ("{format: console, options: {checkpointLocation: c}}", "the checkpoint of the run"),
        ("{format: delta, packages: [delta]}", "expected text of the form"),
        ("{format: delta, mode: append}", "no such entry is known"),
    ],
)
def test_a_sink_that_cannot_work_is_refused(sink: str, reason: str) -> None:
    with pytest.raises(CatalogError, match=reason) as refused:
        loads(f"{STREAMS}sinks:\n  out: {sink}\n")
    assert "sinks.out" in str(refused.value)


def test_an_output_names_a_sink() -> None:
    sinks = loads(STREAMS + SINKS).sinks
    assert output_of("sink:archive", sinks=sinks) == ToSink(sinks["archive"])
    topic = output_of("sink:answers", sinks=sinks)
    options = {"kafka.linger.ms": "5", "kafka.password": "hush"}
    assert topic == ToKafka("a:9092", "t", options)
    assert packages_of_outputs(output_of("sink:lake", sinks=sinks), topic, None) == (
        "io.delta:delta-spark_2.13:4.0.0",
    )
    with pytest.raises(OutputError, match="no sink 'lost'") as refused:
        output_of("sink:lost", sinks=sinks)
    assert "answers, archive, lake, screen" in refused.value.hint
    with pytest.raises(OutputError, match="a format of its own"):
        output_of("sink:archive", "csv", sinks)


def test_nothing_that_is_shown_of_a_sink_has_its_options() -> None:
    catalog = loads(STREAMS + SINKS)
    outputs = [output_of(f"sink:{name}", sinks=catalog.sinks) for name in catalog.sinks]
    written = [output for output in outputs if isinstance(output, ToKafka | ToSink)]
    shown = [repr(catalog), *map(repr, outputs), *map(described_output, written)]
    assert len(written) == 4
    assert not [text for text in shown if "hush" in text]
    assert described_output(written[1]) == (
        "the sink archive (parquet at archive), each result once"
    )
