"""Runs a job in each system; a run has a process of its own, so that its memory is its own.

Headrace and DuckDB run in ``python -m bench.peers.worker``, differential dataflow in the program of
the crate beside this file, which ``cargo`` builds at first use, and Pathway in ``pathway/peer.py``
by the Python of an environment that has it. Each uses one thread.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.measuring import ROOT
from bench.peers import snapshots
from bench.peers.jobs import PATTERNS, Job
from bench.peers.outcome import Outcome, at_instants, digest_of, intervals_of_changes
from headrace.executor.batch import IntArray

CRATE: Final = Path(__file__).parent / "differential"
PATHWAY: Final = Path(__file__).parent / "pathway" / "peer.py"
WIDTHS: Final = {"triangle": 3, "4-clique": 4}
"""The columns of the answers; those of paths and patterns of Table 5.1 have two."""
ONE_THREAD: Final = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PATHWAY_THREADS": "1"}


class PeerError(RuntimeError):
    """A system that is absent, or a run that failed."""


def width_of(query: str) -> int:
    """The columns of the answers of a query."""
    return WIDTHS.get(query, 2)


def built(target: Path) -> Path:
    """Builds the program of differential dataflow, and returns its path.

    Args:
        target: the folder for what the compiler writes.

    Raises:
        PeerError: without ``cargo``, or if the build fails.
    """
    command = ["cargo", "build", "--release", "--locked", "--target-dir", str(target)]
    try:
        subprocess.run(command, cwd=CRATE, check=True)
    except FileNotFoundError as error:
        raise PeerError("cargo is not installed; see https://rustup.rs") from error
    except subprocess.CalledProcessError as error:
        raise PeerError(f"cargo could not build {CRATE}") from error
    return target / "release" / "peer"


def run_differential(
    program: Path, job: Job, edges: IntArray, folder: Path, limit: float, *, answers: bool
) -> Outcome:
    """Runs a job in differential dataflow.

    Args:
        program: the path that :func:`built` returned.
        job: the job.
        edges: its edges.
        folder: a folder for temporary files.
        limit: seconds of wall time.
        answers: whether answers are collected. They cost time, so timed runs only count them.
    """
    source, results = folder / "edges.bin", folder / "changes.bin"
    source.write_bytes(edges.astype("<u4").tobytes())
    said = _said(
        [str(program), str(source), str(results) if answers else "-", job.query, str(job.batch)],
        limit,
    )
    digest = ""
    if answers:
        width = width_of(job.query)
        changes = np.fromfile(results, "<i8").reshape(-1, 6)
        kept = [*range(width), 4, 5]
        digest = digest_of(intervals_of_changes(changes[:, kept], width))
    return Outcome(said["cpu_s"], said["peak_bytes"], said["answers"], digest)


def run_pathway(
    python: Path, job: Job, edges: IntArray, folder: Path, limit: float, *, answers: bool
) -> Outcome:
    """Runs a job in Pathway, whose answers are those at the first instants of slides.

    Args:
        python: the Python of an environment with Pathway.
        job: the job.
        edges: its edges.
        folder: a folder for temporary files.
        limit: seconds of wall time.
        answers: whether answers are collected.
    """
    source, results = folder / "edges.npy", folder / "changes.npy"
    np.save(source, edges)
    said = _said(
        [str(python), str(PATHWAY), str(source), str(results) if answers else "-", job.query,
         str(job.window.slide)],
        limit,
    )  # fmt: skip
    if not answers:
        return Outcome(**said)
    instants = snapshots.instants_of(job, edges)
    held = at_instants(intervals_of_changes(np.load(results), width_of(job.query)), instants)
    return Outcome(said["cpu_s"], said["peak_bytes"], len(held), digest_of(held), len(instants))


def run_worker(
    peer: str, job: Job, edges: IntArray, folder: Path, limit: float, *, answers: bool
) -> Outcome:
    """Runs a job in Headrace or in DuckDB; arguments as in :func:`run_differential`."""
    source = folder / "edges.npy"
    np.save(source, edges)
    order = {"peer": peer, "job": asdict(job), "edges": str(source), "answers": answers}
    said = _said([sys.executable, "-m", "bench.peers.worker", json.dumps(order)], limit)
    return Outcome(**said)


def _said(command: list[str], limit: float) -> Mapping[str, Any]:
    """The JSON object in the last line of a program's output."""
    environment = {**os.environ, **ONE_THREAD}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, timeout=limit, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise PeerError(f"no end within {limit:g} s") from error
    except FileNotFoundError as error:
        raise PeerError(f"no such program: {command[0]}") from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
        raise PeerError(lines[-1])
    said: Mapping[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return said


def runs(peer: str, query: str) -> bool:
    """Whether a system has this query: DuckDB has those of Table 5.1 only."""
    return peer != "duckdb" or query not in PATTERNS
