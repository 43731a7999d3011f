"""Published memory: `pinstrike bench state` and `bench stream`."""

import sys

from parts.running import median_of, output_of, rows_of, table

SERIES = 1_500_000
# (what, start of the row, goal, unit, whether lower is better)
GOALS = [
    ("stream, 64 B, a writer and a reader", "stream: a writer and a reader", 150, "M records/s", False),
    ("book, table published, of private memory", "state: book, table published", 0.95, "times", False),
    ("book, table and stream published, of private memory", "state: book, table and stream", 0.86,
     "times", False),
    ("chain of 5,000 series, updates of all series",
     "state: chain of 5,000 series, updates of all series", 0.4, "ms", True),
    ("attach to a table of 1.5 M series, up to the first chain", "state: attach", 100, "ms", True),
]


def measure_published(report, options):
    hugepages = ["--hugepages"] if options.hugepages is not None else []
    rows = []
    for name in ("state", "stream"):
        rows += rows_of(output_of(options.pinstrike, "bench", name, "--series", SERIES, "--runs",
                                  options.runs, *hugepages))
    if not rows:
        sys.exit("bench state and bench stream printed no rows")
    report.section("Published memory",
                   f"`pinstrike bench state` and `bench stream` with {SERIES:,} series, memory "
                   f"{'hugetlbfs' if hugepages else 'shm'}. The book's three kinds of memory take turns, and so do "
                   "the writers beside readers; their ratios are medians over turns.", table(rows))
    for what, start, goal, unit, lower in GOALS:
        report.goal(what, goal, median_of(rows, start), unit, lower)
    report.part["rows"] = rows
