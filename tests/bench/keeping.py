#!/usr/bin/env python3
"""What recovery and a history cost the poll thread, on every packet shape: a table.

    keeping.py PINSTRIKE BENCH_KEEPING [--pairs N] [--seconds S] [--hugepages N]

A pair is a trial without and one with; the cost is what a packet takes with, as a multiple of what it
takes without, by processor time of the poll thread (bench_keeping says how). Median of the pairs, with
the lowest and the highest behind it.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from path import SHAPES, Steal, capture, enough_hugepages, machine, reserve_hugepages


def compare(options, path, huge):
    done = subprocess.run([options.bench, path, "--pairs", str(options.pairs), "--seconds",
                           str(options.seconds), *(["--hugepages"] if huge else [])],
                          check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def row(shape, streams, found):
    return (f"| {shape} | {streams.upper()} | {found['without_packets_per_second'] / 1e6:.2f} | "
            f"{found['with_packets_per_second'] / 1e6:.2f} | {found['cost']:.3f} "
            f"({found['cost_lowest']:.3f} to {found['cost_highest']:.3f}) | "
            f"{100 * found['skipped']:.2f} % | {100 * found['refused']:.2f} % |")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike")
    parser.add_argument("bench")
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=1, help="of a trial")
    parser.add_argument("--hugepages", type=int, metavar="N", help="reserve N of 2 MiB meanwhile")
    parser.add_argument("--compiler", default="", help="what to name beside the machine")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what is reserved is given back
    options = arguments()
    if options.hugepages is not None:
        reserve_hugepages(options.hugepages)
    huge = enough_hugepages()
    about = machine(options.compiler, huge)
    steal = Steal()
    rows = []
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-") as folder:
        for streams in ("a", "ab"):
            for shape in SHAPES:
                path = Path(folder) / f"{shape}-{streams}.pcap"
                capture(options.pinstrike, path, shape, streams)
                rows.append(row(shape, streams, compare(options, path, huge)))
                print(rows[-1], file=sys.stderr, flush=True)
    print("\n| shape | streams | without, M packets/s | with | cost | not kept | refused |\n"
          "|---|---|---|---|---|---|---|\n" + "\n".join(rows))
    print(f"\nMedians of {options.pairs} pairs (lowest to highest), trials of {options.seconds:g} s. "
          f"{about}, {steal.percent():.2f} % stolen.")


if __name__ == "__main__":
    sys.exit(main())
