#!/usr/bin/env python3
"""What recording costs the poll thread, and what a disk takes: rows of figures.

    recording.py PINSTRIKE BENCH_RECORDING [--runs 7] [--seconds S] [--folder FOLDER]

Of full blocks and ordinary packets of the realistic mix, each from a looped capture of 2 MB or less: the recorder's
copy beside a memcpy, and the poll path with and without a recorder (see recording.cpp). Then the whole recorder writes
full blocks at 10 Gb/s into FOLDER (default: the folder of temporary files, on a disk) for S seconds.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import path

SHAPES = {"full-mix": 2000, "ordinary-mix": 10000}  # frames
FULL_RATE = 1_170_000  # packets a second of full blocks at 10 Gb/s


def bench(program, capture, *words, huge=False):
    command = [program, capture, *words, *(["--hugepages"] if huge else [])]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def measure(pinstrike, program, runs, seconds, folder=None):
    """The rows of figures, and a sentence about the disk, as text."""
    huge, rows = path.enough_hugepages(), []
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-") as name:
        for shape, count in SHAPES.items():
            capture = Path(name) / f"{shape}.pcap"
            path.capture(pinstrike, capture, shape, "a", count)
            text = bench(program, capture, "--runs", runs, huge=huge)
            rows.append(text.replace("recording: ", f"recording, {shape}: "))
        with tempfile.TemporaryDirectory(prefix="pinstrike-bench-", dir=folder) as to:
            disk = bench(program, Path(name) / "full-mix.pcap", "--folder", to, "--rate", FULL_RATE,
                         "--seconds", seconds, huge=huge)
    return "".join(rows), disk


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike", type=Path)
    parser.add_argument("bench", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=10, help="of the recording to disk")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    print(*measure(options.pinstrike, options.bench, options.runs, options.seconds, options.folder), sep="")


if __name__ == "__main__":
    main()
