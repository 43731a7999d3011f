#!/usr/bin/env python3
"""What recording costs the poll thread, what a disk takes, and what reading costs: rows of figures.

    recording.py PINSTRIKE BENCH_RECORDING BENCH_REPLAYING [--runs 7] [--seconds S] [--folder FOLDER] [--disk-alone]

Of full blocks and ordinary packets of the realistic mix, each from a looped capture of 2 MB or less: the recorder's
copy beside a memcpy, and the poll path with and without a recorder (see recording.cpp). Of full blocks: the poll path
from a recording in memory, and a seek in a large one (see replaying.cpp). Then the whole recorder writes full blocks at
10 Gb/s into FOLDER (default: the folder of temporary files, on a disk) for S seconds, in segments of which 20 GB are
kept. --disk-alone: only this.
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


def captures(pinstrike, folder):
    """{shape: its capture}"""
    made = {}
    for shape, count in SHAPES.items():
        made[shape] = folder / f"{shape}.pcap"
        path.capture(pinstrike, made[shape], shape, "a", count)
    return made


def record_to_disk(program, capture, seconds, folder):
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-", dir=folder) as to:
        return bench(program, capture, "--folder", to, "--rate", FULL_RATE, "--seconds", seconds,
                     huge=path.enough_hugepages())


def measure(pinstrike, recording, replaying, runs, seconds, folder=None):
    """The rows of figures, and a sentence about the disk, as text."""
    huge, rows = path.enough_hugepages(), []
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-") as name:
        made = captures(pinstrike, Path(name))
        for shape, capture in made.items():
            text = bench(recording, capture, "--runs", runs, huge=huge)
            rows.append(text.replace("recording: ", f"recording, {shape}: "))
        with tempfile.TemporaryDirectory(prefix="pinstrike-bench-", dir="/dev/shm") as memory:
            rows.append(bench(replaying, made["full-mix"], memory, "--runs", runs, huge=huge))
        disk = record_to_disk(recording, made["full-mix"], seconds, folder)
    return "".join(rows), disk


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for program in ("pinstrike", "recording", "replaying"):
        parser.add_argument(program, type=Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=10, help="of the recording to disk")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--disk-alone", action="store_true")
    options = parser.parse_args()
    if not options.disk_alone:
        print(*measure(options.pinstrike, options.recording, options.replaying, options.runs, options.seconds,
                       options.folder), sep="")
        return
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-") as name:
        capture = captures(options.pinstrike, Path(name))["full-mix"]
        print(record_to_disk(options.recording, capture, options.seconds, options.folder), end="")


if __name__ == "__main__":
    main()
