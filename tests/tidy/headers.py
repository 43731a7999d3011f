#!/usr/bin/env python3
"""Each header of the program compiles alone.

    headers.py SOURCE_ROOT BUILD_ROOT

A header takes the compiler and the flags of a source beside it, or of one in a folder above. Checks only
the syntax, two headers at a time. That takes a few minutes, so it runs only as a named target. Fails if
the flags of a header cannot be found.
"""

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from single_sources import with_single_sources

ROOT, BUILD = Path(sys.argv[1]).resolve(), with_single_sources(Path(sys.argv[2]).resolve())
PARTS = ("config", "nic", "feed", "actors")
BY_PIP = ROOT / "actors/publish/python"  # pip compiles these, with headers of Python
ONLY = [Path(name).resolve() for name in sys.argv[3:]]  # these headers alone
WITH_VALUE = {"-o", "-MF", "-MQ"}
WITHOUT = {"-c", "-MD"}


def flags_of(command):
    """Compiler and flags, without ccache, the source, its object and its dependency file."""
    words = [word for word in shlex.split(command) if not word.endswith("ccache")]
    kept, skip = [], False
    for word in words[:-1]:
        if not skip and word not in WITHOUT | WITH_VALUE:
            kept.append(word)
        skip = not skip and word in WITH_VALUE
    return kept


def flags_by_folder():
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = (Path(entry["directory"]) / entry["file"]).resolve()
        if source.is_relative_to(ROOT) and source.relative_to(ROOT).parts[0] in PARTS:
            words = shlex.split(entry["command"])
            if words[words.index("-c") + 1:]:
                found.setdefault(source.parent, flags_of(entry["command"]))
    return found


def flags_for(header, known):
    for folder in header.parents:
        if folder in known:
            return known[folder]
        below = sorted(one for one in known if one.is_relative_to(folder))
        if below:
            return known[below[0]]
    return None


def compiled(header, known):
    """What the compiler says; empty where it says nothing."""
    flags = flags_for(header, known)
    if flags is None:
        return f"{header}: no flags in compile_commands.json"
    done = subprocess.run([*flags, "-fsyntax-only", "-x", "c++", "-include",
                           str(header), os.devnull], cwd=BUILD, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


def main():
    headers = ONLY or [path for part in PARTS for path in sorted((ROOT / part).rglob("*.h"))
                       if not path.is_relative_to(BY_PIP)]
    known = flags_by_folder()
    with ThreadPoolExecutor(2) as pool:
        wrong = [said for said in pool.map(lambda header: compiled(header, known), headers) if said]
    print("\n".join(wrong) if wrong else f"{len(headers)} headers compile alone")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
