#!/usr/bin/env python3
"""`pinstrike record export` of a part of a recording: its records are those of an export of all, in these times.

    export_range_test.py PINSTRIKE
"""

import collections
import json
import subprocess
import sys
import tempfile
import unittest
from datetime import UTC, datetime, timedelta
from pathlib import Path

import exported
from gateway_truth import BARS

PINSTRIKE = sys.argv[1]
SCHEMAS = exported.SCHEMAS
WITH_SNAPSHOT = [schema for schema in SCHEMAS if schema not in ("cbbo-1s", "cbbo-1m", "definition")]
SECOND_NS = 10**9

# Losses on both streams, so that some sides of quotes are stale. A poller that did not run for a while holds
# arbitration up, but a replay sees that time pass, so a hole waits for half a second.
CONFIG = """
name: ranged
lines: 1-4
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, lines: 1-2, wait: park}}, {{name: poller1, lines: 3-4, wait: park}}]
cores: [{{name: core0, wait: park}}]
arbitration: {{window: 500ms, hold: 4MiB}}
record: {{folder: {folder}, segment: 16MiB, free: 0B, snapshot_interval: {interval}}}
book: {{series_capacity: 50000}}
traffic: {{lines_count: 4, roots_count: 40, series_count: 8000, rate_messages_per_second: 20000,
  a: {{loss: 0.02}}, b: {{loss: 0.02, skew: 150us}}}}
"""


def time_at(schema):
    return {"definition": 16, "statistics": 16, **dict.fromkeys(BARS, 8)}.get(schema, 32)


def moment(ns):
    at = datetime.fromtimestamp(ns // SECOND_NS, UTC) + timedelta(microseconds=ns % SECOND_NS // 1000)
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}Z"


