"""A generated day that is replayed and published, and a gateway that serves it."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
from pathlib import Path

import gateway_client as client
import gateway_truth
from endpoint import free_port

PINSTRIKE = sys.argv[1]
INDEPENDENT = Path(__file__).resolve().parents[1] / "independent" / "opra.py"
DAY = ["--messages", "40000", "--rate", "8000", "--series", "2000", "--roots", "40", "--lines", "1-4,201",
       "--streams", "A", "--seed", "7"]
FAST = ["--messages", "300000", "--rate", "60000", *DAY[4:]]


def resident_bytes(process):
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


class Manager:
    """What systemd does for a service: it keeps a descriptor, and passes it to the next start."""

    def __init__(self, path):
        self.path, self.kept = path, None
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.settimeout(client.PATIENCE_S)

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

    def wait_for(self, words, times=1):
        end = time.monotonic() + client.PATIENCE_S
        while self.text().count(words) < times:
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"no {words!r} in: {self.text()}")
            time.sleep(0.02)

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics",
                                    timeout=client.PATIENCE_S) as page:
            return page.read().decode()

    def metric(self, name, labels="", page=None):
        for row in (page or self.metrics()).splitlines():
            if row.startswith(f"pinstrike_{name}{{") and labels in row:
                return float(row.rsplit(" ", 1)[1])
        return None

    def wait_for_metric(self, value, name, labels=""):
        """Figures are taken ten times a second, and later on a busy machine."""
        end = time.monotonic() + client.PATIENCE_S
        while (found := self.metric(name, labels)) != value:
            if time.monotonic() > end:
                raise AssertionError(f"{name} is {found}, expected {value}: {self.text()}")
            time.sleep(0.1)

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        output = self.process.communicate(timeout=client.PATIENCE_S)[0]
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
                              timeout=600, env=cls.environment)
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
                    replay.wait(timeout=client.PATIENCE_S)
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


class WithHours(WithGateway):
    """A day of almost three hours, with the list of its series, so that each has its id from the beginning."""

    DAY = ["--messages", "40000", "--rate", "4", "--series", "60", "--roots", "4", "--lines", "1-4,201",
           "--streams", "A", "--seed", "7"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_well("generate", "--series-map", cls.folder / "series.csv", *cls.DAY)
        cls.config = cls.folder / "feed.yaml"
        cls.config.write_text(f"name: day\nlines: 1-4,201\nseries_map: {cls.folder}/series.csv\n"
                              f"ports: [{{name: capture, kind: pcap, files: [{cls.capture}]}}]\n"
                              "pollers: [{name: poller0, wait: park}]\ncores: [{name: core0, wait: park}]\n"
                              "book: {series_capacity: 20000}\n")

    def check_records(self, records):
        """`records`: of one session each, by schema."""
        announced = re.search(r": (\d+) announced", self.run_well("check", self.config))[1]  # without test symbols
        self.assertEqual(len(gateway_truth.names_of(records["definition"])), int(announced))
        decoded = subprocess.run([sys.executable, INDEPENDENT, self.capture], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout
        truth = gateway_truth.Truth(self.capture, decoded)
        compared = gateway_truth.check(truth, records)
        print("records compared:", compared)
        self.assertGreater(min(compared.values()), 100)

    @contextlib.contextmanager
    def replayed_to(self, gateway):
        """The day, published as fast as possible, because the gateway's clock ends intervals while the replay does not
        run. The gateway attaches after the first packet."""
        command = [PINSTRIKE, "replay", "-", "--config", self.config, "--publish", "day"]
        with subprocess.Popen(command, env=self.environment, stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL) as replay:
            capture = self.capture.read_bytes()
            first = 24 + 16 + int.from_bytes(capture[32:36], "little")
            replay.stdin.write(capture[:first])
            replay.stdin.flush()
            gateway.wait_for("feed_attached")
            rest = threading.Thread(target=replay.communicate, args=(capture[first:],))
            rest.start()
            try:
                yield
            finally:
                rest.join()
            self.assertEqual(replay.returncode, 0)
