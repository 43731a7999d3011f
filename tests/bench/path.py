#!/usr/bin/env python3
"""The poll path on two cores, with and without a book, on every packet shape: a table for README.

    path.py PINSTRIKE BENCH_PATH [--runs N] [--seconds S] [--cells PATTERN...] [--hugepages N] [--far]

A cell is SHAPE/STREAMS/END: END is `book` (one core keeps a book of 1.5 M series), `book-trusting`
(UDP checksums are not verified in software, as if a NIC did it) or `drain` (the core only empties its
ring, which shows the poll path alone). `--cells 'ordinary*/a/*'` selects cells.

Captures are looped. They have 10,000 frames, or 2,000 frames of full blocks if there is no book. Without
a book, both shapes then have 2 MB and stay in the last-level cache, where a NIC puts its packets. With a
book, a larger capture with more series matters more.

If the machine moves its processors, only trials with low latency between the two processors count
(distance.h; bench_distance, beside BENCH_PATH, has the limit); with --far, those with high latency.

A figure is the median of N searches, followed by the lowest and the highest. Each search finds the
highest offered rate at which nothing was missed, refused or lost (see bench_path). The searches of all
cells alternate, and in each round testpmd in rxonly mode receives the same capture, which shows the
limit of the port on one core. The script uses the hugepages that it finds, unless it is
asked to reserve N of 2 MiB and give them back. Run it on an idle machine.
"""

import argparse
import atexit
import contextlib
import fnmatch
import json
import math
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import distance

SHAPES = {
    "full": ["--shape", "full", "--mix", "0"],
    "full-mix": ["--shape", "full", "--mix", "1"],
    "ordinary": ["--shape", "ordinary", "--mix", "0"],
    "ordinary-mix": ["--shape", "ordinary", "--mix", "1"],
}
ENDS = {
    "book": [],
    "book-trusting": ["--trusting"],
    "drain": ["--no-book"],
}
# Ends that the report compares with `book` in its part `published`.
PUBLISHED = {
    "book-table": ["--published", "table"],
    "book-stream": ["--published", "stream"],
}
CELLS = ([(shape, "a", end) for shape in SHAPES for end in ENDS] +
         [(shape, "ab", "book") for shape in SHAPES])
PUBLISHED_CELLS = [(shape, "a", end) for shape in ("full-mix", "ordinary-mix") for end in ("book", *PUBLISHED)]

HUGEPAGES = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
HUGEPAGES_NEEDED = 256  # for the buffers of testpmd and of our port, which run alternately


def reserve_hugepages(count):
    """Reserves hugepages, and restores the earlier number at the end."""
    file = HUGEPAGES / "nr_hugepages"
    before = file.read_text()
    atexit.register(file.write_text, before)
    file.write_text(str(count))


def enough_hugepages():
    with contextlib.suppress(OSError):
        return int((HUGEPAGES / "free_hugepages").read_text()) >= HUGEPAGES_NEEDED
    return False


def frames(shape, end):
    return 2000 if shape.startswith("full") and end == "drain" else 10000


