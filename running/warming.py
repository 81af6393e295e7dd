"""Compiles all kernels ahead of their first use.

In: nothing. Out: the numbers of compiled and loaded kernels, and the time. The first call of a
kernel compiles it: this module runs small queries that together call each kernel.
"""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ..catalog.document import from_document
from ..costmodel import Constants
from ..costmodel.sampling import compiled
from ..planning.planner import optimize
from ..planning.requests import PlanningOptions, PlanRequest

if TYPE_CHECKING:
    from ..algebra.plan import PhysicalPlan
    from ..executor.local import Edge

_BROAD: Final = PlanningOptions(parallelism=2)
_FEW_ROWS: Final = PlanningOptions(constants=Constants(push=100.0))
"""Under costs by which multiway joins and semi-joins are cheaper than joins."""
_SIMPLE: Final = PlanningOptions(path_semantics="simple")
_TRAIL: Final = PlanningOptions(path_semantics="trail")

QUERIES: Final[Sequence[tuple[str, str, PlanningOptions]]] = (
    (
        "strings",
        "Answer(x, y, count(*) as n, min(w) as low) <- x (a/b)+ y, b(y, z), c(z, w), x != w. "
        "WINDOW 20",
        PlanningOptions(),
    ),
    (
        "strings",
        "Answer(x, z) <- x (a|b)* z. WINDOW 20 SLIDE 5",
        PlanningOptions(evaluate="slide"),
    ),
    ("strings", "Answer(x, y) <- x (a/b)+ y. WINDOW 12", _SIMPLE),
    ("strings", "Answer(x, y) <- x (a/a)+ y. WINDOW 12", _TRAIL),
    (
        "strings",
        "Answer(x, y, p) <- shortest x a+ y as p. WINDOW 20 EMIT SNAPSHOT EVERY 5",
        PlanningOptions(),
    ),
    (
        "strings",
        "P(x, p, count(*) as n) <- shortest x a+ y as p. Answer(x, p) <- P(x, p, n), n > 0. "
        "WINDOW 20 EMIT SNAPSHOT EVERY 5",
        PlanningOptions(),
    ),
    ("strings", "Answer(x, p, y) <- x a+ y as p, b(y, z). WINDOW 20", PlanningOptions()),
    ("strings", "Answer(x, p, y) <- x a+ y as p. WINDOW 12", _SIMPLE),
    ("strings", "Answer(x, count(*) as n) <- x a/b y. WINDOW 20 EMIT SNAPSHOT EVERY 5", _BROAD),
    (
        "strings",
        "R(x, y) <- a(x, y), b(x, z). Answer(x, y) <- R[WINDOW 5](x, y). WINDOW 20",
        PlanningOptions(),
    ),
    ("strings", "Answer(x, z) <- a(x, y), b(y, z), c(z, w). WINDOW 20", _BROAD),
    ("strings", "Answer(x, y, z) <- a(x, y), a(z, y). WINDOW 20", PlanningOptions()),
    ("deletions", "Answer(x, y, z) <- a(x, y), a(z, y). WINDOW 20", PlanningOptions()),
    ("deletions", "Answer(x, y) <- a(x, y), b(y, z). WINDOW 20", _FEW_ROWS),
    ("strings", "Answer(x, y) <- a(x, y), not b(y, z). WINDOW 20", PlanningOptions()),
    ("strings", "Answer(x, y, z) <- a(x, y), optional b(y, z). WINDOW 20", PlanningOptions()),
    ("deletions", "Answer(x, y, z) <- a(x, y), optional b(y, z). WINDOW 20", PlanningOptions()),
    (
        "strings",
        "B(x, count(*) as n) <- a(x, y) ORDER BY n DESC LIMIT 3. Answer(x) <- B(x, n). WINDOW 20",
        PlanningOptions(),
    ),
    ("integers", "Answer(x, z) <- a(x, y), b(y, z), c(z, w). WINDOW 20", _BROAD),
    ("strings", "Answer(x, y, z) <- a(x, y), b(y, z), c(z, x). WINDOW 20", _FEW_ROWS),
    ("deletions", "Answer(x, y, z) <- a(x, y), b(y, z), c(z, x). WINDOW 20", _FEW_ROWS),
    ("deletions", "Answer(x, z) <- x (a/b)+ y, a(y, z). WINDOW 20", PlanningOptions()),
    ("deletions", "Answer(x, count(*) as n) <- x a+ y, b(y, z). WINDOW 20", PlanningOptions()),
    ("strings", "Answer(x, y) <- a(x, y). WINDOW 20 EMIT ON ENTERING EVERY 5", PlanningOptions()),
    (
        "strings",
        "Answer(x, y) <- a(x, y). WINDOW 20 EMIT SNAPSHOT EVERY 2 EVENTS",
        PlanningOptions(),
    ),
    ("strings", "Answer(x, collect(y) as ys) <- a(x, y). WINDOW 20", PlanningOptions()),
    ("strings", "Answer(x, count(*) as n) <- a(x, y). WINDOW 20", PlanningOptions()),
)
"""Each query with the name of its stream and its planning options."""

