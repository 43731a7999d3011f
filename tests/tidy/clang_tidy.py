#!/usr/bin/env python3
"""clang-tidy by the checks of .clang-tidy.

    clang_tidy.py SOURCE_ROOT BUILD_ROOT changed    sources changed since the merge base with the main branch
    clang_tidy.py SOURCE_ROOT BUILD_ROOT all        every source of the program

Exits 77, with the reason, where clang-tidy or git is missing or there is no branch to compare with.
"""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT, BUILD, WHICH = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3]
ROOMS = ("config", "nic", "feed", "actors")
BRANCHES = ("origin/main", "origin/master", "main", "master")


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


def git(*arguments):
    """Its output; None where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def merge_base():
    for branch in BRANCHES:
        base = git("merge-base", "HEAD", branch)
        if base:
            return base.strip()
    return skip(f"none of the branches {', '.join(BRANCHES)} is there")


def changed():
    """Files that differ from the merge base, those that are not committed included."""
    if shutil.which("git") is None or git("rev-parse", "HEAD") is None:
        skip("git, or its repository, is missing")
    names = (git("diff", "--name-only", "--diff-filter=d", merge_base()) or "").splitlines()
    return {ROOT / name for name in names}


def sources():
    """Sources of the program that the build compiles."""
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    found = {(Path(entry["directory"]) / entry["file"]).resolve() for entry in entries}
    return {path for path in found
            if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in ROOMS}


def main():
    tool = shutil.which("clang-tidy-19") or shutil.which("clang-tidy")
    if tool is None:
        skip("clang-tidy is not installed (package clang-tidy-19)")
    chosen = sorted(sources() if WHICH == "all" else sources() & changed())

    def looked_at(path):
        return subprocess.run([tool, "--quiet", "-p", str(BUILD), str(path)], capture_output=True, text=True,
                              check=False)

    with ThreadPoolExecutor(2) as pool:
        wrong = [done for done in pool.map(looked_at, chosen) if done.returncode != 0]
    for done in wrong:
        print(done.stdout + done.stderr)
    print(f"{len(chosen)} sources, {len(wrong)} with findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
