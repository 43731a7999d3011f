#!/usr/bin/env python3
"""`pinstrike bench`: the documented rows, their sums, and clear error messages.

    bench_test.py PINSTRIKE

The size of figures is not checked, because machines differ.
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PINSTRIKE = sys.argv[1]
STAGES = ["receive", "parse", "find line", "check", "arbitrate", "decode", "push", "pop", "book"]
QUICK = ["--runs", "1", "--seconds", "0.001", "--series", "20000"]


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pinstrike-bench-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def bench(self, *words, status=0):
        done = subprocess.run([PINSTRIKE, "bench", *map(str, words)], capture_output=True,
                              text=True, check=False, timeout=600,
                              env=os.environ | {"TMPDIR": str(self.folder)})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def stages_of(self, *words):
        return json.loads(self.bench("stages", *QUICK, "--json", *words).stdout)["shapes"]

    def test_all_shapes_have_all_stages(self):
        shapes = self.stages_of()
        self.assertEqual([shape["name"] for shape in shapes],
                         ["full", "full-mix", "ordinary", "ordinary-mix"])
        for shape in shapes:
            self.assertEqual([stage["stage"] for stage in shape["stages"]], STAGES)
            self.assertGreaterEqual(shape["packets"], 10_000)
            for stage in shape["stages"]:  # whole loops of the capture
                self.assertEqual(stage["measured_packets"] % shape["packets"], 0)
                self.assertGreater(stage["measured_packets"], 0)
        self.assertGreater(shapes[0]["messages_per_packet"], 20)
        self.assertLess(shapes[2]["messages_per_packet"], 3)
        self.assertEqual(list(self.folder.iterdir()), [], "captures were left behind")

    def test_the_text_states_what_each_thread_takes(self):
        text = self.bench("stages", *QUICK, "--shape", "ordinary").stdout
        rows = {line[2:13].strip(): line.split() for line in text.splitlines()
                if line.startswith("  ")}
        for stage in [*STAGES, "= poller", "= core"]:
            self.assertIn(stage, rows)
        self.assertRegex(text, r"cycles: of the time stamp counter, \d\.\d\d a nanosecond")

    def test_several_cores_have_a_route(self):
        shape = self.stages_of("--shape", "ordinary-mix", "--cores", "3")[0]
        names = [stage["stage"] for stage in shape["stages"]]
        self.assertEqual(names, [*STAGES[:6], "route", *STAGES[6:]])

    def test_packets_with_a_given_number_of_messages(self):
        shape = self.stages_of("--shape", "ordinary", "--messages-per-packet", "8")[0]
        self.assertAlmostEqual(shape["messages_per_packet"], 8, delta=0.2)  # the last ones have fewer

    def test_both_streams_bring_each_message_once(self):
        once = self.stages_of("--shape", "full")[0]
        twice = self.stages_of("--shape", "full", "--streams", "AB")[0]
        self.assertAlmostEqual(twice["messages_per_packet"] / once["messages_per_packet"], 0.5,
                               delta=0.05)

    def test_a_capture_of_ones_own(self):
        capture = self.folder / "own.pcap"
        subprocess.run([PINSTRIKE, "generate", "--out", capture, "--preset", "ordinary",
                        "--packets", "1500", "--series", "1000"], check=True, capture_output=True)
        shape = self.stages_of("--capture", capture)[0]
        self.assertEqual(shape["name"], str(capture))
        self.assertGreaterEqual(shape["packets"], 1500)

    def test_counting_takes_one_loop(self):
        shape = self.stages_of("--shape", "ordinary", "--counting")[0]
        for stage in shape["stages"]:
            self.assertEqual(stage["measured_packets"], shape["packets"])

    def test_complaints(self):
        bad = self.folder / "bad.pcap"
        bad.write_bytes(b"no capture")
        text = self.bench("stages", "--capture", bad, status=1).stderr
        self.assertIn(f"{bad}: cannot be read as a capture", text)
        whole = self.folder / "whole.pcap"
        subprocess.run([PINSTRIKE, "generate", "--out", whole, "--preset", "ordinary",
                        "--packets", "1500", "--series", "1000"], check=True, capture_output=True)
        data = whole.read_bytes()
        bad.write_bytes(data[:-5])
        self.assertIn("the file ends within record",
                      self.bench("stages", "--capture", bad, status=1).stderr)
        size = struct.unpack_from("<I", data, 32)[0]
        bad.write_bytes(data[:32] + struct.pack("<II", size - 5, size) + data[40:40 + size - 5])
        self.assertIn("the snapshot length of the capture cut 1 packets",
                      self.bench("stages", "--capture", bad, status=1).stderr)
        bad.write_bytes(data[:24])
        self.assertIn("holds no packets", self.bench("stages", "--capture", bad, status=1).stderr)
        self.assertIn("missing.pcap", self.bench("stages", "--capture", "missing.pcap",
                                                 status=2).stderr)
        self.assertIn("excludes", self.bench("stages", "--capture", bad, "--shape", "full",
                                             status=2).stderr)
        self.bench(status=2)
        self.bench("stages", "--cores", "0", status=2)

    def rows_of(self, *words):
        """The figures of each row: lowest, median, highest."""
        folder = {"PINSTRIKE_FOLDER": str(self.folder)}
        done = subprocess.run([PINSTRIKE, "bench", *map(str, words)], capture_output=True,
                              text=True, check=False, timeout=600, env=os.environ | folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertFalse(list(self.folder.iterdir()), "it left published memory")
        rows = [re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines()[1:]]
        return {name: sorted(map(float, figures)) for name, *figures, _ in rows}

    def test_published_state(self):
        rows = self.rows_of("state", "--series", 10_000, "--reads", 10_000, "--runs", 1)
        for name in ("state: book in private memory", "state: book, table published, of private memory",
                     "state: attach to 10000 series, up to the first chain",
                     "state: chain of 5,000 series, updates of all series"):
            self.assertGreater(rows[name][0], 0, name)
        self.assertEqual(rows["torn"], [0, 0, 0])

    def test_counting_writes_to_a_stream_once(self):
        text = self.bench("stream", "--counting", 1, "--series", 1_000, "--messages", 10_000).stdout
        self.assertRegex(text, r"^[1-9]\d+ records written\n$")

    def test_published_stream(self):
        self.assertIn("expected a power of two, found 5000",
                      self.bench("stream", "--ring", "5000", status=2).stderr)
        rows = self.rows_of("stream", "--series", 2_000, "--messages", 20_000, "--runs", 1, "--ring", 16_384)
        for name in ("stream: a writer and a reader on two threads", "stream: a reader of all series",
                     "stream: the writer beside 8 readers, of none"):
            self.assertGreater(rows[name][0], 0, name)

    def test_a_folder_that_cannot_be_made(self):
        done = subprocess.run([PINSTRIKE, "bench", "stages", *QUICK], capture_output=True,
                              text=True, check=False, timeout=600,
                              env=os.environ | {"TMPDIR": str(self.folder / "absent")})
        self.assertEqual(done.returncode, 1)
        self.assertIn("no folder for captures can be made in $TMPDIR", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
