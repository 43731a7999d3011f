#!/usr/bin/env python3
"""The published Rust client, unmodified, against the gateway.

    rust_client_test.py PINSTRIKE SOURCE FOLDER

Builds the program in SOURCE, which uses the client, in FOLDER. Skipped (77) with the reason if there is no Rust
toolchain, if it is too old, or if the client's crates cannot be had.
"""

import contextlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import gateway_client as client
import gateway_day
import gateway_truth
import recorded_clients
from gateway_client import KEY, Record

OLDEST = (1, 88)  # of what the client's crates need


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def built(source, folder):
    """The program, built from a copy, because cargo writes beside the source."""
    cargo = shutil.which("cargo")
    if cargo is None:
        skip("there is no cargo")
    version = re.search(r"(\d+)\.(\d+)", subprocess.run([cargo, "--version"], capture_output=True, text=True,
                                                       check=True).stdout)
    if tuple(map(int, version.groups())) < OLDEST:
        skip(f"cargo {version[0]} is older than {OLDEST[0]}.{OLDEST[1]}")
    shutil.copytree(source, folder, dirs_exist_ok=True)
    manifest = ["--manifest-path", str(folder / "Cargo.toml")]
    fetched = subprocess.run([cargo, "fetch", *manifest], capture_output=True, text=True, check=False)
    if fetched.returncode != 0:
        skip(f"the crates cannot be had: {fetched.stderr[-500:]}")
    subprocess.run([cargo, "build", "--offline", "--quiet", *manifest], check=True)
    return folder / "target" / "debug" / "rust_client"


PROGRAM = built(Path(sys.argv[2]), Path(sys.argv[3]))


class Session:
    """The program, whose output goes to a file."""

    def __init__(self, folder, port, schema, *options, stype="raw_symbol", symbols="ALL_SYMBOLS", key=KEY):
        self.has_send_times = "send_times" in options
        self.path = Path(tempfile.mkdtemp(dir=folder)) / "records"
        with open(self.path, "wb") as output:
            self.process = subprocess.Popen([PROGRAM, f"127.0.0.1:{port}", key, schema, stype, symbols, *options],
                                            stdout=output, stderr=subprocess.PIPE, text=True)

    def records(self):
        data, at = self.path.read_bytes(), 0
        while at < len(data):
            size = data[at] * 4
            if at + size > len(data):
                return  # the program writes it now
            yield Record(data[at:at + size - 8 * self.has_send_times], 1 if self.has_send_times else None)
            at += size

    def wait_for(self, kind, count=1, seconds=20):
        end = time.monotonic() + seconds
        while sum(record.type == kind for record in self.records()) < count:
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"{list(self.records())[-1:]}, {self.end()}")
            time.sleep(0.05)

    def end(self):
        """(exit status, text on standard error)"""
        try:
            text = self.process.communicate(timeout=20)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            text = self.process.communicate()[1]
        return self.process.returncode, text


class Published(gateway_day.WithHours):
    def test_records_of_a_day_are_what_the_capture_says(self):
        """With zstd on a third of the sessions, and send times on half of them."""
        with self.gateway(keys=f"keys: [{{user: trial, key: {KEY}, sessions: 20}}]\n") as gateway:
            sessions = {}
            for index, schema in enumerate(gateway_truth.FORMS):
                options = ["zstd"] * (index % 3 == 0) + ["send_times"] * (index % 2)
                sessions[schema] = Session(self.folder, gateway.port, schema, *options)
            for session in sessions.values():
                session.wait_for(client.SYSTEM)
            with self.replayed_to(gateway):
                gateway.wait_for("is ended")
            time.sleep(2)
            self.assertEqual(gateway.stop()[0], 0)
            for session in sessions.values():
                self.assertEqual(session.end()[0], 0, session.end())
        self.check_records({schema: list(session.records()) for schema, session in sessions.items()})


class Kept(gateway_day.WithGateway):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_well("replay", cls.capture, "--publish", "day", "--keep")

    @contextlib.contextmanager
    def session(self, gateway, *arguments, **more):
        session = Session(self.folder, gateway.port, *arguments, **more)
        try:
            yield session
        finally:
            session.process.kill()
            session.end()

    def test_a_wrong_key_is_an_error(self):
        with self.gateway() as gateway, self.session(gateway, "trades", key=KEY[:-1] + "x") as session:
            code, text = session.end()
            self.assertEqual(code, 1)
            self.assertIn("CRAM authentication failed", text)

    def test_each_symbol_type_and_the_snapshot(self):
        with self.gateway() as gateway:
            gateway.wait_for("feed_attached")
            with self.session(gateway, "definition", "all_state") as session:
                session.wait_for(client.DEFINITION)
                definition = next(record for record in session.records() if record.type == client.DEFINITION)
            symbol = client.text_of(definition.data[238:309])
            for stype, name in (("raw_symbol", symbol), ("instrument_id", str(definition.instrument)),
                                ("parent", symbol[:6].strip() + ".OPT")):
                with self.session(gateway, "cmbp-1", "snapshot", stype=stype, symbols=name) as session:
                    session.wait_for(client.CMBP_1)
                    self.assertIn(definition.instrument, [record.instrument for record in session.records()
                                                          if record.type == client.CMBP_1])

    def test_an_unsubscription_is_acknowledged_and_ends_the_records(self):
        with self.gateway() as gateway:
            gateway.wait_for("feed_attached")
            with self.session(gateway, "cmbp-1", "snapshot", "unsubscribe") as session:
                self.assertEqual(session.end(), (0, ""))
                answers = [record for record in session.records() if record.type == client.SYSTEM]
                self.assertEqual(answers[-1].code, 5, answers[-1].text)

    def test_it_sends_the_bytes_that_were_recorded(self):
        def run(port, schema, stype, symbols, options):
            session = Session(self.folder, port, schema, *sorted(options), stype=stype, symbols=symbols)
            session.wait_for(client.SYSTEM)
            session.process.kill()
            session.end()

        with self.gateway() as gateway:
            gateway.wait_for("feed_attached")
            self.assertEqual(recorded_clients.compare("rust", recorded_clients.record(gateway.port, run)), {})

    def test_it_reconnects_after_a_restart_of_the_gateway(self):
        with self.gateway(managed=True) as gateway:
            gateway.manager.keep()
            with self.session(gateway, "trades", "reconnect") as session:
                session.wait_for(client.SYSTEM)
                gateway.stop(signal.SIGTERM)
                gateway.start()
                gateway.wait_for("session_begun", times=2)
                session.wait_for(client.SYSTEM, count=2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
