"""Cuts the bundled slice out of the AMLSim sample.

    python examples/amlsim/make_slice.py OUT_FOLDER transactions.csv.gz nodes.csv.gz

In: the publisher's ``transactions.csv`` and ``nodes.csv``, gzipped or not, with the headers
``sourceNodeId,targetNodeId,value,time`` and ``nodeid,isFraud,init_balance,fraudStep``.
Out: ``transfer.csv.gz`` with the header ``src,trg,ts,amount``: the transfers between the
:data:`ACCOUNTS` accounts that have the most of them, sorted by time; and ``account.csv.gz`` with
the header ``id,fraud,balance``: these accounts, whether they take part in fraud, and what they
have at first.
"""

import argparse
import csv
import gzip
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

ACCOUNTS = 4_000

Row = tuple[str, str, int, str]
Account = tuple[str, str, str]


def read_rows(path: Path) -> list[Row]:
    """All rows of the publisher's file, as (source, target, time, amount)."""
    return [
        (row["sourceNodeId"], row["targetNodeId"], int(row["time"]), row["value"])
        for row in records(path)
    ]


def read_accounts(path: Path, accounts: set[str]) -> list[Account]:
    """These accounts in the order of the publisher's file."""
    return [
        (row["nodeid"], "true" if row["isFraud"] == "1" else "false", row["init_balance"])
        for row in records(path)
        if row["nodeid"] in accounts
    ]


def records(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a file of the publisher's by the names of its columns."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="ascii", newline="") as lines:
        yield from csv.DictReader(lines)


def busiest(rows: list[Row], count: int) -> set[str]:
    """The accounts with the most transfers; of equally busy ones, the lower numbers."""
    transfers = Counter(account for row in rows for account in row[:2])
    return set(sorted(transfers, key=lambda account: (-transfers[account], int(account)))[:count])


def cut(rows: list[Row], accounts: set[str]) -> list[Row]:
    """The rows between these accounts by time; rows of one step keep their order."""
    return sorted((row for row in rows if accounts.issuperset(row[:2])), key=lambda row: row[2])


def write_rows(path: Path, header: str, rows: Iterable[tuple[object, ...]]) -> None:
    """Writes the rows as gzipped CSV, with no time or name in the gzip header."""
    text = io.StringIO()
    text.write(f"{header}\n")
    text.writelines(",".join(map(str, row)) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.getvalue().encode("ascii"), compresslevel=9, mtime=0))


def main() -> None:
    """Reads the arguments and makes the slice."""
    parser = argparse.ArgumentParser(description="Cut the bundled slice out of the AMLSim sample.")
    parser.add_argument("out", type=Path, help="folder for the slice")
    parser.add_argument("transactions", type=Path, help="transactions.csv.gz")
    parser.add_argument("nodes", type=Path, help="nodes.csv.gz")
    arguments = parser.parse_args()
    rows = read_rows(arguments.transactions)
    accounts = busiest(rows, ACCOUNTS)
    for name, header, kept in (
        ("transfer", "src,trg,ts,amount", cut(rows, accounts)),
        ("account", "id,fraud,balance", read_accounts(arguments.nodes, accounts)),
    ):
        target = arguments.out / f"{name}.csv.gz"
        write_rows(target, header, kept)
        print(f"{target}: {len(kept)} rows, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
