"""A generated day that is replayed and published, the records that follow from it, and a gateway that serves it."""

import collections
import contextlib
import decimal
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

import gateway_client as client
from endpoint import free_port
from gateway_client import UNDEFINED_PRICE

PINSTRIKE = sys.argv[1]
DAY = ["--messages", "40000", "--rate", "8000", "--series", "2000", "--roots", "40", "--lines", "1-4,201",
       "--streams", "A", "--seed", "7"]
PUBLISHERS = {"A": 20, "B": 21, "C": 22, "D": 23, "E": 24, "G": 108, "H": 25, "I": 26, "J": 27, "M": 28, "N": 29,
              "O": 30, "P": 31, "Q": 32, "S": 61, "T": 33, "U": 37, "V": 109, "W": 34, "X": 35, "Z": 36}
NO_SIDE = (UNDEFINED_PRICE, 0, 0)
FLAGS = 194


def resident_bytes(process):
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def nanos(price):
    return int(decimal.Decimal(price) * 10**9)


def series_of(message):
    """(OSI symbol, session of the night)"""
    expiration = message["expiration"].replace("-", "")[2:]
    strike = int(decimal.Decimal(message["strike"]) * 1000)
    return f"{message['symbol']:<6}{expiration}{message['right']}{strike:08}", message["line"] >= 201


class Truth:
    """What each schema must have, from the decoded capture. A series' list is in the order of its line."""

    def __init__(self, decoded):
        self.quotes = collections.defaultdict(list)   # (exchange ns, sides)
        self.trades = collections.defaultdict(list)   # (exchange ns, publisher, price, size, sequence, sides)
        self.interest = collections.defaultdict(list)  # (exchange ns, publisher, contracts)
        best = collections.defaultdict(lambda: [NO_SIDE, NO_SIDE])
        for row in decoded.splitlines():
            message = json.loads(row)
            kind = message["category"]
            if "strike" in message and kind != "R":
                series = series_of(message)
                sides = best[series]
                if kind in "qk":
                    self.add_quote(series, message, sides)
                elif kind == "a" and message["type"] not in "ACEG":
                    self.trades[series].append(
                        (message["ts_ns"], PUBLISHERS[message["participant"]], nanos(message["price"]),
                         message["volume"], message["seq"], tuple(sides)))
                elif kind == "d":
                    self.interest[series].append(
                        (message["ts_ns"], PUBLISHERS[message["participant"]], message["open_interest"]))

    def add_quote(self, series, message, sides):
        if message["indicator"] in "A ":
            return
        cell = ord(message["indicator"]) - ord("A")
        publisher = PUBLISHERS[message["participant"]]
        for side, effect, own in ((0, cell // 4, "bid"), (1, (0, 1, 3, 2)[cell % 4], "offer")):
            if effect == 1:
                sides[side] = (nanos(message[own]), message[own + "_size"], publisher)
            elif effect == 2:
                sides[side] = NO_SIDE
            elif effect == 3 and f"best_{own}" in message:
                stated = message[f"best_{own}"]
                sides[side] = (nanos(stated["price"]), stated["size"], PUBLISHERS[stated["participant"]])
        self.quotes[series].append((message["ts_ns"], tuple(sides)))


def sides_of(record):
    bid, ask, bid_size, ask_size, bid_publisher, ask_publisher = client.level_of(record.data)
    return (bid, bid_size, bid_publisher), (ask, ask_size, ask_publisher)


class Manager:
    """What systemd does for a service: it keeps a descriptor, and passes it to the next start."""

    def __init__(self, path):
        self.path, self.kept = path, None
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.settimeout(10)

    def command(self, command):
        environment = {"NOTIFY_SOCKET": str(self.path)}
        if self.kept is None:
            return command, {"environment": environment}
        environment |= {"LISTEN_FDS": "1", "LISTEN_FDNAMES": "listener"}
        script = f'exec 3<&{self.kept}; export LISTEN_PID=$$; exec "$@"'
        return (["bash", "-c", script, "bash", *command],
                {"environment": environment, "pass_fds": (self.kept,)})

    def keep(self):
        """Takes the descriptor that the service gives."""
        while True:
            text, descriptors, _, _ = socket.recv_fds(self.socket, 4096, 1)
            if text.startswith(b"FDSTORE=1"):
                assert b"FDNAME=listener" in text
                self.kept = descriptors[0]
                return


class Gateway:
    """A gateway in a folder of its own, with its log."""

    def __init__(self, folder, memory, feed="day", keys=None, more="", managed=False):
        self.port, self.metrics_port = free_port(), free_port()
        self.folder = folder
        self.keys = folder / "gateway.keys"
        self.write_keys(keys or f"keys: [{{user: trial, key: {client.KEY}}}]\n")
        self.config = folder / "gateway.yaml"
        self.config.write_text(f"feed: {feed}\naddress: 127.0.0.1:{self.port}\nkeys: gateway.keys\n"
                               f"metrics_address: 127.0.0.1:{self.metrics_port}\naccess_log: access.log\n{more}")
        self.environment = dict(os.environ, PINSTRIKE_FOLDER=str(memory))
        self.manager = Manager(folder / "notify") if managed else None
        self.start()

    def start(self):
        self.log = open(self.folder / "log", "a+", encoding="utf-8")
        opened = self.text().count("gateway_open")
        command = [PINSTRIKE, "gateway", str(self.config), "--account", str(self.folder / "account.json")]
        more = {}
        if self.manager is not None:
            command, more = self.manager.command(command)
        self.process = subprocess.Popen(command, env={**self.environment, **more.pop("environment", {})},
                                        stdout=subprocess.PIPE, stderr=self.log, text=True, **more)
        self.wait_for("gateway_open", times=opened + 1)

    def write_keys(self, text):
        self.keys.write_text(text)
        self.keys.chmod(0o600)

    def text(self):
        return (self.folder / "log").read_text(encoding="utf-8")

    def wait_for(self, words, seconds=20, times=1):
        end = time.monotonic() + seconds
        while self.text().count(words) < times:
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"no {words!r} in: {self.text()}")
            time.sleep(0.02)

    def metric(self, name, labels=""):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10) as page:
            for row in page.read().decode().splitlines():
                if row.startswith(f"pinstrike_{name}{{") and labels in row:
                    return float(row.rsplit(" ", 1)[1])
        return None

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        output = self.process.communicate(timeout=30)[0]
        self.log.close()
        return self.process.returncode, output


