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


@dataclass(slots=True)
class Broker:
    """A broker; ``address`` is its host and port."""

    address: str
    _jvm: Any
    _config: Any
    _server: Any = None
    _producer: Any = None

    def start(self) -> None:
        """Starts the server, which goes on with the topics that it had."""
        time = self._jvm.org.apache.kafka.common.utils.Time.SYSTEM
        self._server = self._jvm.kafka.server.KafkaRaftServer(self._config, time)
        self._server.startup()

    def stop(self) -> None:
        """Stops the server, and waits for its end."""
        if self._producer is not None:
            self._producer.close()
        self._server.shutdown()
        self._server.awaitShutdown()
        self._server = self._producer = None

    def make(self, topic: str, partitions: int) -> None:
        """Makes a topic of several partitions."""
        admin = self._jvm.org.apache.kafka.clients.admin.Admin.create(self._settings())
        optional, topics = self._jvm.java.util.Optional, self._jvm.java.util.ArrayList()
        made = self._jvm.org.apache.kafka.clients.admin.NewTopic
        topics.add(made(topic, optional.of(partitions), optional.empty()))
        try:
            admin.createTopics(topics).all().get()
        finally:
            admin.close()

    def send(self, topic: str, messages: Iterable[str], partition: int | None = None) -> None:
        """Puts messages into a topic, which is made if there is none, and waits until they are
        there."""
        if self._producer is None:
            text = self._jvm.org.apache.kafka.common.serialization.StringSerializer
            producer = self._jvm.org.apache.kafka.clients.producer.KafkaProducer
            self._producer = producer(self._settings(), text(), text())
        record = self._jvm.org.apache.kafka.clients.producer.ProducerRecord
        for message in messages:
            self._producer.send(record(topic, partition, None, message))
        self._producer.flush()

    def _settings(self) -> Any:
        settings = self._jvm.java.util.HashMap()
        settings.put("bootstrap.servers", self.address)
        return settings

    def received(self, topic: str) -> list[tuple[str, str]]:
        """The key and value of each message of a topic so far; none if there is no topic."""
        settings = self._settings()
        settings.put("allow.auto.create.topics", "false")
        text = self._jvm.org.apache.kafka.common.serialization.StringDeserializer
        consumer = self._jvm.org.apache.kafka.clients.consumer.KafkaConsumer(
            settings, text(), text()
        )
        partition = self._jvm.org.apache.kafka.common.TopicPartition
        places = self._jvm.java.util.ArrayList()
        messages: list[tuple[str, str]] = []
        try:
            for info in _elements(consumer.partitionsFor(topic)):
                places.add(partition(topic, info.partition()))
            consumer.assign(places)
            consumer.seekToBeginning(places)
            ends = consumer.endOffsets(places)
            while any(consumer.position(place) < ends[place] for place in _elements(places)):
                records = consumer.poll(self._jvm.java.time.Duration.ofMillis(200))
                messages += [(record.key(), record.value()) for record in _elements(records)]
        finally:
            consumer.close()
        return messages


def _elements(of: Any) -> Iterator[Any]:
    """The elements of an iterable of Java; none of null.

    Py4J's own iteration ends by an exception of Java, which PySpark's hook for errors takes for
    one of a session, if this process has had a session.
    """
    iterator = None if of is None else of.iterator()
    while iterator is not None and iterator.hasNext():
        yield iterator.next()


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
    server = Broker(address, jvm, config)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for own in sockets:
        own.bind(("127.0.0.1", 0))
    ports = [own.getsockname()[1] for own in sockets]
    for own in sockets:
        own.close()
    return ports
