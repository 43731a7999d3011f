#!/usr/bin/env python3
"""`pinstrike bench actor`: consistent tables, and clear error messages.

    bench_actor_test.py PINSTRIKE

The size of figures is not checked, because machines differ.
"""

import re
import struct
import subprocess
import sys
import tempfile
import unittest

PINSTRIKE = sys.argv[1]
SAMPLES = ("empty", "sum100", "sum1000", "sha512")


def bench_actor(*words):
    return subprocess.run([PINSTRIKE, "bench", "actor", *map(str, words)], capture_output=True,
                          text=True, check=False, timeout=600)


def rows(text):
    """The figures of the table, by name."""
    found = {}
    for line in text.split("\n\n")[0].splitlines()[1:]:
        name, *figures = re.split(r"\s{2,}", line.strip())
        found[name] = [float(word) for part in figures for word in part.split()]
    return found


class Bench(unittest.TestCase):
    def check_row(self, figures, messages):
        count, *percentiles, mean, rate = figures
        self.assertEqual(count, messages)
        self.assertEqual(percentiles, sorted(percentiles))
        self.assertLessEqual(percentiles[0] - 0.01, mean)
        self.assertLessEqual(mean, percentiles[-1] + 0.01)
        if mean > 1:  # both are rounded
            self.assertAlmostEqual(rate * mean / 1000, 1, delta=0.05)

    def test_samples_alone(self):
        for name in SAMPLES:
            with self.subTest(name=name):
                done = bench_actor(name, "--messages", 5000)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(done.stdout.startswith(name))
                self.assertEqual(list(rows(done.stdout)), ["alone"])
                self.check_row(rows(done.stdout)["alone"], 5000)
                self.assertIn("in batches of 256", done.stdout)

    def test_more_work_takes_longer(self):
        lowest = [rows(bench_actor(name, "--messages", 20000).stdout)["alone"][1]
                  for name in ("empty", "sum1000", "sha512")]
        self.assertEqual(lowest, sorted(lowest))

    def test_the_book_takes_generated_traffic(self):
        done = bench_actor("book", "--messages", 20000, "--series", 5000, "--batch", 64,
                           "--copies", 2)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        table = rows(done.stdout)
        self.assertEqual(list(table), ["alone", "copy 1 of 2", "copy 2 of 2", "all together"])
        for name in ("alone", "copy 1 of 2", "copy 2 of 2"):
            self.check_row(table[name], 20000)
        together = table["copy 1 of 2"][-1] + table["copy 2 of 2"][-1]
        self.assertAlmostEqual(table["all together"][0], together, delta=0.02)
        self.assertIn("With 1 more running, a message takes", done.stdout)

    def test_the_book_takes_a_capture(self):
        with tempfile.TemporaryDirectory(prefix="pinstrike-test-") as folder:
            capture = f"{folder}/day.pcap"
            subprocess.run([PINSTRIKE, "generate", "--out", capture, "--preset", "ordinary",
                            "--messages", "5000"], check=True, capture_output=True)
            done = bench_actor("book", "--capture", capture, "--messages", 20000)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.check_row(rows(done.stdout)["alone"], 20000)

    def test_a_capture_that_is_cut_short_is_taken_and_reported(self):
        with tempfile.TemporaryDirectory(prefix="pinstrike-test-") as folder:
            whole, cut = f"{folder}/day.pcap", f"{folder}/cut.pcap"
            subprocess.run([PINSTRIKE, "generate", "--out", whole, "--preset", "ordinary",
                            "--messages", "5000"], check=True, capture_output=True)
            with open(whole, "rb") as file, open(cut, "wb") as copy:
                copy.write(file.read()[:-7])
            done = bench_actor("book", "--capture", cut, "--messages", 20000)
            self.assertEqual(done.returncode, 1)
            self.assertIn("cut.pcap", done.stderr)
            self.check_row(rows(done.stdout)["alone"], 20000)

    def test_a_capture_without_messages_is_no_traffic(self):
        with tempfile.TemporaryDirectory(prefix="pinstrike-test-") as folder:
            empty = f"{folder}/empty.pcap"
            with open(empty, "wb") as file:  # a pcap header (microseconds, Ethernet) without frames
                file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
            for name, part in ((empty, "holds no message of a published line"),
                               (f"{folder}/missing.pcap", "missing.pcap")):
                with self.subTest(name=name):
                    done = bench_actor("book", "--capture", name)
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertIn(part, done.stderr)

    def test_batches_of_one_message_are_too_short(self):
        done = bench_actor("empty", "--messages", 1000, "--batch", 1)
        self.assertIn("less than four clock reads", done.stdout)

    def test_complaints_say_what_was_expected(self):
        for words, part in ((("nobody",), "expected one of book, "),
                            (("nobody",), ", empty, sum100, sum1000, sha512"),
                            ((), "NAME"),
                            (("empty", "--copies", 0), "--copies"),
                            (("empty", "--batch", 0), "--batch"),
                            (("empty", "--messages", "many"), "--messages"),
                            (("book", "--mix", 2), "--mix"),
                            (("book", "--mix", 0, "--capture", "a.pcap"), "--capture"),
                            (("empty", "--capture", "a.pcap"), "no --capture; expected one of book")):
            with self.subTest(words=words):
                done = bench_actor(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
