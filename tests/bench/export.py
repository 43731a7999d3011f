#!/usr/bin/env python3
"""How many records a second `pinstrike record export` writes: the whole command, until the file has its name.

    export.py PINSTRIKE [--runs 5] [--messages 10000000] [--folder FOLDER] [--outputs TEXT]

Generates a capture of full blocks of quotes of 100,000 series once, and exports cmbp-1 in turns, as DBN, compressed DBN
and CSV. Each quote makes a record. The capture is read from the page cache, and the files are written to FOLDER
(default: /dev/shm, so that no disk is measured). Prints of each the rate, and the processor time of all threads, which
other work on the machine affects less: the lowest, the median and the highest of the runs.
"""

import argparse
import re
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

OUTPUTS = ["dbn", "dbn.zst", "csv"]
SERIES = 100_000


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stderr


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def export(pinstrike, capture, ending):
    """(M records/s, ns of processor time a record)"""
    file = capture.parent / f"bench.{ending}"
    begin, used = time.monotonic(), cpu_seconds()
    text = run([pinstrike, "record", "export", capture, "--schema", "cmbp-1", "--format", ending[:3], "--out", file])
    seconds, used = time.monotonic() - begin, cpu_seconds() - used
    file.unlink()
    records = int(re.search(r"(\d+) records written", text)[1])
    return records / seconds / 1e6, used / records * 1e9


def measure(pinstrike, runs, messages=10_000_000, folder="/dev/shm", outputs=tuple(OUTPUTS)):
    """The rows of figures, as text."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        capture = Path(name) / "bench.pcap"
        run([pinstrike, "generate", "--out", capture, "--messages", messages, "--series", SERIES, "--preset", "full"])
        found = {ending: [] for ending in outputs}
        for _ in range(runs):
            for ending in outputs:
                found[ending].append(export(pinstrike, capture, ending))
    rows = []
    for place, (what, unit) in enumerate((("", "M records/s"), (", processor time of a record", "ns"))):
        for ending, figures in found.items():
            values = [figure[place] for figure in figures]
            rows.append(f"export: cmbp-1 to {ending + what:<40}{min(values):12.3f}{statistics.median(values):12.3f}"
                        f"{max(values):12.3f}  {unit}")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pinstrike", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--outputs", default=",".join(OUTPUTS), help="of dbn,dbn.zst,csv")
    options = parser.parse_args()
    print(measure(options.pinstrike, options.runs, options.messages, options.folder, options.outputs.split(",")),
          end="")


if __name__ == "__main__":
    main()
