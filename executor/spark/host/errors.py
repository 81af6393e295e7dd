"""Errors of a run on Spark; each says what the user can do."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from ....algebra.remedy import Remedy, advice

NEW_CHECKPOINT = Remedy("checkpoint", "give an empty or a new folder as checkpoint")
NEW_OUTPUT = Remedy("output", "give another output")


class ExecutionError(Exception):
    """A run that cannot start or go on.

    ``message`` says what is wrong and where, ``hint`` what to do about it, ``remedies`` which
    settings of the run help as well.
    """

    def __init__(self, message: str, hint: str = "", *remedies: Remedy) -> None:
        advised = advice(hint, remedies)
        super().__init__(f"{message}\n{advised}" if advised else message)
        self.message = message
        self.hint = hint
        self.remedies = remedies


class JavaMissingError(ExecutionError):
    """Spark finds no Java runtime to run on."""


class SparkFailedError(ExecutionError):
    """Spark did not start, or a running query failed."""


class CheckpointFailedError(SparkFailedError):
    """Spark cannot read its checkpoint, or finds that parts of it are missing."""


class SlowStartError(SparkFailedError):
    """Spark gave up waiting for one of its own processes: the machine has too much else to do.

    The query is not at fault, and the same start succeeds when there is time for it.
    """


class PackageError(SparkFailedError):
    """Spark did not start, since something it is to read with could not be fetched."""


class BudgetError(ExecutionError):
    """The search for the simple paths of an edge took more steps than it may."""

    @classmethod
    def of(cls, message: str) -> Self:
        """The error for the message of a `StepBudgetError`, with remedies."""
        return cls(
            f"{message}.",
            "Shorten the window, bound the repeats of the path ({1,4} for +).",
            Remedy("simple_budget", "allow more steps"),
            Remedy("path_semantics", "ask for arbitrary paths", "arbitrary"),
        )


class OtherQueryError(ExecutionError):
    """A checkpoint or an output place belongs to another query, plan or input."""


class OutputError(ExecutionError):
    """The place for the results cannot be used."""


class SinkError(ExecutionError):
    """Spark's sink, such as that of Kafka, does not take the results of a batch.

    Args:
        place: the sink, for people.
        reason: why, in the words of the sink.
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(
            f"The results cannot be written to {place}: {reason.rstrip('.')}.",
            "Check that it can be reached from here, and that its address and options are right. "
            "The same run goes on from its checkpoint, and no result is lost.",
        )


class StorageError(ExecutionError):
    """A file cannot be written or read: the disk is full, a folder is read-only."""


class ResourceError(ExecutionError):
    """Memory, open files or processes do not suffice."""


class DamagedError(ExecutionError):
    """A file of a checkpoint differs from what was written."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(
            f"{path} is damaged: it is not as Headrace wrote it.",
            "Put back a copy of the whole checkpoint, or start anew with another output.",
            NEW_CHECKPOINT,
        )


class UnsafePlanError(ExecutionError):
    """A plan contains an expression that plans may not have Spark evaluate."""


class InputError(ExecutionError):
    """The input cannot be read, or breaks a rule that the user asked to be strict about."""


class ChangedInputError(InputError):
    """A file was changed, or removed, while it was read: the rows may be of two states."""

    def __init__(self, message: str) -> None:
        super().__init__(
            message,
            "Nothing of it was processed. Start again when the file is complete. Put parts of what "
            "grows into a folder that is followed (follow: true in the catalog).",
        )


class CancelledError(ExecutionError):
    """The run was asked to stop before its end (Ctrl-C)."""
