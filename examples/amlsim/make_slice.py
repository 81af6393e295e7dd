"""Cuts the bundled slice out of the AMLSim sample.

    python examples/amlsim/make_slice.py OUT_FOLDER transactions.csv.gz

In: the publisher's ``transactions.csv``, gzipped or not, with the header
``sourceNodeId,targetNodeId,value,time``.
Out: ``transfer.csv.gz`` with the header ``src,trg,ts,amount``: the transfers between the
:data:`ACCOUNTS` accounts that have the most of them, sorted by time.
"""

import argparse
import csv
import gzip
import io
from collections import Counter
from pathlib import Path

ACCOUNTS = 4_000

Row = tuple[str, str, int, str]


def read_rows(path: Path) -> list[Row]:
    """All rows of the publisher's file, as (source, target, time, amount)."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="ascii", newline="") as lines:
        return [
            (row["sourceNodeId"], row["targetNodeId"], int(row["time"]), row["value"])
            for row in csv.DictReader(lines)
        ]


def busiest(rows: list[Row], count: int) -> set[str]:
    """The accounts with the most transfers; of equally busy ones, the lower numbers."""
    transfers = Counter(account for row in rows for account in row[:2])
    return set(sorted(transfers, key=lambda account: (-transfers[account], int(account)))[:count])


def cut(rows: list[Row], accounts: set[str]) -> list[Row]:
    """The rows between these accounts by time; rows of one step keep their order."""
    return sorted((row for row in rows if accounts.issuperset(row[:2])), key=lambda row: row[2])


def write_rows(path: Path, rows: list[Row]) -> None:
    """Writes the rows as gzipped CSV, with no time or name in the gzip header."""
    text = io.StringIO()
    text.write("src,trg,ts,amount\n")
    text.writelines(f"{src},{trg},{ts},{amount}\n" for src, trg, ts, amount in rows)
    path.write_bytes(gzip.compress(text.getvalue().encode("ascii"), compresslevel=9, mtime=0))


def main() -> None:
    """Reads the arguments and makes the slice."""
    parser = argparse.ArgumentParser(description="Cut the bundled slice out of the AMLSim sample.")
    parser.add_argument("out", type=Path, help="folder for the slice")
    parser.add_argument("transactions", type=Path, help="transactions.csv.gz")
    arguments = parser.parse_args()
    rows = read_rows(arguments.transactions)
    kept = cut(rows, busiest(rows, ACCOUNTS))
    target = arguments.out / "transfer.csv.gz"
    write_rows(target, kept)
    print(f"{target}: {len(kept)} edges, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
