"""Reads data sets in their publishers' formats.

In: a folder with a subfolder for each data set. Out: rows of edges. The labels of streams whose
publisher gives one label are derived from a column or from the stream's past, as each function
says; a derived label says nothing that is not in the data.
"""

from __future__ import annotations

import csv
import gzip
import io
import tarfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from .cuts import Row, Value
from .labels import by_past, by_size, contacts

FIRST_DAY = 86_400
"""Times that a publisher counts from 0 begin here, so that no window reaches below 0."""


def mathoverflow(folder: Path) -> Iterator[Row]:
    """Interactions on MathOverflow; the publisher's labels a2q, c2q and c2a."""
    for label in ("a2q", "c2a", "c2q"):
        for line in _lines(folder / "sx-mathoverflow" / f"sx-mathoverflow-{label}.txt.gz"):
            src, trg, ts = line.split()
            yield src, trg, label, int(ts), {}


def collegemsg(folder: Path) -> Iterator[Row]:
    """Messages; the labels are those of :func:`bench.corpus.labels.by_past`."""
    rows = (line.split() for line in _lines(folder / "collegemsg" / "CollegeMsg.txt.gz"))
    return by_past((src, trg, int(ts)) for src, trg, ts in rows)


def sfhh(folder: Path) -> Iterator[Row]:
    """Contacts at a conference; the labels are those of :func:`bench.corpus.labels.contacts`."""
    rows = (line.split() for line in _lines(folder / "sociopatterns" / "SFHH_tij.dat.gz"))
    return contacts((i, j, int(t) + FIRST_DAY) for t, i, j in rows)


def invs15(folder: Path) -> Iterator[Row]:
    """Contacts in an office: in the largest department ``core``, in another ``within``, between
    two departments ``across``. Each contact comes again every 20 seconds."""
    about = _lines(folder / "sociopatterns" / "workplace_InVS15_metadata.txt.gz")
    department = dict(line.split()[:2] for line in about if line.strip())
    sizes = list(department.values())
    largest = max(sorted(set(sizes)), key=sizes.count)
    for line in _lines(folder / "sociopatterns" / "workplace_InVS15_tij.dat.gz"):
        t, i, j = line.split()
        one, other = department.get(i, i), department.get(j, j)
        label = "across" if one != other else "core" if one == largest else "within"
        yield i, j, label, int(t) + FIRST_DAY, {}


def ethereum(folder: Path) -> Iterator[Row]:
    """Transactions: ``transfer`` without input data, ``call`` with input data, ``pay`` with input
    data and a value. Properties: the value in ether, and the price of gas in gigawei."""
    name = "transactions_03300000_03399999_small.csv.gz"
    records = list(csv.DictReader(_lines(folder / "ethereum-tx" / name)))
    records.sort(key=lambda r: (int(r["block_number"]), int(r["transaction_index"])))
    for record in records:
        if not record["to_address"]:
            continue
        value = int(record["value"])
        label = "transfer" if record["input"] == "0x" else "pay" if value else "call"
        properties: Mapping[str, Value] = {
            "ether": value / 1e18,
            "price": int(record["gas_price"]) / 1e9,
        }
        ts = int(record["block_timestamp"])
        yield record["from_address"], record["to_address"], label, ts, properties


def flows(folder: Path) -> Iterator[Row]:
    """Flows of a network; see :func:`bench.corpus.labels.flow_label` for the labels."""
    for row in csv.reader(_lines(folder / "ctu13-netflow-sample" / "CTU1SampleAsVast.csv.gz")):
        if row[5] in {"tcp", "udp", "icmp"}:
            port = None if row[5] == "icmp" else int(row[9])
            properties: Mapping[str, Value] = {
                "port": port,
                "bytes": int(row[15]),
                "seconds": float(row[12]),
                "bot": row[0] == "1",
            }
            yield row[6], row[7], flow_label(row[5], port), int(float(row[1])), properties


def flow_label(protocol: str, port: int | None) -> str:
    """``web`` for TCP to ports 80 and 443, ``dns`` for UDP to port 53, else the protocol."""
    if protocol == "tcp" and port in (80, 443):
        return "web"
    return "dns" if (protocol, port) == ("udp", 53) else protocol


