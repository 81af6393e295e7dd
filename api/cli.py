"""The command line: ``headrace explain | optimize | plans | run | stats | demo | serve |
warm | calibrate | doctor``.

Exit codes: 0 success, 1 a failed run or a missing part of the installation, 2 wrong usage or an
invalid query, 129 hung up, 130 interrupted, 143 terminated.
Each error is one message on stderr; ``--debug`` adds the traceback. Commands import their modules
when they run, so that small commands start fast.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
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

from ..planning.errors import HeadraceError, InvalidQueryError, StoppedError, UsageError
from . import options as opt
from .commands.calibrate import calibrate
from .commands.demo import demo
from .commands.doctor import doctor
from .commands.explain import explain
from .commands.optimize import optimize
from .commands.plans import plans
from .commands.run import run
from .commands.serve import serve
from .commands.stats import stats
from .commands.warm import warm
from .console import Session, open_standard_streams, say, say_error, say_warning
from .wording import COMMAND_LINE

INTERRUPTED = 130
_OF_OUTPUT = (errno.EBADF, errno.ENOSPC, errno.EIO)
"""Errors of standard output; errors of other files have a file name."""


class _ReaderGoneError(Exception):
    """The reader of stdout has closed the pipe."""


class _Commands(TyperGroup):
    """Handles a broken pipe here instead of in Typer."""

    def invoke(self, ctx: Any) -> Any:
        """Runs a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGoneError from error


app = typer.Typer(
    name="headrace",
    cls=_Commands,
    help="Declarative graph queries over streams of edges: planned by cost, run on Spark.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
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


for command in (explain, optimize, plans, run, stats, demo, serve, warm, calibrate, doctor):
    app.command()(opt.command(command))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    open_standard_streams()
    with _stopped_by(signal.SIGTERM, signal.SIGHUP) as stopped:
        code = _main(arguments)
    return 128 + stopped[0] if stopped and code else code


@contextlib.contextmanager
def _stopped_by(*signals: signal.Signals) -> Iterator[list[int]]:
    """Stops a command on signals as on Ctrl-C, and yields the list of received signals.

    An ignored signal stays ignored, such as SIGHUP under ``nohup``.
    """
    received: list[int] = []

    def stop(number: int, frame: object) -> None:
        received.append(number)
        of_command = signal.getsignal(signal.SIGTERM)
        if number != signal.SIGTERM and of_command is not stop and callable(of_command):
            of_command(signal.SIGTERM, None)  # the handler of the server ends the server
            return
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = {
        number: signal.signal(number, stop)
        for number in signals
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _main(arguments: Sequence[str] | None) -> int:
    session = Session()
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("json-escape", _escaped)
        sys.stdout.reconfigure(errors="json-escape")
    command = typer.main.get_command(app)
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = command.main(words, prog_name="headrace", standalone_mode=False, obj=session)
        sys.stdout.flush()
    except typer.TyperException as error:
        return _refused(error)
    except StoppedError as error:
        say(error.display(COMMAND_LINE))
        return INTERRUPTED
    except HeadraceError as error:
        for warning in error.warnings if isinstance(error, InvalidQueryError) else ():
            say_warning(warning)
        say_error(error.display(COMMAND_LINE), error if session.debug else None)
        _drop_output()
        return 2 if isinstance(error, UsageError) else 1
    except (_ReaderGoneError, BrokenPipeError):
        return _reader_gone()
    except KeyboardInterrupt:
        return _interrupted()
    except (OSError, MemoryError) as error:
        say_error(_out_of(error), error if session.debug else None)
        _drop_output()
        return 1
    except Exception as error:
        say_error(_unexpected(error), error if session.debug else None)
        return 1
    if code == INTERRUPTED:
        return _interrupted()
    return code if isinstance(code, int) else 0


def _refused(error: typer.TyperException) -> int:
    """Reports wrong usage: an unknown command or option, or a wrong value."""
    context = getattr(error, "ctx", None)
    message = _wrong_usage(error)
    if message:
        say_error(message)
    if context is not None:
        say(f"  {context.command_path} --help shows its arguments and options")
    return 2


def _wrong_usage(error: typer.TyperException) -> str:
    """Returns the message for wrong usage, without the wording of pydantic."""
    from pydantic import ValidationError

    from ..catalog.shape_errors import did_you_mean, shape_errors

    message: str = getattr(error, "format_message", error.__str__)()
    if isinstance(error.__cause__, ValidationError):
        parameter = getattr(error, "param", None)
        names = parameter.opts if parameter is not None else ()
        wrong = shape_errors(error.__cause__.errors())[0].message
        return f"{max(names, key=len)}: {wrong}" if names else wrong
    option = getattr(error, "option_name", None)
    context = getattr(error, "ctx", None)
    if option is not None and context is not None:
        options = [name for one in context.command.get_params(context) for name in one.opts]
        return f"no such option: {option}{did_you_mean(option, options)}"
    return message


def _interrupted() -> int:
    say("interrupted")
    return INTERRUPTED


def _reader_gone() -> int:
    """Ends without an error after the reader of stdout closed the pipe (``| head``)."""
    _drop_output()
    return 0


def _drop_output() -> None:
    """Discards unwritten output: Python would write it again at exit, and report an error."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Escapes characters that the encoding of stdout lacks, as in JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _out_of(error: OSError | MemoryError) -> str:
    """Returns the message for a full disk, missing memory or a missing permission."""
    from ..executor.spark.host.storage import error_of

    if isinstance(error, OSError) and error.errno is None:
        return _unexpected(error)
    system = error if isinstance(error, OSError) else OSError(errno.ENOMEM, str(error) or "no more")
    advice = error_of(system, "standard output" if system.errno in _OF_OUTPUT else "")
    return f"{advice.message}\n  {advice.hint}"


def _unexpected(error: Exception) -> str:
    from ..executor.spark.host.storage import limit_in_the_way

    limited = limit_in_the_way("Headrace does not run")
    if limited is not None and isinstance(error, OSError | ImportError):
        # A limit of the system prevented loading a library.
        return f"{limited.message}\n  {limited.hint}"
    message = " ".join(str(error).split())
    return (
        f"{type(error).__name__}: {message}\n"
        "  this is a fault of Headrace; --debug shows the traceback"
    )


if __name__ == "__main__":
    sys.exit(main())
