"""Fault injection: starts runs of the command and kills their processes at chosen moments.

A kill is at a random moment, or aimed at a step of a micro-batch: right after a file of that step
has appeared on disk, and before the next step.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Final, Literal, get_args

import psutil

from bench.measuring import ROOT

Kind = Literal["worker", "driver", "jvm", "tree"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

Moment = Literal[
    "any", "staged", "stored", "published", "metadata", "sources", "offsets", "state", "commits"
]
"""The moment of a kill.

``any``: a random moment. ``staged``: a task has written its results and changed its index, but its
state is not committed. ``stored``: the state of a partition is committed, but the results of the
batch are not published. ``published``: some results are published, but Spark has not recorded the
end of the batch. The other moments are folders of Spark's checkpoint: a file has appeared there,
under its final or a temporary name."""
MOMENTS: Final[tuple[Moment, ...]] = get_args(Moment)

FILES: Final[tuple[Moment, ...]] = ("metadata", "sources", "offsets", "state", "commits")
"""The moments of Spark's checkpoint, in the order in which the first batch reaches them."""

_LOOK_SECONDS: Final = 0.001


class KillableRun:
    """A run of the command in its own session, whose processes can be killed."""

    def __init__(self, arguments: Sequence[str], log: Path) -> None:
        self._log = log.open("ab")
        self.process = subprocess.Popen(
            arguments,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )
        self._tree = psutil.Process(self.process.pid)
        self._seen: dict[int, psutil.Process] = {}

    def ends_within(self, seconds: float) -> bool:
        """Whether the command ends within a time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self, kind: Kind, random: Random) -> bool:
        """Kills the processes of a kind. Returns whether there were any."""
        chosen = self._chosen(kind, random)
        for process in chosen:
            try:
                process.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        return bool(chosen)

    def _chosen(self, kind: Kind, random: Random) -> list[psutil.Process]:
        below = self._below()
        java = [p for p in below if _name(p) == "java"]
        match kind:
            case "driver":
                return [self._tree]
            case "jvm":
                return java
            case "tree":
                return [self._tree, *below]
            case "worker":
                workers = _workers(below)
                return [random.choice(workers)] if workers else []

    def has_workers(self) -> bool:
        """Whether Python workers run now."""
        return bool(_workers(self._below()))

    def _below(self) -> list[psutil.Process]:
        try:
            children = self._tree.children(recursive=True)
        except psutil.NoSuchProcess:
            children = []
        self._seen.update({p.pid: p for p in children})
        return [p for p in children if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]

    def close(self) -> None:
        """Kills all processes of the run that are still alive."""
        self._below()
        for process in [*self._seen.values(), self._tree]:
            try:
                process.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        self.process.wait()
        self._log.close()


def _workers(below: Sequence[psutil.Process]) -> list[psutil.Process]:
    daemons = {p.pid for p in below if "daemon" in _line(p)}
    return [p for p in below if _parent(p) in daemons]


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return ""


def _line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _parent(process: psutil.Process) -> int:
    try:
        return process.ppid()
    except psutil.Error:
        return -1


class Watch:
    """Watches the files of a moment for new names."""

    def __init__(self, moment: Moment, folder: Path) -> None:
        self._moment = moment
        self._folder = folder
        self._before = self._names()

    def sees_new_file_within(self, seconds: float, run: KillableRun) -> bool:
        """Whether a new file appears within a time, while the run continues."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and run.process.poll() is None:
            now = self._names()
            if now - self._before:
                return True
            self._before = now
            time.sleep(_LOOK_SECONDS)
        return False

    def _names(self) -> frozenset[str]:
        match self._moment:
            case "any":
                return frozenset()
            case "staged":  # a part is empty until the task has all results
                return _files(self._folder / "out" / "_headrace" / "staging", ".part", least=1)
            case "stored":
                state = self._folder / "checkpoint" / "spark" / "state"
                return frozenset(str(path) for path in state.glob("*/*/*.changelog"))
            case "published":
                return _files(self._folder / "out", ".jsonl")
            case "metadata":
                return frozenset(p.name for p in self._spark.glob("*metadata*"))
            case "sources" | "offsets" | "state" | "commits":
                # Includes Hadoop's checksum files and files that are being written.
                return frozenset(map(str, (self._spark / self._moment).rglob("*")))

    @property
    def _spark(self) -> Path:
        return self._folder / "checkpoint" / "spark"


def _files(folder: Path, ending: str, least: int = 0) -> frozenset[str]:
    names = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(ending) and entry.stat().st_size >= least:
                    names.append(entry.name)
    except OSError:
        pass  # the folder does not exist yet, or a file was removed meanwhile
    return frozenset(names)
