#!/usr/bin/env python3
"""`pinstrike record export`: each record of each schema is what the capture says, decoded by the independent decoder.

    export_test.py PINSTRIKE
"""

import json
import os
import pty
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

import exported
import gateway_truth
from gateway_client import UNDEFINED_TIME
from gateway_day import INDEPENDENT, PINSTRIKE, WithGateway

SECOND_NS = 10**9
EXPORT = (PINSTRIKE, "record", "export")


def decoded(capture):
    return subprocess.run([sys.executable, INDEPENDENT, capture], stdout=subprocess.PIPE, text=True, check=True).stdout


class Exporting(WithGateway):
    def export(self, schema, name=None, *more, capture=None, code=0, **options):
        """Writes a file and returns its bytes."""
        out = self.folder / (name or f"{schema}.dbn")
        done = subprocess.run([*EXPORT, capture or self.capture, "--schema", schema, "--out", out, *more],
                              capture_output=True, text=True, check=False, timeout=600, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.stderr = done.stderr
        return out.read_bytes() if out.exists() else None

    def assert_nothing_left(self):
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".")], [])


class Truthful(Exporting):
    """A day of almost three hours."""

    DAY = ["--messages", "40000", "--rate", "4", "--series", "60", "--roots", "4", "--lines", "1-4,201",
           "--streams", "A", "--seed", "7"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.truth = gateway_truth.Truth(cls.capture, decoded(cls.capture), to_the_end=True)

    def names(self):
        """The series of each id, which is the same in each export of a capture."""
        return gateway_truth.names_of(exported.Dbn(self.export("definition")).records)

    def check(self, truth, schema, seen):
        expected = truth.records[schema]
        self.assertEqual(seen.keys(), expected.keys(), schema)
        for series, rows in expected.items():
            if schema in gateway_truth.BARS:  # those of an interval are in the order of their venues
                rows, seen[series] = sorted(rows), sorted(seen[series])
            for one, other in zip(seen[series], rows):
                self.assertEqual(one, other, (schema, series))
            self.assertEqual(len(seen[series]), len(rows), (schema, series))
        return sum(map(len, expected.values()))

    def test_each_record_is_what_the_capture_says(self):
        names, compared = self.names(), {}
        for schema in gateway_truth.FORMS:
            dbn = exported.Dbn(self.export(schema))
            compared[schema] = self.check(self.truth, schema, exported.by_series(schema, dbn.records, names))
            self.check_metadata(schema, dbn)
            rows = list(exported.rows_of(schema, self.export(schema, f"{schema}.csv", "--format", "csv").decode()))
            symbols = dbn.symbols_by_id()
            self.assertEqual(rows, [(record.instrument, symbols[record.instrument],
                                     gateway_truth.fields_of(schema, record)) for record in dbn.records], schema)
        print("records compared:", compared)
        self.assertGreater(min(compared.values()), 100)
        self.assert_nothing_left()

    def check_metadata(self, schema, dbn):
        self.assertEqual((dbn.dataset, dbn.schema, dbn.limit), ("OPRA.PILLAR", exported.SCHEMAS[schema], 0))
        self.assertEqual((dbn.stype_in, dbn.stype_out, dbn.ts_out, dbn.symbol_bytes), (1, 0, 0, 71))
        self.assertEqual((dbn.definition_bytes, dbn.partial, dbn.not_found), (0, [], []))
        place = {"definition": 16, "statistics": 16, **dict.fromkeys(gateway_truth.BARS, 8)}.get(schema, 32)
        times = [record.take("Q", place) for record in dbn.records]
        self.assertEqual((dbn.start_ns, dbn.end_ns), (min(times), max(times) + 1))
        self.assertNotIn(UNDEFINED_TIME, times)
        self.assertEqual(sorted(dbn.mappings), dbn.symbols)
        self.assertEqual(set(dbn.symbols_by_id()), {record.instrument for record in dbn.records})
        dates = [time.strftime("%Y%m%d", time.gmtime(at // SECOND_NS))
                 for at in (min(times), max(times) + 86400 * SECOND_NS)]
        for intervals in dbn.mappings.values():
            self.assertEqual({(str(begin), str(end)) for begin, end, _ in intervals}, {tuple(dates)})

    def test_records_come_in_the_order_of_the_packets(self):
        dbn = exported.Dbn(self.export("mbp-1"))
        times = [record.take("Q", 32) for record in dbn.records]
        self.assertEqual(times, sorted(times))

    def test_only_series_of_some_underlyings(self):
        every = exported.Dbn(self.export("cmbp-1"))
        roots = sorted({symbol[:6].strip() for symbol in every.symbols})[:2]
        some = exported.Dbn(self.export("cmbp-1", "some.dbn", "--underlyings", ",".join(roots)))
        self.assertEqual(some.symbols, [symbol for symbol in every.symbols if symbol[:6].strip() in roots])
        names = {number for number, symbol in every.symbols_by_id().items() if symbol in some.symbols}
        self.assertEqual([record.data[8:] for record in some.records],  # ids are others
                         [record.data[8:] for record in every.records if record.instrument in names])

    def test_records_after_losses_have_the_flag(self):
        """Some packets of quotes and trades are missing. Values that were stated before are stale."""
        lossy = self.folder / "lossy.pcap"
        dropped = self.drop_packets(self.capture, lossy)
        truth = gateway_truth.Truth(lossy, decoded(lossy))
        self.assertGreater(sum(truth.losses.values()), dropped // 2)
        for schema in ("cmbp-1", "tcbbo", "mbp-1", "trades"):
            names = gateway_truth.names_of(exported.Dbn(self.export("definition", capture=lossy)).records)
            dbn = exported.Dbn(self.export(schema, capture=lossy))
            self.check(truth, schema, exported.by_series(schema, dbn.records, names))
            flagged = sum(record.flags == gateway_truth.FLAGS | 4 for record in dbn.records)
            print(f"{schema}: {flagged} of {len(dbn.records)} records have the flag")
            self.assertEqual(flagged > 0, schema != "trades")

    @staticmethod
    def drop_packets(capture, to):
        """Leaves out one of 100 packets that have only quotes and trades. A packet has one block."""
        data, at, chosen, dropped = capture.read_bytes(), 24, random.Random(1), 0
        rows = iter(decoded(capture).splitlines())
        kept = [data[:24]]
        while at < len(data):
            size = 16 + struct.unpack_from("<I", data, at + 8)[0]
            kinds = {json.loads(next(rows))["category"] for _ in range(data[at + 16 + 42 + 10])}
            if kinds <= set("qka") and chosen.random() < 0.01:
                dropped += 1
            else:
                kept.append(data[at:at + size])
            at += size
        to.write_bytes(b"".join(kept))
        return dropped

    def test_compressed_files_have_the_same_bytes(self):
        plain = exported.Dbn(self.export("trades"))
        packed = exported.Dbn(exported.unpacked(self.export("trades", "trades.dbn.zst")))
        self.assertEqual(packed.mappings, plain.mappings)
        self.assertEqual([record.data for record in packed.records], [record.data for record in plain.records])
        rows = self.export("trades", "trades.csv", "--format", "csv")
        self.assertEqual(exported.unpacked(self.export("trades", "trades.csv.zst", "--format", "csv")), rows)

    def test_standard_output_and_pipes_get_the_same(self):
        for form in ("dbn", "csv"):
            file = self.export("tcbbo", f"tcbbo.{form}", "--format", form)
            piped = subprocess.run([*EXPORT, self.capture, "--schema", "tcbbo", "--format", form,
                                    "--out", "-"], capture_output=True, check=False, timeout=300)
            self.assertEqual(piped.returncode, 0, piped.stderr)
            if form == "csv":
                self.assertEqual(piped.stdout, file)
            else:
                one, other = exported.Dbn(piped.stdout), exported.Dbn(file)
                self.assertEqual(one.mappings, other.mappings)
                self.assertEqual([record.data for record in one.records], [record.data for record in other.records])

    def test_a_config_and_its_list_of_series(self):
        """The ids are those of the list."""
        self.run_well("generate", "--series-map", self.folder / "series.csv", *self.DAY)
        config = self.folder / "feed.yaml"
        config.write_text(f"name: day\nlines: 1-4,201\nseries_map: {self.folder}/series.csv\n"
                          "ports: [{name: simulator, kind: sim}]\n"
                          "pollers: [{name: poller0, lines: 1-4}, {name: poller1, lines: 201}]\n"
                          "cores: [{name: core0}, {name: core1}]\nbook: {series_capacity: 20000}\n")
        definitions = exported.Dbn(self.export("definition", "listed.dbn", "--config", config)).records
        announced = re.search(r": (\d+) announced", self.run_well("check", config))[1]
        self.assertEqual(len(definitions), int(announced))
        names = gateway_truth.names_of(definitions)
        quotes = exported.Dbn(self.export("cmbp-1", "listed.cmbp-1.dbn", "--config", config))
        self.check(self.truth, "cmbp-1", exported.by_series("cmbp-1", quotes.records, names))
        mapping = exported.Dbn(self.export("trades", "line1.dbn", "--config", config)).symbols_by_id()
        self.assertTrue(mapping.items() <= {number: name for number, (name, _) in names.items()}.items())


class Failing(Exporting):
    DAY = ["--messages", "400000", "--rate", "80000", "--series", "2000", "--roots", "40", "--lines", "1-4",
           "--streams", "A", "--seed", "7"]

    def test_wrong_use(self):
        for arguments, text in ((["--schema", "mbo", "--out", "x"], "found mbo, expected one of cmbp-1, "),
                                (["--schema", "trades", "--out", "x", "--format", "json"], "expected dbn or csv"),
                                (["--schema", "trades"], "--out is required"),
                                (["--schema", "trades", "--out", "x", "--underlyings", "TOOLONG"], "at most 5 char")):
            done = subprocess.run([*EXPORT, self.capture, *arguments], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)
        done = subprocess.run([*EXPORT, self.capture, "--schema", "trades", "--out", self.capture],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("it would be overwritten", done.stderr)

    def test_an_output_that_cannot_be_written(self):
        self.assertIsNone(self.export("trades", "missing/x.dbn", code=1))
        self.assertIn("missing/x.dbn: No such file or directory", self.stderr)

    def test_a_limit_on_file_sizes_leaves_the_previous_file(self):
        (self.folder / "limited.dbn").write_text("previous")
        limit = 20 << 20  # above the memory of the rings
        self.assertEqual(self.export("mbp-1", "limited.dbn", code=1,
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))),
                         b"previous")
        self.assertIn("limited.dbn: File too large", self.stderr)
        self.assert_nothing_left()

    @unittest.skipIf(os.geteuid() != 0, "a mount needs root")
    def test_a_full_disk(self):
        for name, form in (("x.dbn", "dbn"), ("x.csv", "csv")):
            with self.subTest(name):
                small = self.folder / "small"
                small.mkdir(exist_ok=True)
                script = ('mount -t tmpfs -o size=1m none "$1" && shift && "$@"; code=$?; '
                          'ls -A "$(dirname "${@: -1}")"; exit $code')
                done = subprocess.run(["unshare", "-m", "bash", "-c", script, "bash", small, *EXPORT,
                                       self.capture, "--schema", "cmbp-1", "--format", form, "--out", small / name],
                                      capture_output=True, text=True, check=False, timeout=300)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"{name}: No space left on device", done.stderr)
                self.assertEqual(done.stdout, "", "nothing is left")

    def test_a_reader_that_ends_early(self):
        with subprocess.Popen([*EXPORT, self.capture, "--schema", "mbp-1", "--format", "csv", "--out", "-"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.assertTrue(process.stdout.readline().startswith("ts_recv,ts_event,rtype,"))
            process.stdout.close()
            stderr = process.stderr.read()
            self.assertEqual(process.wait(timeout=300), 1, stderr)
        self.assertIn("standard output: Broken pipe", stderr)

    def test_an_interrupted_export_leaves_no_file(self):
        fifo = self.folder / "endless.pcap"
        os.mkfifo(fifo)
        for how in (signal.SIGINT, signal.SIGTERM):
            out = self.folder / "interrupted.dbn"
            with subprocess.Popen([*EXPORT, fifo, "--schema", "cmbp-1", "--out", out],
                                  stderr=subprocess.PIPE, text=True) as process, open(fifo, "wb") as writer:
                writer.write(self.capture.read_bytes()[:1 << 20])
                writer.flush()
                end = time.monotonic() + 300
                while not list(self.folder.glob(".*.interrupted.dbn")) and time.monotonic() < end:
                    time.sleep(0.01)
                self.assertTrue(list(self.folder.glob(".*.interrupted.dbn")))
                process.send_signal(how)
                stop = time.monotonic() + 300
                try:
                    while process.poll() is None and time.monotonic() < stop:  # the poller reads, so it must get bytes
                        writer.write(bytes(65536))
                        writer.flush()
                except BrokenPipeError:
                    pass
                stderr = process.stderr.read()
                self.assertEqual(process.wait(timeout=300), 1, stderr)
            self.assertIn("were not read to their end: " + how.name, stderr)
            self.assertFalse(out.exists())
            self.assert_nothing_left()

    def test_a_reader_that_does_not_read_does_not_stop_the_end(self):
        with subprocess.Popen([*EXPORT, self.capture, "--schema", "mbp-1", "--format", "csv", "--out", "-"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                self.assertTrue(process.stdout.read(10))
                time.sleep(0.5)
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(timeout=300), 1)
            finally:
                process.kill()

    def test_a_capture_that_is_cut(self):
        """What it holds is exported, and the status says that something is missing."""
        cut = self.folder / "cut.pcap"
        cut.write_bytes(self.capture.read_bytes()[:500_001])
        dbn = exported.Dbn(self.export("cmbp-1", "cut.dbn", capture=cut, code=1))
        self.assertGreater(len(dbn.records), 500)

    def test_a_capture_without_a_record_of_the_schema(self):
        empty = self.folder / "none.pcap"
        self.run_well("generate", "--out", empty, "--messages", "2000", "--rate", "8000", "--series", "50",
                      "--roots", "4", "--lines", "1", "--streams", "A", "--seed", "7")
        dbn = exported.Dbn(self.export("cmbp-1", "none.dbn", "--underlyings", "NONE", capture=empty))
        self.assertEqual((dbn.records, dbn.symbols, dbn.start_ns, dbn.end_ns), ([], [], 0, 0))
        rows = self.export("cmbp-1", "none.csv", "--format", "csv", "--underlyings", "NONE", capture=empty)
        self.assertEqual(rows.count(b"\n"), 1)

    def test_progress_is_shown_on_a_terminal_only(self):
        self.export("mbp-1", "quiet.dbn")
        self.assertNotIn("\r", self.stderr)
        master, slave = pty.openpty()
        with subprocess.Popen([*EXPORT, self.capture, "--schema", "mbp-1", "--format", "csv", "--out",
                               self.folder / "shown.csv"], stderr=slave) as process:
            os.close(slave)
            shown = b""
            try:
                while part := os.read(master, 65536):
                    shown += part
            except OSError:  # the other end is closed
                pass
            self.assertEqual(process.wait(timeout=300), 0)
        os.close(master)
        self.assertRegex(shown.decode(), r"\r\d+ %, [\d,]+ records, \d+\.\d\d M/s, \d+:\d\d:\d\d left")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
