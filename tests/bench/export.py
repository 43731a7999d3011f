#!/usr/bin/env python3
"""How many records a second `pinstrike export` writes: the whole command, from its start to the file under its name.

    export.py PINSTRIKE [--runs 5] [--messages 10000000] [--folder FOLDER]

Generates a capture of full blocks once, and exports it in turns: cmbp-1 and mbp-1 as DBN, compressed DBN and CSV. The
capture is read from the page cache, and the files are written to FOLDER (default: /dev/shm, so that no disk is
measured). Prints one row of each: medians over the runs, with the lowest and the highest.
"""

import argparse
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

OUTPUTS = [(schema, form, ending) for schema in ("cmbp-1", "mbp-1")
           for form, ending in (("dbn", "dbn"), ("dbn", "dbn.zst"), ("csv", "csv"))]


def name_of(output):
    schema, _, ending = output
    return f"export: {schema} to {ending}"


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stderr


def measure(pinstrike, folder, runs, messages, outputs=OUTPUTS):
    """Millions of records a second, by name; each a list of runs."""
    capture = folder / "bench.pcap"
    run([pinstrike, "generate", "--out", capture, "--messages", messages, "--series", "100000", "--streams", "A",
         "--shape", "full-mix"])
    rates = {name_of(output): [] for output in outputs}
    for _ in range(runs):
        for output in outputs:
            schema, form, ending = output
            file = folder / f"bench.{ending}"
            begin = time.monotonic()
            text = run([pinstrike, "export", capture, "--schema", schema, "--format", form, "--out", file])
            seconds = time.monotonic() - begin
            records = int(re.search(r"(\d+) records written", text)[1])
            rates[name_of(output)].append(records / seconds / 1e6)
            file.unlink()
    capture.unlink()
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pinstrike", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--outputs", help="only those whose names have this text", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rates = measure(options.pinstrike, Path(folder), options.runs, options.messages,
                        [output for output in OUTPUTS if options.outputs in name_of(output)])
    for name, values in rates.items():
        print(f"{name:<40} {statistics.median(values):10.3f} {min(values):10.3f} {max(values):10.3f} M records/s")


if __name__ == "__main__":
    main()
