"""Published memory: `pinstrike bench state` and `bench stream`, and the Python package."""

import json
import sys
from pathlib import Path

from parts.running import median_of, near, output_of, rows_of, table

ROOT = Path(__file__).parents[3]
PYTHON_TESTS = ROOT / "tests/actors/publish/python"
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
    taker = near(report, options)
    rows = []
    for name in ("state", "stream"):
        command = (options.pinstrike, "bench", name, "--series", SERIES, "--runs", options.runs, *hugepages)
        rows += rows_of(taker.take(lambda command=command: output_of(*command)))
    if not rows:
        sys.exit("bench state and bench stream printed no rows")
    report.section("Published memory",
                   f"`pinstrike bench state` and `bench stream` with {SERIES:,} series, memory "
                   f"{'hugetlbfs' if hugepages else 'shm'}. The book's three kinds of memory take turns, and so do "
                   "the writers beside readers; their ratios are medians over turns. " + taker.note(), table(rows))
    for what, start, goal, unit, lower in GOALS:
        report.goal(what, goal, median_of(rows, start), unit, lower)
    report.part["rows"] = rows
    measure_python(report, options)


def measure_python(report, options):
    """The package is installed by pip as users do it."""
    picture = report.folder / "report-python.svg"
    text = output_of(sys.executable, PYTHON_TESTS / "in_venv.py", options.build / "tests/actors/publish/python/venv",
                     ROOT / "actors/publish/python", PYTHON_TESTS / "bench.py", options.pinstrike,
                     options.build / "actors/publish/reader/libpinstrike.so", "--json", "--picture", picture)
    line = next((line for line in text.splitlines() if line.startswith("{")), None)
    if line is None:
        report.section("Published memory, from Python", f"Not measured: {text.strip()}")
        return
    found = json.loads(line)
    rows = [f"| {label} | " + " | ".join(f"{rate / 1e6:.1f}" for rate in rates) + " |"
            for label, rates in found["curves"].items()]
    rows += [f"| {label} | {rate / 1e6:.1f} |" + " |" * (len(found["batches"]) - 1)
             for label, rate in found["callbacks"].items()]
    head = "| million messages a second; batches of | " + " | ".join(map(str, found["batches"])) + " |"
    chain = found["chain"]
    report.section("Published memory, from Python",
                   "`ninja -C build python_rates`: one thread takes messages of the whole market from a stream, by its "
                   "CPU time. A callback gets one message.",
                   "\n".join([head, "|---" * (len(found["batches"]) + 1) + "|", *rows]),
                   "![python](report-python.svg)",
                   f"A chain of {chain['series']:,} series while the feed runs: {chain['python_ms']:.2f} ms, in C "
                   f"{chain['c_ms']:.2f} ms.")
    best = max(max(rates) for label, rates in found["curves"].items() if label.startswith("batches"))
    for what, goal, rate in (("Python, messages in batches", 20, best),
                             ("Python, messages by callback", 2, found["callbacks"]["callback for quotes"])):
        report.goal(what, goal, rate / 1e6, "M messages/s")
    report.goal(f"Python, a chain of {chain['series']:,} series", 1, chain["python_ms"], "ms", lower=True)
