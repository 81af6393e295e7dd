"""The log of micro-batches: Spark's files in a checkpoint, and Headrace's own note beside them.

Spark writes a file of *offsets* before a batch and a file of *commits* after the batch, each with
checksums in a hidden file beside it (Hadoop's). Between the two Headrace writes a note with the
reports of the batch. A checkpoint whose files do not match each other, or are damaged, is refused
before a query runs on it.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ..host.errors import DamagedError
from ..host.files import digest_of, read_sealed, write_sealed

NEVER: Final = -1
"""The number of the last batch where there was none."""
_MAGIC: Final = b"crc\0"


class BatchLog:
    """The log of the micro-batches of a run.

    Args:
        spark: the folder of Spark's checkpoint.
        counts: the file of Headrace's note: the reports of the latest batch.
    """

    def __init__(self, spark: Path, counts: Path) -> None:
        self._spark = spark
        self._counts = counts

    @property
    def committed(self) -> int:
        """The number of the last micro-batch that is done; :data:`NEVER` before the first."""
        return max(self._numbers("commits"), default=NEVER)

    @property
    def begun(self) -> bool:
        """Whether a micro-batch has begun."""
        return bool(self._numbers("offsets"))

    def slices(self, batch: int) -> int:
        """The number of slices of the spooled input up to the end of a micro-batch.

        Most batches add one slice. A Spark that was killed after it logged the next slice, and
        before the next batch, takes two slices in one batch when it goes on.

        Raises:
            DamagedError: if Spark's file of offsets cannot be read.
        """
        if batch < 0:
            return 0
        offsets = self._offsets(batch)
        try:
            return int(json.loads(offsets.read_text().splitlines()[-1])["logOffset"]) + 1
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise DamagedError(offsets) from error

    def note(self, batch: int, reports: Sequence[dict[str, Any]]) -> None:
        """Writes the reports of a batch whose results are published, before Spark commits it.

        Raises:
            OSError: if the note cannot be written.
        """
        offsets = digest_of(self._offsets(batch))
        write_sealed(self._counts, {"batch": batch, "offsets": offsets, "reports": list(reports)})

    def checked_reports(self) -> list[dict[str, Any]]:
        """Checks all files of the log; returns the reports in the note.

        Raises:
            DamagedError: if a file is damaged, missing, or belongs to another batch.
        """
        for name in ("metadata", "offsets/*", "commits/*", "sources/*/*"):
            for file in sorted(self._spark.glob(name)):
                if file.is_file() and not file.name.startswith("."):
                    check_checksums(file)
        try:
            note = read_sealed(self._counts)
        except FileNotFoundError:
            if self.committed > NEVER:
                raise DamagedError(self._counts) from None
            return []
        if isinstance(note, list):
            return note  # an earlier version wrote the reports alone
        try:
            batch, offsets, reports = note["batch"], note["offsets"], note["reports"]
        except (LookupError, TypeError) as error:
            raise DamagedError(self._counts) from error
        if self.committed > batch:
            raise DamagedError(self._counts)
        if self.committed < batch - 1:
            raise DamagedError(self._spark / "commits" / str(batch - 1))
        if not self._offsets(batch).exists() or digest_of(self._offsets(batch)) != offsets:
            raise DamagedError(self._offsets(batch))
        return list(reports)

    def damaged(self) -> Path | None:
        """The first file of Spark's checkpoint that differs from its checksums, or is missing.

        Call it only after Spark failed to read the checkpoint. A kill between the writes of a file
        and of its checksums leaves files that differ and that Spark no longer reads.
        """
        for checksums in sorted(self._spark.rglob(".*.crc")):
            file = checksums.with_name(checksums.name.removeprefix(".").removesuffix(".crc"))
            if file.name.endswith(".tmp"):
                continue
            try:
                check_checksums(file)
            except (DamagedError, FileNotFoundError):
                return file
        return None

    def _offsets(self, batch: int) -> Path:
        return self._spark / "offsets" / str(batch)

    def _numbers(self, folder: str) -> list[int]:
        names = (path.name for path in (self._spark / folder).glob("[0-9]*"))
        return [int(name) for name in names if name.isdigit()]


def check_checksums(file: Path) -> None:
    """Compares a file with the checksums that Hadoop has written beside it, if there are any.

    The file of checksums (``ChecksumFileSystem``) has a header of four bytes, the length of a
    block as a big-endian integer, and a CRC-32 value for each block of the file.

    Raises:
        DamagedError: if the file differs, or the file of checksums is malformed.
    """
    checksums = file.with_name(f".{file.name}.crc")
    try:
        content = checksums.read_bytes()
    except FileNotFoundError:
        return
    if content[:4] != _MAGIC or len(content) < 8:
        raise DamagedError(checksums)
    size = struct.unpack(">i", content[4:8])[0]
    if size <= 0 or len(content) % 4:
        raise DamagedError(checksums)
    expected = struct.unpack(f">{len(content) // 4 - 2}I", content[8:])
    data = file.read_bytes()
    actual = tuple(zlib.crc32(data[at : at + size]) for at in range(0, len(data), size))
    if actual != expected:
        raise DamagedError(file)
