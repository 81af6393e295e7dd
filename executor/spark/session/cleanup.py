"""What Spark and Py4J keep of a query that has ended, for as long as the JVM lives, is let go here.

- The driver asks a Python process which state a query has. With it a thread is started that looks
  after idle processes, of which there are none, and never ends. By what threads inherit it holds
  the query's session, with all plans and listings of files.
- Spark calls the function of each micro-batch from the query's own thread. Py4J makes a connection
  for that thread and keeps it when the thread is gone: on either side an open file, and in Python a
  thread that waits.

Seen with Spark 4.3.0 and Py4J 0.10.9.9: together 1 to 1.5 MB of the JVM's heap for each start of a
query (its listings in Spark's cache of them included, see
:mod:`headrace.executor.spark.session.settings`). Where another version has other insides, what it
keeps is kept.
"""

from __future__ import annotations

import gc
import socket
import threading
from contextlib import suppress
from functools import partial
from typing import Any

from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

from .session import stop_within

_LOCK = threading.Lock()
_SECONDS = 5.0
_IDLE_MONITOR = "Idle Worker Monitor"


class Callbacks:
    """The connections by which the JVM called a function of one query."""

    def __init__(self) -> None:
        self._connections: dict[int, Any] = {}

    def note(self, spark: SparkSession) -> None:
        """Called in the function itself, that is, in the connection's own thread."""
        with suppress(OSError, AttributeError):
            gateway: Any = spark.sparkContext._gateway
            connection = gateway._gateway_client.get_thread_connection()
            if connection is not None and not connection.initiated_from_client:
                self._connections[connection.socket.getpeername()[1]] = connection

    def close(self, spark: SparkSession) -> None:
        """Closes them on both sides, when nothing will call any more."""
        ports = set(self._connections)
        for connection in self._connections.values():
            with suppress(OSError):
                # Not closed here: its thread waits in it, and closes it when it wakes of this.
                connection.socket.shutdown(socket.SHUT_RDWR)
        self._connections.clear()
        gateway: Any = spark.sparkContext._gateway
        client = JavaObject("GATEWAY_SERVER", gateway._gateway_client).getCallbackClient()
        lock, kept = (_inside(client, name) for name in ("lock", "connections"))
        lock.lock()  # by a thread of the JVM that is this thread's alone
        try:
            for connection in list(kept.toArray()):
                if connection.getSocket().getLocalPort() in ports:
                    kept.remove(connection)
                    connection.shutdown()
        finally:
            lock.unlock()


def release(spark: SparkSession, callbacks: Callbacks) -> None:
    """Has Spark and Py4J let go what they keep of a query that has ended, if they answer soon."""
    # The JVM keeps what a Python object stands for, and in circles these wait for a collection.
    gc.collect()
    stop_within(_SECONDS, partial(_release, spark, callbacks))


def _release(spark: SparkSession, callbacks: Callbacks) -> None:
    with suppress(AttributeError, TypeError), _LOCK:
        callbacks.close(spark)
        _end_idle_monitors(spark)


def _end_idle_monitors(spark: SparkSession) -> None:
    """Ends those that look after no workers: only daemons have idle ones."""
    jvm: Any = spark.sparkContext._jvm
    for thread in jvm.java.lang.Thread.getAllStackTraces().keySet().toArray():
        if thread.getName().startswith(_IDLE_MONITOR):
            factory = _inside(thread, "$outer")
            if not factory.useDaemonEnabled():
                thread.interrupt()


def _inside(owner: Any, name: str) -> Any:
    """A field of a Java object, of its class or one above."""
    kind = owner.getClass()
    while name not in {field.getName() for field in kind.getDeclaredFields()}:
        kind = kind.getSuperclass()
    field = kind.getDeclaredField(name)
    field.setAccessible(True)
    return field.get(owner)
