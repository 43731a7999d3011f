#!/usr/bin/env python3
"""`pinstrike run` beyond its means: overload is refused and told, a bad config is told whole.

    run_test.py PINSTRIKE
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PINSTRIKE = sys.argv[1]

# As fast as the simulator gives, into a ring far too small for it.
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

BAD = """
name: bad
kind: opra
lines: 1-4
ports: [{name: simulator, kind: sim, bursts: 3}]
pollers: [{name: poller0, ports: [elsewhere]}]
cores: [{name: core0, cpu: 5000}]
ring_slots: 1000
"""


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
        time.sleep(4)
        self.assertIsNone(process.poll(), "it ended by itself")
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, out[-2000:] + err[-2000:])
        return self.account()

    def test_overload_is_refused_told_and_balanced(self):
        account = self.stop_under_load(signal.SIGTERM, self.write(OVERLOADED))
        self.check_balance(account)
        self.assertGreater(sum(ring["refused"] for ring in account["rings"]), 0)
        self.assertGreater(sum(core["gap_events"] for core in account["cores"]), 0)

    def test_bad_config_is_told_whole_and_ends_with_78(self):
        process = self.start(self.write(BAD))
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 78, err)
        for word in ("bursts", "elsewhere", "5000", "ring_slots"):
            self.assertIn(word, err)

    def test_absent_config_ends_with_78(self):
        process = self.start(self.folder / "absent.yaml")
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 78, err)
        self.assertIn("absent.yaml", err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
