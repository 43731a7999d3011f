#!/usr/bin/env python3
"""A feed publishes in a hugetlbfs, and a reader gets its table and its stream from there.

    hugetlbfs_test.py PROGRAM READER      as root, with 64 free huge pages, in a mount namespace of its own
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from readers_test import Follower

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "commands"))
from endpoint import free_port
from scraped import fetch, instance, wait_for

HUGE_PAGE_BYTES = 2 << 20
CONFIG = """\
name: huge
lines: 1-2
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}]
publish: {{memory: hugetlbfs, stream: on, stream_records: 262144}}
book: {{series_capacity: 20000}}
traffic: {{lines_count: 2, roots_count: 50, series_count: 5000, rate_messages_per_second: 20000}}
metrics_address: 127.0.0.1:{port}
"""
program: str
reader: str


class Hugetlbfs(unittest.TestCase):
    def setUp(self):
        keeper = tempfile.TemporaryDirectory(prefix="pinstrike-huge-")
        self.addCleanup(keeper.cleanup)
        self.folder = Path(keeper.name)
        self.mount = self.folder / "pages"
        self.mount.mkdir()
        # The program takes the first one that is mounted.
        subprocess.run(["umount", "--lazy", "--all", "--types", "hugetlbfs"], check=False, capture_output=True)
        subprocess.run(["mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "none", self.mount], check=True)
        self.addCleanup(lambda: subprocess.run(["umount", self.mount], check=True))
        os.environ["PINSTRIKE_FOLDER"] = str(self.folder)

    def files(self):
        return [path for path in self.mount.rglob("*") if path.is_file()]

    def test_table_and_stream_are_read_and_the_file_is_removed(self):
        port = free_port()
        config, output, link = self.folder / "huge.yaml", self.folder / "printed", self.folder / "huge"
        config.write_text(CONFIG.format(port=port))
        with output.open("w") as to, instance(program, config, port, 600) as url:
            file = link.resolve()
            self.assertEqual(self.files(), [file])
            self.assertEqual(os.statvfs(file).f_bsize, HUGE_PAGE_BYTES)
            metric = next(line for line in fetch(url).splitlines() if line.startswith("pinstrike_published_bytes{"))
            self.assertEqual(float(metric.split()[-1]), file.stat().st_size)
            self.assertEqual(file.stat().st_blocks * 512, file.stat().st_size, "every page is allocated")
            following = subprocess.Popen([reader, "huge"], stdout=to, stderr=subprocess.PIPE, text=True)
            self.addCleanup(following.kill)
            wait_for("events of the stream", 300, lambda: output.read_text().count("\nevent 1 ") > 1000)
        _, errors = following.communicate(timeout=300)
        self.assertEqual(following.returncode, 0, errors)
        follower = Follower(output.read_text().splitlines())
        self.assertGreater(len(follower.chain), 500)
        self.assertEqual(follower.repeated, 0)
        for name in ("quotes", "trades"):
            self.assertEqual(+follower.counts[name],
                             {key: count for key, value in follower.chain.items() if (count := getattr(value, name))})
        self.assertEqual(self.files(), [])
        self.assertFalse(link.is_symlink())


if __name__ == "__main__":
    program, reader = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
