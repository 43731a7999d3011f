#!/usr/bin/env python3
"""The examples in C and C++ compile as their README says, and read the demonstration.

    examples_test.py PROGRAM BUILD

The library is installed in a folder, where pkg-config finds it. The commands of actors/publish/examples/README.md are
run unchanged while config/demo.yaml runs.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "python"))
from publishing import Publisher, eventually

EXAMPLES = Path(__file__).resolve().parents[3] / "actors" / "publish" / "examples"
publisher: Publisher
build: str


def commands():
    """Those that compile, and those that run what was compiled."""
    text = (EXAMPLES / "README.md").read_text()
    return re.findall(r"^    ((?:cc|c\+\+) .*)$", text, re.M), re.findall(r"^    (\./.*)$", text, re.M)


class Examples(unittest.TestCase):
    def setUp(self):
        keeper = tempfile.TemporaryDirectory(prefix="pinstrike-examples-")
        self.addCleanup(keeper.cleanup)
        root = Path(keeper.name)
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--tags", "devel,runtime",
                        "--destdir", root], check=True, capture_output=True)
        self.folder = root / "examples"
        shutil.copytree(EXAMPLES, self.folder)
        found, = root.rglob("pinstrike.pc")
        library, = root.rglob("libpinstrike.so")
        self.environment = {**os.environ, "PKG_CONFIG_PATH": str(found.parent), "PKG_CONFIG_SYSROOT_DIR": str(root),
                            "LD_LIBRARY_PATH": str(library.parent)}

    def shell(self, command, **options):
        return subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environment, text=True,
                                stderr=subprocess.PIPE, **options)

    def test_the_commands_of_the_readme_print_a_chain_and_its_messages(self):
        compile_commands, run_commands = commands()
        self.assertEqual((len(compile_commands), len(run_commands)), (2, 2))
        for command in compile_commands:
            _, errors = (done := self.shell(command)).communicate(timeout=300)
            self.assertEqual((done.returncode, errors), (0, ""), command)
        feed = publisher.demo()
        listed = [publisher.program, "chain", "SPY", "--json", "--feed", "demo"]
        eventually(lambda: subprocess.run(listed, capture_output=True, check=False).stdout.count(b"\n") > 100, 600)
        started = []
        for number, command in enumerate(run_commands):
            output = self.folder / f"printed.{number}"
            with output.open("w") as to:
                started.append((command, output, self.shell(command, stdout=to)))
            self.addCleanup(started[-1][-1].kill)
        for command, output, _ in started:
            def has_message(output=output):
                return re.search(r"^(trade of \d+|SPY bid \d+)$", output.read_text(), re.M)

            eventually(has_message, 600)
            self.assertGreater(len(re.findall(r"^SPY 20\d{6} [CP] \d", output.read_text(), re.M)), 100, command)
        feed.terminate()
        _, errors = feed.communicate(timeout=300)
        self.assertEqual(feed.returncode, 0, errors)
        for command, _, process in started:
            _, errors = process.communicate(timeout=300)
            self.assertEqual((process.returncode, errors), (0, ""), command)

    def test_no_example_has_more_than_30_lines(self):
        sizes = {path.name: len(path.read_text().splitlines()) for path in EXAMPLES.iterdir()
                 if path.suffix in (".c", ".cpp", ".py")}
        self.assertEqual(len(sizes), 6)
        self.assertLessEqual(max(sizes.values()), 30, sizes)


if __name__ == "__main__":
    publisher, build = Publisher(sys.argv[1]), sys.argv[2]
    try:
        unittest.main(argv=sys.argv[:1], verbosity=2)
    finally:
        publisher.close()
