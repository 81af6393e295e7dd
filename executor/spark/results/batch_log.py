"""The log of micro-batches: Spark's notes in a checkpoint, and those of published batches beside.

Spark writes a file of *offsets* before a batch, a file of *commits* after it, each with checksums
in a hidden file beside it (Hadoop's), and we write what was counted in between. So a checkpoint
whose files do not belong together, or are damaged, is refused before anything runs on it.
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
"""The number of the last batch before the first."""
_MAGIC: Final = b"crc\0"


class BatchLog:
    """The log of the micro-batches of a run.

    Args:
        spark: the folder of Spark's checkpoint.
        counts: the file of our note, what the latest batch has counted.
    """

    def __init__(self, spark: Path, counts: Path) -> None:
        self._spark = spark
        self._counts = counts

    @property
    def committed(self) -> int:
        """The last micro-batch that is done; -1 before the first."""
        return max(self._numbers("commits"), default=NEVER)

    @property
    def begun(self) -> bool:
        """Whether there was a first micro-batch."""
        return bool(self._numbers("offsets"))

    def slices(self, batch: int) -> int:
        """How many slices of the spooled input Spark had taken with a micro-batch.

        Mostly one more than with the one before; but a Spark that was killed after it noted the
        next slice, and before the next batch, takes two at once when it goes on.

        Raises:
            DamagedError: if Spark's note cannot be read.
        """
        if batch < 0:
            return 0
        offsets = self._offsets(batch)
        try:
            return int(json.loads(offsets.read_text().splitlines()[-1])["logOffset"]) + 1
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise DamagedError(offsets) from error

    def note(self, batch: int, reports: Sequence[dict[str, Any]]) -> None:
        """Notes the reports of a batch whose results are out, before Spark commits it.

        Raises:
            OSError: if that cannot be written.
        """
        offsets = digest_of(self._offsets(batch))
        write_sealed(self._counts, {"batch": batch, "offsets": offsets, "reports": list(reports)})

    def checked_reports(self) -> list[dict[str, Any]]:
        """The reports of the batch noted last, when all notes belong together.

        Raises:
            DamagedError: if a note is damaged, missing, or belongs to another moment.
        """
        for name in ("metadata", "offsets/*", "commits/*", "sources/*/*"):
            for file in sorted(self._spark.glob(name)):
                if file.is_file() and not file.name.startswith("."):
                    check_checksums(file)
        try:
            noted = read_sealed(self._counts)
        except FileNotFoundError:
            if self.committed > NEVER:
                raise DamagedError(self._counts) from None
            return []
        if isinstance(noted, list):
            return noted  # of a version that noted nothing else
        try:
            batch, offsets, reports = noted["batch"], noted["offsets"], noted["reports"]
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
        """The first file of Spark's checkpoint that is not as it was written, or has gone.

        To be asked when Spark could not read it: files that it needs no more may differ from their
        checksums where it was killed between writing these and those.
        """
        for beside in sorted(self._spark.rglob(".*.crc")):
            file = beside.with_name(beside.name.removeprefix(".").removesuffix(".crc"))
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

    They are a header, the bytes that each is of, and CRC-32 values (``ChecksumFileSystem``).

    Raises:
        DamagedError: if they differ.
    """
    beside = file.with_name(f".{file.name}.crc")
    try:
        sums = beside.read_bytes()
    except FileNotFoundError:
        return
    if sums[:4] != _MAGIC or len(sums) < 8:
        raise DamagedError(beside)
    size = struct.unpack(">i", sums[4:8])[0]
    if size <= 0 or len(sums) % 4:
        raise DamagedError(beside)
    expected = struct.unpack(f">{len(sums) // 4 - 2}I", sums[8:])
    data = file.read_bytes()
    found = tuple(zlib.crc32(data[at : at + size]) for at in range(0, len(data), size))
    if found != expected:
        raise DamagedError(file)
