"""Files are written whole or not at all, and sealed files reveal damage."""

from __future__ import annotations

import errno
import os
import resource
import threading
from pathlib import Path

import pytest

from headrace.executor.spark.host.errors import DamagedError, ResourceError, StorageError
from headrace.executor.spark.host.files import read_sealed, write_sealed, written_aside
from headrace.executor.spark.host.storage import (
    error_in,
    error_of,
    limit_in_the_way,
    translate_storage_errors,
)
from tests.executor.spark.shortage import no_room_for_files

DOCUMENT = {"batch": 7, "offsets": "ab12", "reports": [{"edges": 3}]}


def test_a_full_disk_leaves_the_old_file_and_the_error_names_it(tmp_path: Path) -> None:
    note = tmp_path / "note"
    write_sealed(note, DOCUMENT)
    with (
        no_room_for_files(os.getpid()),
        pytest.raises(StorageError, match=f"{note}: File too large") as caught,
        translate_storage_errors(),
    ):
        write_sealed(note, {"batch": 8})
    assert "goes on from there" in caught.value.hint
    assert read_sealed(note) == DOCUMENT
    assert list(tmp_path.iterdir()) == [note]


def test_links_are_replaced_and_not_followed(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_text("not ours")
    note = tmp_path / "note"
    note.symlink_to(foreign)
    (tmp_path / f".note.{os.getpid()}.{threading.get_native_id()}.tmp").symlink_to(foreign)
    write_sealed(note, DOCUMENT)
    assert foreign.read_text() == "not ours"
    assert not note.is_symlink()
    assert read_sealed(note) == DOCUMENT


def test_a_new_file_does_not_replace_an_existing_one(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("of somebody else")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("results", "dangling"):
        with (
            pytest.raises(FileExistsError),
            written_aside(tmp_path / name, replacing=False) as file,
        ):
            file.write(b"ours")
    assert (tmp_path / "results").read_text() == "of somebody else"
    assert {p.name for p in tmp_path.iterdir()} == {"results", "dangling"}


def test_every_damage_of_a_sealed_file_is_detected(tmp_path: Path) -> None:
    note = tmp_path / "note"
    write_sealed(note, DOCUMENT)
    written = note.read_bytes()
    damaged = [written[:end] for end in range(len(written))]
    for place in range(len(written)):
        for bit in range(8):
            flipped = bytearray(written)
            flipped[place] ^= 1 << bit
            damaged.append(bytes(flipped))
    noticed = 0
    for content in damaged:
        note.write_bytes(content)
        try:
            read = read_sealed(note)
        except DamagedError:
            noticed += 1
        else:
            assert read == DOCUMENT
    assert noticed > len(damaged) - 20, "all but the seal itself cut off, or its last line end"


def test_files_without_a_seal_of_earlier_versions_are_read(tmp_path: Path) -> None:
    (tmp_path / "note").write_text('{"batch": 7}')
    assert read_sealed(tmp_path / "note") == {"batch": 7}


@pytest.mark.parametrize(
    ("text", "kind", "mention"),
    [
        (
            "x\nOSError: [Errno 28] No space left on device: '/out/_headrace/staging/1.part'\n",
            StorageError,
            "No space left on device (/out/_headrace/staging/1.part)",
        ),
        (
            "Caused by: java.io.IOException: No space left on device\n\tat java.base/x",
            StorageError,
            "No space left on device.",
        ),
        (
            "Caused by: org.apache.hadoop.fs.ChecksumException: Checksum error: "
            "file:/ck/spark/state/0/0/3.changelog at 0 exp: 1 got: 2\n",
            DamagedError,
            "/ck/spark/state/0/0/3.changelog is damaged",
        ),
        (
            "terminated with exception: Checksum file not a length multiple of checksum size in "
            "file:/ck/spark/state/0/_stateSchema/default/0_663e at 512 checksumpos: 12\n",
            DamagedError,
            "/ck/spark/state/0/_stateSchema/default/0_663e is damaged",
        ),
        ("java.lang.OutOfMemoryError: Java heap space\n", ResourceError, "Java heap space"),
        (
            "java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory or "
            "process/resource limits reached\n",
            ResourceError,
            "unable to create native thread.",
        ),
        ("pyarrow.lib.ArrowMemoryError: malloc of size 64 failed\n", ResourceError, "ArrowMemory"),
        ("OSError: [Errno 24] Too many open files: '/x'\n", ResourceError, "Too many open files"),
    ],
)
def test_shortages_in_spark_errors_are_translated(text: str, kind: type, mention: str) -> None:
    error = error_in(text)
    assert error is not None
    assert type(error) is kind
    assert mention in error.message
    assert error.hint


def test_a_refused_thread_reports_the_process_limit_and_not_memory() -> None:
    error = error_in("java.lang.OutOfMemoryError: unable to create native thread\n")
    assert error is not None
    assert "Raise the limit on processes and threads (ulimit -u" in error.hint
    assert "spark.driver.memory" not in error.hint


def test_other_failures_are_not_shortages() -> None:
    assert error_in("ValueError: 7 is not a vertex\n") is None


def test_a_closed_pipe_is_not_a_storage_error() -> None:
    with pytest.raises(BrokenPipeError), translate_storage_errors():
        raise BrokenPipeError
    error = error_of(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "standard output")
    assert error.message == "standard output: No space left on device."


def test_a_failure_without_a_message_names_a_low_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    low = {resource.RLIMIT_NOFILE: 60, resource.RLIMIT_AS: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda limit: (low[limit], low[limit]))
    found = limit_in_the_way("Spark did not start")
    assert found is not None
    assert found.message.startswith("Spark did not start: a process may open 60 files (ulimit -n)")
    low[resource.RLIMIT_NOFILE] = 1024
    assert limit_in_the_way("Spark did not start") is None
    low[resource.RLIMIT_AS] = 1 << 30
    found = limit_in_the_way("Java does not start")
    assert found is not None
    assert "1,024 MB of addresses (ulimit -v)" in found.message
