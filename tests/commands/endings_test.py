#!/usr/bin/env python3
"""How the program ends: its status, signals, and its outputs at the end.

    endings_test.py PINSTRIKE
"""

import fcntl
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

PINSTRIKE = sys.argv.pop()
DEADLINE_S = 120
CONFIG = """
name: endings
kind: opra
lines: 1-2
ports: [{port}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park, actors: [book]}}]
ring_slots: 1024
book: {{series_capacity: 2000}}
{more}
"""
SIMULATOR = "{name: simulator, kind: sim}"
TRAFFIC = """traffic: {lines_count: 2, roots_count: 50, series_count: 1000,
  rate_messages_per_second: 10000}
"""
PEER = """history: {{keep: 1s, memory: 16MiB}}
recovery: {{sources: [peer]}}
peer: {{listen: "{listen}", connect: ["127.0.0.1:9"], secret_file: {secret}}}
"""


class Endings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        secret = self.folder / "secret"
        secret.write_text("0123456789abcdef0123456789abcdef")
        secret.chmod(0o600)
        self.log = self.folder / "log"
        self.config = self.folder / "endings.yaml"
        self.write()

    def write(self, port=SIMULATOR, more="", listen=None):
        peer = PEER.format(listen=listen, secret=self.folder / "secret") if listen else ""
        traffic = TRAFFIC if port == SIMULATOR else ""
        self.config.write_text(CONFIG.format(port=port, more=more + peer + traffic))

    def capture(self, name="day.pcap"):
        path = self.folder / name
        subprocess.run([PINSTRIKE, "generate", "--out", path, "--messages", "2000", "--lines", "1",
                        "--series", "200", "--roots", "10"], check=True, capture_output=True)
        return path

    def pipe(self, name="pipe"):
        path = self.folder / name
        os.mkfifo(path)
        return path

    def expect(self, status, word, *arguments, **options):
        done = subprocess.run([PINSTRIKE, *arguments], capture_output=True, text=True, timeout=DEADLINE_S,
                              check=False, **options)
        self.assertEqual(done.returncode, status, done.stderr[-2000:])
        self.assertIn(word, done.stderr)

    def expect_run(self, status, word, *arguments):
        self.expect(status, word, "run", self.config, "--for", "200ms", "--no-view", *arguments)

    def start(self, *arguments, wait_for=" running ", **environment):
        with self.log.open("w") as log:
            process = subprocess.Popen([PINSTRIKE, *arguments], stdout=log, stderr=log,
                                       env={**os.environ, **environment})
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        self.wait_for(wait_for)
        return process

    def run_it(self, *arguments, **options):
        return self.start("run", self.config, "--no-view", *arguments, **options)

    def wait_for(self, word):
        end = time.monotonic() + DEADLINE_S
        while word not in self.log.read_text():
            self.assertLess(time.monotonic(), end, self.log.read_text()[-3000:])
            time.sleep(0.05)

    def expect_end(self, process, status, word):
        self.assertEqual(process.wait(timeout=DEADLINE_S), status, self.log.read_text()[-3000:])
        self.assertIn(word, self.log.read_text())

    # status 1: a retry may help; 78: it cannot

    def test_addresses_that_may_come_free_or_up(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            taken = f"127.0.0.1:{other.getsockname()[1]}"
            self.write(listen=taken)
            self.expect_run(1, f"peer.listen: {taken}: Address already in use")
            self.write(more=f"metrics_address: {taken}\n")
            self.expect_run(1, f"metrics_address: cannot listen at {taken}")
        self.write(listen="192.0.2.1:9470")
        self.expect_run(1, "peer.listen: 192.0.2.1:9470: Cannot assign requested address")
        self.write(more="metrics_address: 192.0.2.1:9464\n")
        self.expect_run(1, "metrics_address: cannot listen at 192.0.2.1:9464")
        self.expect(0, "", "check", self.config)

    def test_addresses_that_can_never_be(self):
        for never in ("224.0.0.1:9470", "255.255.255.255:9470", "300.1.1.1:9470"):
            for key, change in (("peer.listen", {"listen": never}),
                                ("metrics_address", {"more": f"metrics_address: {never}\n"})):
                self.write(**change)
                for command in ("run", "check", "doctor"):
                    self.expect(78, f'{key}: found "{never}"', command, self.config)

    def test_an_input_that_ends_before_the_time_that_it_was_given(self):
        self.write(port=f"{{name: p, kind: pcap, files: [{self.capture()}]}}")
        for given in ("8h", "10m", "90s"):
            self.expect(0, "the account balances", "run", self.config, "--no-view", "--for", given)
        self.expect(2, "--for", "run", self.config, "--no-view", "--for", "8d")

    def test_an_interface_may_come_late(self):
        self.write(port="{name: wire, kind: uring, interface: nowhere0}")
        self.expect_run(1, "interface nowhere0: No such device")
        self.expect(1, "there is no interface nowhere0", "check", self.config)
        self.write(port="{name: wire, kind: uring, interface: nowhere0}",
                   more="control_cpu: 4000\n")
        self.expect(78, "nowhere0", "check", self.config)  # the other problem needs a change

    def test_the_admin_socket(self):
        place = self.folder / "admin.sock"
        process = self.run_it("--admin", place)
        self.expect_run(1, "another instance answers", "--admin", place)
        process.terminate()
        self.expect_end(process, 0, "the account balances")
        place.write_text("somebody's")
        self.expect_run(78, "found a file", "--admin", place)
        self.expect_run(78, "No such file or directory", "--admin", self.folder / "no" / "socket")

    def test_memory_that_the_host_does_not_have(self):
        cores = ", ".join(f"{{name: c{i}, wait: park, actors: [book]}}" for i in range(64))
        text = self.config.read_text().replace("ring_slots: 1024", "ring_slots: 268435456")
        self.config.write_text(re.sub("cores: .*", f"cores: [{cores}]", text))  # 16 GiB each
        self.expect_run(78, "rings need")
        self.expect(78, "rings need", "check", self.config)

    @unittest.skipIf(os.geteuid() != 0, "a mount needs root")
    def test_no_time_zone_data(self):
        self.write(more="calendar: {hours: session}\n")
        for command, status in (("check", 78), ("run", 78), ("doctor", 1)):
            done = subprocess.run(
                ["unshare", "-m", "sh", "-c",
                 f"mount -t tmpfs none /usr/share/zoneinfo && exec {PINSTRIKE} {command} "
                 f"{self.config}"], capture_output=True, text=True, timeout=DEADLINE_S, check=False)
            self.assertEqual(done.returncode, status, done.stderr[-2000:])
            self.assertIn("time zone data (package tzdata)", done.stdout + done.stderr)

    # signals

    def test_sigterm_while_a_capture_is_opened(self):
        pipe = self.pipe()
        self.write(port=f"{{name: p, kind: pcap, files: [{pipe}]}}")
        process = self.run_it(wait_for=" starting ")
        time.sleep(0.5)
        process.terminate()
        self.expect_end(process, -signal.SIGTERM, "SIGTERM while opening the feed")

    def test_sigterm_while_the_config_is_opened(self):
        self.config.unlink()
        self.pipe(self.config.name)
        for command in ("run", "check"):
            process = self.start(command, self.config, wait_for="")
            time.sleep(0.5)
            self.assertIsNone(process.poll(), self.log.read_text())
            process.terminate()
            self.expect_end(process, -signal.SIGTERM, "")

    def test_sigterm_while_the_series_map_is_opened(self):
        self.write(more=f"series_map: {self.pipe()}\n")
        process = self.run_it(wait_for=" starting ")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.expect_end(process, -signal.SIGINT, "SIGINT while opening the feed")

    def test_sigterm_while_a_capture_brings_nothing_more(self):
        whole = self.capture().read_bytes()
        with self.log.open("w") as log:
            process = subprocess.Popen([PINSTRIKE, "replay", "-"], stdin=subprocess.PIPE,
                                       stderr=log, stdout=subprocess.DEVNULL)
        with process.stdin as writer:
            writer.write(whole[:len(whole) // 2])
            writer.flush()
            end = time.monotonic() + DEADLINE_S
            while struct.unpack("i", fcntl.ioctl(writer, termios.FIONREAD, b"    "))[0] != 0:  # bytes not read yet
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
            time.sleep(2)
            process.terminate()
            self.expect_end(process, 1, "a poller is blocked while it reads a capture")

    def test_a_reload_that_blocks_holds_up_nothing(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(self.folder / "notify"))
            process = self.run_it(NOTIFY_SOCKET=str(self.folder / "notify"),
                                  WATCHDOG_USEC="2000000")
            text = self.config.read_text()
            self.config.unlink()
            self.pipe(self.config.name)
            process.send_signal(signal.SIGHUP)
            self.wait_for("reload_refused")
            self.wait_for("still not read after 1s")
            while True:  # the output until now
                manager.setblocking(False)
                try:
                    manager.recv(65536)
                except BlockingIOError:
                    break
            process.send_signal(signal.SIGHUP)  # while the first still waits
            manager.settimeout(DEADLINE_S)
            while b"WATCHDOG=1" not in manager.recv(65536):
                pass
            with self.config.open("w") as writer:  # the waiting read has a text, which is old
                writer.write(text + "no_key: 1\n")
            self.config.unlink()
            self.config.write_text(text)
            end = time.monotonic() + DEADLINE_S
            while " reloaded " not in self.log.read_text():  # the old text may still be read
                self.assertLess(time.monotonic(), end, self.log.read_text()[-3000:])
                process.send_signal(signal.SIGHUP)
                time.sleep(0.5)
            self.assertNotIn("no_key", self.log.read_text())
            process.terminate()
            self.expect_end(process, 0, "the account balances")

    # outputs

    def test_an_output_that_is_an_input_is_refused(self):
        capture = self.capture()
        before = capture.read_bytes()
        link = self.folder / "link"
        link.symlink_to(capture)
        for option in ("--account", "--book"):
            for path in (capture, link):
                self.expect(2, f"found {capture} again, expected another file", "replay",
                            capture, option, path)
        account = self.folder / "account.json"
        self.expect(2, "expected another file", "replay", capture, "--account", account,
                    "--book", account)
        config = self.config.read_text()
        self.expect_run(2, "expected another file", "--account", self.config)
        self.expect_run(2, "expected another file", "--book", self.config)
        self.expect(2, "expected another file", "plan", self.config, "--svg", self.config)
        self.expect(2, "expected another file", "latency", "--replay", capture, "--csv",
                    capture)
        self.assertEqual((capture.read_bytes(), self.config.read_text()), (before, config))
        self.assertFalse(account.exists())

    def expect_kept(self, path, *arguments, **options):
        """The command refuses to replace this file."""
        before = path.read_bytes()
        self.expect(2, f"{path}: found", *arguments, **options)
        self.assertEqual(path.read_bytes(), before)

    def test_files_that_arguments_do_not_name_are_inputs_too(self):
        series_map = self.folder / "series.csv"
        subprocess.run([PINSTRIKE, "generate", "--series-map", series_map, "--lines", "1",
                        "--series", "200", "--roots", "10"], check=True, capture_output=True)
        days = self.folder / "days"
        days.mkdir()
        capture = self.capture("days/day.pcap")
        self.expect_kept(capture, "replay", days, "--account", capture)
        self.expect_kept(capture, "latency", "--replay", days, "--csv", capture)
        with capture.open() as standard_input:
            self.expect_kept(capture, "replay", "-", "--book", capture, stdin=standard_input)
        for port in (f"{{name: p, kind: pcap, files: [{days}]}}",
                     "{name: p, kind: dpdk, hugepages: false, membership: static, "
                     f'vdev: "net_pcap0,rx_pcap={capture}"}}'):
            self.write(port=port)
            self.expect_kept(capture, "run", self.config, "--account", capture)
        self.write(more=f"series_map: {series_map}\n", listen="127.0.0.1:9470")
        for path in (series_map, self.folder / "secret", self.config):
            self.expect_kept(path, "run", self.config, "--book", path)
            self.expect_kept(path, "replay", capture, "--config", self.config, "--account", path)
            self.expect_kept(path, "latency", self.config, "--replay", capture, "--svg", path)
        self.expect_kept(self.config, "latency", self.config, "--svg", self.config)
        self.expect_kept(self.config, "support-bundle", self.config, "--out", self.config)
        self.expect_kept(self.config, "ctl", self.config, "capture", "1", "1", "--out",
                         self.config)

    def test_a_full_disk_leaves_the_last_good_one(self):
        outputs = [self.folder / "account.json", self.folder / "book.json"]
        for path in outputs:
            path.write_text("the last good one")
        process = self.run_it("--account", outputs[0], "--book", outputs[1])
        log_bytes = self.log.stat().st_size
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (log_bytes + 100, log_bytes + 100))
        time.sleep(0.5)
        process.terminate()
        self.assertEqual(process.wait(timeout=DEADLINE_S), 1)
        for path in outputs:
            self.assertEqual(path.read_text(), "the last good one")
        self.assertEqual([path for path in self.folder.iterdir() if path.name.startswith(".")], [])

    def test_pipes_and_links_take_outputs(self):
        capture = self.capture()
        pipe = self.pipe()
        book = self.folder / "book.json"
        book.write_text("old")
        link = self.folder / "link"
        link.symlink_to(book)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            self.expect(0, "the account balances", "replay", capture, "--account", pipe, "--book",
                        link)
            self.assertTrue(reader.stdout.read().startswith(b"{"))
        self.assertTrue(link.is_symlink())
        self.assertIn('"symbol"', book.read_text())
        self.expect(1, "Permission denied" if os.geteuid() else "No such file", "replay", capture,
                    "--account", "/no/such/folder/account.json")

    def test_sigterm_while_nobody_reads_an_output(self):
        process = self.start("replay", self.capture(), "--account", self.pipe(),
                             wait_for="the account balances")
        time.sleep(0.5)
        process.terminate()
        self.expect_end(process, -signal.SIGTERM, "SIGTERM while writing account and book")


if __name__ == "__main__":
    if shutil.which("unshare") is None:
        sys.exit("unshare (package util-linux) is missing")
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup, SIGHUP is ignored
    unittest.main(verbosity=2)
