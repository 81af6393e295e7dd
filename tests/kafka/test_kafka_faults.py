"""A run from topic to topic is exact through a restart of the broker, and if a partition lags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from headrace.executor.local import Edge
from tests.executor.spark.plans import random_edges
from tests.kafka.broker import Broker
from tests.kafka.test_kafka import CATALOG, LENGTH, Run, messages, reachable
from tests.kafka.test_kafka_output import results_of
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.soak, pytest.mark.timeout(900)]

DELAY, LAG = 14, 6
"""The declared disorder of the stream, and how far its second partition is behind its first."""


def test_a_restarted_broker_and_a_lagging_partition_change_no_answer(
    kafka: Broker, tmp_path: Path
) -> None:
    catalog = CATALOG.format(address=kafka.address, delay=DELAY, topic="lagging")
    (tmp_path / "catalog.yaml").write_text(catalog)
    kafka.make("lagging", 2)
    edges = [(x, y, "pays", ts) for x, y, _, ts, *_ in random_edges(140, 11, 12)]
    end = edges[-1][3]

    def send(first: int, last: int) -> None:
        """Sends what comes from after ``first`` up to ``last``, tick by tick."""
        for tick in range(first + 1, last + 1):
            for partition, lag in enumerate((0, LAG)):
                own = [edge for edge in edges[partition::2] if edge[3] + lag == tick]
                kafka.send("lagging", messages(own), partition)

    output = f"kafka://{kafka.address}/through"
    with Run(tmp_path, "--output", output, "--checkpoint", tmp_path / "ck") as run:
        thirds = [-1, end // 3, 2 * end // 3, end + LAG]
        send(thirds[0], thirds[1])
        until(lambda: _answers(kafka, edges, thirds[1] - DELAY), run.interrupted)
        send(thirds[1], thirds[2])
        kafka.stop()  # some of it is read, or written, or neither
        kafka.start()
        until(lambda: _answers(kafka, edges, thirds[2] - DELAY), run.interrupted)
        send(thirds[2], thirds[3])
        kafka.send("lagging", messages([("0", "0", "other", end + LAG + DELAY + 1)]), 0)
        until(lambda: _answers(kafka, edges, end + LENGTH), run.interrupted)
        assert run.process.poll() is None, run.process.communicate()
        _, log = run.interrupted()
    assert run.process.returncode == 130, log
    late = tmp_path / "ck" / "late.jsonl"
    assert not late.exists() or not late.read_text()


def _answers(kafka: Broker, edges: Sequence[Edge], until_instant: int) -> bool:
    """Whether the topic has exactly the answers at all instants before one, without repeats."""
    found = results_of(kafka.received("through")).values()
    return all(
        {r.bindings for r in found if r.ts <= t < r.exp} == reachable(edges, t)
        for t in range(until_instant)
    )
