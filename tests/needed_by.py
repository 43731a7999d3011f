#!/usr/bin/env python3
"""Prints what a build folder must build for the tests of some suites.

    needed_by.py BUILD SUITE...
"""

import json
import subprocess
import sys
from pathlib import Path


def introspect(build, what):
    done = subprocess.run(["meson", "introspect", f"--{what}", build], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    build, suites = Path(sys.argv[1]).resolve(), {f"pinstrike:{name}" for name in sys.argv[2:]}
    files = {target["id"]: target["filename"] for target in introspect(build, "targets")}
    needed = {file for test in introspect(build, "tests") if suites & set(test["suite"])
              for target in test["depends"] for file in files[target]}
    print("\n".join(sorted(str(Path(file).relative_to(build)) for file in needed)))


if __name__ == "__main__":
    main()
