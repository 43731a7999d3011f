#!/usr/bin/env python3
"""Inputs from the field, with their correct values: small captures and lists, in folder `field`.

    field_inputs_test.py PINSTRIKE FOLDER
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PINSTRIKE, INPUTS = sys.argv[1], Path(sys.argv[2])

CALENDAR = """name: opra
kind: opra
lines: 1-4, 201
ports: [{{name: nic, kind: uring, interface: lo}}]
pollers: [{{name: p0, lines: all, ports: [nic], wait: park}}]
cores: [{{name: c0, wait: park}}]
book: {{series_capacity: 10000}}
calendar: {{hours: session, holidays: [2026-12-25]{more}}}
"""

SERIES_MAP = """name: opra
kind: opra
lines: 1-4
ports: [{{name: s, kind: sim}}]
pollers: [{{name: p0, lines: all, ports: [s], wait: park}}]
cores: [{{name: c0, wait: park}}]
book: {{series_capacity: 10000}}
series_map: {file}
traffic: {{rate_messages_per_second: 100, series_count: 10, roots_count: 3}}
"""


def run(*arguments):
    return subprocess.run([PINSTRIKE, *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=120)


class Inputs(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)

    def file(self, name, text=None):
        path = Path(self.scratch.name) / name
        if text is not None:
            path.write_text(text, encoding="utf-8")
        return path

    def replay(self, capture, *more):
        """The output, the account, and the series of the book."""
        account, book = self.file("account.json"), self.file("book.json")
        done = run("replay", INPUTS / capture, "--account", account, "--book", book, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        series = [json.loads(line) for line in book.read_text(encoding="utf-8").splitlines()]
        return done, json.loads(account.read_text(encoding="utf-8")), series

    def line_of(self, account, number):
        return next(line for line in account["lines"] if line["line"] == number)

    def test_a_second_copy_stamped_later_is_a_copy(self):
        done, account, series = self.replay("stamp.pcap")
        line = self.line_of(account, 4)
        self.assertEqual((line["delivered"], line["lost"]), (20, 0))
        self.assertEqual(line["streams"]["A"]["accepted"], 20)
        self.assertEqual(line["streams"]["B"]["duplicate"], 20)
        self.assertEqual([(each["trades"], each["volume"], each["quotes"]) for each in series],
                         [(10, 10, 10)])
        self.assertNotIn("reset_inferred", done.stderr)

    def test_a_stream_far_behind_or_ahead_repairs_the_other(self):
        for capture in ("late50ms.pcap", "ahead37s.pcap"):
            done, account, _ = self.replay(capture)
            line = self.line_of(account, 4)
            self.assertEqual((line["delivered"], line["lost"]), (200, 0), capture)
            self.assertEqual(line["streams"]["A"]["accepted"], 190, capture)
            self.assertEqual(line["streams"]["B"]["accepted"], 10, capture)
            self.assertNotIn("gap_declared", done.stderr, "what was filled is no loss")

    def test_nanoseconds_beyond_a_second_are_carried_over(self):
        done = run("decode", INPUTS / "nanos.pcap")
        self.assertIn("2023-11-15T14:30:01.500000000Z", done.stdout)
        done = run("decode", INPUTS / "nanos.pcap", "--json")
        self.assertIn('"ts_ns":1700058601500000000', done.stdout.replace(" ", ""))

    def test_a_list_of_series_may_have_a_byte_order_mark_and_any_line_end(self):
        for name in ("plain.csv", "with-heading.csv", "without-heading.csv"):
            rows = (INPUTS / name).read_bytes()
            for end in (b"\n", b"\r\n", b"\r"):
                listed = self.file("map.csv")
                listed.write_bytes(end.join(rows.splitlines()) + end)
                config = self.file("map.yaml", SERIES_MAP.format(file=listed))
                done = run("check", config)
                self.assertIn("4 announced", done.stdout, (name, end))
                self.assertNotIn("left out", done.stdout + done.stderr, (name, end))

    def test_an_evening_without_a_session_brings_tests(self):
        capture = "christmas.pcap"
        usual = self.file("usual.yaml", CALENDAR.format(more=""))
        _, account, _ = self.replay(capture, "--config", usual)
        self.assertEqual(self.line_of(account, 201)["filtered"], 0)
        none = self.file("none.yaml", CALENDAR.format(more=", gth_holidays: [2026-12-25]"))
        _, account, series = self.replay(capture, "--config", none)
        self.assertEqual(self.line_of(account, 201)["filtered"], 3)
        self.assertEqual(series, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
