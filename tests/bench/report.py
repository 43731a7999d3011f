#!/usr/bin/env python3
"""Every speed figure of this program, its peers' and the machine's limits, in one report.

    report.py BUILD [--parts NAME...] [--out FOLDER] [--runs N] [--hugepages N] [--compiler TEXT]

Runs the benchmarks of BUILD one by one and writes FOLDER/report.md and its plots (FOLDER: where this
script is). A figure is the median of N runs, the lowest and highest behind it; those of one table
took turns, so that a ratio is of one run of the machine. Three hours, two of them for the
workloads, of which peers take minutes a run; leave the machine alone meanwhile.

What a part found is kept in FOLDER/report.json as soon as it is measured, with when and on what:
`--parts` measures some of them again, and the report is of all that are kept.
"""

import argparse
import contextlib
import csv
import datetime
import io
import itertools
import json
import math
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import bars
import distance
import limits
import path
import scaling
from limits import CORE_STAGES, POLLER_STAGES

SHAPES = ["full", "full-mix", "ordinary", "ordinary-mix"]

# What is measured by a program of its own that prints rows, and how it is told.
ROWS = [
    ("machine", "What the machine gives a thread", []),
    ("ring", "The ring, beside its peers", ["{runs}", "{near}"]),
    ("book", "The book", []),
    ("codec", "The codec", []),
    ("runtime", "The actor runtime", ["{runs}", "{near}"]),
    ("metrics", "Counting, beside prometheus-cpp", []),
    ("dpdk_receive", "Receiving by DPDK, beside its own calls and testpmd", []),
    ("kernel_receive", "Receiving from the kernel, beside recvmmsg", ["{runs}"]),
]

INSTANCE = """
name: latency
kind: opra
lines: 1-96
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, cpu: 0}}]
cores: [{{name: core0, cpu: 1}}]
book: {{series_capacity: 1500000}}
traffic: {{series_count: 1500000, session: false, shape: ordinary, mix: 0,
  rate_messages_per_second: {rate:.0f}}}
metrics_address: 127.0.0.1:{port}
"""

STARTING = """
name: start
kind: opra
lines: 1-96
ports: [{{name: capture, kind: pcap, files: [{capture}], pace: real}}]
pollers: [{{name: poller0, cpu: 0}}]
cores: [{{name: core0, cpu: 1}}]
when_full: wait
book: {{series_capacity: 1500000}}
"""


def output_of(*command, timeout=3600):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, timeout=timeout)
    if done.returncode not in (0, 77):
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def spread(values, digits=1):
    return (f"{statistics.median(values):.{digits}f} "
            f"({min(values):.{digits}f} to {max(values):.{digits}f})")


class Report:
    """What every part found: its sections, its goals, and what others need of it."""

    def __init__(self, folder):
        self.folder = folder
        self.kept = folder / "report.json"
        self.parts = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        self.part = None

    def begin(self):
        self.part = {"sections": [], "goals": []}

    def keep(self, name, measured):
        """The part that was begun is this one, measured so."""
        self.parts[name] = {"measured": measured, **self.part}
        self.kept.write_text(json.dumps(self.parts, indent=1) + "\n")
        self.write()

    def needed(self, name, what):
        """What another part left for those behind it."""
        if what not in self.parts.get(name, {}):
            sys.exit(f"report.py: part {name} is not measured yet, and others need it")
        return self.parts[name][what]

    def section(self, title, *paragraphs):
        self.part["sections"].append("\n\n".join([f"## {title}", *paragraphs]))

    def plot(self, name, picture):
        (self.folder / f"report-{name}.svg").write_text(picture)
        return f"![{name}](report-{name}.svg)"

    def goal(self, what, goal, figure, unit, lower=False):
        """`figure` None: it was not measured."""
        if figure is None:
            self.part["goals"].append(f"| {what} | {goal:g} {unit} | not measured | |")
            return
        ratio = goal / figure if lower else figure / goal
        self.part["goals"].append(
            f"| {what} | {goal:g} {unit} | {figure:.4g} {unit} | {ratio:.2f} |")

    def write(self):
        parts = [(name, self.parts[name]) for name in PARTS if name in self.parts]
        missing = [name for name in PARTS if name not in self.parts]
        text = ["# How fast", "Made by `tests/bench/report.py`; each part says when and on what." +
                (f" Not measured yet: {', '.join(missing)}." if missing else ""),
                "## Goals\n\nA ratio of 1 or more: met.\n\n| what | goal | figure | ratio |\n"
                "|---|---|---|---|\n" + "\n".join(
                    row for _, part in parts for row in part["goals"])]
        for _, part in parts:
            text += [*part["sections"], f"*{part['measured']}*"]
        (self.folder / "report.md").write_text("\n\n".join(text) + "\n")


