#!/usr/bin/env python3
"""The published Python client, unmodified, against the gateway.

    databento_client_test.py PINSTRIKE FOLDER

Makes a virtual environment with the client in FOLDER, unless there is one, and runs this file again in it. Skipped
(77) with the reason if the client cannot be installed.
"""

import contextlib
import csv
import decimal
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import venv
from pathlib import Path

PACKAGES = ["databento==0.88.0"]

try:
    import databento
except ImportError:
    folder = Path(sys.argv[2])
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    installed = subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], capture_output=True, text=True,
                               check=False)
    if installed.returncode != 0 or os.environ.get("PINSTRIKE_IN_VENV"):
        print(f"{PACKAGES} cannot be installed: {installed.stderr[-500:]}")
        sys.exit(77)
    os.execve(python, [str(python), *sys.argv], dict(os.environ, PINSTRIKE_IN_VENV="1"))

import exported  # noqa: E402
import gateway_client as client  # noqa: E402
import gateway_day  # noqa: E402
import gateway_truth  # noqa: E402
import recorded_clients  # noqa: E402
from endpoint import free_port  # noqa: E402
from gateway_client import KEY, Record  # noqa: E402
from gateway_day import PINSTRIKE  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

class Session:
    """A live session that keeps each record's bytes. It reads while `reads` is set."""

    def __init__(self, port, ts_out=False, compression=databento.Compression.NONE, slow="skip", key=KEY,
                 policy="none"):
        self.records = []
        self.reads = threading.Event()
        self.reads.set()
        self.live = databento.Live(key=key, gateway="127.0.0.1", port=port, ts_out=ts_out, compression=compression,
                                   slow_reader_behavior=slow, reconnect_policy=policy)
        self.ts_out = ts_out
        self.live.add_callback(self.keep)

    def keep(self, record):
        self.reads.wait()
        data = bytes(record)
        self.records.append(Record(data[:-8], 1) if self.ts_out else Record(data, None))

    def subscribe(self, schema, symbols="ALL_SYMBOLS", stype="raw_symbol", **more):
        self.live.subscribe(dataset="OPRA.PILLAR", schema=schema, symbols=symbols, stype_in=stype, **more)

    def wait(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not condition(self.records):
            if time.monotonic() > end:
                raise AssertionError(f"{len(self.records)} records, the last: {self.records[-1:]}")
            time.sleep(0.05)

    def stop(self):
        self.live.stop()
        try:
            self.live.block_for_close(timeout=5)
        except databento.BentoError as error:
            return str(error)
        return ""


def has(kind, code=None):
    return lambda records: any(record.type == kind and (code is None or record.code == code) for record in records)


class Published(gateway_day.WithHours):
    def test_records_of_a_day_are_what_the_capture_says(self):
        """With zstd, and with send times on half of the sessions."""
        with self.gateway(keys=f"keys: [{{user: trial, key: {KEY}, sessions: 20}}]\n") as gateway:
            sessions = {}
            for index, schema in enumerate(gateway_truth.FORMS):
                sessions[schema] = Session(gateway.port, ts_out=index % 2 == 1,
                                           compression=databento.Compression.ZSTD if index % 3 == 0
                                           else databento.Compression.NONE)
                sessions[schema].subscribe(schema)
                sessions[schema].live.start()
            with self.replayed_to(gateway):
                gateway.wait_for("is ended")
            for session in sessions.values():
                session.wait(lambda records: any(record.type == client.ERROR and "is ended" in record.text
                                                 for record in records[-20:]))  # after the last event
            for session in sessions.values():
                self.assertIn(session.stop().split(":")[0], ("", "The following errors occurred", "Internal error",
                                                             ), "the end of the feed is reported")
            self.assertEqual(gateway.stop()[0], 0)
        self.check_records({schema: session.records for schema, session in sessions.items()})


class Exported(gateway_day.WithHours):
    """The published readers of files, on what `pinstrike record export` writes."""

    UNDEFINED = {"", "127", "255", "32767", "65535", "2147483647", "4294967295", "9223372036854775807"}

    def export(self, schema, ending, *more):
        out = self.folder / f"{schema}.{ending}"
        self.run_well("record", "export", self.capture, "--schema", schema, "--out", out, *more)
        return out

    def test_each_schema_is_read_by_the_published_reader(self):
        compared = {}
        for schema in gateway_truth.FORMS:
            file = self.export(schema, "dbn")
            ours = exported.Dbn(file.read_bytes())
            for path in (file, self.export(schema, "dbn.zst")):
                store = databento.DBNStore.from_file(path)
                self.assertEqual((store.dataset, str(store.schema), store.symbols),
                                 ("OPRA.PILLAR", schema, ours.symbols))
                self.assertEqual((store.start.value, store.end.value), (ours.start_ns, ours.end_ns))
                self.assertEqual([bytes(record) for record in store], [record.data for record in ours.records])
            compared[schema] = self.check_frame(store.to_df(), ours)
            theirs = self.folder / f"{schema}.theirs.csv"
            store.to_csv(theirs)
            self.check_csv(self.export(schema, "csv", "--format", "csv"), theirs)
        print("records read:", compared)
        self.assertGreater(min(compared.values()), 100)

    def check_frame(self, frame, ours):
        """Each record has its symbol."""
        symbols = ours.symbols_by_id()
        self.assertEqual(list(frame["symbol"]), [symbols[record.instrument] for record in ours.records])
        return len(frame)

    def check_csv(self, ours, theirs):
        """The same columns and values. Theirs have nine decimals, and integers for what is not defined."""
        with open(ours, encoding="utf-8") as one, open(theirs, encoding="utf-8") as other:
            rows, their_rows = list(csv.reader(one)), list(csv.reader(other))
        self.assertEqual(rows[0], their_rows[0])
        self.assertEqual(len(rows), len(their_rows))
        for row, their_row in zip(rows[1:], their_rows[1:]):
            for name, cell, their_cell in zip(rows[0], row, their_row, strict=True):
                if cell != their_cell:
                    equal = (their_cell.strip() in self.UNDEFINED if cell == "" else
                             decimal.Decimal(cell) == decimal.Decimal(their_cell))
                    self.assertTrue(equal, (ours.name, name, cell, their_cell))


class Slow(gateway_day.WithGateway):
    """A client that does not read while a day of some hundred thousand messages is sent."""

    DAY = gateway_day.FAST

    def stopped(self, gateway, until, slow):
        """A session that does not read while the day is sent, `until` something is true of the gateway."""
        session = Session(gateway.port, slow=slow)
        session.subscribe("mbp-1")
        session.live.start()
        session.wait(has(client.SYSTEM, 1))
        session.reads.clear()
        with self.replayed("--pace", "real"):
            session.wait(lambda _: until(), seconds=60)
            session.reads.set()
        return session

    def account_of(self, gateway, session):
        """Each record is either with the client or was skipped."""
        gateway.wait_for("session_ended")
        code, output = gateway.stop()
        self.assertEqual(code, 0, output)
        account = json.loads((gateway.folder / "account.json").read_text())["sessions"]
        self.assertEqual((account["sent"], account["unsent"]), (len(session.records), 0))
        self.assertEqual(account["records"], account["sent"] + account["skipped"])
        return account

    def test_records_are_skipped_and_their_number_is_reported(self):
        with self.gateway(more="queue: 1MiB\n") as gateway:
            session = self.stopped(gateway, lambda: "is ended" in gateway.text(), "skip")
            session.wait(has(client.ERROR, 7))
            count = -1
            while count != (count := len(session.records)):
                time.sleep(1)
            self.assertIn("records skipped", session.stop())
            account = self.account_of(gateway, session)
        skips = [record for record in session.records if record.type == client.ERROR and record.code == 7]
        counts = [int(re.search(r": (\d+) records skipped$", record.text)[1]) for record in skips]
        self.assertGreater(counts[-1], 10000)
        self.assertEqual(account["skipped"], sum(counts))
        after = session.records[session.records.index(skips[-1]) + 1:]
        snapshots = {record.instrument for record in after if record.type == client.MBP_1 and record.flags & 32}
        self.assertGreater(len(snapshots), 1000, "the present values of all series")

    def test_it_is_warned_and_ended_if_nothing_may_be_skipped(self):
        with self.gateway(more="queue: 1MiB\n") as gateway:
            session = self.stopped(
                gateway, lambda: gateway.metric("gateway_user_skipped_records_total", 'user="trial"'), "warn")
            session.wait(lambda _: not session.live.is_connected())
            self.assertIn("stayed behind by more than its queue of 1048576 bytes holds", session.stop())
            self.account_of(gateway, session)
        self.assertTrue(has(client.SYSTEM, 2)(session.records))
        self.assertEqual((session.records[-1].type, session.records[-1].code), (client.ERROR, 6))


class Example(unittest.TestCase):
    """The example of the README, with the configs that it names. Only the ports differ."""

    def test_live_py_prints_the_last_quotes(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        example = textwrap.dedent(re.search(r"^  ```python\n(  import databento\n.*?)^  ```", readme, re.M | re.S)[1])
        with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
            folder = Path(name)
            shutil.copytree(ROOT / "config", folder / "config")
            (folder / "memory").mkdir(mode=0o750)
            (folder / "live.py").write_text(example)
            for port, files in (("9464", ["config/demo.yaml"]), ("9465", ["config/gateway.yaml"]),
                                ("13000", ["config/gateway.yaml", "live.py"])):
                free = str(free_port())
                for file in [folder / name for name in files]:
                    text = file.read_text()
                    self.assertEqual(text.count(port), 1, file)
                    file.write_text(text.replace(port, free))
            environment = dict(os.environ, PINSTRIKE_FOLDER=str(folder / "memory"))
            log = folder / "log"
            with open(log, "w", encoding="utf-8") as output:
                for command in (["run", "config/demo.yaml"], ["gateway", "config/gateway.yaml"]):
                    process = running.enter_context(subprocess.Popen(
                        [Path(PINSTRIKE).resolve(), *command], cwd=folder, env=environment,
                        stdout=subprocess.DEVNULL, stderr=output))
                    running.callback(process.send_signal, signal.SIGINT)
            end = time.monotonic() + 60
            while "feed_attached" not in log.read_text() and time.monotonic() < end:
                time.sleep(0.1)
            done = subprocess.run([sys.executable, "live.py"], cwd=folder, capture_output=True, text=True, check=False,
                                  timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr + log.read_text())
            quote = r"SPY   \d{6}[CP]\d{8}( +(\d+\.\d+|NaN)){2}$"
            self.assertEqual(len(re.findall(quote, done.stdout, re.M)), 5, done.stdout)


class Kept(gateway_day.WithGateway):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_well("replay", cls.capture, "--publish", "day", "--keep")

    def test_a_wrong_key_raises(self):
        with self.gateway() as gateway:
            with self.assertRaisesRegex(databento.BentoError, "CRAM authentication failed"):
                Session(gateway.port, key=KEY[:-1] + "x").subscribe("trades")

    def test_each_symbol_type_and_the_snapshot(self):
        with self.gateway() as gateway:
            gateway.wait_for("feed_attached")
            first = Session(gateway.port)
            first.subscribe("definition", start=0)
            first.live.start()
            first.wait(has(client.SYSTEM, 3))
            first.stop()
            definition = next(record for record in first.records if record.type == client.DEFINITION)
            symbol = client.text_of(definition.data[238:309])
            for stype, name in (("raw_symbol", symbol), ("instrument_id", str(definition.instrument)),
                                ("parent", symbol[:6].strip() + ".OPT")):
                session = Session(gateway.port)
                session.subscribe("cmbp-1", [name], stype, snapshot=True)
                session.live.start()
                session.wait(has(client.CMBP_1))
                self.assertIn(definition.instrument, session.live.symbology_map)
                self.assertEqual(session.live.symbology_map[definition.instrument], symbol)
                session.stop()

    def test_it_sends_the_bytes_that_were_recorded(self):
        def run(port, schema, stype, symbols, options):
            session = Session(port, ts_out="send_times" in options, compression=databento.Compression.ZSTD
                              if "zstd" in options else databento.Compression.NONE)
            session.subscribe(schema, symbols.split(","), stype, snapshot="snapshot" in options,
                              start=0 if "all_state" in options else None)
            session.live.start()
            session.wait(has(client.SYSTEM, 1))
            session.stop()

        with self.gateway() as gateway:
            gateway.wait_for("feed_attached")
            self.assertEqual(recorded_clients.compare("python", recorded_clients.record(gateway.port, run)), {})

    def test_it_reconnects_after_a_restart_of_the_gateway(self):
        self.reconnect_after(signal.SIGTERM)

    def test_it_reconnects_after_the_gateway_was_killed(self):
        self.reconnect_after(signal.SIGKILL)

    def reconnect_after(self, how):
        with self.gateway(managed=True) as gateway:
            gateway.manager.keep()
            session = Session(gateway.port, policy="reconnect")
            session.subscribe("trades")
            session.live.start()
            session.wait(has(client.SYSTEM, 1))
            gateway.stop(how)
            gateway.start()
            session.wait(lambda records: sum(record.type == client.SYSTEM and record.code == 1
                                             for record in records) >= 2, seconds=40)
            session.live.terminate()

    def test_a_file_becomes_a_data_frame(self):
        with self.gateway() as gateway, tempfile.TemporaryDirectory() as folder:
            gateway.wait_for("feed_attached")
            path = Path(folder) / "day.dbn"
            session = Session(gateway.port)
            session.live.add_stream(str(path))
            session.subscribe("cmbp-1", ["SPY.OPT", "QQQ.OPT"], "parent", snapshot=True)
            session.live.start()
            session.wait(lambda records: sum(record.type == client.CMBP_1 for record in records) > 20)
            session.stop()
            frame = databento.DBNStore.from_file(path).to_df(schema="cmbp-1")
            seen = sum(record.type == client.CMBP_1 for record in session.records)
            self.assertEqual(len(frame), seen)
            self.assertTrue(set(frame["symbol"].str[:6].str.strip()) <= {"SPY", "QQQ"})
            self.assertTrue((frame["bid_px_00"].dropna() >= 0).all())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
