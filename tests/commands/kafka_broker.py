"""A broker of Apache Kafka on this host, in a folder of its own: KRaft, from the jars of Maven Central."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from endpoint import free_port

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>pinstrike.test</groupId><artifactId>broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
%s
  </dependencies>
</project>
"""
JARS = {"kafka_2.13": ("org.apache.kafka", "4.3.1"), "kafka-tools": ("org.apache.kafka", "4.3.1"),
        "slf4j-simple": ("org.slf4j", "1.7.36")}
CLUSTER = "cGluc3RyaWtlLXRlc3QtMQ"  # 16 bytes in base64
READY_SECONDS = 600  # a limit for hanging processes; a busy machine is slow


def jars(folder):
    """The folder with the broker's jars, and nothing; or nothing, and why there is none."""
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            return None, f"{tool} is not installed (Debian: openjdk-17-jre-headless, maven)"
    folder = Path(folder)
    there = folder / "jars"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pom.xml").write_text(POM % "".join(
            f"    <dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
            "</dependency>\n" for name, (group, version) in JARS.items()), encoding="utf-8")
        done = subprocess.run(["mvn", "-q", "-B", "-f", folder / "pom.xml", "dependency:copy-dependencies",
                               f"-DoutputDirectory={there}"], capture_output=True, text=True, check=False, timeout=600)
        if done.returncode != 0:
            return None, f"Maven cannot get the broker: {(done.stdout + done.stderr)[-500:]}"
        (folder / "complete").touch()
    return there, None


class Broker:
    """One broker, which is its own controller. Everything that it acknowledged outlives kill() and start()."""

    def __init__(self, folder, classes, partitions=4):
        self.folder, self.classes = Path(folder), classes
        self.port, controller = free_port(), free_port()
        self.config = self.folder / "server.properties"
        self.config.write_text(
            "process.roles=broker,controller\nnode.id=1\n"
            f"controller.quorum.voters=1@127.0.0.1:{controller}\n"
            f"listeners=PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller}\n"
            f"advertised.listeners=PLAINTEXT://127.0.0.1:{self.port}\n"
            "controller.listener.names=CONTROLLER\n"
            f"log.dirs={self.folder}/data\nnum.partitions={partitions}\n"
            "offsets.topic.replication.factor=1\ntransaction.state.log.replication.factor=1\n"
            "transaction.state.log.min.isr=1\ngroup.initial.rebalance.delay.ms=0\n", encoding="utf-8")
        subprocess.run(self.java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", self.config), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=READY_SECONDS)
        self.process = None

    def java(self, name, *arguments):
        return ["java", "-Xms256m", "-Xmx768m", "-cp", f"{self.classes}/*", name, *map(str, arguments)]

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        with open(self.folder / "broker.log", "ab") as log:
            self.process = subprocess.Popen(self.java("kafka.Kafka", self.config), stdout=log, stderr=log,
                                            env=dict(os.environ, LC_ALL="C"))
        end = time.monotonic() + READY_SECONDS
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"no broker: {(self.folder / 'broker.log').read_text()[-2000:]}")
            time.sleep(0.2)

    def kill(self):
        """As a crash does."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(timeout=30)
            self.process = None
