#!/usr/bin/env python3
"""Every speed figure of this program, its peers' and the machine's limits, in one report.

    report.py BUILD [--parts NAME...] [--out FOLDER] [--runs N] [--hugepages N] [--compiler TEXT]

Runs the benchmarks of BUILD one by one and writes FOLDER/report.md and its plots (FOLDER: the folder of
this script). A figure is the median of N runs, followed by the lowest and the highest. The runs of one
table alternate, so that a ratio is not affected by slow changes of the machine. Takes an hour and a
half; do not use the machine meanwhile.

If the machine moves the two processors, figures of both are of times with low latency between them
(distance.h); part `far` has figures with high latency.

FOLDER/report.json keeps the results of each part, with time and machine. `--parts` measures some parts
again, and the report has all parts that are kept.
"""

import argparse
import datetime
import json
import signal
import sys
import time
from pathlib import Path

import limits
import path
from parts import (actors, bridges, exports, gateway, growth, instances, kafka_rates, published, recordings, rows,
                   stages, two_threads)


class Report:
    """The results of every part: its sections, its goals, and its figures for other parts."""

    def __init__(self, folder):
        self.folder = folder
        self.kept = folder / "report.json"
        self.parts = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        self.part = None

    def begin(self):
        self.part = {"sections": [], "goals": []}

    def keep(self, name, measured):
        """Begins a part, and keeps how it was measured."""
        self.parts[name] = {"measured": measured, **self.part}
        self.kept.write_text(json.dumps(self.parts, indent=1) + "\n")
        self.write()

    def needed(self, name, what):
        """Figures that another part has kept for later parts."""
        if what not in self.parts.get(name, {}):
            sys.exit(f"report.py: other parts need part {name}, which is not measured yet")
        return self.parts[name][what]

    def section(self, title, *paragraphs):
        self.part["sections"].append("\n\n".join([f"## {title}", *paragraphs]))

    def plot(self, name, picture):
        (self.folder / f"report-{name}.svg").write_text(picture)
        return f"![{name}](report-{name}.svg)"

    def goal(self, what, goal, figure, unit, lower=False):
        """`figure` None: not measured."""
        if figure is None:
            self.part["goals"].append(f"| {what} | {goal:g} {unit} | not measured | |")
            return
        ratio = goal / figure if lower else figure / goal
        self.part["goals"].append(
            f"| {what} | {goal:g} {unit} | {figure:.4g} {unit} | {ratio:.2f} |")

    def write(self):
        parts = [(name, self.parts[name]) for name in PARTS if name in self.parts]
        missing = [name for name in PARTS if name not in self.parts]
        text = ["# How fast", "Written by `tests/bench/report.py`. The last line of each part has its date "
                "and machine." + (f" Not measured yet: {', '.join(missing)}." if missing else ""),
                "## Goals\n\nA goal is met if its ratio is 1 or more.\n\n| what | goal | figure | ratio |\n"
                "|---|---|---|---|\n" + "\n".join(
                    row for _, part in parts for row in part["goals"])]
        for _, part in parts:
            text += [*part["sections"], f"*{part['measured']}*"]
        (self.folder / "report.md").write_text("\n\n".join(text) + "\n")


def explain_limits(report, _):
    """Explains by all parts that are kept; parts that were not measured explain nothing."""
    for part, what in (("distance", "told"), ("path", "rates"), ("stages", "stages"), ("latency", "goals"),
                       ("rows", "rows"), ("workloads", "cells")):
        report.needed(part, what)
    report.section("What bounds the goals that are missed",
                   "Each explanation uses figures of this report, and instructions of "
                   "`instructions.json`.", limits.table(report.parts),
                   limits.machine(report.parts))


PARTS = {"distance": two_threads.measure_distance, "path": two_threads.measure_path,
         "both": two_threads.measure_both, "far": two_threads.measure_far,
         "stages": stages.measure_stages, "counting": stages.measure_counting,
         "latency": instances.measure_latency, "start": instances.measure_start,
         "rows": rows.measure_rows, "published": published.measure_published,
         "gateway": gateway.measure_gateway, "bridge": bridges.measure_bridge, "kafka": kafka_rates.measure_kafka,
         "export": exports.measure_export,
         "recording": recordings.measure_recording, "capturing": recordings.measure_capturing,
         "scaling": stages.measure_scaling, "growth": growth.measure_growth,
         "actors": actors.measure_actors, "workloads": actors.measure_workloads,
         "allocations": instances.measure_allocations, "limits": explain_limits}
MEASURED_NEAR = {"path", "both", "far", "stages", "counting", "latency", "rows", "published", "gateway"}


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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that reserved pages are given back
    options = arguments()
    if options.hugepages is not None:
        path.reserve_hugepages(options.hugepages)
    report = Report(options.out)
    if MEASURED_NEAR & set(options.parts):
        options.parts.append("distance")  # the limit of near holds only for this machine and day
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
