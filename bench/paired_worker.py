"""One side of `bench.paired`: times by query as JSON, of whatever checkout is imported.

Run as text over another checkout's code, so it names only what earlier versions have too.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

import pyarrow as pa

from bench.kernels import LABEL_OF, QUERIES, plan_of
from bench.queries import TABLE_5_1, cases, catalog, cost_model
from bench.streams import DAY, catalog_of, files, load, slides
from headrace.algebra.plan import PhysicalPlan
from headrace.executor.local import LocalRun
from headrace.languages import parse
from headrace.languages.translation.canonical import translate
from headrace.optimizer import Optimizer, Options

SEARCHED = (
    "Table 4.2 Q3",
    "Table 4.2 Q10",
    "Table 5.1 Q5",
    "Table 5.1 Q7",
    "chain 8, ends kept",
    "chain 12, ends kept",
    "chain 5, ten conditions",
    "cycle 6, all kept",
    "star 6, two kept",
    "clique 6 (star, all kept)",
    "graph clique 4, all kept",
)
RUN = {
    "a2q/c2a*": QUERIES["a2q/c2a*"],
    "Q5": QUERIES["Q5"],
    "three joined": "Answer(x, y, z, w) <- a2q(x, y), c2a(x, z), c2q(w, z).\n",
}
_ANY = "(a2q|c2a|c2q)"
CYCLIC = {
    "triangle": f"Answer(x, y, z) <- {_ANY}(x, y), {_ANY}(y, z), {_ANY}(z, x).\n",
    "4-clique": f"Answer(x, y, z, w) <- {_ANY}(x, y), {_ANY}(x, z), {_ANY}(x, w), {_ANY}(y, z), "
    f"{_ANY}(y, w), {_ANY}(z, w).\n",
}
DAYS = 12
PUSHED = {1: 2_000, 256: None, 16_384: None}
"""Rows of a push, and the edges of the bundled stream that are pushed; None for all."""


def cpu_ms(action: Callable[[], object], repeats: int) -> float:
    """The median processor time of some runs after one to warm up."""
    action()
    found = []
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        start = time.process_time()
        action()
        found.append((time.process_time() - start) * 1000)
        gc.enable()
    return median(found)


def searches(only: str, repeats: int) -> dict[str, float]:
    """The search of each query."""
    known, found = catalog(), {}
    for case in cases():
        if case.name in SEARCHED and only in case.name:
            query = translate(parse(case.text, "rq"), known)
            optimizer = Optimizer(cost_model("saturating", known), Options())
            found[f"search {case.name}"] = cpu_ms(partial(optimizer.optimize, query), repeats)
    return found


def runs(only: str, repeats: int) -> dict[str, float]:
    """The chosen plan of each query over days of the bundled stream, one call a day."""
    which, found = files(None), {}
    batches = list(slides(load(which, DAYS), DAY))
    for name, text in RUN.items():
        if only in name:
            plan = plan_of(text, catalog_of(which), "10d", "1d").plan
            found[f"run {name}"] = cpu_ms(partial(_run, plan, batches), repeats)
    return found


def pushes(only: str, repeats: int) -> dict[str, float]:
    """The chosen plans of Table 5.1 and of cyclic patterns over the bundled stream, by rows of a
    push."""
    which, found = files(None), {}
    edges = load(which).combine_chunks()
    written = {query: text.format(**LABEL_OF) for query, text in TABLE_5_1.items()}
    for query, text in (written | CYCLIC).items():
        plan = None
        for rows, most in PUSHED.items():
            name = f"push {query} by {rows:,}"
            if only not in name:
                continue
            plan = plan or plan_of(text, catalog_of(which), "30d", "1d").plan
            batches = edges.slice(0, most or len(edges)).to_batches(max_chunksize=rows)
            found[name] = cpu_ms(partial(_run, plan, batches), repeats)
    return found


def _run(plan: PhysicalPlan, batches: Sequence[pa.RecordBatch]) -> None:
    running = LocalRun(plan)
    for batch in batches:
        running.push([batch])


if __name__ == "__main__":
    asked = sys.argv[1], int(sys.argv[2])
    print(json.dumps({**searches(*asked), **runs(*asked), **pushes(*asked)}))
