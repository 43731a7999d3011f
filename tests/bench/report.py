#!/usr/bin/env python3
"""Every speed figure of this program, its peers' and the machine's limits, in one report.

    report.py BUILD [--parts NAME...] [--out FOLDER] [--runs N] [--hugepages N] [--compiler TEXT]

Runs the benchmarks of BUILD one by one and writes FOLDER/report.md and its plots (FOLDER: where this
script is). A figure is the median of N runs, the lowest and highest behind it; those of one table
took turns, so that a ratio is of one run of the machine. An hour and a half; leave the machine alone
meanwhile.

Where the machine moves the two processors about, figures of both are of when they lay near each other
(distance.h); part `far` has those of far.

What a part found is kept in FOLDER/report.json as soon as it is measured, with when and on what:
`--parts` measures some of them again, and the report is of all that are kept.
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
from parts import actors, instances, rows, stages, two_threads


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
            sys.exit(f"report.py: other parts need part {name}, which is not measured yet")
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
        text = ["# How fast", "Written by `tests/bench/report.py`. The last line of each part has its date "
                "and machine." + (f" Not measured yet: {', '.join(missing)}." if missing else ""),
                "## Goals\n\nA goal is met if its ratio is 1 or more.\n\n| what | goal | figure | ratio |\n"
                "|---|---|---|---|\n" + "\n".join(
                    row for _, part in parts for row in part["goals"])]
        for _, part in parts:
            text += [*part["sections"], f"*{part['measured']}*"]
        (self.folder / "report.md").write_text("\n\n".join(text) + "\n")


def explain_limits(report, _):
    """Of all parts that are kept: what is not, explains nothing."""
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
         "rows": rows.measure_rows, "scaling": stages.measure_scaling,
         "actors": actors.measure_actors, "workloads": actors.measure_workloads,
         "allocations": instances.measure_allocations, "limits": explain_limits}
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
