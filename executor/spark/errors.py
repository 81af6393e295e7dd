"""What can go wrong when a plan runs on Spark, said so that a user knows what to do."""


class ExecutionError(Exception):
    """A run that cannot start or go on.

    ``message`` says what is wrong and where, ``hint`` what to do about it.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}\n{hint}" if hint else message)
        self.message = message
        self.hint = hint


class JavaMissingError(ExecutionError):
    """There is no Java runtime that Spark can run on."""


class SparkFailedError(ExecutionError):
    """Spark did not start, or a running query failed."""


class SlowStartError(SparkFailedError):
    """Spark gave up waiting for one of its own processes: the machine has too much else to do.

    The query is not at fault, and the same start succeeds when there is time for it.
    """


class PackageError(SparkFailedError):
    """Spark did not start, since something it is to read with could not be fetched."""


class BudgetError(ExecutionError):
    """The search for the simple paths of an edge took more steps than it may."""


class OtherQueryError(ExecutionError):
    """A checkpoint or an output place belongs to another query, plan or input."""


class OutputError(ExecutionError):
    """The place for the results cannot be used."""


class UnsafePlanError(ExecutionError):
    """A plan asks Spark for something that plans may not ask for."""


class InputError(ExecutionError):
    """The input cannot be read, or breaks a rule that the user asked to be strict about."""


class CancelledError(ExecutionError):
    """The run was asked to stop before its end (Ctrl-C)."""
