#!/usr/bin/env python3
"""The published Python client, unmodified, against the gateway.

    databento_client_test.py PINSTRIKE FOLDER

Makes a virtual environment with the client in FOLDER, unless there is one, and runs this file again in it. Skipped
(77) with the reason if the client cannot be installed.
"""

import os
import signal
import subprocess
import sys
import tempfile
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

import gateway_client as client  # noqa: E402
import gateway_day  # noqa: E402
import gateway_truth  # noqa: E402
from gateway_client import KEY, Record  # noqa: E402

class Session:
    """A live session that keeps each record's bytes."""

    def __init__(self, port, ts_out=False, compression=databento.Compression.NONE, slow="skip", key=KEY,
                 policy="none"):
        self.records = []
        self.live = databento.Live(key=key, gateway="127.0.0.1", port=port, ts_out=ts_out, compression=compression,
                                   slow_reader_behavior=slow, reconnect_policy=policy)
        self.ts_out = ts_out
        self.live.add_callback(self.keep)

    def keep(self, record):
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
                gateway.wait_for("is ended", seconds=60)
            for session in sessions.values():
                session.wait(lambda records: any(record.type == client.ERROR and "is ended" in record.text
                                                 for record in records[-20:]))  # after the last event
            for session in sessions.values():
                self.assertIn(session.stop().split(":")[0], ("", "The following errors occurred", "Internal error",
                                                             ), "the end of the feed is reported")
            self.assertEqual(gateway.stop()[0], 0)
        self.check_records({schema: session.records for schema, session in sessions.items()})


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

    def test_it_reconnects_after_a_restart_of_the_gateway(self):
        with self.gateway(managed=True) as gateway:
            gateway.manager.keep()
            session = Session(gateway.port, policy="reconnect")
            session.subscribe("trades")
            session.live.start()
            session.wait(has(client.SYSTEM, 1))
            gateway.stop(signal.SIGTERM)
            gateway.start()
            gateway.wait_for("session_begun", seconds=40, times=2)
            session.wait(lambda records: sum(record.type == client.SYSTEM and record.code == 1
                                             for record in records) >= 2)
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
