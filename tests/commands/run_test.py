#!/usr/bin/env python3
"""`pinstrike run` under overload: messages are refused and reported. And all errors of a bad
config are reported.

    run_test.py PINSTRIKE
"""

import json
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from endpoint import thread_names

PINSTRIKE = sys.argv[1]

# At the simulator's full speed, into a ring that is far too small.
OVERLOADED = """
name: overloaded
kind: opra
lines: 1-4
ports: [{name: simulator, kind: sim}]
pollers: [{name: poller0}]
cores: [{name: core0, wait: park}]
ring_slots: 1024
book: {series_capacity: 50000}
traffic: {lines_count: 4, roots_count: 100, series_count: 20000, rate_messages_per_second: 100000000}
"""

# A capture of each stream; stream B's begins later.
TWO_CAPTURES = """
name: captures
kind: opra
lines: 1-2
ports:
  - {{name: port_a, kind: pcap, files: [{a}], streams: A, pace: {pace}}}
  - {{name: port_b, kind: pcap, files: [{b}], streams: B, pace: {pace}}}
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}]
when_full: wait
book: {{series_capacity: 50000}}
"""

BAD = """
name: bad
kind: opra
lines: 1-4
ports: [{name: simulator, kind: sim, bursts: 3}]
pollers: [{name: poller0, ports: [elsewhere]}]
cores: [{name: core0, cpu: 5000}]
ring_slots: 1000
"""


def without_beginning(capture, ns):
    """A capture (pcap with times in nanoseconds) without its first frames."""
    header, at, first_ns, kept = capture[:24], 24, None, []
    assert struct.unpack_from("<I", header)[0] == 0xA1B23C4D
    while at < len(capture):
        seconds, nanoseconds, length = struct.unpack_from("<III", capture, at)
        ts_ns = seconds * 1_000_000_000 + nanoseconds
        first_ns = ts_ns if first_ns is None else first_ns
        if ts_ns - first_ns >= ns:
            kept.append(capture[at:at + 16 + length])
        at += 16 + length
    return header + b"".join(kept)


class Run(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="pinstrike-run-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, text):
        path = self.folder / "feed.yaml"
        path.write_text(text)
        return path

    def start(self, config, *options):
        process = subprocess.Popen(
            [PINSTRIKE, "run", config, "--account", self.folder / "account.json", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def await_poller(self, process):
        """The pollers start last, after all actors."""
        deadline = time.monotonic() + 120
        while "poller0" not in thread_names(process):
            self.assertIsNone(process.poll(), "it ended by itself")
            self.assertLess(time.monotonic(), deadline, "no poller has started")
            time.sleep(0.05)

    def account(self):
        return json.loads((self.folder / "account.json").read_text())

    def check_balance(self, account):
        self.assertIs(account["balanced"], True)
        delivered = sum(line["delivered"] for line in account["lines"])
        filtered = sum(line["filtered"] for line in account["lines"])
        routed = sum(ring["routed"] for ring in account["rings"])
        self.assertGreater(delivered, 1000)
        self.assertLessEqual(routed + filtered, delivered)
        for ring in account["rings"]:
            self.assertEqual(ring["routed"], ring["pushed"] + ring["refused"])
        self.assertEqual(sum(core["events"] for core in account["cores"]),
                         sum(ring["pushed"] for ring in account["rings"]))

    def stop_under_load(self, number, config):
        process = self.start(config)
        self.await_poller(process)
        time.sleep(4)
        self.assertIsNone(process.poll(), "it ended by itself")
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out[-2000:] + err[-2000:])
        return self.account()

    def test_overload_is_refused_reported_and_balanced(self):
        account = self.stop_under_load(signal.SIGTERM, self.write(OVERLOADED))
        self.check_balance(account)
        self.assertGreater(sum(ring["refused"] for ring in account["rings"]), 0)
        self.assertGreater(sum(core["gap_events"] for core in account["cores"]), 0)

    def test_captures_on_two_ports_give_the_same_at_any_pace(self):
        files = {}
        for stream in ("a", "b"):
            files[stream] = self.folder / f"{stream}.pcap"
            subprocess.run([PINSTRIKE, "generate", "--out", files[stream], "--streams",
                            stream.upper(), "--messages", "10000", "--rate", "10000", "--series",
                            "2000", "--roots", "50", "--lines", "1-2", "--seed", "5"],
                           check=True, capture_output=True, timeout=60)
        whole = files["b"].read_bytes()
        files["b"].write_bytes(without_beginning(whole, 300_000_000))
        self.assertLess(files["b"].stat().st_size, len(whole))
        accounts = []
        for pace in ("max", "x2"):
            process = self.start(self.write(TWO_CAPTURES.format(pace=pace, **files)))
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, out[-2000:] + err[-2000:])
            accounts.append(self.account())
            self.check_balance(accounts[-1])
        self.assertEqual(accounts[0]["lines"], accounts[1]["lines"])
        for line in accounts[0]["lines"]:
            self.assertEqual((line["lost"], line["gaps"]), (0, []))

    def test_bad_config_is_reported_whole_and_ends_with_78(self):
        process = self.start(self.write(BAD))
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 78, err)
        for word in ("bursts", "elsewhere", "5000", "ring_slots"):
            self.assertIn(word, err)

    def test_absent_config_ends_with_78(self):
        process = self.start(self.folder / "absent.yaml")
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 78, err)
        self.assertIn("absent.yaml", err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
