#!/usr/bin/env python3
"""How throughput grows with pollers and cores: a model, compared with measurements.

    scaling.py PINSTRIKE BENCH_ONE_THREAD [--runs N]

The model divides the time of a message in a poller and in a core (cost by stage) by the numbers of
pollers and cores, because they share only memory. report.py compares it with measurements on one thread
and on two. Run alone, this script prints the first of these: poller and core alternate on one processor.
"""

import argparse
import json
import math
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

import path

FULL_RATE = 120  # M messages/s, the planned rate of OPRA's circuits
RECORD_BYTES = 64
RECORDS = 1.125  # a message of the realistic mix: one quote in eight has an appendage
CONFIG = Path(__file__).parents[2] / "config/opra_full_rate.yaml"


def measure_one_thread(pinstrike, bench, runs, huge):
    """M messages/s of each shape, run by run."""
    rates = {}
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-") as folder:
        for shape in path.SHAPES:
            capture = Path(folder) / f"{shape}.pcap"
            path.capture(pinstrike, capture, shape, "a")
            done = subprocess.run([bench, capture, "--runs", str(runs),
                                   *(["--hugepages"] if huge else [])],
                                  check=True, stdout=subprocess.PIPE, text=True)
            rates[shape] = json.loads(done.stdout.splitlines()[-1])["millions_per_second"]
    return rates


def split(processors, poller_ns, core_ns):
    """Pollers, cores and M messages/s of a host; one of its processors is for control."""
    pollers, cores = max(((n, processors - 1 - n) for n in range(1, processors - 1)),
                         key=lambda both: min(both[0] / poller_ns, both[1] / core_ns))
    return pollers, cores, 1e3 * min(pollers / poller_ns, cores / core_ns)


def points(costs, one_thread, two_threads):
    """A table: the model's throughput of one and two threads, and the measured one."""
    lines = ["| threads | shape | expected, M messages/s | measured | of expected |",
             "|---|---|---|---|---|"]
    ratios = []
    for threads, measured in ((1, one_thread), (2, two_threads)):
        for shape, rate in measured.items():
            poller_ns, core_ns = costs[shape]
            expected = 1e3 / (poller_ns + core_ns if threads == 1 else max(poller_ns, core_ns))
            ratios.append((threads, rate / expected))
            lines.append(f"| {threads} | {shape} | {expected:.1f} | {rate:.1f} | "
                         f"{rate / expected:.2f} |")
    spans = {threads: [ratio for of, ratio in ratios if of == threads] for threads in (1, 2)}
    return "\n".join(lines), spans


def hosts(costs):
    lines = ["| processors | full mix, A and B | pollers + cores | ordinary mix, A and B | "
             "pollers + cores |", "|---|---|---|---|---|"]
    for processors in (8, 16, 32):
        cells = []
        for shape in ("full-mix, AB", "ordinary-mix, AB"):
            pollers, cores, rate = split(processors, *costs[shape])
            cells.append(f"{rate:.0f} M messages/s | {pollers} + {cores}")
        lines.append(f"| {processors} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def needs(costs):
    """The pollers and cores that the full rate needs by the model, as text."""
    found = []
    for shape in ("full-mix, AB", "ordinary-mix, AB"):
        pollers, cores = (math.ceil(FULL_RATE * ns / 1e3) for ns in costs[shape])
        found.append(f"{pollers} pollers and {cores} cores for {shape[:-4]}")
    return ", ".join(found)


def threads_of(kind):
    """The threads of a kind in the shipped config."""
    return re.findall(rf"^  - \{{name: {kind}\d", CONFIG.read_text(), re.MULTILINE)


def carried(costs):
    """The throughput of the shipped config on this machine."""
    pollers, cores = len(threads_of("poller")), len(threads_of("core"))
    rates = [min(pollers * 1e3 / costs[shape][0], cores * 1e3 / costs[shape][1])
             for shape in ("full-mix, AB", "ordinary-mix, AB")]
    return (f"`config/{CONFIG.name}` has {pollers} pollers and {cores} cores, for a host on which a message "
            "of full mix takes a poller and a core 30 ns each. On a host like this one, without a "
            f"reserve for bursts, it would carry {rates[0]:.0f} M messages/s of full mix and "
            f"{rates[1]:.0f} M of ordinary mix; deploy/CAPACITY.md computes how many pollers and cores "
            "a host needs.")


def gigabytes(lines):
    """Gigabytes a second at the full rate, if each message writes and reads so many cache lines."""
    return 2 * lines * RECORD_BYTES * FULL_RATE / 1e3


def ring_bandwidth(costs, stages, ring_rate):
    """The required and the measured throughput of rings and memory."""
    name = "full-mix, AB"
    pop_ns = stages[name]["ns"]["pop"] / stages[name]["messages"]
    cores = math.ceil(FULL_RATE * costs[name][1] / 1e3)
    return (f"A core's loop without an actor, including the ring, takes {pop_ns:.1f} ns for a message of "
            f"full mix: {1e3 / pop_ns:.0f} M messages/s. The ring alone carries {ring_rate:.0f} M "
            f"records/s in batches (`bench_ring`, 64 B, capacity 65536). At {FULL_RATE} M messages/s "
            f"each of {cores} cores takes {FULL_RATE / cores:.0f} M from its rings, so the rings do not "
            f"limit the growth. Memory: {RECORDS} records of {RECORD_BYTES} bytes for each message, "
            f"written by one core and read by another, are {gigabytes(RECORDS):.0f} GB/s if all of them "
            "leave the caches. A cache line of the book for each message, read and written, is "
            f"{gigabytes(1):.0f} GB/s.")


def section(costs, stages, one_thread, two_threads, ring_rate):
    """Paragraphs of the report."""
    medians = {f"{shape}, A": statistics.median(rates) for shape, rates in one_thread.items()}
    table, spans = points(costs, medians, two_threads)
    return [
        "The model divides the nanoseconds that a message takes a poller and a core (cost by stage) by "
        "the numbers of pollers and cores. Pollers share no line, cores share no series, and no ring "
        "has two writers, so they share only memory. One processor of a host is for control. The "
        "model is compared with two measurements of each shape: one thread, on which poller and core "
        "take turns (`bench_one_thread`; expected: the sum of both costs), and two threads (the whole "
        "path with a book; expected: the larger cost).", table,
        f"One thread reached {min(spans[1]):.2f} to {max(spans[1]):.2f} of the expected rate: its "
        "cache lines do not move between the caches of two cores, which both costs include, but "
        f"poller and book share one cache. Two threads reached {min(spans[2]):.2f} to "
        f"{max(spans[2]):.2f}. Costs and rates were measured one after the other, while other virtual "
        "machines changed the available memory bandwidth from minute to minute, so the model may err "
        "by as much in either direction. More than two threads were not measured: the following "
        "figures are the model's.", hosts(costs),
        f"For 96 lines at {FULL_RATE} M messages/s on both streams the model needs {needs(costs)}. " +
        carried(costs),
        ring_bandwidth(costs, stages, ring_rate)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike")
    parser.add_argument("bench")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    rates = measure_one_thread(options.pinstrike, options.bench, options.runs,
                               path.enough_hugepages())
    print("Poller and core taking turns on one processor, M messages/s of its time:")
    for shape, found in rates.items():
        print(f"  {shape:<14} {path.spread(found, 1)}")


if __name__ == "__main__":
    main()
