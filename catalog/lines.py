"""Reads whole lines of a plain or gzip text file, block by block in bounded memory."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

BLOCK = 1 << 20
LONGEST_LINE = 1 << 24
"""The most bytes of a line; a longer one suggests a file without line ends."""
SHOWN = 1000
"""The bytes of an overlong line that are kept for its message."""
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Progress = Callable[[int, int], None]
"""Called with (bytes read so far, total bytes) of the file as stored."""


class EdgeFileError(Exception):
    """A file that cannot be read; the message has the file, the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines, without the last line's end; ``first_line`` counts from 1.

    ``overlong``: the block is the start of one overlong line. ``quoted``: that line has quotes.
    """

    first_line: int
    data: bytes
    overlong: bool = False
    quoted: bool = False

    def lines(self) -> list[bytes]:
        """The lines without their ends."""
        return [line.removesuffix(b"\r") for line in self.data.split(b"\n")]


def opened(path: str) -> BinaryIO:
    """Opens a regular file for reading, without waiting for a writer of a pipe.

    Raises:
        EdgeFileError: if the path cannot be opened, or is a folder, pipe, socket or device.
    """
    try:
        _check_regular(path, os.stat(path).st_mode)
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise cannot_be_read(path, error) from error
    file = os.fdopen(descriptor, "rb")
    try:
        _check_regular(
            path, os.fstat(descriptor).st_mode
        )  # another file may have replaced the checked one
    except EdgeFileError:
        file.close()
        raise
    return file


def cannot_be_read(path: str, error: OSError) -> EdgeFileError:
    """The error of a file or folder that the operating system refuses to open."""
    return EdgeFileError(f"{path}: cannot be read: {error.strerror or error}")


def _check_regular(path: str, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise EdgeFileError(f"{path}: cannot be read: Is a directory")
    kinds = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    kind = kinds.get(stat.S_IFMT(mode), "a device")
    raise EdgeFileError(
        f"{path}: cannot be read: it is {kind}, and input is read more than once: write it to a "
        "file first, or use a live source (follow: true, or a format such as kafka, in a catalog)"
    )


def blocks(path: str, on_progress: Progress | None = None) -> Iterator[Block]:
    """The lines of a file; the first bytes identify gzip, and a byte order mark is dropped.

    Raises:
        EdgeFileError: if the file cannot be opened or unpacked.
    """
    try:
        with opened(path) as stored:
            total = os.fstat(stored.fileno()).st_size
            packed = stored.read(2) == _GZIP_MAGIC
            stored.seek(0)
            plain = gzip.GzipFile(fileobj=stored) if packed else stored
            for block in _blocks(plain):
                if on_progress is not None:
                    on_progress(min(stored.tell(), total), total)
                yield block
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise EdgeFileError(f"{path}: the gzip file is damaged or cut off: {error}") from error
    except OSError as error:
        raise cannot_be_read(path, error) from error


def has_blank_lines_alone(path: str) -> bool:
    """Whether a text file has only blank lines; errors as :func:`blocks`."""
    return not any(block.data.strip() for block in blocks(path))


def _blocks(plain: BinaryIO | gzip.GzipFile) -> Iterator[Block]:
    line = 1
    rest = b""
    start = True
    while chunk := plain.read(BLOCK):
        if start:
            chunk, start = chunk.removeprefix(_BYTE_ORDER_MARK), False
        head, end, tail = chunk.rpartition(b"\n")
        if end:
            data = rest + head
            yield Block(line, data)
            line += data.count(b"\n") + 1
            rest = tail
            continue
        rest += chunk
        if len(rest) > LONGEST_LINE:
            start_of_line, quoted = rest[:SHOWN], b'"' in rest
            rest, more_quotes = _after_line_end(plain)
            yield Block(line, start_of_line, overlong=True, quoted=quoted or more_quotes)
            line += 1
    if rest:
        yield Block(line, rest)


def _after_line_end(plain: BinaryIO | gzip.GzipFile) -> tuple[bytes, bool]:
    """The text after the current line, and whether the rest of that line has quotes."""
    quoted = False
    while chunk := plain.read(BLOCK):
        head, end, tail = chunk.partition(b"\n")
        quoted = quoted or b'"' in head
        if end:
            return tail, quoted
    return b"", quoted