def capture(pinstrike, path, shape, streams, count=10000):
    """A capture of about so many frames that can be looped."""
    subprocess.run([pinstrike, "generate", "--out", path, "--no-session", "--end-with-reset",
                    "--packets", str(count if streams == "a" else count // 2), "--streams",
                    streams.upper(), "--series", "1500000", "--lines", "1-96", *SHAPES[shape]],
                   check=True, stdout=subprocess.DEVNULL)


def ns_of_cycle(pinstrike):
    """Nanoseconds of a cycle of the time stamp counter."""
    done = subprocess.run([pinstrike, "bench", "stages", "--json", "--shape", "ordinary", "--runs", "1",
                           "--seconds", "0.001"], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)["tick_ns"]


def testpmd(path, huge):
    """Packets per second that testpmd receives in rxonly mode; None if it is not installed."""
    program = shutil.which("dpdk-testpmd")
    if program is None:
        return None
    prefix = f"pinstrike-bench-{os.getpid()}"
    memory = ["--in-memory"] if huge else ["--no-huge", "-m", "512", "--no-shconf"]
    command = [program, *memory, f"--file-prefix={prefix}", "--no-telemetry", "--no-pci", "-l",
               "0,1", "--vdev", f"net_pcap0,rx_pcap={path},infinite_rx=1", "--",
               "--forward-mode=rxonly", "--burst=64", "--no-flush-rx", "--stats-period=1",
               "--total-num-mbufs=32768"]
    try:
        rates = rates_of(command, 4)[1:]  # the first second includes the start
    finally:
        base = os.environ.get("RUNTIME_DIRECTORY", "/var/run")
        shutil.rmtree(Path(base) / "dpdk" / prefix, ignore_errors=True)
    if not rates:
        sys.exit("path.py: dpdk-testpmd printed no rate: " + " ".join(command))
    return statistics.median(rates)


def rates_of(command, count):
    """The first rates above 0 that testpmd prints. Always ends testpmd."""
    rates = []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        try:
            for line in process.stdout:
                found = re.search(r"Rx-pps:\s+([1-9]\d*)", line)
                if found:
                    rates.append(int(found.group(1)))
                if len(rates) == count:
                    break
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
    return rates


def run_bench(options, path, end, huge, *words):
    done = subprocess.run([options.bench, path, "--seconds", str(options.seconds), "--distance",
                           options.distance, *{**ENDS, **PUBLISHED}[end], *options.memory,
                           *(["--hugepages"] if huge else []),
                           *map(str, words)],
                          check=True, stdout=subprocess.PIPE, text=True)
    [found] = json.loads(done.stdout.splitlines()[-1]).values()
    return found


def holds(options, path, end, huge, packets_per_second):
    """Whether trials of ten seconds in total lose nothing."""
    trials = (run_bench(options, path, end, huge, "--rate", packets_per_second)
              for _ in range(math.ceil(10 / options.seconds)))
    return all(trial["missed"] + trial["refused"] + trial["lost"] == 0 for trial in trials)


def held_for_ten_seconds(options, figures, cell, huge):
    """The highest rate, in tenths of the cell's median, at which ten seconds lose nothing, in packets a
    second; None: not even half of the median."""
    shape, streams, end = cell
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-") as folder:
        file = Path(folder) / "held.pcap"
        capture(options.pinstrike, file, shape, streams, frames(shape, end))
        median = 1e6 * statistics.median(figures.packets[cell])
        for tenths in range(10, 4, -1):
            if holds(options, file, end, huge, median * tenths / 10):
                return median * tenths / 10
    return None


def machine(compiler, huge):
    cpuinfo = Path("/proc/cpuinfo").read_text()
    virtual = "hypervisor" in cpuinfo
    name, family, model = (re.search(rf"^{key}\s*: (.*)", cpuinfo, re.MULTILINE)
                           for key in ("model name", "cpu family", "model"))
    # A virtual processor's name may have only the maker; family and model identify it.
    parts = [f"{name[1]} (family {family[1]}, model {model[1]})" if name and family and model
             else platform.processor(),
             f"{os.cpu_count()} {'virtual ' if virtual else ''}cores",
             f"Linux {platform.release()}", compiler,
             "2 MiB huge pages" if huge else "no huge pages",
             f"load {os.getloadavg()[0]:.1f} before the start"]
    return ", ".join(part for part in parts if part)


class Steal:
    """The share of processor time that a hypervisor gave to other machines."""

    def __init__(self):
        self.begin = self.times()

    @staticmethod
    def times():
        return [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]

    def percent(self):
        passed = [now - then for now, then in zip(self.times(), self.begin)]
        return 100 * passed[7] / max(1, sum(passed))


def source(cell):
    """The capture of a cell: shape, streams, frames."""
    shape, streams, end = cell
    return shape, streams, frames(shape, end)


def called(shape, streams, count):
    """The name of a capture in tables of costs; 10,000 frames are not mentioned."""
    return f"{shape}, {streams.upper()}" + (f", {count:,} frames" if count != 10000 else "")


class Figures:
    """The results of the searches of all cells, in millions a second."""

    def __init__(self, cells, cycle_ns):
        self.cells = cells
        self.cycle_ns = cycle_ns
        self.packets = {cell: [] for cell in cells}
        self.messages = {cell: [] for cell in cells}
        self.ratios = {cell: [] for cell in cells}
        self.limits = {cell: set() for cell in cells}
        self.ceilings = {source(cell): [] for cell in cells}
        self.stood_still = []
        self.taken_again = 0
        self.gave_up = 0

    def add_ceiling(self, kind, ceiling):
        self.ceilings[kind].append(ceiling / 1e6)

    def add(self, cell, found, ceiling):
        self.packets[cell].append(found["packets_per_second"] / 1e6)
        self.messages[cell].append(found["messages_per_second"] / 1e6)
        self.limits[cell].add({"missed": "poller", "refused": "core"}.get(found["limit"], "-"))
        self.stood_still.append(100 * found["stood_still"])
        self.taken_again += found["taken_again"]
        self.gave_up += found["gave_up"]
        if ceiling:
            self.ratios[cell].append(found["packets_per_second"] / ceiling)

    def messages_per_packet(self, cell):
        return statistics.median(self.messages[cell]) / statistics.median(self.packets[cell])

    def uncounted(self):
        return ("While the hypervisor took either processor away for more than a millisecond, "
                "no packets were offered, and that time is not counted: percent of a trial "
                f"{spread(self.stood_still, 1)}. Trials repeated because the distance of the "
                f"processors had changed: {self.taken_again}" +
                (f"; searches that accepted any distance: {self.gave_up}" if self.gave_up else "")
                + ".")

    def cycles(self, cell):
        """Cycles of the time stamp counter for each message."""
        rate = statistics.median(self.messages[cell])
        return f"{1e3 / rate / self.cycle_ns:.1f}" if rate else "-"

    def table(self):
        lines = ["| shape | streams | end | frames | M packets/s | M messages/s | cycles a message | limit | "
                 "testpmd rxonly, M packets/s | of testpmd |", "|---" * 10 + "|"]
        for cell in self.cells:
            shape, streams, end = cell
            lines.append(" | ".join([
                f"| {shape}", streams.upper(), end, f"{frames(shape, end):,}",
                spread(self.packets[cell], 2),
                spread(self.messages[cell], 1), self.cycles(cell), "/".join(sorted(self.limits[cell])),
                spread(self.ceilings[source(cell)], 1), spread(self.ratios[cell], 2)]) + " |")
        return "\n".join(lines)


def spread(figures, digits):
    if not figures:
        return "-"
    return (f"{statistics.median(figures):.{digits}f} "
            f"({min(figures):.{digits}f} to {max(figures):.{digits}f})")


def measure(options, cells, huge):
    figures = Figures(cells, ns_of_cycle(options.pinstrike))
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-") as folder:
        paths = {kind: Path(folder) / f"{'-'.join(map(str, kind))}.pcap"
                 for kind in figures.ceilings}
        for (shape, streams, count), path in paths.items():
            capture(options.pinstrike, path, shape, streams, count)
        for turn in range(options.runs):
            for kind, path in paths.items():
                ceiling = testpmd(path, huge)
                if ceiling:
                    figures.add_ceiling(kind, ceiling)
                for cell in (cell for cell in cells if source(cell) == kind):
                    found = run_bench(options, path, cell[2], huge)
                    if options.far and found["gave_up"]:
                        return figures  # this is rare, and no figure is of it
                    figures.add(cell, found, ceiling)
                    print(f"run {turn + 1} {'/'.join(cell)}: "
                          f"{found['packets_per_second'] / 1e6:.2f} M packets/s, "
                          f"{found['messages_per_second'] / 1e6:.1f} M messages/s",
                          file=sys.stderr, flush=True)
    return figures


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike")
    parser.add_argument("bench")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of a trial")
    parser.add_argument("--cells", nargs="+", default=["*"], metavar="PATTERN",
                        help=", ".join("/".join(cell) for cell in CELLS))
    parser.add_argument("--far", action="store_true", help="while the processors lie far apart")
    parser.add_argument("--hugepages", type=int, metavar="N", help="reserve N of 2 MiB meanwhile")
    parser.add_argument("--compiler", default="", help="what to name beside the machine")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that reserved pages are given back
    options = arguments()
    cells = [cell for cell in CELLS
             if any(fnmatch.fnmatch("/".join(cell), pattern) for pattern in options.cells)]
    if not cells:
        sys.exit(f"path.py: no cell is called {' or '.join(options.cells)}")
    if options.hugepages is not None:
        reserve_hugepages(options.hugepages)
    huge = enough_hugepages()
    about = machine(options.compiler, huge)
    steal = Steal()
    seen = distance.watch(Path(options.bench).parent / "bench_distance", 60)
    options.distance, options.memory = distance.span(seen["near_to_ns"], options.far), []
    figures = measure(options, cells, huge)
    print(f"\nMedians of {options.runs} runs (lowest to highest), trials of {options.seconds:g} s. "
          f"{about}, {steal.percent():.2f} % stolen. "
          f"{figures.uncounted()}\n\n{figures.table()}")


if __name__ == "__main__":
    sys.exit(main())
