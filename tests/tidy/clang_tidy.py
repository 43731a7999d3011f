#!/usr/bin/env python3
"""clang-tidy with the checks of .clang-tidy, on a build's compile commands.

    clang_tidy.py BUILD          the files that changed since the merge base with the main branch
    clang_tidy.py BUILD --all    the whole tree
    clang_tidy.py BUILD --most N at most N of the changed files, those with the most changed lines

A header is checked through the first source that includes it. The main branch is origin's; a
checkout of the main branch itself is compared with its last commit. Exits 1 with findings.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from single_sources import with_single_sources

ROOT = Path(__file__).resolve().parents[2]
CLANG_TIDY = "clang-tidy-19"


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def changed_files():
    """Paths below the root with the counts of changed lines; None if this is no checkout with a history."""
    head = git("rev-parse", "HEAD")
    if head is None:
        return None
    base = next((found for found in (git("merge-base", "HEAD", name)
                                     for name in ("origin/HEAD", "origin/main", "main"))
                 if found and found != head), None) or git("rev-parse", "HEAD~1")
    if base is None:
        return None
    rows = (row.split("\t") for row in git("diff", "--numstat", "--no-renames", "--diff-filter=d", base).splitlines())
    return {path: int(added) + int(removed) for added, removed, path in rows if added != "-"}


def commands(build):
    """The sources of a build, with paths below the root, without those that the build makes."""
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    files = {Path(entry["directory"], entry["file"]).resolve() for entry in database}
    return sorted(str(file.relative_to(ROOT)) for file in files
                  if file.is_relative_to(ROOT) and not file.is_relative_to(build.resolve()))


def sources_of(changed, sources):
    """The sources to check for changed files, those with the most changed lines first. Each changed header
    is checked through one source."""
    wanted = {path: lines for path, lines in changed.items() if path in sources}
    texts = {source: (ROOT / source).read_text(encoding="utf-8") for source in sources}
    for path, lines in changed.items():
        if path.endswith(".h"):
            own = path[:-2] + ".cpp"
            users = [source for source in sources if f'#include "{path}"' in texts[source]]
            for source in [own] if own in sources else users[:1]:
                wanted[source] = wanted.get(source, 0) + lines
    return sorted(wanted, key=lambda source: (-wanted[source], source))


def check(build, source):
    done = subprocess.run(
        [CLANG_TIDY, "-p", build, "--quiet", "--extra-arg=-Wno-unknown-warning-option", ROOT / source],
        cwd=ROOT, capture_output=True, text=True, check=False)
    return re.sub(rf"{re.escape(str(ROOT))}/|[\w-]+/\.\./", "", done.stdout) if done.returncode != 0 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--most", type=int, metavar="N")
    options = parser.parse_args()
    build = with_single_sources(options.build.resolve())
    sources = commands(build)
    if not options.all:
        changed = changed_files()
        if changed is None:
            print("SKIP: there is no earlier commit to compare with")
            return 77
        sources = sources_of(changed, sources)
        if options.most is not None and len(sources) > options.most:
            print(f"clang-tidy: the other {len(sources) - options.most} changed files are not checked")
            sources = sources[:options.most]
    os.nice(10)  # other tests run meanwhile
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        findings = [text for text in pool.map(lambda source: check(build, source), sources)
                    if text]
    print("\n".join(findings))
    print(f"clang-tidy: {len(sources)} files, {len(findings)} with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
