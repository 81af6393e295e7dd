"""Checkpoints whose files are damaged, or do not match each other, are refused by name."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from headrace.executor.spark.host.errors import DamagedError
from headrace.executor.spark.host.files import read_sealed
from headrace.executor.spark.results.batch_log import BatchLog, check_checksums

SUM_BYTES = 512


def written_by_hadoop(file: Path, text: str) -> None:
    """A file with its checksums, as Spark's JVM writes it."""
    data = text.encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    sums = [zlib.crc32(data[at : at + SUM_BYTES]) for at in range(0, len(data), SUM_BYTES)]
    header = b"crc\0" + struct.pack(">i", SUM_BYTES)
    file.with_name(f".{file.name}.crc").write_bytes(header + struct.pack(f">{len(sums)}I", *sums))


def offsets_of(slices: int) -> str:
    return (
        f'v1\n{{"batchWatermarkMs":0,"conf":{{"padding":"{"x" * 700}"}}}}\n{{"logOffset":{slices}}}'
    )


@pytest.fixture
def spark(tmp_path: Path) -> Path:
    """The checkpoint of a run that was stopped right after the commit of batch 3."""
    folder = tmp_path / "spark"
    written_by_hadoop(folder / "metadata", '{"id":"1c58fd6d"}')
    for batch in range(4):
        written_by_hadoop(folder / "offsets" / str(batch), offsets_of(batch))
        written_by_hadoop(folder / "sources/0" / str(batch), f'v1\n{{"path":"edges-{batch}"}}')
        log(tmp_path).note(batch, [{"edges": batch}])
        written_by_hadoop(folder / "commits" / str(batch), 'v1\n{"nextBatchWatermarkMs":0}')
    return folder


def log(folder: Path) -> BatchLog:
    return BatchLog(folder / "spark", folder / "counted.json")


def test_consistent_files_are_accepted(spark: Path) -> None:
    folder = spark.parent
    assert log(folder).checked_reports() == [{"edges": 3}]
    assert (log(folder).committed, log(folder).slices(3), log(folder).slices(-1)) == (3, 4, 0)
    (spark / "commits/3").unlink()  # killed after its results were out
    assert log(folder).checked_reports() == [{"edges": 3}]
    written_by_hadoop(spark / "commits/3", "v1\n{}")
    written_by_hadoop(spark / "offsets/4", offsets_of(4))  # killed in the batch after it
    assert log(folder).checked_reports() == [{"edges": 3}]


def test_a_checkpoint_before_its_first_batch_is_accepted(tmp_path: Path) -> None:
    assert log(tmp_path).checked_reports() == []
    written_by_hadoop(tmp_path / "spark/offsets/0", offsets_of(0))
    assert log(tmp_path).checked_reports() == []
    assert log(tmp_path).committed == -1


def test_a_note_of_an_earlier_version_is_accepted(spark: Path) -> None:
    (spark.parent / "counted.json").write_text('[{"edges": 3}]')
    assert log(spark.parent).checked_reports() == [{"edges": 3}]


@pytest.mark.parametrize(
    "name", ["metadata", "offsets/2", "offsets/3", "commits/3", "sources/0/1", "offsets/.3.crc"]
)
def test_every_damage_of_a_spark_file_is_refused(spark: Path, name: str) -> None:
    file = spark / name
    written = file.read_bytes()
    places = range(0, len(written), max(1, len(written) // 40))
    damaged = [written[:end] for end in places]
    damaged += [written[:at] + bytes([written[at] ^ 4]) + written[at + 1 :] for at in places]
    for content in damaged:
        file.write_bytes(content)
        with pytest.raises(DamagedError) as caught:
            log(spark.parent).checked_reports()
        assert file.name.removeprefix(".").removesuffix(".crc") in caught.value.message
        assert "start anew" in caught.value.hint


@pytest.mark.parametrize(
    ("lost", "named"),
    [
        (["commits/3", "commits/2"], "commits/2"),
        (["offsets/3"], "offsets/3"),
        (["../counted.json"], "counted.json"),
    ],
)
def test_lost_files_are_refused(spark: Path, lost: list[str], named: str) -> None:
    for name in lost:
        (spark / name).unlink()
    with pytest.raises(DamagedError, match=f"{named} is damaged"):
        log(spark.parent).checked_reports()


def test_a_note_of_another_batch_is_refused(spark: Path) -> None:
    """A part of the checkpoint was restored from an older copy."""
    written_by_hadoop(spark / "commits/4", "v1\n{}")
    with pytest.raises(DamagedError, match=r"counted\.json is damaged"):
        log(spark.parent).checked_reports()
    (spark / "commits/4").unlink()
    written_by_hadoop(spark / "offsets/3", offsets_of(7))  # whole, but not what was run
    with pytest.raises(DamagedError, match="offsets/3 is damaged"):
        log(spark.parent).checked_reports()


def test_offsets_that_cannot_be_read_are_named(spark: Path) -> None:
    (spark / "offsets/3").write_text("v1\n")
    with pytest.raises(DamagedError, match="offsets/3 is damaged"):
        log(spark.parent).slices(3)


def test_files_without_checksums_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    check_checksums(tmp_path / "file")


def test_the_note_names_the_batch(spark: Path) -> None:
    noted = read_sealed(spark.parent / "counted.json")
    assert (noted["batch"], noted["reports"]) == (3, [{"edges": 3}])


def test_the_file_that_spark_could_not_read_is_found(spark: Path) -> None:
    state = spark / "state/0/0"
    for version in range(1, 4):
        written_by_hadoop(state / f"{version}.changelog", f"state {version}")
    (state / ".7.tmp.crc").write_bytes(b"half")  # of a file that was about to be written
    assert log(spark.parent).damaged() is None
    (state / "2.changelog").write_text("state 3")
    assert log(spark.parent).damaged() == state / "2.changelog"
    (state / "1.changelog").unlink()
    assert log(spark.parent).damaged() == state / "1.changelog"
