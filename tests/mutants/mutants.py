#!/usr/bin/env python3
"""Plants each bug of planted.py, one at a time, and prints those that no test finds.

    tests/mutants/mutants.py                  # all; after an interruption: the rest, and those that survived
    tests/mutants/mutants.py WORDS...         # those with one of these words in their name, tried again
    tests/mutants/mutants.py --list           # lists all of them with their results
    tests/mutants/mutants.py --anew           # all, without earlier results

Works in a copy of the tree with its own build (--folder, or build/mutants), so that neither the checkout
nor its builds change. A suite counts only if it passes without any bug. A result is kept as long as the
bug and its file do not change. Exits 1 if a bug survived, does not compile, or could not be tried.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from planted import PLANTED

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ["config", "nic", "feed", "actors"]
TREE = PROGRAM + ["deploy", "tests", "meson.build", "meson_options.txt", "README.md", "DESIGN.md",
                  "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"]


def program_files(root):
    """Text of each source of the program, by its path."""
    return {path: path.read_text(encoding="utf-8") for part in PROGRAM
            for path in sorted((root / part).rglob("*")) if path.suffix in (".h", ".cpp")}


def matcher(text):
    """A pattern in which any white space matches any other, because formatting may change."""
    return re.compile(r"\s+".join(re.escape(word) for word in text.split()))


def places(bug, files):
    """Every (path, match) of the original code."""
    wanted = matcher(bug.right)
    return [(path, match) for path, text in files.items() for match in wanted.finditer(text)]


def update(tree):
    """Updates the copy from the checkout. Unchanged files keep their times, and so their objects."""
    wanted = set()
    for top in TREE:
        for path in [ROOT / top, *(ROOT / top).rglob("*")]:
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            here = tree / path.relative_to(ROOT)
            wanted.add(here)
            if not here.is_file() or here.read_bytes() != path.read_bytes():
                here.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, here)
            shutil.copymode(path, here)
    for top in TREE:
        for here in (tree / top).rglob("*"):
            if here.is_file() and here not in wanted:
                here.unlink()


class Bench:
    """The copy, its build, and the results of each bug and each suite so far."""

    def __init__(self, folder):
        self.tree = folder / "tree"
        self.build = self.tree / "build"
        self.record = folder / "results.json"
        self.known = json.loads(self.record.read_text()) if self.record.exists() else {}
        self.sound = {}  # suite: whether it passes without any bug
        # Different checkouts share the compiler's cache.
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(self.tree), CCACHE_NOHASHDIR="1")
        self.environment.pop("MESON_TEST_ITERATION", None)
        update(self.tree)
        if not (self.build / "build.ninja").exists():
            # A bug may leave a name unused, which is no finding. Compiling takes most of the time.
            subprocess.run(["meson", "setup", "-Dwerror=false", "-Doptimization=1", self.build,
                            self.tree], check=True, stdout=subprocess.DEVNULL, env=self.environment)

    def run(self, suite):
        """"OK", "SKIP", "FAIL", "TIMEOUT" and meson's other results; "BUILD": it does not compile."""
        log = self.build / "meson-logs" / "testlog.json"
        log.unlink(missing_ok=True)
        # Time limits are meant for hanging tests on an idle machine; a busy one gets four times as long.
        done = subprocess.run(["meson", "test", "-C", self.build, "--timeout-multiplier", "4", suite],
                              env=self.environment, capture_output=True, text=True, check=False)
        results = [json.loads(line)["result"] for line in log.read_text().splitlines()] \
            if log.exists() else []
        if not results:
            print(done.stdout[-4000:], done.stderr[-2000:])
            return "BUILD"
        return next((result for result in results if result not in ("OK", "SKIP")), results[0])

    def is_sound(self, suite):
        if suite not in self.sound:
            result = self.run(suite)
            self.sound[suite] = result == "OK"
            if result != "OK":
                print(f"suite {suite}: {result} without any bug", flush=True)
        return self.sound[suite]

    def judge(self, bug, path, text):
        """Plants the bug, and removes it afterwards."""
        if not all([self.is_sound(suite) for suite in bug.suites]):
            return "not tried", ""
        here = self.tree / path.relative_to(ROOT)
        here.write_text(matcher(bug.right).sub(lambda _: bug.wrong, text), encoding="utf-8")
        try:
            for suite in bug.suites:
                result = self.run(suite)
                if result == "BUILD":
                    return "does not compile", ""
                if result != "OK":
                    return "found", f"{suite}: {result}"
            return "survived", ""
        finally:
            here.write_text(text, encoding="utf-8")

    def remember(self, bug, digest, verdict, by, seconds):
        self.known[bug.name] = {"digest": digest, "verdict": verdict, "by": by, "seconds": seconds}
        self.record.write_text(json.dumps(self.known, indent=1))


def digest_of(bug, text):
    return hashlib.sha256(repr((bug, text)).encode()).hexdigest()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORDS")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--anew", action="store_true")
    return parser.parse_args()


def main():
    asked = arguments()
    chosen = [bug for bug in PLANTED if not asked.words or any(words in bug.name for words in asked.words)]
    if not chosen:
        sys.exit(f"no bug's name has {' or '.join(asked.words)} in it; --list names them")
    files = program_files(ROOT)
    bench = Bench(asked.folder)
    if asked.anew:
        bench.known = {}
    verdicts = {}
    for bug in chosen:
        found = places(bug, files)
        if len(found) != 1:
            verdicts[bug.name] = f"occurs {len(found)} times"
            continue
        path = found[0][0]
        digest = digest_of(bug, files[path])
        known = bench.known.get(bug.name, {})
        kept = known.get("digest") == digest and known["verdict"] == "found"
        wanted = bool(asked.words) or not kept
        if wanted and not asked.list:
            begin = time.monotonic()
            verdict, by = bench.judge(bug, path, files[path])
            bench.remember(bug, digest, verdict, by, round(time.monotonic() - begin))
            known = bench.known[bug.name]
            print(f"{bug.name}: {verdict} {by} ({known['seconds']} s)", flush=True)
        elif known.get("digest") != digest:
            known = {}
        if asked.list:
            print(f"{known.get('verdict', 'unknown'):10} {bug.name} ({', '.join(bug.suites)})")
        verdicts[bug.name] = known.get("verdict", "unknown")
    left = {name: verdict for name, verdict in verdicts.items() if verdict != "found"}
    print(f"{len(verdicts)} bugs, {len(verdicts) - len(left)} found")
    for name, verdict in left.items():
        print(f"    {name}: {verdict}")
    return 1 if left and not asked.list else 0


if __name__ == "__main__":
    sys.exit(main())