class Ranges(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="pinstrike-export-range-")
        cls.here = Path(cls.holder.name)
        cls.folder = cls.record("snapshots", "1s", 14)
        cls.bare = cls.record("bare", "none", 5)
        segments = json.loads(cls.run_well("record", "ls", cls.folder, "--json").stdout)["segments"]
        cls.first_ns = min(row["first_ts_ns"] for row in segments)
        cls.last_ns = max(row["last_ts_ns"] for row in segments)
        cls.whole = {schema: cls.export(schema)[0] for schema in SCHEMAS}

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    @classmethod
    def record(cls, name, interval, seconds):
        folder, config = cls.here / name, cls.here / f"{name}.yaml"
        config.write_text(CONFIG.format(folder=folder, interval=interval))
        cls.run_well("run", config, "--for", f"{seconds}s")
        return folder

    @classmethod
    def run_well(cls, *words, status=0):
        done = subprocess.run([PINSTRIKE, *map(str, words)], capture_output=True, text=True, check=False, timeout=300)
        if done.returncode != status:
            raise AssertionError(f"{words} ended with {done.returncode}: {done.stderr}")
        return done

    @classmethod
    def export(cls, schema, *options, folder=None):
        """The file, what was said, and the packets that were read."""
        out, account = cls.here / "out.dbn", cls.here / "account.json"
        done = cls.run_well("record", "export", folder or cls.folder, "--schema", schema, "--out", out,
                            "--account", account, *options)
        packets = sum(port["packets"] for port in json.loads(account.read_text())["ports"])
        return exported.Dbn(out.read_bytes()), done.stderr, packets

    def chosen(self, schema, dbn, times, symbols=None):
        """The records of these times by symbol, without ids. Both sessions of a series have one symbol."""
        by_symbol, names = collections.defaultdict(list), dbn.symbols_by_id()
        for record in dbn.records:
            symbol = names[record.instrument]
            if times[0] <= record.take("Q", time_at(schema)) < times[1] and (symbols is None or symbol in symbols):
                data = bytearray(record.data)
                data[4:8] = bytes(4)
                if schema == "definition":
                    data[112:120] = bytes(8)
                by_symbol[symbol].append(bytes(data))
        return {symbol: sorted(records) for symbol, records in by_symbol.items()}

    def check(self, schema, times, *options, whole=None, folder=None, symbols=None):
        part, said, packets = self.export(schema, "--from", moment(times[0]), "--to", moment(times[1]), *options,
                                          folder=folder)
        expected = self.chosen(schema, whole or self.whole[schema], times, symbols)
        everything = self.chosen(schema, part, (0, 2**64))
        self.assertEqual(everything.keys(), expected.keys(), schema)
        for symbol, records in expected.items():
            self.assertEqual(everything[symbol], records, (schema, symbol))
        return sum(map(len, expected.values())), said, packets

    def moments(self, *parts):
        """Moments of the recording in whole microseconds, which are not those of an interval."""
        return [(self.first_ns + round((self.last_ns - self.first_ns) * part)) // 1000 * 1000 for part in parts]

    def test_the_records_of_each_schema(self):
        compared, whole_packets = collections.Counter(), self.export("trades")[2]
        fewer = False  # packets than the whole recording: a busy machine may have but the first snapshot
        for begin, end in ((0.63, 0.81), (0.9, 0.97)):
            for schema in SCHEMAS:
                count, said, packets = self.check(schema, self.moments(begin, end))
                compared[schema] += count
                used = "the books begin with the snapshot of" in said
                self.assertEqual(used, schema in WITH_SNAPSHOT, (schema, said))
                self.assertNotIn("join no message", said)
                fewer = fewer or (used and packets < whole_packets)
                self.assertLessEqual(packets, whole_packets)
        self.assertTrue(fewer)
        print("records compared:", dict(compared))
        for schema in ("cmbp-1", "mbp-1", "tbbo", "tcbbo", "trades", "cbbo-1s", "ohlcv-1s"):
            self.assertGreater(compared[schema], 50, schema)

    def test_some_sides_are_stale_and_others_are_not(self):
        times = self.moments(0.7, 0.9)
        part = self.export("cmbp-1", "--from", moment(times[0]), "--to", moment(times[1]))[0]
        flags = collections.Counter(record.data[30] & 4 for record in part.records)
        self.assertGreater(min(flags[0], flags[4]), 50)

    def test_one_interval_of_bars_whose_trades_come_until_its_end(self):
        # The one with most bars, because a busy machine may have made few messages in another.
        seconds = collections.Counter(record.take("Q", time_at("ohlcv-1s"))
                                      for record in self.whole["ohlcv-1s"].records)
        second = max((at for at in seconds if at > self.moments(0.5)[0]), key=seconds.get)
        count, _, _ = self.check("ohlcv-1s", (second, second + 1000))
        self.assertGreater(count, 5)
        self.assertEqual(self.check("ohlcv-1s", (second + 1000, second + SECOND_NS))[0], 0)

    def test_lines_and_underlyings_of_a_range(self):
        times = self.moments(0.7, 0.9)
        lines = self.export("mbp-1", "--lines", "2-3")[0]
        self.assertGreater(self.check("mbp-1", times, "--lines", "2-3", whole=lines)[0], 100)
        whole = self.whole["cmbp-1"]
        roots = sorted({symbol[:6].strip() for symbol in whole.symbols})[:3]
        symbols = {symbol for symbol in whole.symbols if symbol[:6].strip() in roots}
        self.assertGreater(self.check("cmbp-1", times, "--underlyings", ",".join(roots), symbols=symbols)[0], 50)

    def test_without_a_snapshot_the_recording_is_replayed_from_its_beginning(self):
        segments = json.loads(self.run_well("record", "ls", self.bare, "--json").stdout)["segments"]
        first = min(row["first_ts_ns"] for row in segments)
        times = (first // 1000 * 1000 + 3 * SECOND_NS, first // 1000 * 1000 + 4 * SECOND_NS)
        whole = self.export("tcbbo", folder=self.bare)[0]
        count, said, _ = self.check("tcbbo", times, whole=whole, folder=self.bare)
        self.assertGreater(count, 10)
        self.assertIn("there is no snapshot of this day before --from: the recording is replayed from its beginning",
                      said)

    def test_wrong_use(self):
        begin, end = map(moment, self.moments(0.2, 0.5))
        export = ("record", "export", "--schema", "trades", "--out", self.here / "none.dbn")
        for words, sentence in (((self.folder, "--from", end, "--to", begin), "expected a moment after --from"),
                                ((next(self.folder.glob("*.pcapng")), "--from", begin), "expected one folder"),
                                ((self.folder, "--lines", "x"), "expected numbers such as 1-4,12")):
            self.assertIn(sentence, self.run_well(*export, *words, status=2).stderr)
        self.assertFalse((self.here / "none.dbn").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