def amlsim(folder: Path) -> Iterator[Row]:
    """Transfers of money: ``small``, ``middle`` and ``large``, a third each, with the amount."""
    path = folder / "amlsim-20k" / "transactions.csv.gz"
    return by_size(
        (r["sourceNodeId"], r["targetNodeId"], int(r["time"]), float(r["value"]))
        for r in csv.DictReader(_lines(path))
    )


def amlsim_accounts(folder: Path) -> dict[str, tuple[str, Mapping[str, Value]]]:
    """The accounts, with their flag of fraud and first balance."""
    return {
        r["nodeid"]: (
            "account",
            {"fraud": r["isFraud"] == "1", "balance": float(r["init_balance"])},
        )
        for r in csv.DictReader(_lines(folder / "amlsim-20k" / "nodes.csv.gz"))
    }


def ldbc(folder: Path) -> Iterator[Row]:
    """The edges of the update streams of the LDBC Social Network Benchmark, by relation."""
    path = folder / "ldbc-snb-update-streams" / "update_streams.tar.gz"
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            file = archive.extractfile(member) if member.name.endswith(".csv") else None
            for line in file.read().decode("utf-8").splitlines() if file is not None else ():
                time, _, operation, *words = line.split("|")
                for src, trg, label in _relations(operation, words):
                    yield src, trg, label, int(time) // 1000, {}


def _relations(operation: str, words: list[str]) -> Iterator[tuple[str, str, str]]:
    """The edges of an operation; names of vertices begin with the initial of their kind."""
    match operation, words:
        case "2", [person, post, *_]:
            yield f"p{person}", f"m{post}", "likes"
        case "3", [person, comment, *_]:
            yield f"p{person}", f"m{comment}", "likes"
        case "4", [forum, _, _, moderator, *_]:
            yield f"f{forum}", f"p{moderator}", "hasModerator"
        case "5", [forum, person, *_]:
            yield f"f{forum}", f"p{person}", "hasMember"
        case "6", [post, _, _, _, _, _, _, _, author, forum, *_]:
            yield f"m{post}", f"p{author}", "hasCreator"
            yield f"f{forum}", f"m{post}", "containerOf"
        case "7", [comment, _, _, _, _, _, author, _, post, parent, *_]:
            yield f"m{comment}", f"p{author}", "hasCreator"
            yield f"m{comment}", f"m{parent if post == '-1' else post}", "replyOf"
        case "8", [one, other, *_]:
            yield f"p{one}", f"p{other}", "knows"


def traffic(folder: Path) -> Iterator[Row]:
    """Road segments, each told again every five minutes: ``slow``, ``middle`` and ``fast``, a third
    each by the mean speed, which is the property ``speed``. The number of cars is ``cars``."""
    about = csv.DictReader(_lines(folder / "citybench-aarhus" / "trafficMetaData.csv.gz"))
    ends = {row["REPORT_ID"]: (row["POINT_1_NAME"], row["POINT_2_NAME"]) for row in about}
    rows: list[tuple[str, str, int, float, int]] = []
    path = folder / "citybench-aarhus" / "traffic_streams_2014-08-04_to_06.tar.gz"
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            file = archive.extractfile(member) if member.isfile() else None
            text = "" if file is None else file.read().decode("utf-8")
            for row in csv.DictReader(io.StringIO(text)):
                if row["REPORT_ID"] in ends:
                    time = datetime.fromisoformat(row["TIMESTAMP"]).replace(tzinfo=UTC)
                    ts, speed = int(time.timestamp()), float(row["avgSpeed"])
                    rows.append((*ends[row["REPORT_ID"]], ts, speed, int(row["vehicleCount"])))
    speeds = sorted(row[3] for row in rows)
    low, high = speeds[len(speeds) // 3], speeds[2 * len(speeds) // 3]
    for src, trg, ts, speed, cars in rows:
        label = "slow" if speed < low else "middle" if speed < high else "fast"
        yield src, trg, label, ts, {"speed": speed, "cars": cars}


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from file
