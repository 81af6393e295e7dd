"""Messages for a topic have the bindings as key, and an id that depends on plan and line alone."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headrace.executor.spark.host.errors import OutputError
from headrace.executor.spark.results.formats import Messages, ResultShape, result_writer
from headrace.executor.spark.results.parts import Part, PartSpec, PartWriter
from headrace.executor.spark.results.sink import BothSinks, Sink
from headrace.executor.spark.results.sinks import ToKafka, output_of

ROWS = pa.RecordBatch.from_pydict(
    {
        "x": ['größe "5"\n', "c", None],
        "y": pa.array([1, 2, 3], pa.int64()),
        "ts": pa.array([5, 6, 7], pa.int64()),
        "exp": pa.array([7, None, -1], pa.int64()),
    }
)


def messages(shape: ResultShape, *batches: pa.RecordBatch) -> list[tuple[str, str]]:
    file = io.BytesIO()
    writer = result_writer("messages", shape, file)
    for batch in batches:
        writer.write(batch)
    writer.close()
    file.seek(0)
    return [(row["key"], row["value"]) for row in pq.read_table(file).to_pylist()]


def shape(plan: str, *, deletions: bool = False) -> ResultShape:
    names = ("x", "y")
    return ResultShape(names, names, ("string", "integer"), deletions=deletions, plan=plan)


def test_a_message_is_the_json_line_with_an_id() -> None:
    found = messages(shape("p"), ROWS.slice(0, 2))
    assert [json.loads(key) for key, _ in found] == [
        {"x": 'größe "5"\n', "y": 1}, {"x": "c", "y": 2},
    ]  # fmt: skip
    lines = io.BytesIO()
    result_writer("jsonl", shape("p"), lines).write(ROWS.slice(0, 2))
    values = [json.loads(value) for _, value in found]
    ids = [value.pop("id") for value in values]
    assert values == [json.loads(line) for line in lines.getvalue().split(b"\n")[:-1]]
    assert len(set(ids)) == 2


def test_repeats_have_the_same_id_and_other_plans_have_others() -> None:
    first = messages(shape("p"), ROWS.slice(0, 2))
    again = messages(shape("p"), ROWS.slice(0, 1), ROWS.slice(1, 1))
    assert again == first
    ids = {json.loads(value)["id"] for _, value in first + messages(shape("q"), ROWS.slice(1, 1))}
    assert len(ids) == 3


def test_a_retraction_has_the_key_of_its_result() -> None:
    ((key, value),) = messages(shape("p", deletions=True), ROWS.slice(2))
    assert json.loads(key) == {"x": None, "y": 3}
    row = json.loads(value)
    assert (row["op"], row["bindings"], row["ts"]) == ("-", {"x": None, "y": 3}, 7)


@pytest.mark.parametrize("kind", ["plain", "deletions", "report"])
def test_flat_rows_give_the_same_messages(kind: str) -> None:
    own = replace(
        shape("p", deletions=kind == "deletions"), event="entering" if kind == "report" else None
    )
    rows = ROWS if kind == "deletions" else ROWS.slice(0, 2)
    made = Messages(own).of(own.nested(own.flat(rows)))
    assert [(row["key"], row["value"]) for row in made.to_pylist()] == messages(own, rows)


def test_an_output_names_brokers_and_a_topic() -> None:
    assert output_of("kafka://a:9092,b:9092/answers") == ToKafka("a:9092,b:9092", "answers")
    assert output_of("kafka://a:9092/answers", "jsonl") == ToKafka("a:9092", "answers")


@pytest.mark.parametrize("text", ["kafka://", "kafka://a:9092", "kafka:///t", "kafka://a:9092/t/u"])
def test_an_output_without_a_topic_is_refused(text: str) -> None:
    with pytest.raises(OutputError, match="is not a topic of Kafka"):
        output_of(text)


def test_messages_are_json_alone() -> None:
    with pytest.raises(OutputError, match="Messages to Kafka are JSON"):
        output_of("kafka://a:9092/answers", "csv")


def test_a_part_has_a_second_file_for_a_second_output(tmp_path: Path) -> None:
    also = PartSpec("messages", str(tmp_path), shape("p"))
    spec = PartSpec("jsonl", str(tmp_path), shape("p"), also=also)
    with PartWriter(spec, 0) as writer:
        writer.write(ROWS.slice(0, 2))
        part = writer.close()
    assert part is not None
    lines = [json.loads(line) for line in Path(part.path).read_text().splitlines()]
    values = [json.loads(row["value"]) for row in pq.read_table(part.also).to_pylist()]
    assert [{k: v for k, v in value.items() if k != "id"} for value in values] == lines
    assert part.rows == len(lines) == 2


def test_a_part_that_fails_leaves_neither_of_its_files(tmp_path: Path) -> None:
    also = PartSpec("csv", str(tmp_path), shape("p"))
    spec = PartSpec("jsonl", str(tmp_path), shape("p"), also=also)
    with PartWriter(spec, 0) as writer:
        writer.write(ROWS.slice(0, 2))  # and no close: the end of the block removes both
    assert not list(tmp_path.iterdir())


def test_a_batch_is_in_the_second_output_before_the_first(tmp_path: Path) -> None:
    delivered: list[tuple[str, int]] = []

    class Noting(Sink):
        def __init__(self, name: str) -> None:
            super().__init__(PartSpec("jsonl", str(tmp_path / name), shape("p")))
            self._name = name

        def deliver(self, batch: int, parts: Sequence[Part]) -> None:
            delivered.extend((f"{self._name} {part.path}", batch) for part in parts)

    both = BothSinks(Noting("first"), Noting("second"))
    both.deliver(3, [Part("lines", 0, 1, 9, "messages")])
    assert delivered == [("second messages", 3), ("first lines", 3)]
