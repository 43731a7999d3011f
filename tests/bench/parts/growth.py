"""How the cost of a message grows: with cores, with messages in a packet, with series, with pollers."""

import contextlib
import json
import os
import statistics
import subprocess

import bars
import path
from limits import CORE_STAGES, POLLER_STAGES
from parts.stages import stages_of

CORES = (1, 2, 3, 4, 6, 8)
MESSAGES = (1, 2, 4, 8, 16, 24, 33)  # a block of 1000 bytes has space for 33 short quotes
SERIES = (100_000, 300_000, 1_000_000, 1_500_000, 2_200_000, 3_000_000, 6_000_000)


def line_through(points):
    """Offset and slope of the line with the least squares of the distances, and the part of the variance
    that it explains."""
    slope, offset = statistics.linear_regression(*zip(*points))
    mean = statistics.fmean(y for _, y in points)
    rest = sum((y - offset - slope * x) ** 2 for x, y in points)
    around_mean = sum((y - mean) ** 2 for _, y in points)
    return offset, slope, 1 - rest / around_mean if around_mean else 1.0


def sums_of(options, of, *which):
    """Messages in a packet, and the sum of some stages in ns for each run."""
    runs = [stages_of(options.pinstrike, *which) for _ in range(options.runs)]
    return runs[0][0], [sum(ns.get(stage, 0) for stage in of) for _, ns in runs]


def section(report, title, about, what, unit, rows, name, first=0):
    """A table and a plot. Rows: (x, values in ns). The line is that of the points from `first` on."""
    points = [(x, statistics.median(values)) for x, values in rows]
    offset, slope, explained = line_through([point for point in points if point[0] >= first])
    lines = [f"| {what} | {unit} | of the line |", "|---|---|---|"]
    lines += [f"| {x:,} | {path.spread(values, 1)} | {statistics.median(values) / (offset + slope * x):.2f} |"
              for x, values in rows]
    report.section(title, about, "\n".join(lines),
                   f"The line: {offset:.1f} + {slope:.3g} x the number of {what}; it explains "
                   f"{100 * explained:.0f} % of the variance.",
                   report.plot(name, bars.line(f"{title}, {unit}", what, points, offset, slope)))


def measure_cores(report, options):
    """Returns the poller's ns for a message by cores."""
    rows, by_message = [], {}
    for cores in CORES:
        messages, ns = sums_of(options, POLLER_STAGES, "--shape", "full-mix", "--streams", "AB",
                               "--cores", cores)
        rows.append((cores, ns))
        by_message[cores] = statistics.median(ns) / messages
    section(report, "Cost of a poller by the number of its cores",
            "`pinstrike bench stages --shape full-mix --streams AB --cores N`. The poller's thread alone: "
            "another thread empties the rings between the measured parts, and its time does not count. So "
            "two processors are enough for any number of cores, and what is missing are transfers of cache "
            "lines while a core reads at the same time. With one core the decoder writes into its ring; with "
            "several, each message is copied to the ring of its core. So the line is that of two cores and "
            "more.",
            "cores", "ns a packet", rows, "cores", first=2)
    return by_message


def measure_messages(report, options):
    rows = [(messages, sums_of(options, POLLER_STAGES, "--shape", "ordinary", "--messages-per-packet",
                               messages)[1]) for messages in MESSAGES]
    section(report, "Cost of a poller by the messages in a packet",
            "`pinstrike bench stages --shape ordinary --messages-per-packet N`: short quotes. The line divides "
            "the cost into that of a packet and that of a message.",
            "messages", "ns a packet", rows, "messages")


def measure_series(report, options):
    rows = []
    for series in SERIES:
        messages, ns = sums_of(options, CORE_STAGES, "--shape", "full-mix", "--series", series)
        rows.append((series, [each / messages for each in ns]))
    section(report, "Cost of a core by the number of series",
            "`pinstrike bench stages --shape full-mix --series N`. A loop of the capture touches at most "
            "280,000 series, however many are listed.",
            "series", "ns a message", rows, "series")


def poller_ns(options, processor):
    """One run of the poller's stages on one processor, on which the other thread of the benchmark waits."""
    return subprocess.Popen(["taskset", "-c", str(processor), str(options.pinstrike), "bench", "stages", "--json",
                             "--runs", "3", "--shape", "full-mix"], stdout=subprocess.PIPE, text=True)


def sum_of(process):
    [shape] = json.loads(process.communicate(timeout=600)[0])["shapes"]
    return sum(stage["ns_per_packet"]["median"] for stage in shape["stages"]
               if stage["stage"] in POLLER_STAGES)


def measure_pollers(report, options):
    """One poller on each of two processors, alone and at the same time."""
    processors = sorted(os.sched_getaffinity(0))[:2]
    alone, together = [], []
    for _ in range(options.runs):
        alone.append(statistics.fmean(sum_of(poller_ns(options, one)) for one in processors))
        with contextlib.ExitStack() as stack:
            both = [stack.enter_context(poller_ns(options, one)) for one in processors]
            together.append(statistics.fmean(sum_of(one) for one in both))
    ratio = statistics.median(together) / statistics.median(alone)
    report.section("Cost of a packet by the number of pollers",
                   "By the model it does not change, because pollers share no line and no ring. Two programs, each "
                   "with one poller on a processor of its own, alone and at the same time: "
                   f"{path.spread(alone, 1)} ns and {path.spread(together, 1)} ns a packet of full-mix, a ratio "
                   f"of {ratio:.3f}. Three and four pollers were not measured, because the machine has two "
                   "processors.")
    return ratio


def measure_growth(report, options):
    """Keeps the poller's ns for a message by the number of its cores."""
    by_cores = measure_cores(report, options)
    measure_messages(report, options)
    measure_series(report, options)
    measure_pollers(report, options)
    report.part["poller_ns_by_cores"] = by_cores
