#!/usr/bin/env python3
"""`pinstrike latency`: figures of a running instance, as text, CSV and a plot; clear error messages.

    latency_test.py PINSTRIKE

The size of figures is not checked, because machines differ, but their consistency is.
"""

import csv
import io
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import xml.etree.ElementTree as xml
from contextlib import ExitStack
from pathlib import Path

from endpoint import thread_names

PINSTRIKE = sys.argv[1]
DEADLINE_S = 300  # a limit for hanging processes; a busy machine is slow
PERCENTILES = ("p50_ns", "p90_ns", "p99_ns", "p99.9_ns", "p99.99_ns", "max_ns")

RUNNING = """
name: measured
kind: opra
lines: 1-4
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: {wait}}}]
cores: [{{name: core0, wait: {wait}, actors: [book]}}, {{name: core1, wait: {wait}, actors: [book]}}]
book: {{series_capacity: 50000}}
traffic: {{lines_count: 4, roots_count: 100, series_count: 20000, rate_messages_per_second: 50000}}
"""


def latency(*words, timeout=DEADLINE_S):
    return subprocess.run([PINSTRIKE, "latency", *map(str, words)], capture_output=True, text=True,
                          check=False, timeout=timeout)


class Answers:
    """A socket that answers each request with the same bytes, and then closes or stays open."""

    def __init__(self, answer, close=True):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "admin.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.open = []
        threading.Thread(target=self.serve, args=(answer, close), daemon=True).start()

    def serve(self, answer, close):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.recv(4096)
            connection.sendall(answer)
            if close:
                connection.close()
            self.open.append(connection)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for connection in self.open:
            connection.close()
        self.folder.cleanup()