def rows_of(text):
    """(name, lowest, median, highest, unit) of each line that measure.h prints."""
    rows, above = [], ""
    for indent, name, *figures, unit in re.findall(
            r"^( *)(\S.*?)\s{2,}([\d.]+)\s+([\d.]+)\s+([\d.]+)\s{2}(\S.*)$", text, re.MULTILINE):
        above = above if indent else name
        rows.append((f"{above}: {name}" if indent else name, *map(float, figures), unit))
    return rows


def table(rows):
    lines = ["| what | median | lowest | highest | |", "|---|---|---|---|---|"]
    lines += [f"| {name} | {middle:g} | {low:g} | {high:g} | {unit} |"
              for name, low, middle, high, unit in rows]
    return "\n".join(lines)


def median_of(rows, start):
    return next((middle for name, _, middle, _, _ in rows if name.startswith(start)), None)


# --- the machine's two processors ---

def measure_distance(report, options):
    seen = distance.watch(options.build / "tests/bench/bench_distance", 60)
    near = sorted(ns for _, ns in seen["samples"] if ns < seen["near_to_ns"])
    far = sorted(ns for _, ns in seen["samples"] if ns >= seen["near_to_ns"])
    told = (f"near: {statistics.median(near):.0f} ns, {seen['near_share']:.0%} of the time; far: "
            f"{statistics.median(far):.0f} ns. It changed {seen['changes']} times; the line that parts "
            f"them is {seen['near_to_ns']:.0f} ns" if far else
            f"{statistics.median(near):.0f} ns in the median, and never far from it")
    report.section("How far the two processors lie from each other",
                   "`bench_distance`: a line from one to the other and another back, sampled for a "
                   f"minute in which nothing else ran: {told}. A virtual machine is not told where "
                   "its processors are; what two threads pass to each other goes as fast as this. So "
                   "figures of two threads below are of trials before and behind which they were "
                   "near, where no other is named.",
                   report.plot("distance", bars.dots(
                       "A line there and another back, between processors 0 and 1", "ns",
                       seen["samples"], seen["near_to_ns"])))
    report.part["near_to_ns"] = seen["near_to_ns"]
    report.part["told"] = told
    report.part["moves"] = bool(far)


def path_options(report, options, far=False):
    return argparse.Namespace(pinstrike=options.pinstrike, seconds=0.5, runs=options.runs, far=far,
                              bench=options.build / "tests/bench/bench_path",
                              distance=span(report, far))


def span(report, far=False):
    return distance.span(report.needed("distance", "near_to_ns"), far)


def near(report, options):
    return distance.Near(options.build / "tests/bench/bench_distance",
                         report.needed("distance", "near_to_ns"))


# --- the whole path ---

def measure_path(report, options):
    cells = path.CELLS
    huge = path.enough_hugepages()
    how = path_options(report, options)
    figures = path.measure(how, cells, huge)
    held = {(shape, "a", "book"): path.held_for_ten_seconds(how, figures, (shape, "a", "book"), huge)
            for shape in SHAPES}
    report.section(
        "The whole path, on two cores",
        "The highest offered rate at which nothing was missed, refused or lost, by `path.py`: one "
        "poller, and one core that keeps a book of 1.5 M series or only empties its ring (drain); "
        "trusting: UDP checksums are not summed here, as behind a NIC that gives its verdict. "
        "A and B: each message is counted once. Frames: of the capture that is looped; of full blocks "
        "without a book 2,000, which stay in the last cache, where a NIC puts what it receives. " +
        figures.uncounted(), figures.table(), "A search's trials are of half a second. Rates that "
        "lost nothing in ten seconds of such trials, tried downwards from the median by its "
        "tenths (here the machine's worst half second of ten decides):",
        held_table(figures, held))
    for cell, goal in {("full", "a", "drain"): 150, ("full-mix", "a", "drain"): 120}.items():
        report.goal(" ".join(cell), goal, statistics.median(figures.messages[cell]),
                    "M messages/s")
    report.goal("ordinary a drain", 22,
                statistics.median(figures.packets["ordinary", "a", "drain"]), "M packets/s")
    for shape, goal, unit in (("full", 75, "M messages/s"), ("full-mix", 62, "M messages/s"),
                              ("ordinary", 14, "M packets/s")):
        cell = shape, "a", "book"
        of = figures.messages if unit == "M messages/s" else figures.packets
        report.goal(" ".join(cell), goal, statistics.median(of[cell]), unit)
        report.goal(" ".join(cell) + ", ten seconds", goal, held[cell] and held[cell] / 1e6 * (
            figures.messages_per_packet(cell) if unit == "M messages/s" else 1), unit)
    report.part["rates"] = {f"{shape}, {streams.upper()}": statistics.median(figures.messages[cell])
                            for cell in cells for shape, streams, end in [cell] if end == "book"}
    report.part["testpmd"] = ceilings(figures)
    report.part["packets"] = {" ".join(cell): statistics.median(rates)
                              for cell, rates in figures.packets.items()}


