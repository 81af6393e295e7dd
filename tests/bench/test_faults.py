"""The faults of ``python -m bench.faults``: damage to files, and the batch of a fault."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from bench.faults import FAULTS, Fault, Round, _at, _damaged, _table
from headrace.executor.spark.report import Progress


@pytest.mark.parametrize("fault", ["flip", "cut"])
def test_one_file_is_damaged_by_one_fault(tmp_path: Path, fault: Fault) -> None:
    files = {
        "ck/query.json": b"plan",
        "ck/spark/offsets/3": b"v1",
        "out/_headrace/owner.json": b"me",
    }
    for name, content in {**files, "out/part-0.jsonl": b"a result", "ck/lock": b"."}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    chosen = set()
    for seed in range(30):
        file, whole = _damaged(tmp_path, fault, Random(seed))
        name = str(file.relative_to(tmp_path))
        now = file.read_bytes()
        assert whole == files[name]
        if fault == "cut":
            assert whole.startswith(now)
            assert len(now) < len(whole)
        else:
            assert len(now) == len(whole)
            pairs = zip(now, whole, strict=True)
            assert sum((a ^ b).bit_count() for a, b in pairs) == 1
        file.write_bytes(whole)
        chosen.add(name)
    assert chosen == set(files)


def test_a_fault_happens_once_when_its_batch_is_done() -> None:
    came: list[str] = []
    tell = _at(2, lambda: came.append("now"))
    for batch in (1, 2, 3):
        tell(Progress("reading", 0.5, batch))
        tell(Progress("running", 0.5, batch))
    assert came == ["now"]


def test_the_table_counts_every_outcome() -> None:
    rounds = [Round("join", fault, "driver", 1) for fault in FAULTS]
    rounds += [Round("join", "cut", "query.json", 1, outcome="wrong")]
    table = _table(rounds)
    assert table.row_count == len(FAULTS)
    assert list(table.columns[4].cells) == ["0", "1", "0", "0"]
