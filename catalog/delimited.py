"""CSV and other delimited text, according to RFC 4180.

A record spans one or more lines: a quoted value may hold separators, line ends, and doubled quotes.
A quote opens only at the start of a field. The reader rejects a record with misplaced quotes as a
whole, with all of its lines, so that no part of the record is read as a row.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.csv

from .lines import LONGEST_LINE, Block, EdgeFileError
from .raw import Malformed, RawRows, as_text

# The csv module's limit of 131,072 characters is global to the process, not per reader.
csv.field_size_limit(LONGEST_LINE)
_UNCLOSED = "unexpected end of data"
"""The message of the csv module for a record that ends inside quotes."""


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of a record, or its fault if malformed; ``line`` is its first line, from 1."""

    line: int
    fields: tuple[str, ...]
    fault: str = ""


class Reader:
    """Reads the records of one text in order; blank lines are skipped."""

    def __init__(self, path: str, blocks: Iterator[Block], separator: str) -> None:
        """``path`` appears in messages; ``blocks`` hold the lines of the text."""
        self._path = path
        self._blocks = blocks
        self._separator = separator
        self._whole = _whole_lines(separator)
        self._data = b""  # the current block
        self._at = 1  # the offset of the block's next line; past its end if there is none
        self._line = 1  # the number of the block's next line, from 1
        self._taken = (1, 1)  # offset and line number before the last record

    def record(self) -> Record | None:
        """Takes the next record; None at the end of the text.

        Raises:
            EdgeFileError: if a record is longer than :data:`headrace.catalog.lines.LONGEST_LINE`.
        """
        while self._more():
            line, text = self._take()
            if not text:
                continue
            try:
                return Record(line, tuple(_split(text, self._separator)))
            except (csv.Error, UnicodeDecodeError) as error:
                return Record(line, (), _why(error, text))
        return None

    def put_back(self) -> None:
        """Puts the last record back: the next call of :meth:`record` returns it again."""
        self._at, self._line = self._taken

    def rows(self, fields: int, positions: Sequence[int]) -> Iterator[RawRows]:
        """The fields at ``positions`` of each remaining record, as text.

        ``fields`` is the number of fields that a record must have.

        Raises:
            EdgeFileError: as :meth:`record`.
        """
        while True:
            if self._at <= len(self._data):
                block = Block(self._line, self._data[self._at :])
            elif (next_block := next(self._blocks, None)) is not None:
                block = next_block
            else:
                return
            if block.overlong:
                yield self._overlong(block)
                continue
            self._open(block)
            fast = _fast(block, fields, positions, self._separator)
            if fast is not None:
                self._at = len(self._data) + 1
                yield fast
            else:
                yield self._careful(fields, positions)

    def _careful(self, fields: int, positions: Sequence[int]) -> RawRows:
        """The rows of the current block, record by record."""
        rows = _Rows(fields, positions, self._separator)
        last = self._line + self._data.count(b"\n")
        while self._line <= last:  # only the last record may continue in the next block
            rows.add(*self._take())
        return rows.raw()

    def _take(self) -> tuple[int, bytes]:
        """The next record: the number of its first line, and its raw text, which may be blank."""
        start, number = self._taken = self._at, self._line
        line = self._next_line()
        inside = b'"' in line and self._whole.fullmatch(line) is None
        inside = inside and _open_after(line, self._separator)
        if not inside:
            return number, line.removesuffix(b"\r")
        while inside and self._more(number):
            start = self._taken[0]
            line = self._next_line()
            if self._at - start > LONGEST_LINE:
                raise self._too_long(number)
            inside = b'"' not in line or _open_after(line, self._separator, inside=True)
        return number, self._data[start : self._at - 1].removesuffix(b"\r")

    def _next_line(self) -> bytes:
        start, end = self._at, self._data.find(b"\n", self._at)
        end = len(self._data) if end < 0 else end
        self._at = end + 1
        self._line += 1
        return self._data[start:end]

    def _more(self, within: int | None = None) -> bool:
        """Whether another line is there; ``within`` is the first line of an unfinished record."""
        if self._at <= len(self._data):
            return True
        block = next(self._blocks, None)
        if block is None:
            return False
        if block.overlong:
            raise self._too_long(within or block.first_line)
        if within is None:
            self._open(block)
        else:
            begun = self._data[self._taken[0] :] + b"\n"
            self._data, self._at, self._taken = begun + block.data, len(begun), (0, within)
        return True

    def _open(self, block: Block) -> None:
        self._data, self._line, self._at = block.data, block.first_line, 0

    def _overlong(self, block: Block) -> RawRows:
        if block.quoted:  # the discarded part of the line holds the end of the record
            raise self._too_long(block.first_line)
        return RawRows.of_overlong(block)

    def _too_long(self, line: int) -> EdgeFileError:
        return EdgeFileError(
            f"{self._path}:{line}: the record that begins in this line is longer than "
            f"{LONGEST_LINE >> 20} MB: perhaps a quote is not closed"
        )


