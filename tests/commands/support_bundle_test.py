#!/usr/bin/env python3
"""`pinstrike support-bundle`: every part is present or has a reason, and no secret is in any part.

    support_bundle_test.py PINSTRIKE SOURCE_ROOT
"""

import gzip
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

from endpoint import free_port
from scraped import instance

PINSTRIKE, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
PARTS = ["config.yaml", "check.txt", "doctor.json", "plan.txt", "metrics.txt", "latency.json",
         "account.json", "log.txt", "versions.txt"]
SECRET = "a-secret-that-both-of-the-pair-know-and-nobody-else"
COMMENTED, MISPLACED, UNKNOWN = "password-in-a-comment", "password-in-place-of-a-path", "key-of-no-table"

CONFIG = """name: pair
# {commented}
kind: opra
lines: 1
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park, actors: [book]}}]
book: {{series_capacity: 20000}}
history: {{keep: 1s, memory: 16MiB}}
recovery: {{sources: [peer]}}
peer: {{listen: "127.0.0.1:{listen}", connect: ["198.51.100.7:9470"], allow: ["203.0.113.0/24"],
  secret_file: {secret}}}
traffic: {{lines_count: 1, series_count: 2000, rate_messages_per_second: 1000}}
metrics_address: 0.0.0.0:{port}
"""


