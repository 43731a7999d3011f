#!/usr/bin/env python3
"""The tools of recordings: progress on a terminal, and outputs that are whole or not there.

    record_tools_test.py PINSTRIKE
"""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from datetime import UTC, datetime
from pathlib import Path

PINSTRIKE = sys.argv[1]
CONFIG = """
name: recorded
lines: 1-4
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}]
record: {{folder: {folder}, segment: 16MiB, free: 0B}}
book: {{series_capacity: 50000}}
traffic: {{lines_count: 4, roots_count: 100, series_count: 20000, rate_messages_per_second: 100000}}
"""
DEADLINE_S = 300  # a limit for hanging processes; a busy machine is slow
PROGRESS = re.compile(r"\r\d+ %, [\d,]+ \w+, \d+\.\d\d M/s, \d+:\d\d:\d\d left")


def wait_for(what, look):
    end = time.monotonic() + DEADLINE_S
    while not look():
        if time.monotonic() > end:
            raise AssertionError(f"no {what}")
        time.sleep(0.02)


class Terminal:
    """What a process writes to its standard error, which is a terminal."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.text = ""
        self.thread = threading.Thread(target=self.read)

    def start(self, *words, **options):
        process = subprocess.Popen([PINSTRIKE, *map(str, words)], stderr=self.slave, **options)
        os.close(self.slave)
        self.thread.start()
        return process

    def read(self):
        try:
            while part := os.read(self.master, 65536):
                self.text += part.decode()
        except OSError:  # the other end is closed
            os.close(self.master)

    def shows_progress(self):
        return PROGRESS.search(self.text) is not None


class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="pinstrike-record-tools-")
        cls.here = Path(cls.holder.name)
        cls.folder = cls.here / "record"
        config = cls.here / "feed.yaml"
        config.write_text(CONFIG.format(folder=cls.folder))
        subprocess.run([PINSTRIKE, "run", config, "--for", "3s"], stderr=subprocess.DEVNULL, check=True,
                       timeout=DEADLINE_S)
        info = json.loads(subprocess.run([PINSTRIKE, "record", "ls", cls.folder, "--json"], stdout=subprocess.PIPE,
                                         check=True).stdout)
        first_ns = min(row["first_ts_ns"] for row in info["segments"])
        moments = [f"{datetime.fromtimestamp(first_ns / 1e9 + after, UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
                   for after in (0.2, 0.4)]
        cls.part, cls.short_part = ["--from", moments[0]], ["--from", moments[0], "--to", moments[1]]

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def read_until_progress(self, file, terminal):
        """Slowly, until the line was shown with a share."""
        while os.read(file.fileno(), 65536):
            time.sleep(0 if terminal.shows_progress() else 0.02)
        self.assertTrue(terminal.shows_progress(), terminal.text)

    def shows_progress_into(self, output, *words):
        os.mkfifo(output)
        terminal = Terminal()
        with terminal.start(*words) as process, open(output, "rb") as file:
            self.read_until_progress(file, terminal)
        terminal.thread.join()
        self.assertEqual(process.returncode, 0, terminal.text)
        return terminal.text

    def test_cut_shows_progress(self):
        out = self.here / "cut.pcapng"
        said = self.shows_progress_into(out, "record", "cut", self.folder, "--out", out, *self.part)
        self.assertRegex(said, r"\r\x1b\[Kpinstrike: \d+ packets written")

    def test_export_of_a_range_shows_progress(self):
        out = self.here / "quotes.csv"
        self.shows_progress_into(out, "record", "export", self.folder, "--schema", "cmbp-1", "--format", "csv", "--out",
                                 out, *self.part)

    def test_decode_shows_progress_unless_the_messages_are_on_the_terminal(self):
        for words in ([], self.part):
            terminal = Terminal()
            with terminal.start("decode", self.folder, *words, stdout=subprocess.PIPE) as process:
                self.read_until_progress(process.stdout, terminal)
            terminal.thread.join()
        terminal = Terminal()
        with terminal.start("decode", self.folder, *self.short_part, stdout=terminal.slave):
            pass
        terminal.thread.join()
        self.assertIn("SPX", terminal.text)
        self.assertNotIn("\x1b[K", terminal.text)

    def test_replay_shows_progress(self):
        for words in ([], self.part):
            terminal = Terminal()
            with terminal.start("replay", self.folder, "--pace", "real", *words) as process:
                pass
            terminal.thread.join()
            self.assertEqual(process.returncode, 0, terminal.text)
            self.assertTrue(terminal.shows_progress(), terminal.text)

    def test_verify_shows_progress(self):
        terminal = Terminal()
        with terminal.start("record", "verify", self.folder, stdout=subprocess.DEVNULL) as process:
            pass
        terminal.thread.join()
        self.assertEqual(process.returncode, 0, terminal.text)
        self.assertTrue(terminal.shows_progress(), terminal.text)
        self.assertTrue(terminal.text.endswith("\r\x1b[K"), terminal.text)

    def test_an_interrupted_cut_leaves_no_half_file(self):
        many = self.here / "many"
        many.mkdir()
        segment = max(self.folder.glob("*.pcapng"), key=lambda path: path.stat().st_size)
        for number in range(60):  # a cut that takes seconds
            name = f"poller0-20261129T14{number:02}00.000000000Z.pcapng"
            os.link(segment, many / name)
            os.link(f"{segment}.index", many / f"{name}.index")
        for before in (None, b"the cut before"):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                folder = Path(tempfile.mkdtemp(dir=self.here))
                out = folder / "cut.pcapng"
                if before is not None:
                    out.write_bytes(before)
                with subprocess.Popen([PINSTRIKE, "record", "cut", many, "--out", out]) as process:
                    wait_for("half a cut", lambda: any(path.stat().st_size > 1 << 20 for path in folder.iterdir()))
                    process.send_signal(number)
                self.assertEqual(process.returncode, -number)
                self.assertEqual(out.read_bytes() if out.exists() else None, before)

    def test_a_pipe_gets_no_progress(self):
        for words in (("decode", self.folder), ("replay", self.folder), ("record", "verify", self.folder),
                      ("record", "cut", self.folder, "--out", self.here / "all.pcapng")):
            said = subprocess.run([PINSTRIKE, *words], capture_output=True, text=True, check=True).stderr
            self.assertNotIn("\r", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