_LABELS: Final = {label: {"rate": 1.0, "distinct_src": 12, "distinct_trg": 12} for label in "abc"}
_STREAMS: Final[Mapping[str, Mapping[str, object]]] = {
    "strings": {},
    "integers": {"vertex_type": "integer"},
    "deletions": {"deletions": True},
}


@dataclass(frozen=True, slots=True)
class Warmed:
    """The result of :func:`warm`.

    Attributes:
        compiled: the number of kernels that this call compiled.
        loaded: the number of kernels that this call loaded from disk.
        left: the names of kernels without machine code on disk.
        seconds: the time of the call.
        folder: the folder of the machine code.
    """

    compiled: int
    loaded: int
    left: tuple[str, ...]
    seconds: float
    folder: Path


def warm() -> Warmed:
    """Compiles the kernels that have no machine code on disk yet."""
    from ..executor.kernels.compiling import code_folder
    from ..executor.local import run_plan
    from ..executor.partitions import partitions_of

    started = time.perf_counter()
    compiled.prepare()
    for stream, text, options in QUERIES:
        catalog = from_document({"streams": {stream: {"labels": _LABELS, **_STREAMS[stream]}}})
        plan = optimize(PlanRequest(text, catalog=catalog, options=options)).plan
        for _ in run_plan(plan, _edges(stream)):
            pass
        _restore(plan)
    for vertices in (["v1", "v2"], [1, 2]):  # Spark's tasks partition vertices of both types
        partitions_of(pa.array(vertices), 2)
    known = dict(kernels())
    return Warmed(
        compiled=sum(kernel._cache.compiled for kernel in known.values()),
        loaded=sum(kernel._cache.loaded for kernel in known.values()),
        left=tuple(name for name, kernel in known.items() if not _is_on_disk(kernel)),
        seconds=time.perf_counter() - started,
        folder=code_folder(),
    )


def _restore(plan: PhysicalPlan) -> None:
    """Restores the open rows of a plan that has some, as a restart on Spark does."""
    from ..executor.local import LocalRun

    if plan.parallelism > 1:
        return
    pipeline = LocalRun(plan).pipeline
    changes = pipeline.open_row_changes()
    if changes is not None:
        pipeline.restore_open_rows(changes, 0)


def _is_on_disk(kernel: Any) -> bool:
    folder, name = kernel._cache.cache_path, kernel._cache._impl.filename_base
    return (Path(folder) / f"{name}.nbi").exists()


def kernels() -> Iterator[tuple[str, Any]]:
    """Yields each kernel with its name."""
    from ..executor import kernels as folder
    from ..executor.kernels.compiling import KernelCache

    for module in pkgutil.iter_modules(folder.__path__):
        own = import_module(f"{folder.__name__}.{module.name}")
        for name, value in vars(own).items():
            if isinstance(getattr(value, "_cache", None), KernelCache) and (
                value.__module__ == own.__name__
            ):
                yield f"{module.name}.{name}", value


def _edges(stream: str) -> list[Edge]:
    """Returns edges that overlap, expire and form cycles; ``deletions`` also deletes some edges.

    Few edges follow, after a pause in which all state expires.
    """
    random = Random(1)
    edges: list[Edge] = []
    for ts in (*range(120), 200, 201):
        for label in "abc":
            src, trg = random.randrange(6), random.randrange(6)
            if stream == "integers":
                edges.append((src, trg, label, ts, stream))
            else:
                edges.append((f"v{src}", f"v{trg}", label, ts, stream))
        if stream == "deletions" and ts % 3 == 2:
            gone, trg_of_gone, label, *_ = random.choice(edges[-15:])
            edges.append((gone, trg_of_gone, label, ts, stream, {"op": "-"}))
    return edges
