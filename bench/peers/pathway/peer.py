"""Runs one query in Pathway: ``python peer.py EDGES ANSWERS QUERY SLIDE``, with Pathway installed.

It imports nothing of Headrace, so that it runs in an environment of its own. ``EDGES`` is a NumPy
file of rows (label 0 to 2, source, target, time, end of validity). ``ANSWERS`` is the NumPy file to
write, with rows of an answer, the instant, and 1 or -1; ``-`` only counts them. Edges and ends take
effect at the first instant of the slide after them, each such instant being one time of Pathway's.
The last line of output is a JSON object of the costs.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pathway as pw

CHANGE = pw.schema_builder(
    {
        "number": pw.column_definition(primary_key=True, dtype=int),
        **{name: pw.column_definition(dtype=int) for name in ("label", "x", "y")},
    }
)
"""An edge, or its end."""


def memory(field: str) -> int:
    """A size in bytes that the system says of this process: VmRSS or VmHWM."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(each.split()[1]) for each in lines if each.startswith(f"{field}:")) * 1024


def changes(edges: Any, slide: int) -> list[tuple[int, int, int, int, int, int]]:
    """Rows of a number, the edge, its time and 1 or -1, in the order of the times."""
    begin = (edges[:, 3] // slide + 1) * slide
    end = -(-edges[:, 4] // slide) * slide
    held = begin < end
    numbers = np.arange(len(edges))[held]
    rows = []
    for times, sign in ((begin[held], 1), (end[held], -1)):
        signs = np.full(len(numbers), sign)
        rows.append(np.column_stack((numbers, edges[held, :3], times, signs)))
    every = np.concatenate(rows)
    ordered = every[np.lexsort((every[:, 5], every[:, 4]))]
    return [tuple(row) for row in ordered.tolist()]


def pairs(table: Any) -> Any:
    """The distinct pairs of a table."""
    return table.groupby(table.x, table.y).reduce(table.x, table.y)


def joined(left: Any, right: Any) -> Any:
    """The pairs (x, y) of left(x, z), right(z, y)."""
    return left.join(right, left.y == right.x).select(x=left.x, y=right.y)


def followed(first: Any, step: Any) -> Any:
    """The pairs of ``first``, followed by any number of pairs of ``step``."""

    def more(reached: Any, first: Any, step: Any) -> dict[str, Any]:
        return {"reached": pairs(first.concat_reindex(joined(reached, step)))}

    start = pw.iterate_universe(first)
    return pw.iterate(more, reached=start, first=first, step=step).reached


def steps(a: Any, b: Any, c: Any) -> Any:
    """Q4: the closure of a/b/c."""
    step = pairs(joined(joined(a, b), c))
    return followed(step, step)


def closing(a: Any, b: Any, c: Any) -> Any:
    """The pairs (x, y) of a(x, y), b(x, m), c(m, y)."""
    both = b.join(c, b.y == c.x).select(x=b.x, y=c.y)
    found = a.join(both, a.x == both.x, a.y == both.y).select(x=a.x, y=a.y)
    return pairs(found)


def pattern(a: Any, b: Any, c: Any) -> Any:
    """The pairs (x, y) of c(y, x), b(x, m), b(y, n), a(m, n)."""
    one = c.join(b, c.y == b.x).select(x=c.y, y=c.x, m=b.y)
    two = one.join(b, one.y == b.x).select(x=one.x, y=one.y, m=one.m, n=b.y)
    found = two.join(a, two.m == a.x, two.n == a.y).select(x=two.x, y=two.y)
    return pairs(found)


def far(a: Any, b: Any, c: Any) -> Any:
    """The pairs (x, y) of the closure of Q6, then an edge of c backwards."""
    recent = closing(followed(a, a), b, c)
    found = followed(recent, recent)
    return pairs(found.join(c, found.y == c.y).select(x=found.x, y=c.x))


def triangle(a: Any, b: Any, c: Any) -> Any:
    """The vertices of a(x, y), a(y, z), a(z, x)."""
    then = a.copy()
    two = a.join(then, a.y == then.x).select(x=a.x, y=a.y, z=then.y)
    return two.join(a, two.z == a.x, two.x == a.y).select(two.x, two.y, two.z)


def clique(a: Any, b: Any, c: Any) -> Any:
    """The vertices of a(x, y), a(x, z), a(x, w), a(y, z), a(y, w), a(z, w)."""
    then = a.copy()
    two = a.join(then, a.y == then.x).select(x=a.x, y=a.y, z=then.y)
    three = two.join(a, two.x == a.x, two.z == a.y).select(two.x, two.y, two.z)
    wide = three.join(a, three.z == a.x).select(three.x, three.y, three.z, w=a.y)
    wide = wide.join(a, wide.x == a.x, wide.w == a.y).select(wide.x, wide.y, wide.z, wide.w)
    return wide.join(a, wide.y == a.x, wide.w == a.y).select(wide.x, wide.y, wide.z, wide.w)


QUERIES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Q1": lambda a, b, c: followed(a, a),
    "Q2": lambda a, b, c: followed(a, b),
    "Q3": lambda a, b, c: followed(followed(a, b), c),
    "Q4": steps,
    "Q5": pattern,
    "Q6": lambda a, b, c: closing(followed(a, a), b, c),
    "Q7": far,
    "triangle": triangle,
    "4-clique": clique,
}


def main() -> None:
    """Reads the arguments, runs the query, and prints the costs."""
    source, results, query, slide = sys.argv[1:]
    edges = np.load(source)
    rows = changes(edges, int(slide))
    table = pw.debug.table_from_rows(CHANGE, rows, is_stream=True)
    a, b, c = (
        pairs(table.filter(table.label == label).select(pw.this.x, pw.this.y)) for label in range(3)
    )
    answer = QUERIES[query](a, b, c)
    names = answer.column_names()
    found: list[tuple[int, ...]] = []
    count = 0

    def hear(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        nonlocal count
        count += is_addition
        if results != "-":
            found.append((*(row[name] for name in names), time, 1 if is_addition else -1))

    pw.io.subscribe(answer, hear)
    before, started = memory("VmRSS"), time.process_time()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    seconds, peak = time.process_time() - started, max(0, memory("VmHWM") - before)
    if results != "-":
        np.save(results, np.array(found, np.int64).reshape(-1, len(names) + 2))
    print(json.dumps({"cpu_s": seconds, "peak_bytes": peak, "answers": count}))


if __name__ == "__main__":
    main()
