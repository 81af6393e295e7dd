"""Makes the bundled files out of the update streams of the LDBC Social Network Benchmark.

    python examples/ldbc/make_slice.py OUT_FOLDER update_streams.tar.gz

In: the archive with ``updateStream_*_forum.csv`` and ``updateStream_*_person.csv``, an operation
a line: ``time|dependency|operation|arguments``, times in Unix milliseconds.
Out: gzipped CSV with a header, sorted by time: ``src,trg,ts`` in ``likes.csv.gz``,
``hasCreator.csv.gz``, ``containerOf.csv.gz`` and ``knows.csv.gz``, ``ts`` in seconds; and
``src,trg`` in ``hasMember.csv.gz``: the members of the forums that have posts here.
"""

import argparse
import gzip
import tarfile
from pathlib import Path

LIKE_POST, MEMBERSHIP, POST, KNOWS = "2", "5", "6", "8"
AUTHOR, FORUM = 8, 9
"""Where they stand among the arguments of a post."""

Row = tuple[str, ...]


def read_operations(path: Path) -> list[tuple[int, str, list[str]]]:
    """(seconds, operation, arguments) of all streams by time; equal ones by their line."""
    lines: list[str] = []
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            file = archive.extractfile(member) if member.name.endswith(".csv") else None
            if file is not None:
                lines += file.read().decode("utf-8").splitlines()
    rows = sorted((int(line.partition("|")[0]), line.split("|")) for line in lines)
    return [(time // 1000, row[2], row[3:]) for time, row in rows]


def relations(operations: list[tuple[int, str, list[str]]]) -> dict[str, list[Row]]:
    """The rows of each file."""
    found: dict[str, list[Row]] = {
        name: [] for name in ("likes", "hasCreator", "containerOf", "knows", "hasMember")
    }
    forums = {words[FORUM] for _, operation, words in operations if operation == POST}
    for time, operation, words in operations:
        ts = str(time)
        if operation == LIKE_POST:
            found["likes"].append((words[0], words[1], ts))
        elif operation == POST:
            found["hasCreator"].append((words[0], words[AUTHOR], ts))
            found["containerOf"].append((words[FORUM], words[0], ts))
        elif operation == KNOWS:
            found["knows"].append((words[0], words[1], ts))
        elif operation == MEMBERSHIP and words[0] in forums:
            found["hasMember"].append((words[0], words[1]))
    return found


def write_rows(path: Path, rows: list[Row]) -> None:
    """Writes the rows as gzipped CSV, with no time or name in the gzip header."""
    header = ("src", "trg", "ts")[: len(rows[0])]
    text = "".join(",".join(row) + "\n" for row in [header, *rows])
    path.write_bytes(gzip.compress(text.encode("ascii"), compresslevel=9, mtime=0))


def main() -> None:
    """Reads the arguments and makes the files."""
    parser = argparse.ArgumentParser(description="Make the bundled files of the LDBC streams.")
    parser.add_argument("out", type=Path, help="folder for the files")
    parser.add_argument("streams", type=Path, help="update_streams.tar.gz")
    arguments = parser.parse_args()
    for name, rows in relations(read_operations(arguments.streams)).items():
        target = arguments.out / f"{name}.csv.gz"
        write_rows(target, rows)
        print(f"{target}: {len(rows)} edges, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
