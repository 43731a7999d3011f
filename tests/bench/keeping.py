#!/usr/bin/env python3
"""The cost of recovery and of a history for the poll thread, for every packet shape: a table.

    keeping.py PINSTRIKE BENCH_KEEPING [--processes N] [--pairs N] [--seconds S] [--hugepages N]

bench_keeping makes pairs of trials, without and with them. The cost is the time of a packet with them,
divided by the time without. The place of a process's memory changes it by up to a tenth, for as long
as the process runs. So each figure is the median of several processes, followed by the lowest and the
highest; the last column is the difference of two equal paths without them.

`behind the port` excludes the port: the poll core copies each frame of net_pcap into a buffer that the
history's thread has read, which a NIC does by itself. `whole` includes it.
"""

import argparse
import json
import signal
import statistics
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


def spread(found, part):
    costs = sorted(process[part]["cost"] for process in found)
    return f"{statistics.median(costs):.3f} ({costs[0]:.3f} to {costs[-1]:.3f})"


def row(shape, streams, found):
    without_ns = statistics.median(process["packet"]["without_ns"] for process in found)
    lost = [f"{100 * statistics.median(process[what] for process in found):.2f} %"
            for what in ("skipped", "refused")]
    return (f"| {shape} | {streams.upper()} | {without_ns:.0f} | {spread(found, 'behind_port')} | "
            f"{spread(found, 'behind_port_same')} | {spread(found, 'packet')} | {lost[0]} | "
            f"{lost[1]} |")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike")
    parser.add_argument("bench")
    parser.add_argument("--processes", type=int, default=9)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="of a trial")
    parser.add_argument("--hugepages", type=int, metavar="N", help="reserve N of 2 MiB meanwhile")
    parser.add_argument("--compiler", default="", help="what to name beside the machine")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that reserved pages are given back
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
                found = [compare(options, path, huge) for _ in range(options.processes)]
                rows.append(row(shape, streams, found))
                print(rows[-1], file=sys.stderr, flush=True)
    print("\n| shape | streams | without, ns/packet | behind the port | same to same | whole | "
          "not kept | refused |\n|---|---|---|---|---|---|---|---|\n" + "\n".join(rows))
    print(f"\nMedians of {options.processes} processes (lowest to highest), {options.pairs} pairs of "
          f"trials of {options.seconds:g} s each. {about}, {steal.percent():.2f} % stolen.")


if __name__ == "__main__":
    sys.exit(main())
