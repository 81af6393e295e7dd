"""Runs of the command that are meant to be killed, and when and what of them is.

A kill is at a random moment, or aimed: at the instant when something of a micro-batch has just
appeared on disk and what follows it has not.
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
"""``staged``: a task has written its results, so its index has changed, and its state is not
committed; ``stored``: a partition's state is committed, and the batch's results are not out;
``published``: some are, and Spark does not know yet that the batch has ended. The others are parts
of Spark's checkpoint: a file has appeared there, under its own or under a temporary name."""
MOMENTS: Final[tuple[Moment, ...]] = get_args(Moment)

FILES: Final[tuple[Moment, ...]] = ("metadata", "sources", "offsets", "state", "commits")
"""Those of Spark's checkpoint, which a first batch comes to one after the other."""

_LOOK_SECONDS: Final = 0.001


class Victim:
    """A run of the command, in a session of its own."""

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
        """Whether the command ends in so much time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self, kind: Kind, random: Random) -> bool:
        """Kills what is meant, if it is there."""
        found = self._chosen(kind, random)
        for process in found:
            try:
                process.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        return bool(found)

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
        """Whether Python workers are there now."""
        return bool(_workers(self._below()))

    def _below(self) -> list[psutil.Process]:
        try:
            found = self._tree.children(recursive=True)
        except psutil.NoSuchProcess:
            found = []
        self._seen.update({p.pid: p for p in found})
        return [p for p in found if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]

    def close(self) -> None:
        """Leaves nothing of it running."""
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
    """Sees what is new of a moment's kind since it began to look."""

    def __init__(self, moment: Moment, folder: Path) -> None:
        self._moment = moment
        self._folder = folder
        self._before = self._names()

    def sees_it_within(self, seconds: float, victim: Victim) -> bool:
        """Whether something new appears in so much time, while the run goes on."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and victim.process.poll() is None:
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
                # Hadoop's own files of checksums are among them, and all that is half written.
                return frozenset(map(str, (self._spark / self._moment).rglob("*")))

    @property
    def _spark(self) -> Path:
        return self._folder / "checkpoint" / "spark"


def _files(folder: Path, ending: str, least: int = 0) -> frozenset[str]:
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(ending) and entry.stat().st_size >= least:
                    found.append(entry.name)
    except OSError:
        pass  # not there yet, or gone between two looks
    return frozenset(found)