class SupportBundle(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="pinstrike-bundle-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.secret = self.folder / "peer.secret"
        self.secret.write_text(SECRET + "\n")
        self.secret.chmod(0o600)
        self.port = free_port()
        self.config = self.folder / "pair.yaml"
        self.config.write_text(CONFIG.format(commented=COMMENTED, listen=free_port(),
                                             secret=self.secret, port=self.port))
        self.log = self.folder / "pair.log"
        self.log.write_text(f"peer_lost peer 198.51.100.7:9470 from 192.0.2.9; 224.0.204.1 and "
                            f"127.0.0.1 stay. A person wrote {SECRET} here\n")

    def run_bundle(self, *words, **options):
        return subprocess.run([PINSTRIKE, "support-bundle", *map(str, words)], capture_output=True,
                              text=True, timeout=600, check=False, cwd=self.folder, **options)

    def bundle(self, *words):
        """{part: text} of a valid bundle, including the manifest."""
        out = self.folder / "bundle.tar.gz"
        done = self.run_bundle(*words, "--out", out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o600)
        with tarfile.open(out) as archive:
            folders = {name.split("/")[0] for name in archive.getnames()}
            self.assertEqual(len(folders), 1)
            parts = {member.name.split("/")[1]: archive.extractfile(member).read().decode()
                     for member in archive.getmembers()}
        self.assertTrue(done.stdout.startswith(parts["MANIFEST"]))
        for name in PARTS:  # each is in the manifest, and at the place that the manifest names
            line = re.search(rf"^{re.escape(name)} +(.*)$", parts["MANIFEST"], re.M)
            self.assertIsNotNone(line, name)
            if name in parts:
                self.assertEqual(line[1], f"{len(parts[name].encode())} bytes")
            else:
                self.assertTrue(line[1].startswith("not there: "), line[1])
        self.assertEqual(set(parts) - {"MANIFEST"} - set(PARTS), set())
        raw = gzip.decompress(out.read_bytes())
        for secret in (SECRET, COMMENTED, MISPLACED, UNKNOWN):
            self.assertEqual(raw.count(secret.encode()), 0, secret)
        return parts

    def test_of_a_running_instance(self):
        admin = self.folder / "admin.sock"
        with instance(PINSTRIKE, self.config, self.port, 3600, admin):
            for _ in range(100):  # metrics are there before the socket
                parts = self.bundle(self.config, "--log", self.log, "--admin", admin)
                if set(PARTS) == set(parts) - {"MANIFEST"}:
                    break
                time.sleep(1)
        self.assertEqual(set(PARTS) - set(parts), set(), parts["MANIFEST"])
        account = json.loads(parts["account.json"])
        self.assertEqual([line["line"] for line in account["lines"]], [1])
        self.assertIn("delivered", account["status"])
        self.assertIn("pinstrike_line_delivered_messages_total{", parts["metrics.txt"])
        self.assertIn("pinstrike_endpoint_answered_requests_total{", parts["metrics.txt"])
        stages = json.loads(parts["latency.json"])["histograms"]["stages"]
        self.assertTrue(any(stage["all"]["buckets"] for stage in stages))
        self.assertGreater(len(json.loads(parts["doctor.json"])["findings"]), 5)
        self.assertIn("poller0", parts["plan.txt"])
        self.assertIn("series_capacity: 20000", parts["check.txt"])
        self.assertIn("kernel        Linux", parts["versions.txt"])
        # The path of the secret stays; each host's address is replaced by the same name everywhere.
        self.assertIn(str(self.secret), parts["config.yaml"])
        whole = "".join(parts.values())
        for address in ("198.51.100.7", "203.0.113.0", "192.0.2.9"):
            self.assertNotIn(address, whole)
        name = re.search(r"(host\d+):9470", parts["config.yaml"])[1]
        self.assertIn(f"peer_lost peer {name}:9470 from host", parts["log.txt"])
        self.assertIn("; 224.0.204.1 and 127.0.0.1 stay. A person wrote (redacted) here",
                      parts["log.txt"])
        self.assertRegex(parts["config.yaml"], r"host\d+/24")

    def test_addresses_may_stay(self):
        parts = self.bundle(self.config, "--log", self.log, "--keep-addresses")
        self.assertIn("198.51.100.7:9470 from 192.0.2.9;", parts["log.txt"])
        self.assertIn("addresses: unchanged", parts["MANIFEST"])

    def test_of_one_that_is_down(self):
        parts = self.bundle(self.config, "--log", self.folder / "nothing.log")
        for part in ("metrics.txt", "latency.json", "log.txt"):
            self.assertNotIn(part, parts)
        self.assertIn("nothing.log cannot be read: No such file", parts["MANIFEST"])
        self.assertIn("plan.txt", parts)
        for part in ("metrics.txt", "latency.json", "account.json"):
            self.assertRegex(parts["MANIFEST"], rf"{part} +not there: .*is the instance running")

    def test_of_broken_configs(self):
        sound = self.config.read_text()
        self.config.write_text(sound.replace("lines: 1\n", f"lines: 1-500\ntoken_of_mine: {UNKNOWN}\n")
                               .replace(str(self.secret), MISPLACED))
        said = self.log.read_text()
        self.log.write_text(f"{MISPLACED}, {UNKNOWN}\n")  # the content of the file is unknown
        parts = self.bundle(self.config, "--log", self.log)
        self.assertEqual(parts["log.txt"], "(redacted), (redacted)\n")
        self.log.write_text(said)
        self.assertIn("lines: 1-500", parts["config.yaml"])
        self.assertIn("token_of_mine: (redacted)", parts["config.yaml"])
        self.assertIn("secret_file: (redacted)", parts["config.yaml"])
        self.assertIn("token_of_mine: found an unknown key", parts["check.txt"])
        self.assertIn("doctor.json", parts)
        self.assertIn("plan.txt       not there: the config is wrong: see check.txt",
                      parts["MANIFEST"])
        self.config.write_text(f"a: [{UNKNOWN}\nsecret_file: {self.secret}")
        parts = self.bundle(self.config, "--log", self.log)
        self.assertIn("A person wrote (redacted) here", parts["log.txt"])
        self.assertRegex(parts["MANIFEST"], "config.yaml +not there: it is no YAML mapping")
        parts = self.bundle(self.folder / "absent.yaml", "--log", self.folder / "nothing.log")
        self.assertIn("No such file", parts["check.txt"])
        self.assertIn("versions.txt", parts)

    def test_the_journal(self):
        """A journalctl that prints its arguments, one that fails, and none."""
        tools = self.folder / "tools"
        tools.mkdir()
        tool = tools / "journalctl"
        tool.write_text('#!/bin/sh\necho "$@"\n')
        tool.chmod(0o755)
        path = os.environ["PATH"]
        try:
            os.environ["PATH"] = f"{tools}:{path}"
            parts = self.bundle(self.config)
            self.assertIn("--unit pinstrike@pair", parts["log.txt"])
            self.assertIn("--lines=5000", parts["log.txt"])
            odd = self.folder / "odd'$(touch planted)`touch planted`\";touch planted;.yaml"
            odd.write_text(self.config.read_text())
            self.assertIn(f"--unit pinstrike@{odd.stem}", self.bundle(odd)["log.txt"])
            self.assertFalse((self.folder / "planted").exists())
            tool.write_text("#!/bin/sh\nyes 'a line of the log' | head -c 5000000\n")
            log = self.bundle(self.config)["log.txt"]
            self.assertLessEqual(len(log), 1 << 20)
            self.assertTrue(log.startswith("a line of the log\n"))
            tool.write_text("#!/bin/sh\nexit 3\n")
            self.assertRegex(self.bundle(self.config)["MANIFEST"],
                             "log.txt +not there: journalctl ended with status 3")
            tool.write_text("#!/bin/sh\n")
            self.assertRegex(self.bundle(self.config)["MANIFEST"],
                             "log.txt +not there: the journal has nothing of pinstrike@pair")
            os.environ["PATH"] = "/nonexistent"
            self.assertRegex(self.bundle(self.config)["MANIFEST"],
                             "log.txt +not there: journalctl: No such file or directory; --log")
        finally:
            os.environ["PATH"] = path

    def test_the_end_of_a_long_log(self):
        self.log.write_text("".join(f"line {number:06}\n" for number in range(200_000)))
        log = self.bundle(self.config, "--log", self.log)["log.txt"]
        self.assertLessEqual(len(log), 1 << 20)
        self.assertTrue(log.startswith("line 1") and log.endswith("line 199999\n"), log[:20])

    def test_what_cannot_be_written_leaves_nothing(self):
        before = set(self.folder.iterdir())
        done = self.run_bundle(self.config, "--log", self.log, "--out", "absent/bundle.tar.gz")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "pinstrike: absent/bundle.tar.gz: No such file or directory\n")
        # A limit on the size of files simulates a full disk.
        old = self.folder / "bundle.tar.gz"
        old.write_text("of yesterday")
        done = self.run_bundle(self.config, "--log", self.log, "--out", old, preexec_fn=limit_files)
        self.assertEqual(done.returncode, 1)
        self.assertIn("bundle.tar.gz: ", done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(old.read_text(), "of yesterday")
        self.assertEqual(set(self.folder.iterdir()) - before, {old})

    def test_under_its_own_name(self):
        done = self.run_bundle(self.config, "--log", self.log)
        self.assertEqual(done.returncode, 0, done.stderr)
        name = done.stdout.splitlines()[-1]
        self.assertRegex(name, r"^pinstrike-pair-\d{8}T\d{6}Z\.tar\.gz$")
        self.assertTrue((self.folder / name).is_file())

    def test_as_a_plain_user(self):
        if os.geteuid() != 0:
            return  # the other tests run as a plain user already
        self.folder.chmod(0o755)
        home = self.folder / "nobody"
        home.mkdir()
        os.chown(home, 65534, 65534)
        done = subprocess.run([PINSTRIKE, "support-bundle", self.config, "--out", "b.tar.gz"],
                              capture_output=True, text=True, timeout=600, check=False, cwd=home,
                              user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 0, done.stderr)
        with tarfile.open(home / "b.tar.gz") as archive:
            self.assertGreater(len(archive.getnames()), 4)
        self.assertNotIn(SECRET.encode(), gzip.decompress((home / "b.tar.gz").read_bytes()))

    def test_wrong_use(self):
        self.assertEqual(self.run_bundle().returncode, 2)


def limit_files():
    import resource  # pylint: disable=import-outside-toplevel
    import signal  # pylint: disable=import-outside-toplevel
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
