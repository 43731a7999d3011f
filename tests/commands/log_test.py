#!/usr/bin/env python3
"""The log of `run` and `replay` on standard error: levels, contents, failing outputs.

    log_test.py PINSTRIKE
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

from endpoint import free_port

PINSTRIKE = sys.argv[1]
DEADLINE_S = 300

# Both streams lose packets.
FAULTY = """
name: faulty
lines: 1-2
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}]
book: {{series_capacity: 20000}}
traffic: {{lines_count: 2, roots_count: 50, series_count: 2000, rate_messages_per_second: 20000,
          a: {{loss: 0.1}}, b: {{loss: 0.1}}}}
log_level: {level}
"""

# At the simulator's full speed, into a ring that is far too small.
OVERLOADED = """
name: overloaded
lines: 1-4
ports: [{name: simulator, kind: sim}]
pollers: [{name: poller0}]
cores: [{name: slow-one, wait: park}]
ring_slots: 1024
book: {series_capacity: 50000}
traffic: {lines_count: 4, roots_count: 100, series_count: 20000, rate_messages_per_second: 100000000}
"""

CAPTURED = """
name: captured
lines: {lines}
ports: [{{name: file, kind: pcap, files: [{capture}]}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}]
when_full: wait
book: {{series_capacity: 20000}}
log_level: {level}
"""

# DPDK's own packets, of an unknown protocol, at full speed.
NULLS = """
name: nulls
lines: 1-2
ports: [{{name: nic, kind: dpdk, vdev: "{vdev}", membership: static, hugepages: false}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}]
book: {{series_capacity: 2000}}
"""

ENTRY = re.compile(r"(\S+ |<\d>)(debug|info|warning|error) ([a-z_]+) ([^:]+): (.+)")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ")


def entries(text):
    """(begin, level, code, subject, sentence) of each entry."""
    return [match.groups() for match in map(ENTRY.fullmatch, text.splitlines()) if match]


def codes(text):
    return {entry[2] for entry in entries(text)}


class LogLines(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="pinstrike-log-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, text):
        path = self.folder / "feed.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    def finished(self, *arguments, status=0, **options):
        """The program's standard error; its status must be this, and its account must balance."""
        options.setdefault("stderr", subprocess.PIPE)
        (self.folder / "account.json").unlink(missing_ok=True)
        done = subprocess.run([PINSTRIKE, *arguments, "--account", self.folder / "account.json"],
                              stdout=subprocess.DEVNULL, text=True, timeout=DEADLINE_S, check=False,
                              **options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIs(self.account()["balanced"], True)
        return done.stderr

    def account(self):
        return json.loads((self.folder / "account.json").read_text())

    def lossy_capture(self):
        capture = self.folder / "lossy.pcap"
        subprocess.run([PINSTRIKE, "generate", "--out", capture, "--lines", "1-8", "--messages",
                        "20000", "--series", "2000", "--roots", "20", "--loss-a", "0.02",
                        "--loss-b", "0.02"], check=True, capture_output=True, timeout=DEADLINE_S)
        return capture

    def test_a_level_keeps_out_what_is_less_severe(self):
        marks = {"debug": "stream_heard", "info": "running", "warning": "packets_dropped",
                 "error": "gap_declared"}
        levels = list(marks)
        capture = self.lossy_capture()
        for level in levels:
            with self.subTest(level):
                # Half of the capture's lines are not configured.
                config = self.write(CAPTURED.format(capture=capture, lines="1-4", level=level))
                said = self.finished("run", config)
                self.assertEqual({mark for mark in marks.values() if mark in codes(said)},
                                 {marks[each] for each in levels[levels.index(level):]}, said)
                self.assertLessEqual({entry[1] for entry in entries(said)},
                                     set(levels[levels.index(level):]))
                self.assertTrue(all(TIME.fullmatch(entry[0]) for entry in entries(said)), said)

    def test_from_the_start_to_the_end(self):
        config = self.write(FAULTY.format(level="info"))
        said = [entry[2:] for entry in entries(self.finished("run", config, "--for", "1s"))]
        logged = {code: (subject, sentence) for code, subject, sentence in said}
        self.assertEqual(said[0][0], "starting")
        self.assertIn(str(config), logged["starting"][1])
        self.assertEqual(logged["stopping"], ("feed faulty", "the time of --for is over"))
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name), subprocess.Popen(
                    [PINSTRIKE, "run", config], stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE, text=True) as process:
                lines = []
                for line in process.stderr:
                    lines.append(line)
                    if " running " in line:
                        process.send_signal(number)
                self.assertEqual(process.wait(timeout=DEADLINE_S), 0)
                self.assertIn(f"info stopping feed faulty: {number.name}\n", "".join(lines))

    def test_a_lossy_capture_names_its_lines(self):
        capture = self.lossy_capture()
        config = self.write(CAPTURED.format(capture=capture, lines="1-8", level="info"))
        for command in (["run", config], ["replay", capture]):
            with self.subTest(command[0]):
                said = self.finished(*command)
                lost = {f"line {line['line']}": line["lost"] for line in self.account()["lines"]
                        if line["gaps"]}
                self.assertGreater(len(lost), 1)
                logged = {entry[3]: int(re.search(r"(\d+) messages? lost since", entry[4])[1])
                        for entry in entries(said) if entry[2] == "gap_declared"}
                self.assertEqual(logged, lost)
                quiet = command[0] == "replay"  # a tool logs its findings, not its actions
                self.assertEqual("running" in codes(said), not quiet)

    def test_a_capture_cut_short_is_remarked_upon(self):
        capture = self.folder / "cut.pcap"
        subprocess.run([PINSTRIKE, "generate", "--out", capture, "--lines", "1", "--messages",
                        "1000", "--series", "100", "--roots", "5"], check=True,
                       capture_output=True, timeout=DEADLINE_S)
        capture.write_bytes(capture.read_bytes()[:-7])
        said = self.finished("replay", capture, status=1)
        remarks = [entry[4] for entry in entries(said) if entry[2] == "remark"]
        self.assertEqual(len(remarks), 1, said)
        self.assertIn("cut.pcap", remarks[0])

    def test_a_slow_core_and_a_poller_at_its_limit_are_named(self):
        said = self.finished("run", self.write(OVERLOADED), "--for", "3s")
        refused = sum(ring["refused"] for ring in self.account()["rings"])
        self.assertGreater(refused, 0)
        slow = [entry for entry in entries(said) if entry[2] == "core_slow"]
        self.assertTrue(slow, said)
        self.assertEqual({entry[3] for entry in slow}, {"core slow-one"})
        self.assertIn(f"{refused} since the start", slow[-1][4])
        self.assertIn("in book", slow[-1][4])
        self.assertLess(len(slow), 5, "one entry a second at most")
        behind = {entry[3] for entry in entries(said) if entry[2] == "poller_behind"}
        self.assertEqual(behind, {"poller poller0"}, said)

    def test_dpdk_speaks_through_the_log(self):
        config = self.write(NULLS.format(vdev="net_null0,size=80") + "log_level: debug\n")
        said = self.finished("run", config, "--for", "2500ms")
        logged = {entry[2]: entry[3:] for entry in entries(said)}
        self.assertIn("dpdk_info", logged)
        self.assertEqual(logged["link_up"][0], "port nic")
        self.assertEqual(logged["packets_ignored"][0], "port nic")
        self.assertIn("link_control", logged["packets_ignored"][1], "frames of zeros: of type 0")
        self.assertNotIn("\nEAL: ", said)
        config = self.write(NULLS.format(vdev="net_null0,nosuch=1"))
        done = subprocess.run([PINSTRIKE, "run", config], capture_output=True, text=True,
                              timeout=DEADLINE_S, check=False)
        self.assertEqual(done.returncode, 78, done.stderr)
        self.assertIn("dpdk_error", codes(done.stderr))
        self.assertIn("pinstrike: port nic: cannot create net_null0,nosuch=1", done.stderr)

    @unittest.skipIf(Path("/run/systemd/journal/socket").exists(),
                     "the journal of this host would get the entries (tests/appliance reads them there)")
    def test_the_journal_gets_priorities_and_no_time(self):
        config = self.write(FAULTY.format(level="debug"))
        with open(self.folder / "journal", "w+", encoding="utf-8") as journal:
            status = os.fstat(journal.fileno())
            named = {**os.environ, "JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
            self.finished("run", config, "--for", "1s", stderr=journal, env=named)
            journal.seek(0)
            said = entries(journal.read())
        priorities = {"debug": "<7>", "info": "<6>", "warning": "<4>", "error": "<3>"}
        self.assertGreater(len(said), 3)
        for begin, level, *_ in said:
            self.assertEqual(begin, priorities[level])
        # The variable is inherited, but this standard error is another file.
        self.assertTrue(TIME.match(self.finished("run", config, "--for", "100ms", env=named)))

    def test_a_full_disk_costs_the_log_and_is_counted(self):
        address = f"127.0.0.1:{free_port()}"
        config = self.write(FAULTY.format(level="debug") + f"metrics_address: {address}\n")
        with open("/dev/full", "w", encoding="utf-8") as full, subprocess.Popen(
                [PINSTRIKE, "run", config, "--account", self.folder / "account.json"],
                stdout=subprocess.DEVNULL, stderr=full) as process:
            self.addCleanup(lambda: process.poll() is None and process.kill())
            failed, end = None, time.monotonic() + DEADLINE_S
            while not failed and time.monotonic() < end:
                try:
                    with urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as answer:
                        failed = re.search(r"pinstrike_log_failed_entries_total\S* ([1-9]\d*)",
                                           answer.read().decode())
                except OSError:
                    pass
                time.sleep(0.1)
            process.terminate()
            self.assertEqual(process.wait(timeout=DEADLINE_S), 0)
        self.assertTrue(failed, "entries that failed are not counted")
        self.assertIs(self.account()["balanced"], True)

    def test_closed_and_stuck_outputs_do_not_hold_it_up(self):
        config = self.write(FAULTY.format(level="debug"))
        read_end, write_end = os.pipe()
        os.close(read_end)
        self.finished("run", config, "--for", "1s", stderr=write_end)
        os.close(write_end)
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        try:
            while True:
                os.write(write_end, b"x" * 512)
        except BlockingIOError:
            os.set_blocking(write_end, True)
        self.finished("run", config, "--for", "1s", stderr=write_end)
        os.close(read_end)
        os.close(write_end)
        self.finished("run", config, "--for", "1s", stderr=None, preexec_fn=lambda: os.close(2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
