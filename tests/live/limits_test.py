#!/usr/bin/env python3
"""Limits of the system never end the program by a signal, and never end a running feed.

    limits_test.py PINSTRIKE MISBEHAVING_THREAD

With any limit on open files, the program either starts, or prints a sentence and ends with 1 or 78; with
3 the system's loader cannot open libraries, says so, and ends with 127. In a running feed, a failing
recovery thread ends alone; without a free descriptor, a peer is refused without spinning; a file that may
not grow only loses entries of the log.
"""

import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

CONFIG = """
name: limits
kind: opra
lines: 1-2
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park, actors: [book]}}]
ring_slots: 1024
book: {{series_capacity: 2000}}
traffic: {{lines_count: 2, roots_count: 50, series_count: 1000, rate_messages_per_second: 10000}}
history: {{keep: 1s, memory: 16MiB}}
recovery: {{sources: [peer]}}
peer: {{listen: "127.0.0.1:{listen}", connect: ["127.0.0.1:{nobody}"], secret_file: {secret},
  state: true}}
metrics_address: 127.0.0.1:{metrics}
"""
MISBEHAVING = Path(sys.argv.pop())
PINSTRIKE = sys.argv.pop()
OPEN_FILES_NEEDED = 128
PATIENCE_S = 120  # a limit for what never comes; a busy machine is slow


def free_ports(count):
    with_ports = [socket.socket() for _ in range(count)]
    try:
        for each in with_ports:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in with_ports]
    finally:
        for each in with_ports:
            each.close()


