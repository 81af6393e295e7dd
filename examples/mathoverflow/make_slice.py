"""Cuts the bundled slice out of SNAP's MathOverflow files.

    python examples/mathoverflow/make_slice.py OUT_FOLDER \\
        sx-mathoverflow-a2q.txt.gz sx-mathoverflow-c2a.txt.gz sx-mathoverflow-c2q.txt.gz

In: the publisher's files, ``SRC DST UNIXTS`` per line, one file per label, almost sorted.
Out: one ``LABEL.csv.gz`` per input with header ``src,trg,ts``, the same rows of
:data:`FIRST_DAY` up to :data:`DAYS` days later, sorted by time.
"""

import argparse
import gzip
import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

FIRST_DAY = datetime(2010, 6, 8, tzinfo=UTC)
DAYS = 60

Row = tuple[int, int, int]


def read_rows(path: Path) -> list[Row]:
    """All rows of one of the publisher's files, as (source, target, time)."""
    with gzip.open(path, "rt", encoding="ascii") as lines:
        fields = (line.split() for line in lines)
        return [(int(src), int(trg), int(ts)) for src, trg, ts in fields]


def cut(rows: list[Row], begin: datetime, end: datetime) -> list[Row]:
    """The rows of ``[begin, end)`` by time; rows of one instant keep their order."""
    first, last = int(begin.timestamp()), int(end.timestamp())
    return sorted((row for row in rows if first <= row[2] < last), key=lambda row: row[2])


def write_rows(path: Path, rows: list[Row]) -> None:
    """Writes the rows as gzipped CSV, with no time or name in the gzip header."""
    text = io.StringIO()
    text.write("src,trg,ts\n")
    text.writelines(f"{src},{trg},{ts}\n" for src, trg, ts in rows)
    path.write_bytes(gzip.compress(text.getvalue().encode("ascii"), compresslevel=9, mtime=0))


def main() -> None:
    """Reads the arguments and makes one slice per input file."""
    parser = argparse.ArgumentParser(description="Cut the bundled slice out of SNAP's files.")
    parser.add_argument("out", type=Path, help="folder for the slices")
    parser.add_argument("files", type=Path, nargs="+", help="sx-mathoverflow-LABEL.txt.gz")
    arguments = parser.parse_args()
    for path in arguments.files:
        label = path.name.removesuffix(".txt.gz").rpartition("-")[2]
        rows = cut(read_rows(path), FIRST_DAY, FIRST_DAY + timedelta(days=DAYS))
        target = arguments.out / f"{label}.csv.gz"
        write_rows(target, rows)
        print(f"{target}: {len(rows)} edges, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
