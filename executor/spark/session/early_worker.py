"""Starts a Python worker that connects to its JVM before it imports anything.

Spark starts a Python process to ask which state a query has. The process has ten seconds to connect
and ten more to authenticate; no setting changes the limits. PySpark's own worker imports PySpark
first, which takes longer than that on a busy machine.

So the launcher of :mod:`headrace.executor.spark.session.worker_python` starts this module instead.
It connects, authenticates and sends its process id with the standard library alone, by the protocol
of ``pyspark.worker_util.get_sock_file_to_executor``. Then it imports PySpark and hands the
connection on. Spark has no time limit for the rest.

The command is ``python -m headrace.executor.spark.session.early_worker -m MODULE``, with the
environment of a worker that ``PythonWorkerFactory`` starts.
"""

from __future__ import annotations

import os
import runpy
import socket
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import BinaryIO, cast

SOCKET_PATH = "PYTHON_WORKER_FACTORY_SOCK_PATH"
PORT = "PYTHON_WORKER_FACTORY_PORT"
SECRET = "PYTHON_WORKER_FACTORY_SECRET"


def connected(environment: Mapping[str, str]) -> BinaryIO:
    """Connects to the JVM, authenticates, and sends the id of this process.

    Raises:
        OSError: if the JVM does not answer, or does not accept the secret.
    """
    path = environment.get(SOCKET_PATH)
    if path is not None:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(path)
    else:
        ipv6 = environment.get("SPARK_PREFER_IPV6", "").lower() == "true"
        address = "::1" if ipv6 else "127.0.0.1"
        connection = socket.create_connection((address, int(environment[PORT])))
    size = int(environment.get("SPARK_BUFFER_SIZE", "65536"))
    file = cast(BinaryIO, connection.makefile("rwb", size))
    if path is None:
        _authenticate(file, environment[SECRET].encode())
    file.write(struct.pack("!i", os.getpid()))
    file.flush()
    return file


def _authenticate(file: BinaryIO, secret: bytes) -> None:
    file.write(struct.pack("!i", len(secret)) + secret)
    file.flush()
    (length,) = struct.unpack("!i", file.read(4))
    if file.read(length) != b"ok":
        raise ConnectionRefusedError("the JVM does not accept the secret")


def main() -> None:
    """Connects, then runs the module that the command line names on the connection."""
    file = connected(os.environ)

    @contextmanager
    def early_connection(timeout: int | None = -1) -> Iterator[BinaryIO]:
        with file:
            yield file

    from pyspark import worker_util

    worker_util.get_sock_file_to_executor = early_connection
    _, _, module, *rest = sys.argv
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