def held_table(figures, held):
    lines = ["| shape | M packets/s | M messages/s | of the median |", "|---|---|---|---|"]
    for cell, rate in held.items():
        packets = (rate or 0) / 1e6
        lines.append(f"| {cell[0]} | {packets:.2f} | {packets * figures.messages_per_packet(cell):.1f} "
                     f"| {packets / statistics.median(figures.packets[cell]):.2f} |" if rate else
                     f"| {cell[0]} | not half of the median | | |")
    return "\n".join(lines)


def ceilings(figures):
    """testpmd's M packets/s, by what limits.py calls a capture."""
    return {path.called(*kind): statistics.median(rates)
            for kind, rates in figures.ceilings.items() if rates}


def measure_both(report, options):
    """The poll path alone with both streams, which only the whole report's goals ask for."""
    cells = [(shape, "ab", "drain") for shape in ("full", "full-mix", "ordinary")]
    figures = path.measure(path_options(report, options), cells, path.enough_hugepages())
    report.section(
        "The poll path alone, both streams",
        "As above, without a book: the core only empties its ring. Each message is counted once, each "
        "packet twice. " + figures.uncounted(), figures.table())
    for shape, goal in {"full": 100, "full-mix": 85}.items():
        report.goal(f"{shape} ab drain", goal,
                    statistics.median(figures.messages[shape, "ab", "drain"]), "M messages/s")
    report.goal("ordinary ab drain, unique", 12,
                statistics.median(figures.packets["ordinary", "ab", "drain"]) / 2, "M packets/s")
    report.part["testpmd"] = ceilings(figures)


def measure_far(report, options):
    """What it costs that the processors lie far apart."""
    title = "With the two processors far apart"
    if not report.needed("distance", "moves"):
        report.section(title, "They never were: not measured.")
        return
    cells = [(shape, "a", end) for shape in ("full", "ordinary") for end in ("drain", "book")]
    close_by = report.needed("path", "packets")
    figures = path.measure(path_options(report, options, far=True), cells, path.enough_hugepages())
    lines = ["| shape | streams | end | M packets/s, far | near | far of near |", "|---|---|---|---|---|---|"]
    for cell in cells:
        close, rates = close_by[" ".join(cell)], figures.packets[cell]
        lines.append(f"| {cell[0]} | A | {cell[2]} | {path.spread(rates, 2)} | {close:.2f} | " +
                     (f"{statistics.median(rates) / close:.2f} |" if rates else "- |"))
    rings = output_of(options.build / "tests/bench/bench_ring", options.runs, span(report, far=True))
    report.section(title, "As in the whole path, while a line took the longer of the two ways: what a poller "
                   "and a core lose that are put where they share no cache. -: they did not lie so for "
                   "long enough. " + (figures.uncounted() if figures.stood_still else ""),
                   "\n".join(lines), "`bench_ring`, likewise: " +
                   ("they did not lie so for long enough." if "given up" in rings else
                    "\n\n" + table(rows_of(rings))))


# --- cost by stage ---

def stages_of(program, *which):
    """One run of one shape: messages a packet, and nanoseconds a packet by stage."""
    huge = ["--hugepages"] if path.enough_hugepages() else []
    [shape] = json.loads(output_of(program, "bench", "stages", "--json", "--runs", 1, *huge,
                                   *which))["shapes"]
    return (shape["messages_per_packet"],
            {stage["stage"]: stage["ns_per_packet"]["median"] for stage in shape["stages"]})


