#!/usr/bin/env python3
"""`hugepages` and `nics`, with folders like the kernel's and a driverctl that only records its calls.

    host_tools_test.py BUILD_FOLDER_OF_DEPLOY PINSTRIKE
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILT, PINSTRIKE = Path(sys.argv[1]), sys.argv[2]
POOL = "hugepages/hugepages-2048kB"
CONFIG = ("name: {0}\nlines: 1\npollers: [{{name: q}}]\ncores: [{{name: c}}]\n"
          "ports: [{{name: p, kind: dpdk, {1}, membership: static}}]\n")
DRIVERCTL = """#!/bin/sh
case $1 in
    list-overrides) [ -s "$OVERRIDES" ] || { echo "No overridable devices found. Kernel too old?" >&2; exit 1; }
        cat "$OVERRIDES" ;;
    set-override) echo "$2 $3" >>"$OVERRIDES" ;;
    unset-override) sed -i "/^$2 /d" "$OVERRIDES" ;;
esac
"""


class Host(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.pool = self.here / "sys/kernel/mm" / POOL
        self.pool.mkdir(parents=True)
        for name in ("configs", "proc", "bin"):
            (self.here / name).mkdir()
        self.set_pages(total=10, free=4)
        driverctl = self.here / "bin" / "driverctl"
        driverctl.write_text(DRIVERCTL)
        driverctl.chmod(0o755)
        (self.here / "overrides").write_text("0000:01:00.0 uio_pci_generic\n")

    def set_pages(self, total, free):
        (self.pool / "nr_hugepages").write_text(f"{total}\n")
        (self.pool / "free_hugepages").write_text(f"{free}\n")

    def total(self):
        return int((self.pool / "nr_hugepages").read_text())

    def config(self, name, device="vdev: net_null0"):
        path = self.here / "configs" / f"{name}.yaml"
        path.write_text(CONFIG.format(name, device))
        printed = subprocess.run([PINSTRIKE, "check", "--hugepages", path], capture_output=True,
                              text=True, check=True, timeout=60).stdout
        return sum(int(line.split()[1]) for line in printed.splitlines())

    def tool(self, *words):
        environment = {**os.environ, "PATH": f"{self.here / 'bin'}:{os.environ['PATH']}",
                       "PINSTRIKE": PINSTRIKE, "PINSTRIKE_CONFIGS": str(self.here / "configs"),
                       "PINSTRIKE_STATE": str(self.here / "state"),
                       "PINSTRIKE_SYS": str(self.here / "sys"),
                       "PINSTRIKE_PROC": str(self.here / "proc"),
                       "PINSTRIKE_NICS": str(self.here / "nics"),
                       "PINSTRIKE_PUBLISHED": str(self.here / "pinstrike"),
                       "OVERRIDES": str(self.here / "overrides")}
        return subprocess.run(["bash", BUILT / words[0], *map(str, words[1:])], text=True,
                              capture_output=True, check=False, env=environment, timeout=60)

    def test_reserves_what_is_missing_and_gives_back_only_that(self):
        need = self.config("one") + self.config("two")
        done = self.tool("hugepages", "reserve")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.total(), 10 + need - 4)
        # The same again with all pages free: nothing is added.
        self.set_pages(total=self.total(), free=need)
        self.assertEqual(self.tool("hugepages", "reserve").returncode, 0)
        self.assertEqual(self.total(), 10 + need - 4)
        # Another config, while an instance holds its pages.
        process = self.here / "proc" / "7"
        process.mkdir()
        (process / "comm").write_text("pinstrike\n")
        (process / "numa_maps").write_text("7f00 default file=/memfd huge N0=9 kernelpagesize_kB=2048\n"
                                           "7f01 default anon=5 N0=5 kernelpagesize_kB=4\n")
        self.set_pages(total=self.total(), free=need - 9)
        more = self.config("three")
        self.assertEqual(self.tool("hugepages", "reserve").returncode, 0)
        self.assertEqual(self.total(), 10 + need - 4 + more)
        done = self.tool("hugepages", "release")
        self.assertEqual((done.returncode, self.total()), (0, 10), done.stderr)
        self.assertFalse((self.here / "state").exists())
        # There is nothing more to give back.
        self.assertEqual(self.tool("hugepages", "release").returncode, 0)
        self.assertEqual(self.total(), 10)

    def test_published_memory_counts_once(self):
        need = self.config("one")
        (self.here / "pinstrike").mkdir()
        with open(self.here / "pinstrike" / "one.1", "wb") as file:  # sparse, of six pages
            file.truncate(6 << 21)
        for number in ("7", "8"):  # the instance and a reader
            process = self.here / "proc" / number
            process.mkdir()
            (process / "comm").write_text("pinstrike\n")
            (process / "numa_maps").write_text("7f00 default file=/dev/hugepages/pinstrike/one.1 huge N0=6 "
                                               "kernelpagesize_kB=2048\n")
        self.assertEqual(self.tool("hugepages", "reserve").returncode, 0)
        self.assertEqual(self.total(), 10 + need - 4 - 6)

    def test_nothing_needed_and_wrong_configs(self):
        (self.here / "configs" / "bad.yaml").write_text("lines: x\n")
        done = self.tool("hugepages", "reserve")
        self.assertEqual((done.returncode, self.total()), (0, 10))
        self.assertIn("bad.yaml is left out", done.stderr)
        self.assertEqual(self.tool("hugepages").returncode, 1)

    def test_a_kernel_without_hugepages(self):
        self.config("one")
        for file in self.pool.iterdir():
            file.unlink()
        self.pool.rmdir()
        done = self.tool("hugepages", "reserve")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no hugepages of 2 MiB", done.stderr)

    def test_binds_and_gives_back_its_own_nics(self):
        own = self.here / "configs" / "own.yaml"
        own.write_text(CONFIG.format("own", 'pci: "0000:3b:00.0"'))
        other = self.here / "configs" / "other.yaml"
        other.write_text(CONFIG.format("other", 'pci: "0000:01:00.0"'))
        (self.here / "overrides").write_text("")
        self.assertEqual(self.tool("nics", "bind", own).stderr, "", "driverctl's, where there is no override")
        self.assertEqual(self.tool("nics", "release").returncode, 0)
        (self.here / "overrides").write_text("0000:01:00.0 uio_pci_generic\n")
        done = self.tool("nics", "bind", own, other)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0000:3b:00.0 vfio-pci\n", (self.here / "overrides").read_text())
        self.assertIn("0000:01:00.0 already has an override", done.stdout)
        self.assertEqual(self.tool("nics", "release").returncode, 0)
        self.assertEqual((self.here / "overrides").read_text(), "0000:01:00.0 uio_pci_generic\n")
        self.assertFalse((self.here / "nics").exists())
        self.assertEqual(self.tool("nics", "bind").returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