class Running(unittest.TestCase):
    """The output for a running instance."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.config, cls.socket = cls.folder / "run.yaml", cls.folder / "admin.sock"
        cls.config.write_text(RUNNING.format(wait="park"))
        with open(cls.folder / "log", "w", encoding="utf-8") as log:
            cls.program = subprocess.Popen([PINSTRIKE, "run", cls.config, "--admin", cls.socket],
                                           stderr=log, stdout=subprocess.DEVNULL)
        end = time.monotonic() + DEADLINE_S
        while not cls.has_samples():
            if time.monotonic() > end or cls.program.poll() is not None:
                raise AssertionError("it does not run: " + (cls.folder / "log").read_text())
            time.sleep(0.2)
        time.sleep(1)

    @classmethod
    def has_samples(cls):
        """Whether both cores got messages."""
        counts = [int(row["count"]) for row in csv.DictReader(io.StringIO(latency(cls.socket, "--csv", "-").stdout))
                  if (row["stage"], row["samples"]) == ("receive to actor", "all")]
        return len(counts) == 2 and min(counts) > 0

    @classmethod
    def tearDownClass(cls):
        cls.program.terminate()
        try:
            cls.program.wait(timeout=DEADLINE_S)
        finally:
            cls.program.kill()
            cls.temporary.cleanup()

    def rows(self, *words):
        done = latency(*words, "--csv", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def test_text_names_every_stage_of_every_thread(self):
        done = latency(self.socket)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for words in ("feed measured", "arrival to poll", "exchange to decoded", "receive to actor",
                      "book: waiting", "book: service", "without preemption", "preemption, us", "p99.99"):
            self.assertIn(words, done.stdout)
        for thread in ("poller0", "core0", "core1"):
            self.assertIn(thread, done.stdout)
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 100)

    def test_csv_agrees_with_itself(self):
        rows = self.rows(self.socket)
        found = {(row["stage"], row["thread"], row["samples"]): row for row in rows}
        self.assertEqual(len(found), len(rows))
        for row in rows:
            values = [int(row[name]) for name in PERCENTILES if row[name]]
            self.assertEqual(values, sorted(values), row)
        for thread in ("core0", "core1"):
            every = found["receive to actor", thread, "all"]
            rest = found["receive to actor", thread, "without_preemption"]
            self.assertGreater(int(every["count"]), 0)
            self.assertLessEqual(int(rest["count"]), int(every["count"]))
        for row in rows:
            enough = not row["count"] or int(row["count"]) >= 10_000
            self.assertEqual(row["p99.99_ns"] != "", enough, row)

    def test_of_some_seconds_there_is_less_than_of_all(self):
        def count(rows):
            return next(int(row["count"]) for row in rows if row["stage"] == "receive to actor")

        end = time.monotonic() + DEADLINE_S
        while not (part := count(self.rows(self.socket, "--seconds", "0.5"))):  # it may not run for so long
            self.assertLess(time.monotonic(), end)
        self.assertLess(part, count(self.rows(self.socket)))

    def test_the_plot_is_a_picture_with_a_curve_of_each_row(self):
        picture = self.folder / "now.svg"
        done = latency(self.socket, "--svg", picture, "--csv", self.folder / "now.csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("receive to actor", done.stdout)  # also the tables
        root = xml.parse(picture).getroot()
        space = "{http://www.w3.org/2000/svg}"
        self.assertEqual(root.tag, space + "svg")
        titles = {title.text for title in root.iter(space + "title")}
        self.assertIn("core1 receive to actor", titles)
        self.assertIn("core1 receive to actor, without preemption", titles)
        width, height = float(root.get("width")), float(root.get("height"))
        for curve in root.iter(space + "polyline"):
            for point in curve.get("points").split():
                x, y = map(float, point.split(","))
                self.assertTrue(0 <= x <= width and 0 <= y <= height, point)
        text = (self.folder / "now.csv").read_text(encoding="utf-8")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertTrue(any(row["stage"] == "receive to actor" for row in rows))

    def test_a_file_that_cannot_be_written_is_reported_before_anything_is_measured(self):
        done = latency(self.socket, "--seconds", "3600", "--svg", self.folder / "no" / "folder.svg")
        self.assertEqual(done.returncode, 1)
        self.assertIn("folder.svg", done.stderr)

    def test_slow_clients_of_the_admin_socket_do_not_keep_it_out(self):
        """Eight clients, as many as the socket serves, send a byte now and then and come again."""
        with ExitStack() as stack:
            slow = [self.connected() for _ in range(8)]
            stack.callback(lambda: [each.close() for each in slow])
            stop = threading.Event()
            dripping = threading.Thread(target=self.drip, args=(slow, stop))
            dripping.start()
            stack.callback(dripping.join)
            stack.callback(stop.set)
            time.sleep(0.5)
            for _ in range(5):
                done = latency(self.socket)  # gives up after ten seconds without an answer
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("receive to actor", done.stdout)

    def drip(self, slow, stop):
        while not stop.wait(0.1):
            for i, each in enumerate(slow):
                try:
                    each.send(b"x")
                except OSError:  # closed by the program for a newer one
                    each.close()
                    slow[i] = self.connected()

    def connected(self):
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(self.socket))
        return client


class Replay(unittest.TestCase):
    """Replays of captures: latencies begin when a packet was due."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.capture = cls.folder / "session.pcap"
        subprocess.run([PINSTRIKE, "generate", "--out", cls.capture, "--lines", "1-2", "--messages",
                        "30000", "--series", "2000", "--roots", "30", "--no-session", "--rate",
                        "5000"], check=True, capture_output=True)  # 6 s

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def rows(self, text):
        return {(row["stage"], row["samples"]): row for row in csv.DictReader(io.StringIO(text))}

    def test_stages_begin_when_packets_were_due(self):
        done = latency("--replay", self.capture, "--pace", "x10", "--svg", self.folder / "a.svg")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("due to decoded", "due to actor", "book: service", "from the time when the packet was due"):
            self.assertIn(words, done.stdout)
        self.assertNotIn("receive to actor", done.stdout)
        self.assertIn("the account balances", done.stderr)
        xml.parse(self.folder / "a.svg")

    def test_a_config_says_threads_and_lines(self):
        config = self.folder / "run.yaml"
        config.write_text(RUNNING.format(wait="park"))
        done = latency(config, "--replay", self.capture, "--pace", "x10", "--csv", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        threads = {row["thread"] for row in csv.DictReader(io.StringIO(done.stdout))}
        self.assertEqual(threads, {"poller0", "core0", "core1"})

    def test_what_a_standstill_keeps_waiting_is_not_left_out(self):
        """Nothing runs for half a second: packets that were due meanwhile are up to that late."""
        program = subprocess.Popen([PINSTRIKE, "latency", "--replay", self.capture, "--csv", "-"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            end = time.monotonic() + DEADLINE_S
            while not any(name.startswith("poll") for name in thread_names(program)):  # they start last
                self.assertLess(time.monotonic(), end, "no poller has started")
                time.sleep(0.05)
            time.sleep(1)
            program.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            program.send_signal(signal.SIGCONT)
            text, errors = program.communicate(timeout=DEADLINE_S)
        finally:
            program.kill()
            program.wait()
        self.assertEqual(program.returncode, 0, errors)
        rows = self.rows(text)
        for stage in ("due to decoded", "due to actor"):
            self.assertGreater(int(rows[stage, "all"]["max_ns"]), 400_000_000, text)
            # A twelfth of all packets were due meanwhile; none of them is missing.
            self.assertGreater(int(rows[stage, "all"]["p99_ns"]), 1_000_000, text)


class Complaints(unittest.TestCase):
    def expect(self, status, part, *words):
        done = latency(*words)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertIn(part, done.stderr)
        self.assertNotIn("terminate", done.stderr)

    def test_wrong_use(self):
        self.expect(2, "INSTANCE or --replay")
        self.expect(2, "--replay goes without", "--replay", "a.pcap", "--seconds", "1")
        self.expect(2, "neither real nor", "--replay", "a.pcap", "--pace", "max")
        self.expect(2, "--seconds", "opra", "--seconds", "0")
        self.expect(2, "--seconds", "opra", "--seconds", "soon")

    def test_configs(self):
        self.expect(78, "no-such.yaml", "no-such.yaml", "--replay", "a.pcap")
        self.expect(1, "no-such.pcap", "--replay", "no-such.pcap")

    def test_nobody_answers(self):
        for instance in ("no-such", "no-such.yaml", "/etc/pinstrike/no-such.yaml"):
            self.expect(1, "/run/pinstrike/no-such/admin.sock: found no admin socket", instance)
        self.expect(1, "./no-such.sock: found no admin socket", "./no-such.sock")

    def test_something_else_answers(self):
        for answer, part in ((b"{}\n", "no reading"),
                             (b'{"error": "found histograms, expected status"}\n', "expected status"),
                             (b'{"histograms": {"feed": 1}}\n', "no reading"),
                             (b"<html>hello</html>\n", "without an answer"),
                             (b"SSH-2.0-OpenSSH_9.2\r\n", "without an answer"),
                             (b'{"histograms": {"feed": "cut o', "without an answer"),
                             (b"", "without an answer")):
            with self.subTest(answer=answer[:40]), Answers(answer) as server:
                self.expect(1, part, server.path)

    def test_who_never_answers_is_not_waited_for_for_ever(self):
        for answer in (b"", b'{"histograms": {"feed": "half'):
            with Answers(answer, close=False) as server:
                self.expect(1, "no answer within", server.path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
