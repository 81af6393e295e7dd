"""Evaluates a query anew at the first instant of each slide, in DuckDB.

This is what one would do without an incremental engine: the edges are in a table, and at each
instant a query reads those that are valid.
"""

from __future__ import annotations

import time
from typing import Final

import numpy as np
import pyarrow as pa

from bench.measuring import peak_bytes
from bench.peers.jobs import Job
from bench.peers.outcome import Outcome, digest_of
from bench.regret.runs import resident
from headrace.executor.batch import IntArray

_FOLLOWED: Final = """
    {name}(x, y) AS (
        SELECT x, y FROM {first} UNION SELECT p.x, e.y FROM {name} p JOIN {edges} e ON p.y = e.x
    )"""


def _followed(name: str, first: str, edges: str) -> str:
    return _FOLLOWED.format(name=name, first=first, edges=edges)


_RL: Final = """
    recent AS (
        SELECT DISTINCT p.x, p.y
        FROM reached p JOIN b ON b.x = p.x JOIN c ON c.x = b.y AND c.y = p.y
    )"""
SQL: Final = {
    "Q1": (_followed("reached", "a", "a"), "SELECT x, y FROM reached"),
    "Q2": (_followed("reached", "a", "b"), "SELECT x, y FROM reached"),
    "Q3": (
        _followed("one", "a", "b") + "," + _followed("reached", "one", "c"),
        "SELECT x, y FROM reached",
    ),
    "Q4": (
        "step AS (SELECT DISTINCT a.x, c.y FROM a JOIN b ON b.x = a.y JOIN c ON c.x = b.y),"
        + _followed("reached", "step", "step"),
        "SELECT x, y FROM reached",
    ),
    "Q5": (
        "",
        "SELECT DISTINCT c.y, c.x FROM c JOIN b AS one ON one.x = c.y JOIN b AS two ON two.x = c.x"
        " JOIN a ON a.x = one.y AND a.y = two.y",
    ),
    "Q6": (_followed("reached", "a", "a") + "," + _RL, "SELECT x, y FROM recent"),
    "Q7": (
        _followed("reached", "a", "a") + "," + _RL + "," + _followed("far", "recent", "recent"),
        "SELECT DISTINCT far.x, c.x FROM far JOIN c ON c.y = far.y",
    ),
}
"""The common table expressions, and the query over them. ``a``, ``b`` and ``c`` have columns
x and y."""


def instants_of(job: Job, edges: IntArray) -> IntArray:
    """The first instants of the slides after each slide that has an edge."""
    slide = job.window.slide
    return np.unique(edges[:, 3] // slide + 1) * slide


def sql_of(query: str) -> str:
    """The text of a query, whose parameter ``now`` is the instant."""
    labels = ", ".join(
        f"{name} AS (SELECT DISTINCT x, y FROM edges WHERE label = {code} AND ts <= $now"
        " AND expiry > $now)"
        for code, name in enumerate("abc")
    )
    expressions, body = SQL[query]
    return f"WITH RECURSIVE {labels}{',' if expressions else ''} {expressions} {body}"


def run(job: Job, edges: IntArray, *, answers: bool) -> Outcome:
    """Evaluates the query of a job at each instant, with one thread.

    Raises:
        ImportError: without DuckDB.
    """
    import duckdb  # an optional package

    connection = duckdb.connect(config={"threads": 1})
    table = pa.table(dict(zip(("label", "x", "y", "ts", "expiry"), edges.T, strict=True)))
    connection.register("incoming", table)
    connection.execute("CREATE TABLE edges AS SELECT * FROM incoming")
    text, before, parts, seconds, count = sql_of(job.query), resident(), [], 0.0, 0
    instants = instants_of(job, edges)
    for instant in instants.tolist():
        started = time.process_time()
        found = connection.execute(text, {"now": instant}).fetchnumpy()
        seconds += time.process_time() - started
        columns = [np.asarray(column, np.int64) for column in found.values()]
        count += len(columns[0])
        if answers:
            parts.append(np.column_stack((*columns, np.full(len(columns[0]), instant))))
    peak = max(0, peak_bytes() - before)
    digest = digest_of(np.concatenate(parts)) if parts else ""
    return Outcome(seconds, peak, count, digest, len(instants))
