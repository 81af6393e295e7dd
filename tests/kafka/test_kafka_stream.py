"""The program of docs/stream.md reads a real topic of Kafka and writes to one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kafka.broker import Broker
from tests.kafka.jars import connector_jars
from tests.page_blocks import blocks
from tests.processes import QUICK_SPARK
from tests.waiting import PATIENCE, until

PAGE = "docs/stream.md"
FOLDER_OF_FILES = 'schema = "sender'
"""The begin of the part of the program that reads a folder of files, and of no use here."""

pytestmark = [pytest.mark.spark, pytest.mark.long]


def program(address: str) -> str:
    """The parts of the page up to Kafka, without the folder of files, for a broker."""
    parts = [b for b in blocks() if b.page == PAGE and b.language.startswith("python")]
    (kafka,) = (i for i, part in enumerate(parts) if part.language == "python kafka")
    code = [
        part.text
        for part in parts[: kafka + 1]
        if FOLDER_OF_FILES not in part.text and "awaitTermination" not in part.text
    ]
    jars = ",".join(map(str, connector_jars()))
    return (
        "\n".join([*code, "query.awaitTermination()"])
        .replace("localhost:9092", address)
        .replace(".getOrCreate()", f'.config("spark.jars", "{jars}").getOrCreate()')
        .replace("import headrace", "import headrace\nfrom pyspark.sql import functions as sf", 1)
    )


def test_the_program_over_kafka_writes_its_answers_to_a_topic(
    kafka: Broker, tmp_path: Path
) -> None:
    edges = [("1", "2", 500.0, 1000), ("2", "3", 120.0, 1020), ("9", "9", 1.0, 5000)]
    rows = [{"from": x, "to": y, "amount": a, "ts": t} for x, y, a, t in edges]
    kafka.send("payments", map(json.dumps, rows))
    (tmp_path / "program.py").write_text(program(kafka.address), "utf-8")
    process = subprocess.Popen(
        [sys.executable, "program.py"], cwd=tmp_path, env={**os.environ, **QUICK_SPARK}
    )
    try:
        until(lambda: process.poll() is not None or kafka.received("answers"))
        ((_, value),) = kafka.received("answers")
    finally:
        process.kill()
        process.wait(PATIENCE)
    answer = {"x": "1", "z": "3", "first": 500.0, "ts": 1020, "exp": 4600}
    assert json.loads(value) == answer