def rows_of_messages(
    messages: Sequence[bytes], fields: int, positions: Sequence[int], separator: str
) -> RawRows:
    """The fields of messages, one record each; the position of a message is its line number."""
    rows = _Rows(fields, positions, separator)
    for position, message in enumerate(messages):
        rows.add(position, message.rstrip(b"\r\n"))
    return rows.raw()


@dataclass(slots=True)
class _Rows:
    """Collects rows and malformed records.

    Attributes:
        fields: the number of fields that a record must have.
        positions: the positions of the fields to collect.
        separator: the character between fields.
        lines: the first line of each row.
        texts: the raw text of each row.
        values: the collected values, one list for each position.
        malformed: the records with another number of fields, or that cannot be split.
    """

    fields: int
    positions: Sequence[int]
    separator: str
    lines: list[int] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    values: list[list[str]] = field(init=False)
    malformed: list[Malformed] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values = [[] for _ in self.positions]

    def add(self, line: int, text: bytes) -> None:
        """Adds a record, unless the record is blank."""
        if not text:
            return
        try:
            row = _split(text, self.separator)
        except (csv.Error, UnicodeDecodeError) as error:
            self.malformed.append(Malformed(line, _why(error, text), as_text(text)))
            return
        if len(row) != self.fields:
            # A line that is one field has perhaps another separator.
            by = f" separated by {self.separator!r}" if len(row) == 1 else ""
            reason = f"expected {self.fields} fields{by}, found {len(row)}"
            self.malformed.append(Malformed(line, reason, as_text(text)))
            return
        self.lines.append(line)
        self.texts.append(text)
        for column, position in zip(self.values, self.positions, strict=True):
            column.append(row[position])

    def raw(self) -> RawRows:
        """The collected rows."""
        columns = [pa.array(column, pa.string()) for column in self.values]
        return RawRows.of_records(columns, self.lines, self.texts, self.malformed)


def _fast(block: Block, fields: int, positions: Sequence[int], separator: str) -> RawRows | None:
    """All rows, by Arrow's reader; None if some line is not a whole, plain record."""
    data = block.data
    if b'"' in data or _has_blank_line(data):
        return None
    names = [str(i) for i in range(fields)]
    try:
        table = pa.csv.read_csv(
            io.BytesIO(data),
            pa.csv.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1),
            pa.csv.ParseOptions(
                delimiter=separator,
                quote_char=False,
                ignore_empty_lines=False,
            ),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=[str(i) for i in positions],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != data.count(b"\n") + 1:
        return None
    columns = [table.column(i).combine_chunks() for i in range(len(positions))]
    return RawRows.of_block(columns, block)


def _whole_lines(separator: str) -> re.Pattern[bytes]:
    """A pattern of lines that are whole records; matching is faster than splitting each line."""
    sign = re.escape(separator.encode())
    value = rb'(?:"[^"]*+(?:""[^"]*+)*+"|[^"%b]*+)' % sign
    return re.compile(rb"%b(?:%b%b)*+\r?" % (value, sign, value))


def _open_after(line: bytes, separator: str, *, inside: bool = False) -> bool:
    """Whether a quote is open at the end of a line; ``inside``: a quote is open at its start."""
    sign = separator.encode()
    at = 0
    if not inside and line.startswith(b'"'):
        inside, at = True, 1
    while True:
        while inside:
            at = line.find(b'"', at) + 1
            if not at:
                return True
            inside = line[at : at + 1] == b'"'  # a doubled quote belongs to the value
            at += inside
        at = line.find(sign, at) + 1
        if not at:
            return False
        if line[at : at + 1] == b'"':
            inside, at = True, at + 1


def _split(text: bytes, separator: str) -> list[str]:
    record = text.decode()
    if '"' not in record and "\n" not in record:
        return record.split(separator)
    return next(csv.reader([record], delimiter=separator, strict=True))


def _why(error: csv.Error | UnicodeDecodeError, text: bytes) -> str:
    lines = text.count(b"\n")
    record = f"record of {lines + 1} lines" if lines else "line"
    if isinstance(error, UnicodeDecodeError):
        return f"the {record} is not UTF-8"
    if _UNCLOSED in str(error):
        return f"a quote of the {record} is never closed"
    return f"the quotes of the {record} do not fit: {error}"


def _has_blank_line(data: bytes) -> bool:
    return (
        data.startswith((b"\n", b"\r\n"))
        or data.endswith((b"\n", b"\r"))
        or b"\n\n" in data
        or b"\n\r\n" in data
        or not data
    )