class WithGateway(unittest.TestCase):
    DAY = DAY

    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="pinstrike-gateway-")
        cls.folder = Path(cls.keeper.name)
        cls.memory = cls.folder / "memory"
        cls.memory.mkdir(mode=0o750)
        cls.environment = dict(os.environ, PINSTRIKE_FOLDER=str(cls.memory))
        cls.capture = cls.folder / "day.pcap"
        cls.run_well("generate", "--out", cls.capture, *cls.DAY)

    @classmethod
    def tearDownClass(cls):
        cls.keeper.cleanup()

    @classmethod
    def run_well(cls, *arguments):
        done = subprocess.run([PINSTRIKE, *map(str, arguments)], capture_output=True, text=True, check=False,
                              timeout=120, env=cls.environment)
        if done.returncode != 0:
            raise AssertionError(f"{arguments} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    @contextlib.contextmanager
    def replayed(self, *options):
        """The day, published."""
        with subprocess.Popen([PINSTRIKE, "replay", str(self.capture), "--publish", "day", *options],
                              env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as replay:
            try:
                yield replay
                if replay.poll() is None and "--keep" not in options:
                    replay.send_signal(signal.SIGINT)
            finally:
                if replay.poll() is None:
                    replay.wait(timeout=60)
                replay.stderr.close()

    @contextlib.contextmanager
    def gateway(self, **more):
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        made = Gateway(folder, self.memory, **more)
        try:
            yield made
        finally:
            if made.process.poll() is None:
                made.process.kill()
                made.process.communicate()
