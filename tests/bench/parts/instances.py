"""Instances of the program: latencies, time until ready, allocations."""

import contextlib
import csv
import io
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

import path
from parts.running import near, output_of

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

PERCENTILES = ("p50", "p90", "p99", "p99.9", "p99.99", "max")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def instance(options, text):
    """Runs an instance; yields the config, and the seconds until the instance ran."""
    with tempfile.TemporaryDirectory(prefix="pinstrike-report-") as folder:
        config = Path(folder) / "report.yaml"
        config.write_text(text)
        begun = time.monotonic()
        with subprocess.Popen([options.pinstrike, "run", config, "--for", "60s", "--admin",
                               config.parent / "admin.sock"],
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
    """The histogram of preemptions that `pinstrike latency` prints: thread, number a second, percent of
    its time, number of each length, the longest in microseconds."""
    head, *rows = re.search(r"^preemption, us .*\n(?: .*\n)+", text, re.MULTILINE).group().splitlines()
    lengths = re.findall(r"\S+-\S+|-1 ms|> 1 ms", head)
    for row in rows:
        thread, per_second, percent, *counts, longest = row.replace(" %", "").replace(",", "").split()
        yield {"thread": thread, "per_second": float(per_second), "percent": float(percent),
               "counts": dict(zip(lengths, map(int, counts))),
               "longest_us": 0.0 if longest == "-" else float(longest)}


def events_of(port):
    """Messages that the core of a running instance has received so far."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return float(re.search(r"^pinstrike_core_events_total\{.*\} (\S+)$", text, re.MULTILINE).group(1))


def capacity_of(taker, options):
    """M messages/s that the instance carries at full speed: its poller generates and receives both
    streams itself."""
    def rate():
        port = free_port()
        with instance(options, INSTANCE.format(rate=1e9, port=port)):
            time.sleep(1)
            begun, before = time.monotonic(), events_of(port)
            time.sleep(3)
            return (events_of(port) - before) / (time.monotonic() - begun) / 1e6

    return [taker.take(rate) for _ in range(options.runs)]


def latency_at(options, rate):
    """Rows of the percentiles, and the preemptions meanwhile."""
    text = INSTANCE.format(rate=rate * 1e6, port=free_port())
    with instance(options, text) as (config, _):
        time.sleep(2)
        table_file = config.parent / "latency.csv"
        page = output_of(options.pinstrike, "latency", config.parent / "admin.sock", "--seconds", 10,
                         "--csv", table_file, timeout=120)
        rows = [row for row in csv.DictReader(io.StringIO(table_file.read_text()))
                if row["stage"] == "receive to actor" and row["samples"] != "by_time"]
    return rows, list(stops_of(page))


def median_latencies(taker, options, rate):
    """The median of each percentile over the runs, in ns, by samples; and all preemptions, by thread."""
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
    """The preemptions of several runs, merged."""
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
            report.goal(f"receive to actor at {share:.0%}, {name}, without preemption", most,
                        medians["without_preemption"][name] / 1e3, "us", lower=True)
    lengths = list(stopped[0][1]["counts"])
    found = ["| of capacity | thread | preemptions a second | % of its time | " +
             " | ".join(f"{length} us" if length[0].isdigit() else length for length in lengths) +
             " | longest, us |", "|---" * (5 + len(lengths)) + "|"]
    found += [f"| {share:.0%} | {stop['thread']} | {stop['per_second']:.0f} | {stop['percent']:.2f} | " +
              " | ".join(map(str, stop["counts"].values())) + f" | {stop['longest_us']:.0f} |"
              for share, stop in stopped]
    report.section("Latency, receive to actor",
                   "`pinstrike latency` of an instance whose simulator makes ordinary packets on both "
                   "streams, at a share of its capacity. Capacity is the rate of the same instance "
                   f"without pacing: {path.spread(carried, 1)} M messages/s. The poller makes the "
                   "packets itself, which is part of its work. Latencies are in microseconds and begin "
                   "when each packet was due, whenever the poller read it. Packets that are not sent "
                   "because the poller paused for more than 10 ms are not sent later, as a NIC's ring "
                   f"would drop them. Each figure is the median over {options.runs} runs of 10 s. "
                   f"{taker.note()}",
                   "\n".join(lines),
                   f"Preemption during all {options.runs} runs: steps of 5 us or more in which a thread did no "
                   "work, so that a slow handler is not counted (`tests/actors/threads/planted_stops_test.cpp` "
                   "plants both and finds the preemptions only). Rows `without_preemption` also exclude messages "
                   "that arrive while a thread processes the backlog of a preemption, for at most as long as it "
                   "took. Preemption of a thread at work is not detected, and stays in all figures.",
                   "\n".join(found))
    report.part["stops"] = [{"share": f"{share:.0%}", **stop} for share, stop in stopped]


def measure_start(report, options):
    seconds = []
    with tempfile.TemporaryDirectory(prefix="pinstrike-report-") as folder:
        capture = Path(folder) / "start.pcap"
        output_of(options.pinstrike, "generate", "--out", capture, "--preset", "ordinary")
        for _ in range(options.runs):
            with instance(options, STARTING.format(capture=capture)) as (_, until):
                seconds.append(until)
    report.section("Start", "From the start of the program until its pollers poll, with 96 lines, a book "
                   f"of 1.5 M series and input from a capture: {path.spread(seconds, 2)} s.")
    report.goal("ready with a book of 1.5 M series", 2, statistics.median(seconds), "s", lower=True)


def measure_allocations(report, options):
    text = output_of(sys.executable, Path(__file__).parents[1] / "allocations.py", options.pinstrike)
    report.section("What allocates, where and when", "`allocations.py`: all heap allocations, by the "
                   "module whose code made them. Rings and books are mapped, so they are not included.",
                   text)