def processor_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Limits(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        secret = Path(self.folder.name) / "secret"
        secret.write_text("0123456789abcdef0123456789abcdef")
        secret.chmod(0o600)
        self.listen, nobody, self.metrics = free_ports(3)
        self.config = Path(self.folder.name) / "limits.yaml"
        self.config.write_text(CONFIG.format(listen=self.listen, nobody=nobody, secret=secret,
                                             metrics=self.metrics))

    def run_under(self, limit, value):
        """The result of a whole short run."""
        return subprocess.run(
            [PINSTRIKE, "run", self.config, "--for", "100ms", "--no-view"], capture_output=True,
            text=True, timeout=PATIENCE_S, check=False,
            preexec_fn=lambda: resource.setrlimit(limit, (value, value)))

    def start(self, *arguments, **environment):
        """A running instance; its output goes to a file."""
        self.log = Path(self.folder.name) / "log"
        with self.log.open("w") as log:
            process = subprocess.Popen([PINSTRIKE, "run", self.config, "--no-view", *arguments],
                                       stdout=log, stderr=log, env={**os.environ, **environment})
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        self.wait_for(lambda: " running " in self.log.read_text())
        return process

    def wait_for(self, look):
        end = time.monotonic() + PATIENCE_S
        while not look():
            self.assertLess(time.monotonic(), end, self.log.read_text()[-3000:])
            time.sleep(0.1)

    def scraped(self, name):
        """The value of a metric; None if there is none, or no answer."""
        try:
            url = f"http://127.0.0.1:{self.metrics}/metrics"
            text = urllib.request.urlopen(url, timeout=5).read().decode()
        except OSError:
            return None
        values = [line.split()[-1] for line in text.splitlines()
                  if line.startswith(f"pinstrike_{name}{{")]
        return float(values[0]) if values else None

    def value(self, name):
        """The same, when there is an answer."""
        found = []
        self.wait_for(lambda: found.append(self.scraped(name)) or found[-1] is not None)
        return found[-1]

    def end(self, process):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 0, self.log.read_text()[-3000:])
        self.assertIn("the account balances", self.log.read_text())

    def test_a_start_under_any_limit_on_open_files_says_what_it_lacks(self):
        for files in (*range(3, 24), *range(24, OPEN_FILES_NEEDED - 1, 12), OPEN_FILES_NEEDED - 1):
            done = self.run_under(resource.RLIMIT_NOFILE, files)
            seen = (files, done.returncode, done.stderr[-500:])
            # Below 4, the system's loader cannot open libraries, and says so.
            self.assertEqual(done.returncode, 78 if files > 3 else 127, seen)
            self.assertRegex(done.stderr, r"limit of \d+ open files, expected 128 or more"
                             if files > 3 else "cannot open shared object file", seen)
        done = self.run_under(resource.RLIMIT_NOFILE, OPEN_FILES_NEEDED)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def test_files_that_may_not_grow_are_failed_writes(self):
        done = self.run_under(resource.RLIMIT_FSIZE, 4096)  # rings are files in memory
        self.assertEqual(done.returncode, 78, done.stderr[-2000:])
        self.assertIn("memory of a ring: File too large", done.stderr)
        process = self.start()
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, 0))
        process.send_signal(signal.SIGHUP)  # the entry that fails to be written
        self.wait_for(lambda: self.value("log_failed_entries_total") > 0)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 0)

    def test_threads_that_cannot_be_started_are_reported(self):
        if os.geteuid() == 0:
            self.skipTest("root has no limit on threads")
        done = self.run_under(resource.RLIMIT_NPROC, 1)
        self.assertEqual(done.returncode, 1, done.stderr[-2000:])
        self.assertIn("a thread cannot be started", done.stderr)

    def test_recovery_ends_alone(self):
        order = Path(self.folder.name) / "order"
        order.write_bytes(bytes(3))
        process = self.start(LD_PRELOAD=MISBEHAVING, MISBEHAVE=str(order))
        self.assertEqual(self.value("recovery_running"), 1)
        with order.open("r+b", buffering=0) as file:
            file.write(b"\0\0\1")
        self.wait_for(lambda: " error recovery_ended recovery: " in self.log.read_text())
        self.assertIn("by order: Too many open files", self.log.read_text())
        self.assertEqual(self.value("recovery_running"), 0)
        delivered = self.value("line_delivered_messages_total")
        self.wait_for(lambda: self.value("line_delivered_messages_total") > delivered)
        self.end(process)

    def test_a_peer_that_finds_no_descriptor_is_turned_away_without_haste(self):
        process = self.start()
        self.assertEqual(self.value("peer_server_untaken_connections_total"), 0)
        before = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
        begin_s = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.listen)):
            self.wait_for(lambda: "connections cannot be accepted for 1 s: Too many open files"
                          in self.log.read_text())
            spent_s, since_s = processor_seconds(process), time.monotonic()
            time.sleep(3)
            spent_s, passed_s = processor_seconds(process) - spent_s, time.monotonic() - since_s
            # Waiting takes a tenth of a processor; a spinning thread would take a whole one.
            self.assertLess(spent_s, 0.6 * passed_s, f"processor seconds within {passed_s}")
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)
            self.wait_for(lambda: self.value("peer_server_connections_total") == 1)
            refused = self.value("peer_server_untaken_connections_total")
            self.assertTrue(1 <= refused <= time.monotonic() - begin_s + 1, refused)  # one a second
        self.end(process)

    def test_an_admin_socket_that_finds_no_descriptor_says_so(self):
        path = str(Path(self.folder.name) / "admin.sock")
        process = self.start("--admin", path)
        self.assertEqual(self.value("admin_untaken_connections_total"), 0)
        before = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
        begin_s = time.monotonic()
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE_S)
            client.connect(path)
            client.sendall(b'{"ask": "status"}\n')
            self.wait_for(lambda: "admin_untaken feed limits: connections cannot be accepted for "
                          "1 s: Too many open files" in self.log.read_text())
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)
            self.assertTrue(client.recv(65536).startswith(b"{"))
        refused = self.value("admin_untaken_connections_total")
        self.assertTrue(1 <= refused <= time.monotonic() - begin_s + 1, refused)  # one a second
        self.end(process)

    def test_a_running_feed_goes_on_under_any_limit_on_open_files(self):
        process = self.start()
        before = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        opened = len(os.listdir(f"/proc/{process.pid}/fd"))
        for files in (3, 4, opened // 2, opened - 1, opened, opened + 1, opened + 2):
            delivered = self.value("line_delivered_messages_total")
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (files, before[1]))
            with socket.create_connection(("127.0.0.1", self.listen)):
                self.scraped("running_seconds")  # also wants a descriptor
                process.send_signal(signal.SIGHUP)  # so does reading the config again
                time.sleep(1.5)
            self.assertIsNone(process.poll(), (files, self.log.read_text()[-2000:]))
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)
            self.wait_for(lambda: self.value("line_delivered_messages_total") > delivered)
        self.end(process)


if __name__ == "__main__":
    unittest.main(verbosity=2)
