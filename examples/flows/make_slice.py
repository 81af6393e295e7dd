"""Cuts the bundled slice out of a sample of the CTU-13 flows, and replaces the hosts' names.

    python examples/flows/make_slice.py OUT_FOLDER CTU1SampleAsVast.csv.gz

In: flows in the columns of the VAST Challenge 2013, gzipped or not, without a header.
Out: ``flows.csv.gz`` with the header ``src,trg,label,ts,port,bytes,seconds,bot``: the flows
of :data:`SECONDS` seconds from :data:`FIRST` seconds after the first one, sorted by time.
"""

import argparse
import csv
import gzip
import io
from pathlib import Path

FIRST = 4_600
SECONDS = 3_600
UNIVERSITY = "147.32."

Row = tuple[str, str, str, int, str, str, str, str]


def read_rows(path: Path) -> list[tuple[float, list[str]]]:
    """All flows by time; those of one instant keep their order."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="ascii", newline="") as lines:
        rows = [(float(row[1]), row) for row in csv.reader(lines)]
    return sorted(rows, key=lambda timed: timed[0])


def cut(rows: list[tuple[float, list[str]]]) -> list[Row]:
    """The flows of the hour as edges, with numbers instead of the hosts' addresses."""
    begin = rows[0][0] + FIRST
    names: dict[str, str] = {}

    def name(address: str) -> str:
        inside = "u" if address.startswith(UNIVERSITY) else "x"
        return names.setdefault(address, f"{inside}{len(names) + 1}")

    return [
        (
            name(row[6]),
            name(row[7]),
            row[5],
            int(time),
            row[9] if row[5] != "icmp" else "",
            row[15],
            row[12],
            "true" if row[0] == "1" else "false",
        )
        for time, row in rows
        if begin <= time < begin + SECONDS and row[5] in {"tcp", "udp", "icmp"}
    ]


def write_rows(path: Path, rows: list[Row]) -> None:
    """Writes the rows as gzipped CSV, with no time or name in the gzip header."""
    text = io.StringIO()
    text.write("src,trg,label,ts,port,bytes,seconds,bot\n")
    text.writelines(",".join(map(str, row)) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.getvalue().encode("ascii"), compresslevel=9, mtime=0))


def main() -> None:
    """Reads the arguments and makes the slice."""
    parser = argparse.ArgumentParser(description="Cut the bundled slice out of the CTU-13 flows.")
    parser.add_argument("out", type=Path, help="folder for the slice")
    parser.add_argument("flows", type=Path, help="CTU1SampleAsVast.csv.gz")
    arguments = parser.parse_args()
    rows = cut(read_rows(arguments.flows))
    target = arguments.out / "flows.csv.gz"
    write_rows(target, rows)
    print(f"{target}: {len(rows)} edges, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
