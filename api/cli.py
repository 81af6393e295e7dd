"""The command line: ``headrace explain | optimize | plans | run | stats | demo | serve |
warm``.

Exit codes: 0 good, 1 the run failed, 2 wrong usage or an invalid query, 130 interrupted,
143 terminated.
Every error is one message on stderr; ``--debug`` shows the traceback too. Commands import
what they need when they run, so that a small one answers at once.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from api.commands.demo import demo
from api.commands.explain import explain
from api.commands.optimize import optimize
from api.commands.plans import plans
from api.commands.run import run
from api.commands.serve import serve
from api.commands.stats import stats
from api.commands.warm import warm
from api.console import Session, say, say_error
from headrace.errors import HeadraceError, StoppedError, UsageError

INTERRUPTED = 130
TERMINATED = 143


class _ReaderGoneError(Exception):
    """Whoever read stdout has gone."""


class _Commands(TyperGroup):
    """Lets a reader that has gone be our matter, and not typer's."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that was named."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGoneError from error


app = typer.Typer(
    name="headrace",
    cls=_Commands,
    help="Declarative graph queries over streams of edges: planned by cost, run on Spark.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"headrace {version('headrace')}")
        except PackageNotFoundError:
            print("headrace (not installed)")
        raise typer.Exit


@app.callback()
def _headrace(
    version: bool = typer.Option(
        False, "--version", help="Show the version.", callback=_version, is_eager=True
    ),
) -> None:
    """Declarative graph queries over streams of edges: planned by cost, run on Spark."""


for command in (explain, optimize, plans, run, stats, demo, serve, warm):
    app.command()(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code."""
    with _stopped_by_sigterm() as terminated:
        code = _main(arguments)
    return TERMINATED if terminated.is_set() and code == INTERRUPTED else code


@contextlib.contextmanager
def _stopped_by_sigterm() -> Iterator[threading.Event]:
    """Lets SIGTERM stop a command as Ctrl-C does; the event says whether it came."""
    terminated = threading.Event()

    def stop(number: int, frame: object) -> None:
        terminated.set()
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield terminated
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield terminated
    finally:
        signal.signal(signal.SIGTERM, before)


def _main(arguments: Sequence[str] | None) -> int:
    session = Session()
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("json-escape", _escaped)
        sys.stdout.reconfigure(errors="json-escape")
    command = typer.main.get_command(app)
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = command.main(given, prog_name="headrace", standalone_mode=False, obj=session)
        sys.stdout.flush()
    except typer.TyperException as error:
        return _refused(error)
    except StoppedError as error:
        say(error.display)
        return INTERRUPTED
    except HeadraceError as error:
        say_error(error.display, error if session.debug else None)
        return 2 if isinstance(error, UsageError) else 1
    except (_ReaderGoneError, BrokenPipeError):
        return _reader_gone()
    except KeyboardInterrupt:
        return _interrupted()
    except Exception as error:
        say_error(_unexpected(error), error if session.debug else None)
        return 1
    if code == INTERRUPTED:
        return _interrupted()
    return code if isinstance(code, int) else 0


def _refused(error: typer.TyperException) -> int:
    """Wrong usage: no command or option of that name, a value that does not fit."""
    message = getattr(error, "format_message", error.__str__)()
    context = getattr(error, "ctx", None)
    if message:
        say_error(message)
    if context is not None:
        say(f"  {context.command_path} --help says what it takes")
    return 2


def _interrupted() -> int:
    say("interrupted")
    return INTERRUPTED


def _reader_gone() -> int:
    """The reader of stdout has seen enough (``| head``): nothing is wrong."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Letters that an output lacks are written as JSON has them, and are no error."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _unexpected(error: Exception) -> str:
    said = " ".join(str(error).split())
    return (
        f"{type(error).__name__}: {said}\n"
        "  this is a fault of Headrace, not of yours; --debug shows where it happened"
    )


if __name__ == "__main__":
    sys.exit(main())
