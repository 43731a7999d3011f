#!/usr/bin/env python3
"""What reads a feed reads one that a bridge brought as well: the same records come from a gateway on each side.

    bridged_feed_test.py PINSTRIKE

Both sides of the bridge run on the loopback interface, with published memory in folders of their own.
"""

import operator
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import gateway_client as client
from endpoint import free_port
from gateway_client import PATIENCE_S, Client
from gateway_day import PINSTRIKE, Gateway

FEED = """
name: live
lines: 1-4
ports: [{name: simulator, kind: sim}]
pollers: [{name: poller0, wait: park}]
cores: [{name: core0, wait: park}]
publish: {memory: shm, stream: on}
book: {series_capacity: 20000}
traffic: {lines_count: 4, roots_count: 20, series_count: 2000, rate_messages_per_second: 5000}
"""
SNAPSHOT = 32  # a flag
BRIDGE = """
feed: {feed}
listen: 127.0.0.1:{port}
tls: {{certificate: one.pem, key: one.key, authority: one.pem}}
"""
RECORDS = 100  # that are compared


def records_of(session, kind, is_enough):
    """The records of this kind, from the first one that is no snapshot."""
    records = []

    def ends(record):
        if record.type == kind and not record.flags & SNAPSHOT:
            records.append(record)
        return bool(records) and is_enough(records)

    for _ in session.records(PATIENCE_S, ends):
        pass
    return records


class BridgedFeed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        keeper = tempfile.TemporaryDirectory(prefix="pinstrike-bridged-")
        cls.addClassCleanup(keeper.cleanup)
        cls.folder = Path(keeper.name)
        cls.port = free_port()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=one", "-keyout", "one.key", "-out", "one.pem"], cwd=cls.folder,
                       check=True, capture_output=True)
        for name in ("live", "copy"):
            (cls.folder / name).mkdir(mode=0o750)
            (cls.folder / f"{name}.yaml").write_text(BRIDGE.format(feed=name, port=cls.port))
        (cls.folder / "feed.yaml").write_text(FEED)
        cls.start("live", "run", "feed.yaml")
        cls.wait_for_series("live")
        cls.start("live", "bridge", "serve", "live.yaml")
        cls.start("copy", "bridge", "join", f"127.0.0.1:{cls.port}", "copy.yaml")
        cls.wait_for_series("copy")
        cls.gateways = [cls.gateway(name) for name in ("live", "copy")]

    @classmethod
    def environment(cls, host):
        return dict(os.environ, PINSTRIKE_FOLDER=str(cls.folder / host))

    @classmethod
    def start(cls, host, *words):
        with open(cls.folder / f"{words[-1]}.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen([os.path.abspath(PINSTRIKE), *words], cwd=cls.folder, stdout=log, stderr=log,
                                       env=cls.environment(host))
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.send_signal, signal.SIGTERM)

    @classmethod
    def wait_for_series(cls, name):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            done = subprocess.run([PINSTRIKE, "chain", "--json", "--feed", name], capture_output=True, check=False,
                                  env=cls.environment(name))
            if done.returncode == 0 and done.stdout.count(b"\n") > 1000:
                return
            time.sleep(0.1)
        raise AssertionError(f"no chain of {name}: {[log.read_text() for log in cls.folder.glob('*.log')]}")

    @classmethod
    def gateway(cls, name):
        folder = cls.folder / f"gateway-{name}"
        folder.mkdir()
        gateway = Gateway(folder, cls.folder / name, feed=name)
        cls.addClassCleanup(gateway.stop)
        return gateway

    def compare(self, schema, kind):
        there, here = sessions = [Client(gateway.port) for gateway in self.gateways]
        for session in sessions:
            session.subscribe(schema)
            session.begin()
        copies = records_of(here, kind, lambda records: len(records) == RECORDS)
        received_ns = operator.methodcaller("take", "Q", 32)
        last_ns = received_ns(copies[-1])
        originals = records_of(there, kind, lambda records: received_ns(records[-1]) > last_ns)
        begun_ns = received_ns(originals[0])  # either session may have begun first
        copies = [each.data for each in copies if received_ns(each) > begun_ns]
        self.assertGreater(len(copies), RECORDS // 2)
        originals = [each.data for each in originals]
        first = originals.index(copies[0])
        self.assertEqual(originals[first:first + len(copies)], copies)

    def test_quotes(self):
        self.compare("mbp-1", client.MBP_1)

    def test_trades(self):
        self.compare("trades", client.TRADE)


if __name__ == "__main__":
    del sys.argv[1:]
    unittest.main(verbosity=2)
