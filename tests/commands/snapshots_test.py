#!/usr/bin/env python3
"""Snapshots of the books beside a recording, and replays that begin with one.

    snapshots_test.py PINSTRIKE
"""

import json
import random
import subprocess
import sys
import tempfile
import unittest
from datetime import UTC, datetime, timedelta
from pathlib import Path

PINSTRIKE = sys.argv[1]

# Losses on both streams, so that some sides of quotes are stale. A poller that did not run for a while holds
# arbitration up, but a replay sees that time pass, so a hole waits for half a second.
CONFIG = """
name: snapped
kind: opra
lines: 1-4
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, lines: 1-2, wait: park}}, {{name: poller1, lines: 3-4, wait: park}}]
cores: [{cores}]
arbitration: {{window: 500ms, hold: 4MiB}}
record: {{folder: {folder}, segment: 16MiB, free: 0B, snapshot_interval: {interval}}}
book: {{series_capacity: 50000}}
traffic: {{lines_count: 4, roots_count: 100, series_count: 20000, rate_messages_per_second: 60000,
  a: {{loss: 0.02}}, b: {{loss: 0.02, skew: 150us}}}}
"""
DEADLINE_S = 300  # a limit for hanging processes; a busy machine is slow


class Snapshots(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="pinstrike-snapshots-")
        self.addCleanup(holder.cleanup)
        self.here = Path(holder.name)
        self.folder = self.here / "record"
        self.config = self.here / "feed.yaml"

    def record_for(self, seconds, interval="1s", cores=1):
        names = ", ".join(f"{{name: core{core}, wait: park}}" for core in range(cores))
        self.config.write_text(CONFIG.format(folder=self.folder, interval=interval, cores=names))
        account = self.here / "live.json"
        self.pinstrike("run", self.config, "--for", f"{seconds}s", "--account", account)
        return json.loads(account.read_text())

    def pinstrike(self, *words, status=0):
        done = subprocess.run([PINSTRIKE, *map(str, words)], capture_output=True, text=True, check=False,
                              timeout=DEADLINE_S)
        self.assertEqual(done.returncode, status, done.stderr[-4000:])
        return done

    def info(self, what="info", status=0):
        return json.loads(self.pinstrike("record", what, self.folder, "--json", status=status).stdout)

    def snapshots(self):
        return sorted(self.folder.glob("STATE-*.state"))

    def span(self):
        """The times of the first and the last packet."""
        segments = self.info("ls")["segments"]
        return min(row["first_ts_ns"] for row in segments), max(row["last_ts_ns"] for row in segments)

    def moment(self, part):
        """A moment of the recording, between its first (0) and last packet (1), as the program reads it."""
        first, last = self.span()
        us = (first + (last - first) * part) // 1000
        return (datetime.fromtimestamp(0, UTC) + timedelta(microseconds=us)).isoformat()[:26] + "Z"

    def replay(self, *words, status=0):
        """The book and what was said; the account balances."""
        book, account = self.here / "book.json", self.here / "replay.json"
        done = self.pinstrike("replay", self.folder, "--config", self.config, "--book", book,
                              "--account", account, *words, status=status)
        self.assertTrue(json.loads(account.read_text())["balanced"])
        self.assertNotIn("did not answer", done.stderr, "a thread that keeps its rights")
        return book.read_text().splitlines(), done.stderr

    def assert_same_books(self, begin, end):
        whole, _ = self.replay("--to", end)
        part, said = self.replay("--from", begin, "--to", end)
        self.assertIn("the books begin with the snapshot of", said)
        self.assertNotIn("join no message", said)
        self.assertGreater(len(whole), 1000)
        self.assertTrue(any('"stale"' in line for line in whole), "no side is stale")
        different = [pair for pair in zip(whole, part) if pair[0] != pair[1]]
        self.assertEqual((len(part), different[:3]), (len(whole), []), said)

    def ranges(self, seed, count):
        """Moments (from, to) after the first snapshot, which is written late on a busy machine."""
        chance = random.Random(seed)
        first, last = self.span()
        written = (self.snapshots()[0].stat().st_mtime_ns - first) / (last - first)
        for _ in range(count):
            begin = chance.uniform(max(0.35, written + 0.01), 0.98)
            end = chance.uniform(begin, 1)
            yield self.moment(begin), self.moment(end)

    def test_a_range_has_the_books_of_the_whole_recording(self):
        for cores in (1, 3):
            with self.subTest(cores=cores):
                for path in self.folder.glob("*"):
                    path.unlink()
                self.record_for(12, cores=cores)
                for begin, end in self.ranges(seed=cores, count=6):
                    self.assert_same_books(begin, end)

    def test_lines_and_underlyings_of_a_range(self):
        self.record_for(10, cores=2)
        begin, end = self.moment(0.9), self.moment(0.99)
        whole, _ = self.replay("--to", end, "--lines", "2-3")
        part, _ = self.replay("--from", begin, "--to", end, "--lines", "2-3")
        self.assertEqual(part, whole)
        self.assertEqual([line["line"] for line in json.loads((self.here / "replay.json").read_text())["lines"]],
                         [2, 3])
        self.pinstrike("replay", self.folder, "--config", self.config, "--lines", "9", status=2)
        whole, _ = self.replay("--from", begin, "--to", end)
        roots = sorted({json.loads(line)["symbol"] for line in whole})
        for wanted in (roots[:1], roots[1:4]):
            expected = [line for line in whole if json.loads(line)["symbol"] in wanted]
            part, said = self.replay("--from", begin, "--to", end, "--underlyings", ",".join(wanted))
            self.assertEqual(part, expected, said)
            self.assertTrue(expected)
            from_the_beginning, _ = self.replay("--to", end, "--underlyings", ",".join(wanted))
            self.assertEqual(from_the_beginning, expected)
        self.assertEqual(self.replay("--underlyings", "NONE")[0], [])

    def test_snapshots_are_listed_and_verified(self):
        live = self.record_for(10)
        rows = self.info("ls")["snapshots"]
        self.assertGreater(len(rows), 1)
        self.assertGreaterEqual(live["recording"]["snapshots"], len(rows))
        self.assertEqual([row["snapshot"] for row in rows], [path.name for path in self.snapshots()])
        for row, path in zip(rows, self.snapshots()):
            self.assertEqual((row["state"], row["bytes"]), ("whole", path.stat().st_size))
            self.assertGreater(row["records"], 1000)
        self.info("verify")
        self.assertIn(self.snapshots()[0].name, self.pinstrike("record", "ls", self.folder).stdout)
        damaged = self.snapshots()[-1]
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        self.assertEqual(self.info("ls")["snapshots"][-1]["state"], "whole")  # reads heads of chunks
        self.assertEqual(self.info("verify", 1)["snapshots"][-1]["state"], "damaged")
        _, said = self.replay("--from", self.moment(0.999))
        self.assertIn(f"{damaged}: is damaged", said)
        self.assertIn("the books begin with the snapshot of", said)

    def test_the_next_start_removes_what_a_crash_left(self):
        self.record_for(7)
        left = Path(f"{self.snapshots()[-1]}.unfinished")
        left.write_bytes(b"?")
        self.record_for(1)
        self.assertFalse(left.exists())

    def test_without_a_snapshot_it_says_what_is_unknown(self):
        self.record_for(5, interval="none")
        self.assertEqual(self.snapshots(), [])
        end = self.moment(1)
        whole, _ = self.replay("--to", end)
        part, said = self.replay("--from", self.moment(0.9), "--to", end)
        self.assertIn("there is no snapshot of this day before --from", said)
        self.assertLess(len(part), len(whole))

    def test_wrong_use(self):
        self.record_for(1)
        segment = next(self.folder.glob("*.pcapng"))
        self.assertIn("expected one folder", self.pinstrike("replay", segment, "--from", "12:00", status=2).stderr)
        begin, end = self.moment(0.2), self.moment(0.5)
        said = self.pinstrike("replay", self.folder, "--from", end, "--to", begin, status=2).stderr
        self.assertIn("expected a moment after --from", said)
        self.assertIn("expected HH:MM", self.pinstrike("replay", self.folder, "--from", "noon", status=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
