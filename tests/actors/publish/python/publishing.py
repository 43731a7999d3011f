"""Feeds to read: generated days, replayed or run, with published memory in a folder of the test."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

DEMO = Path(__file__).resolve().parents[4] / "config" / "demo.yaml"
REPLAY = """\
name: day
lines: 1-4
ports: [{name: capture, kind: pcap, files: [unused]}]
pollers: [{name: poller0}]
cores: [{name: core0, wait: park}, {name: core1, wait: park}]
book: {series_capacity: 10000}
"""
RUN = """\
name: running
lines: 1-2
ports: [{name: simulator, kind: sim}]
pollers: [{name: poller0, wait: park}]
cores: [{name: core0, wait: park}]
publish: {memory: shm, stream: on, stream_records: STREAM_RECORDS}
book: {series_capacity: 100000}
traffic: {lines_count: 2, roots_count: 50, series_count: SERIES, rate_messages_per_second: RATE}
"""


class Publisher:
    """The program, and the folder in which it publishes."""

    def __init__(self, program):
        self.program = program
        self._folder = tempfile.TemporaryDirectory(prefix="python-reader-")
        self._memory = tempfile.TemporaryDirectory(dir="/dev/shm", prefix="python-reader-")
        self.folder, self.memory = Path(self._folder.name), Path(self._memory.name)
        os.environ["PINSTRIKE_FOLDER"] = str(self.memory)
        self._started = []

    def close(self):
        for process in self._started:
            process.kill()
            process.wait()
        self._folder.cleanup()
        self._memory.cleanup()

    def generate(self, name, *options):
        path = self.folder / f"{name}.pcap"
        subprocess.run([self.program, "generate", "--out", path, "--series", "2000", "--roots", "20",
                        "--lines", "1-4", *options], check=True, capture_output=True)
        return path

    def start(self, *arguments, stdin=None):
        process = subprocess.Popen([self.program, *arguments], stdin=stdin, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        self._started.append(process)
        return process

    def replay(self, capture, name, *options, stdin=None):
        config, book = self.folder / "replay.yaml", self.folder / f"{name}.book.json"
        config.write_text(REPLAY)
        return self.start("replay", capture, "--config", config, "--publish", name, "--keep",
                          "--book", book, *options, stdin=stdin), book

    def replay_later(self, capture, name, *options):
        """A replay that has the first packet, its book, and a function that gives it the others."""
        content = capture.read_bytes()
        first = 24 + 16 + int.from_bytes(content[32:36], "little")
        reads, writes = os.pipe()
        process, book = self.replay("-", name, *options, stdin=reads)
        os.close(reads)
        pipe = open(writes, "wb")
        pipe.write(content[:first])
        pipe.flush()

        def give_others():
            with pipe:
                pipe.write(content[first:])

        return process, book, give_others

    def run(self, stream_records=65536, series=5000, rate=20000):
        config = self.folder / "run.yaml"
        config.write_text(RUN.replace("STREAM_RECORDS", str(stream_records)).replace("SERIES", str(series))
                          .replace("RATE", str(rate)))
        return self.start("run", config)

    def demo(self):
        """The demonstration, on which the examples read a feed, without its metrics' port, which may be in use."""
        port = "metrics_address: 127.0.0.1:9464\n"
        text = DEMO.read_text()
        assert port in text, f"{DEMO} has no {port}"
        config = self.folder / "demo.yaml"
        config.write_text(text.replace(port, ""))
        return self.start("run", config)


def eventually(what, seconds=300.0):
    """The first true value of what(), which may raise until then."""
    end = time.monotonic() + seconds
    while True:
        try:
            if value := what():
                return value
        except RuntimeError:
            pass
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s")
        time.sleep(0.01)


def book_rows(path):
    """The book that --book wrote: {series: its row}."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    # Regular comes before GTH, and both may have one key: a number tells them apart.
    return {(row["symbol"], row["expiration"], row["right"], row["strike"]): row for row in rows}
