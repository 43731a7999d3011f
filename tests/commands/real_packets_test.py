#!/usr/bin/env python3
"""`decode --json` of real packets, compared with the independent decoder.

    real_packets_test.py PINSTRIKE FOLDER

The packets may not be published. Without the folder the test is skipped, and the last line of tests/run
says so.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "independent"))
import opra  # noqa: E402


def main():
    pinstrike, folder = sys.argv[1], Path(sys.argv[2])
    captures = sorted(map(str, folder.glob("*.pcap")))
    if not captures:
        print("SKIP: the real packets are not at hand: no captures beside the project")
        sys.exit(77)
    done = subprocess.run([pinstrike, "decode", *captures, "--json"], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: decode ended with {done.returncode}: {done.stderr}")
    mine = [json.loads(line) for line in done.stdout.splitlines()]
    theirs = [row for capture in captures for row in opra.decode(capture)]
    if mine != theirs:
        sys.exit(f"FAILED: decode: {mine}\nindependent: {theirs}")
    errors = [row for row in mine if "error" in row]
    if errors or len(mine) < len(captures):
        sys.exit(f"FAILED: {len(captures)} packets gave {len(mine)} messages; errors: {errors}")
    print(f"{len(captures)} real packets, {len(mine)} messages")


main()
