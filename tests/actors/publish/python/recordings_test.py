#!/usr/bin/env python3
"""The package reads recordings: values equal to those that the program exports as CSV.

    recordings_test.py PROGRAM      by a Python that has the package and the libraries
"""

import csv
import datetime
import os
import re
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

import duckdb
import matplotlib.colors
import matplotlib.image
import numpy as np
import pandas
import pinstrike
import polars
import pyarrow

CONFIG = """\
name: recorded
lines: 1-2
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}]
record: {{folder: {folder}, segment: 16MiB, free: 0B, snapshot_interval: 1s}}
book: {{series_capacity: 20000}}
traffic: {{lines_count: 2, roots_count: 20, series_count: 2000, rate_messages_per_second: 5000}}
"""
SCHEMAS = ("cmbp-1", "cbbo-1s", "tcbbo", "trades", "mbp-1", "tbbo", "ohlcv-1s", "definition", "statistics")
PROGRAM = sys.argv.pop(1)
ROOT = Path(__file__).resolve().parents[4]


def text_of(value, name):
    """A value of a table as in CSV."""
    if isinstance(value, np.datetime64):
        return "" if np.isnat(value) else f"{value}Z"
    return "" if value == pinstrike.NONE and name != "ts_in_delta" else str(value)


class Recordings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="python-recordings-")
        cls.here = Path(cls.holder.name)
        cls.folder = cls.here / "record"
        config = cls.here / "feed.yaml"
        config.write_text(CONFIG.format(folder=cls.folder))
        subprocess.run([PROGRAM, "run", config, "--for", "7s", "--no-view"], check=True, capture_output=True)
        cls.recording = pinstrike.recording(cls.folder, PROGRAM)
        times = np.sort(np.concatenate(list(cls.recording.query()))["ts_recv"])
        begin = times[times.size * 3 // 4]
        # A second, and longer if the feed stood still, so that an eighth of the messages is in it.
        cls.moments = begin, max(begin + np.timedelta64(1, "s"), times[times.size * 7 // 8])

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def rows(self, schema, *options):
        text = subprocess.run([PROGRAM, "record", "export", self.folder, "--schema", schema, "--format", "csv",
                               "--out", "-", *options], check=True, capture_output=True, text=True).stdout
        return list(csv.DictReader(text.splitlines()))

    def whole(self, *arguments, **options):
        tables = list(self.recording.query(*arguments, **options))
        return np.concatenate(tables).view(pinstrike.Table) if tables else None

    def test_each_schema_has_the_values_of_its_csv(self):
        compared = 0
        for schema in SCHEMAS:
            rows = self.rows(schema)
            table = self.whole(schema=schema, prices="exact", rows_max=1000)
            self.assertEqual(len(rows), 0 if table is None else len(table), schema)
            for name in rows[0] if rows else ():
                prices = name in ("price", "open", "high", "low", "close") or "_px_" in name or name == "strike_price"
                for row, value in zip(rows, table[name], strict=True):
                    if prices:
                        expected = Decimal(row[name]) * 10**8 if row[name] else pinstrike.NONE
                        self.assertEqual(int(value), expected, (schema, name))
                    elif schema != "definition" or name in ("raw_symbol", "expiration", "instrument_id"):
                        self.assertEqual(text_of(value, name), row[name], (schema, name))
                    compared += 1
        self.assertGreater(compared, 10000)

    def test_series_and_times_are_chosen(self):
        table = self.whole()
        self.assertTrue((np.char.str_len(table["root"]) > 0).all())
        root = str(table["root"][0])
        some = self.whole(root)
        self.assertEqual(set(some["root"]), {root})
        self.assertEqual(len(some), int((table["root"] == root).sum()))
        first, last = table["ts_recv"].min(), table["ts_recv"].max()
        begin, end = first + (last - first) // 3, last - (last - first) // 3
        chosen = (table["ts_recv"] >= begin) & (table["ts_recv"] < end)
        self.assertTrue((self.whole(None, begin, end)["symbol"] == table["symbol"][chosen]).all())
        local = pandas.Timestamp(begin, tz="UTC").tz_convert("America/New_York").tz_localize(None).isoformat()
        for start in (f"{begin}Z", local, pandas.Timestamp(begin, tz="UTC").floor("us").to_pydatetime()):
            later = self.whole(None, start)
            self.assertLessEqual(abs(len(later) - int((table["ts_recv"] >= begin).sum())), 50, start)
        self.assertIsNone(self.whole("NONE"))

    def test_a_part_has_the_values_of_the_whole(self):
        compared = 0
        for schema in SCHEMAS:
            table = self.whole(schema=schema, prices="exact")
            name = "ts_event" if schema.startswith("ohlcv") else "ts_recv"
            begin, end = self.moments[0], self.moments[1]
            chosen = table[(table[name] >= begin) & (table[name] < end)]
            part = self.whole(None, begin, end, schema, prices="exact")
            self.assertEqual(len(chosen), 0 if part is None else len(part), schema)
            for field in (set(table.dtype.names) - {"instrument_id", "raw_instrument_id"} if len(chosen) else ()):
                one, other = (sorted(zip(rows["symbol"], rows[name], map(str, rows[field]))) for rows in (chosen, part))
                self.assertEqual(one, other, (schema, field))
                compared += len(one)
        self.assertGreater(compared, 10000)

    def test_libraries_take_the_tables(self):
        table = self.whole(schema="trades")
        frame = pandas.DataFrame.from_arrow(table)
        self.assertEqual(len(frame), len(table))
        self.assertEqual(frame["price"].sum(), table["price"].sum())
        rows = table.arrow  # DuckDB finds it by its name
        self.assertEqual(duckdb.sql("select count(*), sum(size) from rows").fetchall(),
                         [(len(table), int(table["size"].sum()))])
        self.assertEqual(polars.DataFrame(rows)["symbol"].to_list(), list(table["symbol"]))
        whole = pyarrow.concat_tables(map(pyarrow.table, self.recording.query(schema="trades", rows_max=100)))
        self.assertEqual(whole.num_rows, len(table))

    def test_mistakes_are_named(self):
        with self.assertRaisesRegex(ValueError, "expected one of cmbp-1"):
            self.whole(schema="quotes")
        with self.assertRaisesRegex(ValueError, "time zone"):
            self.whole(None, datetime.datetime(2026, 11, 25))
        with self.assertRaisesRegex(ValueError, "a moment such as"):
            self.whole(None, "noon")
        with self.assertRaisesRegex(pinstrike.Error, "No such file"):
            pinstrike.recording(self.folder, "/none/pinstrike").query()
        with self.assertRaises(pinstrike.Error):
            list(pinstrike.recording(self.here / "none", PROGRAM).query())

    def test_a_damaged_recording_gives_what_is_left_and_says_so(self):
        tables = []
        segment = next(self.folder.glob("*.pcapng"))
        whole = segment.read_bytes()
        try:
            segment.write_bytes(whole[:len(whole) // 2] + b"?" * 64 + whole[len(whole) // 2 + 64:])
            with self.assertRaisesRegex(pinstrike.Error, "damaged"):
                for table in self.recording.query():
                    tables.append(table)
        finally:
            segment.write_bytes(whole)
        self.assertGreater(sum(map(len, tables)), 100)

    def test_a_query_that_is_left_ends_its_program(self):
        query = self.recording.query(rows_max=1)
        next(query)
        query.close()
        self.assertEqual(subprocess.run(["pgrep", "-f", f"record export {self.folder}"], check=False,
                                        capture_output=True).returncode, 1)


class Readme(unittest.TestCase):
    """The commands of README that record the demonstration, export a part and draw it."""

    def commands(self):
        block = re.search(r"^      \(cat config/demo\.yaml.*?\n\n", (ROOT / "README.md").read_text(), re.M | re.S)[0]
        return [line.split("  #")[0].strip() for line in block.splitlines()]

    def test_the_commands_record_export_and_draw(self):
        # A shorter recording has all that is checked here.
        commands = [command.replace("--for 20s", "--for 5s") for command in self.commands() if command]
        with tempfile.TemporaryDirectory(prefix="python-readme-") as name:
            here = Path(name)
            (here / "venv/bin").mkdir(parents=True)
            (here / "venv/bin/python").symlink_to(sys.executable)
            (here / "actors").symlink_to(ROOT / "actors")
            (here / "config").mkdir()
            demo = (ROOT / "config/demo.yaml").read_text()
            # The port may be in use, and a feed of this name may be published.
            (here / "config/demo.yaml").write_text(demo.replace("metrics_address: 127.0.0.1:9464\n", ""))
            environment = {**os.environ, "MPLBACKEND": "agg", "PINSTRIKE_FOLDER": name,
                           "PATH": f"{Path(PROGRAM).resolve().parent}:{os.environ['PATH']}",
                           "PYTHONPATH": ":".join(path for path in sys.path if path)}
            for command in commands:
                done = subprocess.run(["bash", "-c", command], cwd=here, env=environment, capture_output=True,
                                      text=True, check=False, timeout=500)
                self.assertEqual(done.returncode, 0, f"{command}: {done.stdout[-1000:]}{done.stderr[-2000:]}")
            with open(here / "spy.csv", encoding="utf-8") as file:
                symbols = [row["symbol"] for row in csv.DictReader(file)]
            self.assertEqual({symbol[:6].strip() for symbol in symbols}, {"SPY"})
            self.assertEqual(sum(map(len, pinstrike.recording(here / "recording", PROGRAM).query("SPY"))), len(symbols))
            self.check_picture(here / "spy.png")
        self.check_picture(ROOT / "actors/publish/examples/recorded.png")

    def check_picture(self, path):
        picture = matplotlib.image.imread(path)
        for colour in ("tab:blue", "tab:orange", "tab:green", "tab:red"):
            far = np.abs(picture[..., :3] - matplotlib.colors.to_rgb(colour)).max(axis=-1)
            self.assertGreater(int((far < 0.1).sum()), 50, f"{path} has no line of {colour}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
