"""The instances on which alerts fire, and their traffic.

Simulated instances make their own traffic. Each wired instance has a namespace of its own and receives
one generator's traffic through tests/live/relay.cpp, to which faults can be added while it runs. A
separate network connects Prometheus with their metrics. The test itself runs in a namespace of this
network, so that it uses no port of the machine.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "live"), str(HERE.parent / "commands")]
import live  # noqa: E402
from gateway_client import KEY, Client  # noqa: E402
from instance import Instance, config  # noqa: E402

# Some 90 blocks a second and stream, because many instances share few processors.
RATE = "400"
TRAFFIC = ["--lines", "1-4", "--rate", RATE, "--shape", "ordinary", "--series", "2000", "--roots",
           "50"]
SIMULATED = """
name: {feed}
kind: opra
lines: 1-4
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park, actors: [book]}}]
ring_slots: 1024
book: {{series_capacity: {capacity}}}
traffic: {{lines_count: 4, roots_count: 50, series_count: 2000, shape: ordinary,
  rate_messages_per_second: {rate}}}
metrics_address: {address}
{more}
"""
AS_LONG_AS_IT_TAKES = "36000s"


class Here:
    """A namespace for the test, Prometheus, the simulated instances, and the network of metrics."""

    def __init__(self):
        self.name = f"ps{os.getpid()}m"
        self.processes = []
        self.wired_count = 0
        live.skip_unless_permitted()
        live.at_the_end(self.remove)
        live.run("ip", "netns", "add", self.name)
        descriptor = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        live.enter_namespace(descriptor)
        os.close(descriptor)
        live.run("ip", "link", "set", "lo", "up")
        live.run("ip", "link", "add", "name", "metrics", "type", "bridge")
        live.run("ip", "addr", "add", "10.93.0.254/24", "dev", "metrics")
        live.run("ip", "link", "set", "metrics", "up")

    def join(self, space):
        """Connects a namespace to the network of metrics, and returns its address there."""
        self.wired_count += 1
        end, address = f"m{self.wired_count}", f"10.93.0.{self.wired_count}"
        live.run("ip", "link", "add", end, "type", "veth", "peer", "name", "metrics", "netns", space)
        live.run("ip", "link", "set", end, "master", "metrics", "up")
        live.run("ip", "-n", space, "addr", "add", address + "/24", "dev", "metrics")
        live.run("ip", "-n", space, "link", "set", "metrics", "up")
        return address

    def start(self, *command, **options):
        process = subprocess.Popen([str(word) for word in command], **options)
        self.processes.append(process)
        return process

    def remove(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True, check=False)


class Simulated:
    def __init__(self, here, folder, pinstrike, name, number, *, feed=None, more="",
                 before=(), environment=None):
        """`feed`: the feed's name, if it is not the instance's; `more`: keys of the config; `before`: words
        before the program."""
        self.here, self.name, self.pinstrike, self.more = here, name, pinstrike, more
        self.feed = feed or name
        if feed is None:  # two feeds of one name cannot publish on one host
            self.more += "\npublish: {memory: shm, stream: on, stream_records: 1024}"
        self.address = f"127.0.0.1:{9500 + number}"
        self.path, self.log = folder / f"{name}.yaml", folder / f"{name}.log"
        self.before, self.environment, self.process = before, environment, None

    def start(self, rate=RATE, capacity=20000):
        self.path.write_text(SIMULATED.format(feed=self.feed, address=self.address, rate=rate,
                                              capacity=capacity, more=self.more))
        self.process = self.here.start(
            *self.before, self.pinstrike, "run", self.path, stdout=subprocess.DEVNULL,
            stderr=open(self.log, "a", encoding="utf-8"),
            start_new_session=True,  # without a terminal, whose SIGHUP would be an end
            env={**os.environ, "PINSTRIKE_FOLDER": str(self.path.parent), **(self.environment or {})})

    def said(self):
        return self.log.read_text()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=120)

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=120)


class Bridged:
    """One side of a bridge: serves the feed of a simulated instance, or joins the side `serves`."""

    def __init__(self, here, folder, pinstrike, name, number, feed, serves=None):
        self.here, self.name, self.pinstrike, self.feed = here, name, pinstrike, feed
        self.address, self.listens = f"127.0.0.1:{9600 + number}", f"127.0.0.1:{13000 + number}"
        self.path, self.log = folder / f"{name}.yaml", folder / f"{name}.log"
        self.words = ["join", serves.listens] if serves else ["serve"]
        self.process = None
        certificate = folder / "bridge.pem"
        if not certificate.exists():
            live.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                     "-days", "2", "-subj", "/CN=bridge", "-keyout", folder / "bridge.key", "-out", certificate)
            (folder / "bridge.key").chmod(0o600)
        self.path.write_text(
            f"feed: {name if serves else feed}\nlisten: {self.listens}\nmetrics_address: {self.address}\n"
            "tls: {certificate: bridge.pem, key: bridge.key, authority: bridge.pem}\n")

    def start(self):
        self.process = self.here.start(
            self.pinstrike, "bridge", *self.words, self.path, stdout=subprocess.DEVNULL,
            stderr=open(self.log, "a", encoding="utf-8"), start_new_session=True,
            env={**os.environ, "PINSTRIKE_FOLDER": str(self.path.parent)})

    def said(self):
        return self.log.read_text()

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=120)


class Served:
    """A gateway of the feed of a simulated instance."""

    def __init__(self, here, folder, pinstrike, name, number, feed, more=""):
        self.here, self.name, self.pinstrike, self.feed = here, name, pinstrike, feed
        self.address, self.port = f"127.0.0.1:{9600 + number}", 13000 + number
        self.path, self.log = folder / f"{name}.yaml", folder / f"{name}.log"
        keys, self.process = folder / f"{name}.keys", None
        keys.write_text(f"keys: [{{user: {name}, key: {KEY}}}]\n")
        keys.chmod(0o600)
        self.path.write_text(f"feed: {feed}\naddress: 127.0.0.1:{self.port}\nkeys: {keys}\n"
                             f"metrics_address: {self.address}\n{more}\n")

    def start(self):
        self.process = self.here.start(
            self.pinstrike, "gateway", self.path, stdout=subprocess.DEVNULL,
            stderr=open(self.log, "a", encoding="utf-8"), start_new_session=True,
            env={**os.environ, "PINSTRIKE_FOLDER": str(self.path.parent)})

    def said(self):
        return self.log.read_text()

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=120)

    def client(self, *schemas, receive_bytes=None):
        """A client that follows all series."""
        client = Client(self.port, receive_bytes=receive_bytes)
        for schema in schemas:
            client.subscribe(schema)
        client.start()
        return client


class Written(Served):
    """A Kafka producer of the feed of a simulated instance, with brokers that librdkafka makes in its process, or with
    those of another producer (`brokers`)."""

    def __init__(self, here, folder, pinstrike, name, number, feed, brokers=None):
        super().__init__(here, folder, pinstrike, name, number, feed)
        self.brokers = brokers
        self.properties = folder / f"{name}.properties"

    def start(self):
        self.properties.write_text("" if self.brokers else "test.mock.num.brokers=1\n")
        self.properties.chmod(0o600)
        address = f"127.0.0.1:{self.brokers.listens_at()}" if self.brokers else "127.0.0.1:9092"
        self.path.write_text(f"feed: {self.feed}\nbrokers: {address}\ntopics: [{{schema: mbp-1}}]\nqueue: 1MiB\n"
                             f"timeout: 10s\nproperties: {self.properties}\nmetrics_address: {self.address}\n")
        self.process = self.here.start(
            self.pinstrike, "kafka", self.path, stdout=subprocess.DEVNULL,
            stderr=open(self.log, "a", encoding="utf-8"), start_new_session=True,
            env={**os.environ, "PINSTRIKE_FOLDER": str(self.path.parent)})

    def listens_at(self):
        """The port of the brokers in its process: the one where it listens beside its metrics."""
        own = int(self.address.rsplit(":", 1)[1])
        end = time.monotonic() + 120
        while time.monotonic() < end:
            listed = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
            ports = {int(re.search(r":(\d+) ", row)[1]) for row in listed.splitlines()
                     if f"pid={self.process.pid}," in row} - {own}
            if ports:
                return ports.pop()
            time.sleep(0.2)
        raise AssertionError(f"{self.name} has no brokers")


class Wired(Instance):
    def __init__(self, here, folder, pinstrike, name, beside, *, port="uring", room=""):
        super().__init__(name, folder, pinstrike, beside)
        self.outlet = self.wire.outlet
        self.address = here.join(self.wire.receiver) + ":9464"
        self.text = (config(port, room=room).replace("name: live", f"name: {name}")
                     + f"metrics_address: {self.address}\n")

    def start(self):
        self.run(self.text)

    def hear_over_a_switch(self):
        """The relay's frames come over a bridge, so that its own link is never down."""
        space, ends = self.wire.sender, ("toswitch", "inswitch")
        live.run("ip", "-n", space, "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        live.run("ip", "-n", space, "link", "add", "name", "switch", "type", "bridge",
                 "mcast_snooping", "0")
        live.run("ip", "-n", space, "addr", "flush", "dev", self.outlet)
        for end in (ends[1], self.outlet):
            live.run("ip", "-n", space, "link", "set", end, "master", "switch", "up")
        for end in (ends[0], "switch"):
            live.run("ip", "-n", space, "link", "set", end, "up")
        self.outlet = ends[0]

    def link(self, state):
        """up or down"""
        live.run("ip", "-n", self.wire.sender, "link", "set", self.wire.outlet, state)


class Exchange:
    """The generator and the relay."""

    def __init__(self, pinstrike, relay, wired):
        self.wire = wired[0].wire
        space = self.wire.sender
        live.run("ip", "-n", space, "link", "add", "source", "type", "veth", "peer", "name",
                 "intake")
        for end in ("source", "intake"):
            live.run("ip", "-n", space, "link", "set", end, "up")
        ways = [f"{each.name}={each.outlet}" for each in wired]
        self.relay = self.wire.start(space, relay, "intake", "/dev/null", "1", "-", *ways,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        live.expect(self.relay.stdout.readline() == "ready\n", "the relay does not start")
        self.generator = self.wire.start(
            space, pinstrike, "generate", "--interface", "source", *TRAFFIC, "--for",
            AS_LONG_AS_IT_TAKES, stdout=subprocess.DEVNULL)

    def order(self, text):
        self.relay.stdin.write(text + "\n")
        self.relay.stdin.flush()