def shape_figures(taker, options, *which):
    """Messages a packet, nanoseconds a packet by stage, and their lowest and highest, of runs that
    the taker takes."""
    runs = [taker.take(lambda: stages_of(options.pinstrike, *which)) for _ in range(options.runs)]
    ns = {name: [stages[name] for _, stages in runs] for name in runs[0][1]}
    return (runs[0][0], {name: statistics.median(values) for name, values in ns.items()},
            {name: (min(values), max(values)) for name, values in ns.items()})


def total(ns, ends, stages):
    """Of these stages together, and of the ends of their spreads."""
    low, high = (sum(ends[stage][end] for stage in stages if stage in ends) for end in (0, 1))
    return f"{sum(ns.get(stage, 0) for stage in stages):.1f} ({low:.1f} to {high:.1f})"


def looped_stages(taker, options):
    """Of the captures of full blocks that the poll path alone is measured on."""
    shapes = []
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-") as folder:
        for shape, streams in itertools.product(("full", "full-mix"), ("a", "ab")):
            count = path.frames(shape, "drain")
            capture = Path(folder) / f"{shape}-{streams}.pcap"
            path.capture(options.pinstrike, capture, shape, streams, count)
            shapes.append((path.called(shape, streams, count),
                           *shape_figures(taker, options, "--capture", capture)))
    return shapes


def measure_stages(report, options):
    """Leaves nanoseconds a message of poller and core, by shape and streams."""
    taker = near(report, options)
    shapes = [(f"{shape}, {streams}",
               *shape_figures(taker, options, "--shape", shape, "--streams", streams))
              for streams in ("A", "AB") for shape in SHAPES]
    costs = {name: [sum(ns.get(stage, 0) for stage in stages) / messages
                    for stages in (POLLER_STAGES, CORE_STAGES)] for name, messages, ns, _ in shapes}
    shapes.append(("full-mix, A, to 2 cores",
                   *shape_figures(taker, options, "--shape", "full-mix", "--cores", 2)))
    shapes += looped_stages(taker, options)
    names = [stage for stage in POLLER_STAGES + CORE_STAGES if any(stage in ns for _, _, ns, _ in shapes)]
    lines = ["| ns a packet | " + " | ".join(names) + " | poller | core |",
             "|---" * (len(names) + 3) + "|"]
    for name, messages, ns, ends in shapes:
        sums = [total(ns, ends, of) for of in (POLLER_STAGES, CORE_STAGES)]
        lines.append(f"| {name} ({messages:.1f} messages) | " +
                     " | ".join([*("-" if stage not in ns else f"{ns[stage]:.1f}" for stage in names),
                                 *sums]) + " |")
    picture = bars.stacked("Nanoseconds a packet, by stage", "ns", names,
                           [(name, ns) for name, _, ns, _ in shapes])
    report.section("Cost by stage", "`pinstrike bench stages`; poller and core: the sums, in brackets "
                   "those of each stage's lowest and highest; core: the other thread's. " +
                   taker.told(),
                   "\n".join(lines), report.plot("stages", picture))
    report.part["costs"] = costs
    report.part["stages"] = {name: {"messages": messages, "ns": ns} for name, messages, ns, _ in shapes}


def measure_counting(report, options):
    """The same program with counters and without, in turns."""
    uncounted = options.build / "tests/bench/bench_uncounted"
    ratios = {shape: [] for shape in SHAPES}
    taker = near(report, options)
    for _, shape in itertools.product(range(options.runs), SHAPES):
        pair = [taker.take(lambda program=program: stages_of(program, "--shape", shape)[1])
                for program in (options.pinstrike, uncounted)]
        counted, bare = (sum(ns.get(stage, 0) for stage in POLLER_STAGES) for ns in pair)
        ratios[shape].append(counted / bare)
    lines = ["| shape | with counters, of without |", "|---|---|"]
    lines += [f"| {shape} | {spread(values, 3)} |" for shape, values in ratios.items()]
    report.section("What counting costs the poll path",
                   "All counters and histograms on, beside a build in which they do nothing. " +
                   taker.told(),
                   "\n".join(lines))
    worst = max(statistics.median(values) for values in ratios.values())
    report.goal("poll path with all metrics, of without", 1.03, worst, "times", lower=True)


# --- what scales ---

