#!/usr/bin/env python3
"""Published memory, read as a user reads it: `replay --publish`, `chain` and `forget`.

    publish_test.py PINSTRIKE EXAMPLE...

A generated session with losses and a restart is replayed and its memory is kept. `chain` must then show exactly
the book that `--book` wrote.
"""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PINSTRIKE, EXAMPLES = sys.argv[1], sys.argv[2:]
SESSION = ["--messages", "30000", "--series", "3000", "--roots", "60", "--lines", "1-4,201,220", "--loss-a", "0.03",
           "--loss-b", "0.04", "--restarts", "1"]

SMALL = """name: small
lines: 1
ports: [{name: simulator, kind: sim}]
pollers: [{name: poller0, wait: park}]
cores: [{name: core0, wait: park}]
book: {series_capacity: 500000}
publish: {memory: shm}
"""


def without_more(row):
    """A row of chain as `--book` writes it."""
    return {name: value for name, value in row.items() if name not in ("session", "id", "changed_ns", "old")}


class Publish(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keeper = tempfile.TemporaryDirectory(prefix="pinstrike-publish-")
        cls.folder = Path(cls.keeper.name)
        cls.memory = cls.folder / "memory"
        cls.memory.mkdir(mode=0o750)
        cls.environment = dict(os.environ, PINSTRIKE_FOLDER=str(cls.memory))
        cls.run_well("generate", "--out", cls.folder / "day.pcap", *SESSION)
        cls.run_well("replay", cls.folder / "day.pcap", "--publish", "day", "--keep",
                     "--book", cls.folder / "book.json")

    @classmethod
    def tearDownClass(cls):
        cls.keeper.cleanup()

    @classmethod
    def run_here(cls, *arguments):
        return subprocess.run([PINSTRIKE, *map(str, arguments)], capture_output=True, text=True, check=False,
                              timeout=600, env=cls.environment)

    @classmethod
    def run_well(cls, *arguments):
        done = cls.run_here(*arguments)
        if done.returncode != 0:
            raise AssertionError(f"{arguments} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def test_a_chain_of_all_roots_equals_the_book(self):
        book = [json.loads(row) for row in (self.folder / "book.json").read_text().splitlines()]
        chain = [json.loads(row) for row in self.run_well("chain", "--json").splitlines()]
        self.assertGreater(len(book), 500)

        def place(row):
            return (row["symbol"], row["expiration"], row["strike"], row["right"], row["line"] in (201,))

        self.assertEqual(sorted(map(without_more, chain), key=place), sorted(book, key=place))
        self.assertTrue(all(row["old"] and row["id"] > 0 for row in chain), "an ended feed's values are old")
        self.assertEqual(len({row["id"] for row in chain}), len(chain))

    def test_a_root_has_its_own_series(self):
        chain = [json.loads(row) for row in self.run_well("chain", "--json").splitlines()]
        root = chain[len(chain) // 2]["symbol"]
        own = [row for row in chain if row["symbol"] == root]
        expiration = own[0]["expiration"]
        rows = list(csv.DictReader(io.StringIO(self.run_well("chain", root, "--csv", "--feed", "day"))))
        self.assertEqual([row["strike"] for row in rows], [row["strike"] for row in own])
        rows = list(csv.DictReader(io.StringIO(self.run_well("chain", root, "--csv", "--expiration", expiration))))
        self.assertEqual(len(rows), sum(row["expiration"] == expiration for row in own))
        table = self.run_well("chain", root, "--expiration", "all", "--strikes", "all")
        self.assertIn("feed day: ended, values are old", table)
        self.assertTrue(all(row["expiration"] in table for row in own))
        self.assertNotIn("\x1b", table, "no colours in a pipe")

    def test_the_examples_print_the_chain(self):
        root = json.loads(self.run_well("chain", "--json").splitlines()[0])["symbol"]
        count = len(self.run_well("chain", root, "--json").splitlines())
        self.assertEqual(len(EXAMPLES), 2)
        for example in EXAMPLES:
            done = subprocess.run([example, "day", root], env=self.environment, capture_output=True, text=True,
                                  check=False, timeout=600)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sum(row.startswith(root + " 20") for row in done.stdout.splitlines()), count, example)
            missing = subprocess.run([example, "other", root], env=self.environment, capture_output=True, text=True,
                                     check=False, timeout=600)
            self.assertEqual(missing.returncode, 1)
            self.assertIn("other", missing.stderr)

    def test_it_is_printed_again_until_the_user_ends_it(self):
        root = json.loads(self.run_well("chain", "--json").splitlines()[0])["symbol"]
        with subprocess.Popen([PINSTRIKE, "chain", root, "--watch", "0.1"], env=self.environment, text=True,
                              stdout=subprocess.PIPE) as watch:
            heads = 0
            while heads < 3:
                heads += watch.stdout.readline().startswith("feed day:")
            watch.send_signal(signal.SIGINT)
            watch.stdout.close()
        help_text = self.run_well("chain", "--help")
        self.assertIn("--watch", help_text)

    def config(self):
        path = self.folder / "small.yaml"
        path.write_text(SMALL)
        return path

    def test_too_little_space_is_refused_with_the_right_status(self):
        """More than the file system holds needs a change (78); more than is free now may be retried (1)."""
        if os.geteuid() != 0:
            self.skipTest("only root may mount a small file system")
        small = self.folder / "small"
        small.mkdir()
        script = """mount -t tmpfs -o size=$1,mode=750 none $2 && { [ -z "$3" ] || fallocate -l $3 $2/other; } &&
            PINSTRIKE_FOLDER=$2 exec "$0" "${@:4}" """
        config = self.config()
        commands = (("replay", self.folder / "day.pcap", "--config", config, "--publish", "day"), ("check", config),
                    ("plan", config), ("run", config))
        for size, other, status, words in (("100m", "", 78, "found 100 MiB in the whole file system"),
                                           ("1g", "900m", 1, "found 124 MiB free of 1024"),
                                           ("1g", "", 0, "")):
            for command in commands if status else commands[:3]:
                done = subprocess.run(["unshare", "-m", "bash", "-c", script, PINSTRIKE, size, small, other,
                                       *command],
                                      capture_output=True, text=True, check=False, timeout=600)
                self.assertEqual(done.returncode, status, (command, done.stderr))
                self.assertIn(words, done.stderr)

    def test_a_start_replaces_the_memory_of_a_killed_one(self):
        """The file system holds one file only. What a killed start left is given back, unless a reader maps it."""
        if os.geteuid() != 0:
            self.skipTest("only root may mount a small file system")
        small = self.folder / "one"
        small.mkdir()
        script = """mount -t tmpfs -o size=250m,mode=750 none $1; export PINSTRIKE_FOLDER=$1
            replay() { "$0" replay $2 --config $5 --publish day "${@:6}" >&2; echo $?; }
            "$0" replay $2 --config $5 --publish day --pace x0.01 >&2 & writer=$!
            until "$0" chain --json --feed day >$3 2>&1; do sleep 0.1; done
            : >$3
            if [ "$4" = reader ]; then
                "$0" chain --feed day --watch 0.1 --json >$3 2>&1 & reader=$!
                until [ -s $3 ]; do sleep 0.1; done
            fi
            kill -9 $writer
            wait $writer
            replay "$@"
            if [ "$4" = reader ]; then
                replay "$@"
                kill $reader
                wait $reader
                replay "$@"
            fi"""
        held = ["cannot allocate", "MiB free of 250", "readers may still map"]
        for reader, statuses, words in (("", ["0"], []), ("reader", ["1", "1", "0"], held)):
            done = subprocess.run(["unshare", "-m", "bash", "-c", script, PINSTRIKE, small, self.folder / "day.pcap",
                                   self.folder / "shown", reader, self.config()],
                                  capture_output=True, text=True, check=False, timeout=600)
            self.assertEqual(done.stdout.split(), statuses, done.stderr)
            for each in words:
                self.assertIn(each, done.stderr)

    def test_huge_pages_are_used_where_the_mount_has_them(self):
        if os.geteuid() != 0:
            self.skipTest("only root may mount a file system")
        place = self.folder / "huge"
        place.mkdir()
        script = """mount -t tmpfs -o huge=advise,mode=750 none $1 &&
            PINSTRIKE_FOLDER=$1 exec "$0" replay $2 --publish huge --pace x0.01"""
        with subprocess.Popen(["unshare", "-m", "bash", "-c", script, PINSTRIKE, place, self.folder / "day.pcap"],
                              stdout=subprocess.DEVNULL) as writer:
            try:
                mapped = None
                for _ in range(600):
                    text = Path(f"/proc/{writer.pid}/smaps").read_text(encoding="utf-8")
                    mapped = re.search(r"/huge\.\d+\n(?:\w+: .*\n)*?ShmemPmdMapped: +(\d+) kB", text)
                    if mapped and int(mapped[1]) > 512 << 10:
                        break
                    time.sleep(0.05)
                self.assertTrue(mapped, "the memory file is mapped")
                if "[never]" in Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text(encoding="utf-8"):
                    self.skipTest("the kernel gives no transparent huge pages")
                self.assertGreater(int(mapped[1]), 512 << 10)
            finally:
                writer.kill()

    def test_a_folder_of_another_user_is_never_used(self):
        """Where the package's folder is another user's, the writer makes one of its own, which readers find."""
        if os.geteuid() != 0:
            self.skipTest("only root may make a folder of another user")
        script = """mount -t tmpfs -o mode=1777 none /dev/shm && mkdir -m 0750 /dev/shm/pinstrike
            [ "$2" = own ] || { ln -s left.1 /dev/shm/pinstrike/left && chown -h 65534 /dev/shm/pinstrike; }
            [ "$2" != taken ] || { mkdir -m 0750 /dev/shm/pinstrike-0 && chown 65534 /dev/shm/pinstrike-0; }
            "$0" replay $1 --publish day --keep >&2; echo $?
            readlink -f /dev/shm/pinstrike*/day
            "$0" chain --feed day --json | wc -l
            "$0" forget left"""
        environment = {name: value for name, value in os.environ.items() if name != "PINSTRIKE_FOLDER"}
        rows = len(self.run_well("chain", "--json").splitlines())
        for case, status, place, count, words in (
                ("own", "0", "/dev/shm/pinstrike/day.", rows, "no memory is published"),
                ("foreign", "0", "/dev/shm/pinstrike-0/day.", rows, "sudo -u pinstrike pinstrike forget left"),
                ("taken", "78", "", 0, "found a folder of another user")):
            done = subprocess.run(["unshare", "-m", "bash", "-c", script, PINSTRIKE, self.folder / "day.pcap", case],
                                  capture_output=True, text=True, check=False, timeout=600, env=environment)
            said = done.stdout.split()
            self.assertEqual(said[0], status, done.stderr)
            self.assertEqual(int(said[-1]), count, done.stderr)
            self.assertTrue(len(said) == 2 or said[1].startswith(place), said)
            self.assertEqual(len(said) == 2, place == "", said)
            self.assertIn(words, done.stderr)

    def test_a_config_says_what_a_replay_publishes(self):
        def size(publish):
            path = self.folder / "records.yaml"
            path.write_text(SMALL.replace("publish: {memory: shm}", publish).replace("500000", "5000"))
            self.run_well("replay", self.folder / "day.pcap", "--config", path, "--publish", "records", "--keep")
            size = (self.memory / "records").stat().st_size
            self.run_well("forget", "records")
            return size

        # 5 MiB of records lie between the sizes, which are of whole huge pages.
        small = size("publish: {memory: shm, stream: on, stream_records: 1024}")
        self.assertGreater(size("publish: {memory: shm, stream: on, stream_records: 131072}"), small + (5 << 20))
        self.assertLessEqual(size("publish: {memory: shm}"), small)
        self.assertGreater(size(""), small + (25 << 20), "the default is a stream of 32 MiB")

    def test_what_is_not_there_is_said(self):
        for arguments, words in ((("chain", "NONE"), "lists no such series"),
                                 (("chain", "X", "--feed", "other"), "other"),
                                 (("chain", "X", "--expiration", "soon"), "expected a date"),
                                 (("forget", "other"), "no memory")):
            done = self.run_here(*arguments)
            self.assertIn(done.returncode, (1, 2), arguments)
            self.assertIn(words, done.stderr)

    def test_a_name_has_one_writer_and_a_killed_one_is_dead(self):
        arguments = [PINSTRIKE, "replay", str(self.folder / "day.pcap"), "--publish", "slow", "--pace", "x0.01"]
        with subprocess.Popen(arguments, env=self.environment, stdout=subprocess.DEVNULL) as writer:
            try:
                for _ in range(2000):
                    table = self.run_here("chain", "--json", "--feed", "slow")
                    if table.returncode == 0:
                        break
                    time.sleep(0.05)
                self.assertEqual(table.returncode, 0, table.stderr)
                self.assertFalse(json.loads(table.stdout.splitlines()[0])["old"])
                only = self.run_well("chain", "--json")  # of the feeds here, `day` has ended
                self.assertFalse(json.loads(only.splitlines()[0])["old"])
                second = self.run_here(*arguments[1:])
                self.assertEqual(second.returncode, 1)
                self.assertIn("another process publishes as slow", second.stderr)
                self.assertIn("stop it first", self.run_here("forget", "slow").stderr)
            finally:
                writer.send_signal(signal.SIGKILL)
                writer.wait()
        dead = self.run_well("chain", "--json", "--feed", "slow")
        self.assertTrue(json.loads(dead.splitlines()[0])["old"])
        several = self.run_here("chain", "X")
        self.assertIn("name one with --feed", several.stderr)
        self.run_well("forget", "slow")
        self.assertEqual(self.run_here("forget", "slow").returncode, 1)
        self.assertEqual([name.name for name in self.memory.iterdir() if "slow" in name.name and
                          not name.name.startswith(".")], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
