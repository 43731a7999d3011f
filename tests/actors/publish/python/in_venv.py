#!/usr/bin/env python3
"""Installs the package pinstrike by pip in a virtual environment, and runs tests there.

    in_venv.py FOLDER PACKAGE TEST [ARGUMENT...] [-- TEST [ARGUMENT...]]...

The environment also has what requirements.txt lists, and is kept in FOLDER. The next run installs only what
changed. Without a package index the tests are skipped (77).
"""

import hashlib
import subprocess
import sys
import time
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"


def digest(package):
    """Of everything that pip reads to build the package: sources of the reader and of what it includes."""
    root = package.parents[2]
    files = [REQUIREMENTS, root / "meson.build", *package.parent.rglob("*"), *(root / "feed").rglob("*"),
             *(root / "config").rglob("*")]
    out = hashlib.sha256()
    for path in sorted(files):
        if path.is_file() and "__pycache__" not in path.parts and "examples" not in path.parts:
            out.update(str(path).encode() + path.read_bytes())
    return out.hexdigest()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def install(pip, *what):
    # Most modules of the libraries are never imported, so compiling all of them takes time for nothing.
    done = run(pip, "install", "--quiet", "--no-compile", "--disable-pip-version-check", *what)
    if done.returncode == 0:
        return
    if run(pip, "index", "versions", "numpy").returncode != 0:
        print("SKIP: no package index, so pip cannot install the package pinstrike and its tests' libraries")
        sys.exit(77)
    sys.exit(f"FAILED: pip install {' '.join(map(str, what))}:\n{done.stdout}{done.stderr}")


def prepare(folder, package):
    stamp, now = folder / "installed", digest(package)
    if stamp.exists() and stamp.read_text() == now:
        return
    made = run(sys.executable, "-m", "venv", "--clear", folder)
    if made.returncode != 0:
        sys.exit(f"FAILED: no virtual environment (Debian's package python3-venv): {made.stdout}{made.stderr}")
    begin = time.monotonic()
    install(folder / "bin" / "pip", "-r", REQUIREMENTS)
    libraries = time.monotonic()
    install(folder / "bin" / "pip", package)
    end = time.monotonic()
    print(f"installed the libraries in {libraries - begin:.0f} s, the package in {end - libraries:.0f} s", flush=True)
    stamp.write_text(now)


def main():
    folder, package, *tests = sys.argv[1:]
    prepare(Path(folder), Path(package))
    failed = False
    while tests:
        end = tests.index("--") if "--" in tests else len(tests)
        failed |= subprocess.run([Path(folder) / "bin" / "python", *tests[:end]], check=False).returncode != 0
        tests = tests[end + 1:]
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