def measure_scaling(report, options):
    """By what stages cost; measured is one thread here, the rest by the parts before."""
    one_thread = scaling.measure_one_thread(options.pinstrike,
                                            options.build / "tests/bench/bench_one_thread",
                                            options.runs, path.enough_hugepages())
    ring = median_of(report.needed("rows", "rows")["ring"],
                     "64 B, batches, capacity 65536: pinstrike")
    report.section("Scaling, by a model",
                   *scaling.section(report.needed("stages", "costs"),
                                    report.needed("stages", "stages"), one_thread,
                                    report.needed("path", "rates"), ring))


def explain_limits(report, _):
    """Of all parts that are kept: what is not, explains nothing."""
    for part, what in (("distance", "told"), ("path", "rates"), ("stages", "stages"), ("latency", "goals"),
                       ("rows", "rows"), ("workloads", "cells")):
        report.needed(part, what)
    report.section("What bounds the goals that are missed",
                   "Each by figures of this report; stages and instructions as they stand in it and "
                   "in `instructions.json`.", limits.table(report.parts),
                   limits.machine(report.parts))


# --- latency and start ---

def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def instance(options, text):
    """Runs; gives the config, and the seconds until it did."""
    with tempfile.TemporaryDirectory(prefix="pinstrike-report-") as folder:
        config = Path(folder) / "report.yaml"
        config.write_text(text)
        begun = time.monotonic()
        with subprocess.Popen([options.pinstrike, "run", config, "--for", "60s"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            try:
                if not any("running" in line for line in process.stderr):
                    sys.exit("report.py: the instance never said that it runs")
                yield config, time.monotonic() - begun
            finally:
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=60)


def stops_of(text):
    """The histogram of stops that `pinstrike latency` prints: thread, a second, percent of its
    time, how many of each length, the longest in microseconds."""
    head, *rows = re.search(r"^stops, us .*\n(?: .*\n)+", text, re.MULTILINE).group().splitlines()
    lengths = re.findall(r"\S+-\S+|-1 ms|> 1 ms", head)
    for row in rows:
        thread, per_second, percent, *counts, longest = row.replace(" %", "").replace(",", "").split()
        yield {"thread": thread, "per_second": float(per_second), "percent": float(percent),
               "counts": dict(zip(lengths, map(int, counts))),
               "longest_us": 0.0 if longest == "-" else float(longest)}


def events_of(port):
    """That the core of a running instance has taken so far."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return float(re.search(r"^pinstrike_core_events_total\{.*\} (\S+)$", text, re.MULTILINE).group(1))


def capacity_of(taker, options):
    """M messages/s that the instance carries with nothing to wait for: what the poller makes and
    takes itself, of both streams."""
    def rate():
        port = free_port()
        with instance(options, INSTANCE.format(rate=1e9, port=port)):
            time.sleep(1)
            begun, before = time.monotonic(), events_of(port)
            time.sleep(3)
            return (events_of(port) - before) / (time.monotonic() - begun) / 1e6

    return [taker.take(rate) for _ in range(options.runs)]


def latency_at(options, rate):
    """Rows of the percentiles, and the stops meanwhile."""
    text = INSTANCE.format(rate=rate * 1e6, port=free_port())
    with instance(options, text) as (config, _):
        time.sleep(2)
        table_file = config.parent / "latency.csv"
        told = output_of(options.pinstrike, "latency", config, "--seconds", 10, "--csv", table_file,
                         timeout=120)
        rows = [row for row in csv.DictReader(io.StringIO(table_file.read_text()))
                if row["stage"] == "receive to actor" and row["samples"] != "by_time"]
    return rows, list(stops_of(told))


PERCENTILES = ("p50", "p90", "p99", "p99.9", "p99.99", "max")


def median_latencies(taker, options, rate):
    """Each percentile's median over the runs, in ns, by which samples; and all runs' stops by thread."""
    found, stops = {}, {}
    for _ in range(options.runs):
        rows, stopped = taker.take(lambda: latency_at(options, rate))
        for row in rows:
            for name in PERCENTILES:
                if row[f"{name}_ns"]:
                    found.setdefault(row["samples"], {}).setdefault(name, []).append(
                        float(row[f"{name}_ns"]))
        for stop in stopped:
            stops.setdefault(stop["thread"], []).append(stop)
    medians = {samples: {name: statistics.median(values) for name, values in of.items()}
               for samples, of in found.items()}
    return medians, [together(thread, of) for thread, of in stops.items()]


def together(thread, stops):
    """The stops of several runs as one."""
    return {"thread": thread,
            "per_second": statistics.mean(stop["per_second"] for stop in stops),
            "percent": statistics.mean(stop["percent"] for stop in stops),
            "counts": {length: sum(stop["counts"][length] for stop in stops)
                       for length in stops[0]["counts"]},
            "longest_us": max(stop["longest_us"] for stop in stops)}


def measure_latency(report, options):
    taker = near(report, options)
    carried = capacity_of(taker, options)
    capacity = statistics.median(carried)
    names = PERCENTILES
    lines = ["| of capacity | M messages/s | samples | " + " | ".join(names) + " |", "|---" * 9 + "|"]
    stopped = []
    for share, goal in ((0.1, 0.5), (0.5, 0.8)):
        medians, stops = median_latencies(taker, options, share * capacity)
        stopped += [(share, stop) for stop in stops]
        for samples, of in medians.items():
            lines.append(f"| {share:.0%} | {share * capacity:.1f} | {samples} | " + " | ".join(
                f"{of[name] / 1e3:.2f}" if name in of else "-" for name in names) + " |")
        for name, most in (("p50", goal), ("p99", 2), ("p99.9", 10)):
            report.goal(f"receive to actor at {share:.0%}, {name}, without stops", most,
                        medians["without_stops"][name] / 1e3, "us", lower=True)
    lengths = list(stopped[0][1]["counts"])
    found = ["| of capacity | thread | stops a second | % of its time | " +
             " | ".join(f"{length} us" if length[0].isdigit() else length for length in lengths) +
             " | longest, us |", "|---" * (5 + len(lengths)) + "|"]
    found += [f"| {share:.0%} | {stop['thread']} | {stop['per_second']:.0f} | {stop['percent']:.2f} | " +
              " | ".join(map(str, stop["counts"].values())) + f" | {stop['longest_us']:.0f} |"
              for share, stop in stopped]
    report.section("Latency, receive to actor",
                   "`pinstrike latency` of an instance that its simulator sends ordinary packets on "
                   "both streams, at a share of what the same instance carries when nothing paces it: "
                   f"{spread(carried)} M messages/s. The poller makes what it takes, which is part of "
                   "its work. Microseconds, from when each packet "
                   "was due, whenever the poller looked (what a pause of the poller of more than "
                   "10 ms keeps from being sent, as a NIC's ring would drop it, is not sent later). "
                   f"Of each figure the median over {options.runs} runs of 10 s. {taker.told()}",
                   "\n".join(lines),
                   f"The machine's stops meanwhile, of all {options.runs} runs: turns of 5 us or more in which a thread "
                   "did nothing, so that no slow handler is taken for one (`tests/actors/"
                   "planted_stops_test.cpp` plants both, and finds the stops alone). What comes "
                   "while a thread works off what a stop piled up is left out as well, for as long "
                   "again at most. What hits a thread at work is not found, and stays in all "
                   "figures.", "\n".join(found))
    report.part["stops"] = [{"share": f"{share:.0%}", **stop} for share, stop in stopped]


def measure_start(report, options):
    seconds = []
    with tempfile.TemporaryDirectory(prefix="pinstrike-report-") as folder:
        capture = Path(folder) / "start.pcap"
        output_of(options.pinstrike, "generate", "--out", capture, "--preset", "ordinary")
        for _ in range(options.runs):
            with instance(options, STARTING.format(capture=capture)) as (_, until):
                seconds.append(until)
    report.section("Start", "From the program's start until its pollers poll, 96 lines and a book "
                   f"of 1.5 M series, input from a capture: {spread(seconds, 2)} s.")
    report.goal("ready with a book of 1.5 M series", 2, statistics.median(seconds), "s", lower=True)


def measure_allocations(report, options):
    told = output_of(sys.executable, Path(__file__).parent / "allocations.py", options.pinstrike)
    report.section("What allocates, where and when", "`allocations.py`: all that was allocated, "
                   "by the room whose code did; rings and books are mapped, and not in it.", told)


# --- what prints rows ---

def measure_rows(report, options):
    found = {}
    for name, title, words in ROWS:
        program = options.build / f"tests/bench/bench_{name}"
        told = output_of(program, *(word.format(runs=options.runs, near=span(report))
                                    for word in words))
        rows = rows_of(told)
        if told.startswith("skipped"):
            report.section(title, f"`bench_{name}`: {told.strip()}.")
            continue
        if not rows:
            sys.exit(f"{program} printed no rows")
        found[name] = rows
        pictures = [report.plot("ring", ring_picture(rows))] if name == "ring" else []
        report.section(title, f"`bench_{name}`.", table(rows), *pictures)
    row_goals(report, found)
    report.part["rows"] = found


def objects_of(options, name, *words):
    text = output_of(options.build / f"tests/bench/bench_{name}", "--runs", options.runs, "--json",
                     *words, timeout=7200)
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def ratio_spread(ours, alone):
    low, high = (ours[f"seconds_{end}"] / alone["seconds"] for end in ("min", "max"))
    return f"{ours['ratio']:.2f} ({low:.2f} to {high:.2f})"


def measure_workloads(report, options):
    """Each cell: one sender, T actors, a piece of work a message; ours, the peers', the work alone."""
    cells = {}
    for cell in itertools.product(("sum100", "sum1000", "sha512"), (1, 15, 20, 30, 100), (0, 100)):
        work, actors, bound = cell  # one at a time: the peers take minutes to a cell of 100 actors
        for row in objects_of(options, "workloads", "--work", work, "--actors", actors, "--bound", bound):
            cells.setdefault(cell, {})[row["who"]] = row
    peers = [who for who in next(iter(cells.values()))
             if who not in ("work alone", "sender alone", "pinstrike")]
    lines = ["| work | actors | bound | alone, s | sender alone | **pinstrike** | " +
             " | ".join(peers) + " | allocations | parks | refusals |",
             "|---" * (9 + len(peers)) + "|"]
    worst, behind, fewer, kept = 0.0, [], [], {}
    for (work, actors, bound), row in cells.items():
        ours = row["pinstrike"]
        worst = max(worst, ours["ratio"])
        behind += [f"{work}, {actors} actors, {f'bounded to {bound}' if bound else 'unbounded'}: {who}"
                   for who in peers if who in row and row[who]["ratio"] < ours["ratio"]]
        kept[f"{work}, {actors}, {bound or 'unbounded'}"] = {
            "actors": actors, "alone_s": row["work alone"]["seconds"],
            "sender": row["sender alone"]["ratio"], "ours": ours["ratio"]}
        ratios = [f"{row[who]['ratio']:.2f}" if who in row else "-" for who in ["sender alone", *peers]]
        ratios.insert(1, ratio_spread(ours, row["work alone"]))
        fewer += [row[who]["runs"] < ours["runs"] for who in peers if who in row]
        lines.append(f"| {work} | {actors} | {bound or '-'} | {row['work alone']['seconds']:.4f} | " +
                     " | ".join(ratios) +
                     f" | {ours['allocations']} | {ours['parks']} | {ours['refusals']} |")
    report.section(
        "The classic workloads",
        "`bench_workloads`: 100,000 messages to each actor; times as multiples of the work alone; "
        "the last three columns are ours (parks: times a thread gave up its processor), and so are "
        "the brackets, our quickest and slowest run as multiples of the work's median. "
        f"{sum(fewer)} of {len(fewer)} peers' figures are of fewer runs than ours, which had "
        f"{options.runs}: 5 s are what each got in a cell, or one run.",
        "\n".join(lines), "Peers ahead of ours: " + ("; ".join(behind) or "none") + ". The work "
        "alone deals actors to two cores, of 15 one gets 8: who lets the system move threads about can "
        "come to 0.94 of it. Ours are placed so that both cores have as much to do, by what the work "
        "and the sender alone took in the same run: whoever uses the runtime says where an actor "
        "lives. Where peers' threads run, their scheduler or the system decides.")
    report.goal("the worst workload, of the work alone", limits.WITHIN, worst, "times", lower=True)
    report.part["cells"] = kept


def measure_actors(report, options):
    pairs = {row["who"]: row for row in objects_of(options, "pairs")}  # 40 M pings a pair
    many = {row["who"]: row for row in objects_of(options, "many_actors")}
    lines = ["| | seconds for all | ms for a million messages |", "|---|---|---|"]
    lines += [f"| {who} | {row['seconds']:.2f} ({row['seconds_min']:.2f} to {row['seconds_max']:.2f}) | "
              f"{1e3 * row['seconds_per_million']:.1f} |" for who, row in pairs.items()]
    each = pairs["pinstrike"]["messages_each"] / 1e6
    more = ["| | M messages/s | allocations while it runs |", "|---|---|---|"]
    more += [f"| {who} | {row['millions_per_second']:.1f} ({row['millions_per_second_min']:.1f} to "
             f"{row['millions_per_second_max']:.1f}) | {row['run_allocations']} |"
             for who, row in many.items()]
    report.section("Pairs of actors, and ten thousand",
                   f"Four pairs, {each:.0f} M pings a pair in order, a \"more\" every 1000 "
                   "(`bench_pairs`):",
                   "\n".join(lines), "10,000 actors in a ring on two cores "
                   "(`bench_many_actors`; across: each message goes to the other core):",
                   "\n".join(more))
    report.goal("four pairs, a more every 1000", 10,
                1e3 * pairs["pinstrike"]["seconds_per_million"], "ms per M messages", lower=True)


def ring_picture(rows):
    chosen = [(name.split(": ")[0].replace(", capacity 8192", "") + ": " +
               name.split(": ")[1].split("::")[0], middle, "pinstrike" in name)
              for name, _, middle, _, unit in rows
              if unit == "M records/s" and "capacity 8192" in name]
    return bars.bars("Rings, capacity 8192", "M records/s", chosen)


def ring_goals(report, rows):
    limit = median_of(rows, "limit: two lines, there")
    for kind, times in (("64 B, batches, capacity 8192", 1.5), ("64 B, single, capacity 8192", 2),
                        ("8 B, batches, capacity 8192", 2)):
        best = max(middle for name, _, middle, _, _ in rows
                   if name.startswith(kind) and "pinstrike" not in name)
        report.goal(f"ring, {kind}, of the best peer", times,
                    median_of(rows, f"{kind}: pinstrike") / best, "times")
    for size in ("64 B", "8 B"):
        report.goal(f"ring, {size}, round trip, of two lines' bounce", 1,
                    median_of(rows, f"{size}, round trip: pinstrike") / limit, "times", lower=True)


def row_goals(report, found):
    ring_goals(report, found["ring"])
    report.goal("book, skewed, plain", 100, median_of(found["book"], "skewed, plain quotes, pre"),
                "M quotes/s")
    report.goal("actor: empty handler, from another core", 80,
                median_of(found["runtime"], "empty handler, from a thread"), "M messages/s")
    report.goal("bounded to 100, 100,000 sums of 1000", 8,
                median_of(found["runtime"], "bounded to 100"), "ms", lower=True)
    report.goal("counter", 1, median_of(found["metrics"], "counter: pin"), "ns", lower=True)
    report.goal("histogram", 4, median_of(found["metrics"], "histogram: pin"), "ns", lower=True)


PARTS = {"distance": measure_distance, "path": measure_path, "both": measure_both, "far": measure_far,
         "stages": measure_stages, "counting": measure_counting, "latency": measure_latency,
         "start": measure_start, "rows": measure_rows,
         "scaling": measure_scaling, "actors": measure_actors, "workloads": measure_workloads,
         "allocations": measure_allocations, "limits": explain_limits}
MEASURED_NEAR = {"path", "both", "far", "stages", "counting", "latency", "rows"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="NAME",
                        help=f"of {', '.join(PARTS)}; all, if not given")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hugepages", type=int, metavar="N", help="reserve N of 2 MiB meanwhile")
    parser.add_argument("--compiler", default="", help="what to name beside the machine")
    options = parser.parse_args()
    options.pinstrike = options.build / "actors/command/pinstrike"
    return options


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what is reserved is given back
    options = arguments()
    if options.hugepages is not None:
        path.reserve_hugepages(options.hugepages)
    report = Report(options.out)
    if MEASURED_NEAR & set(options.parts):
        options.parts.append("distance")  # how far is near holds for this machine, today
    for name in (name for name in PARTS if name in options.parts):
        about = path.machine(options.compiler, path.enough_hugepages())
        steal, begun = path.Steal(), time.monotonic()
        report.begin()
        try:
            PARTS[name](report, options)
        except FileNotFoundError as missing:
            sys.exit(f"report.py: part {name} needs {missing.filename}: "
                     f"`ninja -C {options.build} report` builds what the parts need")
        today = f"{datetime.date.today():%d %B %Y}"
        report.keep(name, f"{today}, of the parts above." if PARTS[name] is explain_limits else
                    f"{today}: {about}; {steal.percent():.2f} % stolen; medians of {options.runs} "
                    "runs.")
        print(f"{(time.monotonic() - begun) / 60:5.1f} min: {name}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
