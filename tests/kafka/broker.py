"""A Kafka broker on loopback, in a JVM of its own, which ends with the tests."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from headrace.executor.spark.session.jvm import find_java
from tests.kafka.jars import broker_jars

_CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"
_SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/log
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
num.partitions=1
"""


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker; ``address`` is its host and port."""

    address: str
    _jvm: Any
    _producer: Any

    def send(self, topic: str, messages: Iterable[str]) -> None:
        """Puts messages into a topic, which is made if there is none, and waits until they are
        there."""
        record = self._jvm.org.apache.kafka.clients.producer.ProducerRecord
        for message in messages:
            self._producer.send(record(topic, None, message))
        self._producer.flush()


@contextmanager
def broker() -> Iterator[Broker]:
    """Starts a broker, and stops it at the end."""
    jars = [*broker_jars(), *(Path(pyspark.__file__).parent / "jars").glob("py4j-*.jar")]
    classpath = os.pathsep.join(map(str, jars))
    java = str(Path(find_java().home) / "bin" / "java")
    with TemporaryDirectory(prefix="headrace-kafka-") as folder:
        port, controller = _free_ports(2)
        settings = Path(folder) / "server.properties"
        settings.write_text(_SETTINGS.format(port=port, controller=controller, folder=folder))
        tool = ["kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(settings)]
        subprocess.run([java, "-cp", classpath, *tool], check=True, capture_output=True)
        gateway_port = launch_gateway(
            classpath=classpath,
            jarpath=str(jars[-1]),
            java_path=java,
            javaopts=["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"],
            die_on_exit=True,
        )
        gateway = JavaGateway(gateway_parameters=GatewayParameters(port=gateway_port))
        try:
            yield from _started(gateway.jvm, settings, f"127.0.0.1:{port}")
        finally:
            gateway.shutdown()


def _started(jvm: Any, settings: Path, address: str) -> Iterator[Broker]:
    properties = jvm.org.apache.kafka.common.utils.Utils.loadProps(str(settings))
    config = jvm.kafka.server.KafkaConfig(properties)
    server = jvm.kafka.server.KafkaRaftServer(config, jvm.org.apache.kafka.common.utils.Time.SYSTEM)
    server.startup()
    client_settings = jvm.java.util.HashMap()
    client_settings.put("bootstrap.servers", address)
    text = jvm.org.apache.kafka.common.serialization.StringSerializer
    producer = jvm.org.apache.kafka.clients.producer.KafkaProducer(client_settings, text(), text())
    try:
        yield Broker(address, jvm, producer)
    finally:
        producer.close()
        server.shutdown()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for own in sockets:
        own.bind(("127.0.0.1", 0))
    ports = [own.getsockname()[1] for own in sockets]
    for own in sockets:
        own.close()
    return ports
