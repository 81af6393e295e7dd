"""The cell magic ``%%headrace`` of IPython, for ``%load_ext headrace``."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser
from typing import Any, NoReturn

from ...planning.errors import HeadraceError
from ..parameters import values_of
from .optimizing import optimize


class _Parser(ArgumentParser):
    """Raises IPython's error for wrong usage, which a notebook shows without a traceback."""

    def error(self, message: str) -> NoReturn:
        """Refuses a line of arguments."""
        from IPython.core.error import UsageError

        raise UsageError(f"{message}\n{self.format_usage()}")


def _parser() -> _Parser:
    parser = _Parser("%%headrace", add_help=False, allow_abbrev=False)
    parser.add_argument("name", nargs="?", help="the variable for the planned query or the rows")
    parser.add_argument("--catalog", metavar="FILE", help="a file, or a variable with a Catalog")
    parser.add_argument("--input", action="append", default=[], metavar="[LABEL=]FILE")
    parser.add_argument("--window", metavar="LENGTH")
    parser.add_argument("--slide", metavar="LENGTH")
    parser.add_argument("--language", choices=("rq", "gcore", "cypher"))
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--run", nargs="?", const="local", choices=("local", "spark"))
    return parser


def headrace(line: str, cell: str, variables: dict[str, Any]) -> Any:
    """Plans the query of a cell and returns the planned query, which the notebook draws.

    Args:
        line: ``[NAME] [--catalog FILE] [--input FILE] [--window LENGTH] [--slide LENGTH]
            [--language rq|gcore|cypher] [--param NAME=VALUE] [--run [local|spark]]``. With
            ``--run`` the result is the DataFrame of pandas with the results.
        cell: the text of the query.
        variables: the variables of the notebook, which get the result as ``NAME``.

    Raises:
        IPython.core.error.UsageError: for every error of a user.
    """
    from IPython.core.error import UsageError

    parser = _parser()
    try:
        words = shlex.split(line)
    except ValueError as error:
        parser.error(str(error))
    arguments = parser.parse_args(words)
    if arguments.name is not None and not arguments.name.isidentifier():
        parser.error(f"{arguments.name} is not the name of a variable")
    try:
        planned = optimize(
            cell,
            catalog=variables.get(arguments.catalog, arguments.catalog),
            inputs=arguments.input,
            window=arguments.window,
            slide=arguments.slide,
            language=arguments.language,
            parameters=values_of(arguments.param),
        )
        result = planned if arguments.run is None else planned.run(arguments.run).to_pandas()
    except HeadraceError as error:
        raise UsageError(error.display()) from None
    if arguments.name is not None:
        variables[arguments.name] = result
    return result


def load_ipython_extension(ipython: Any) -> None:
    """Adds the magic to a shell: ``%load_ext headrace``."""

    def magic(line: str, cell: str) -> Any:
        return headrace(line, cell, ipython.user_ns)

    magic.__doc__ = headrace.__doc__
    ipython.register_magic_function(magic, "cell", "headrace")
