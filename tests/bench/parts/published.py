"""Published memory: `pinstrike bench state` and `bench stream`, the whole path, and the Python package."""

import json
import statistics
import sys
from pathlib import Path

import instructions
import path
from parts import two_threads
from parts.running import median_of, near, output_of, rows_of, table

ROOT = Path(__file__).parents[3]
PYTHON_TESTS = ROOT / "tests/actors/publish/python"
SERIES = 1_500_000
STREAM_MESSAGES = 5_000_000  # 40 ms of the writer, so that the start of two threads does not count
# (what, start of the row, goal, unit, whether lower is better)
GOALS = [
    ("stream, 64 B, a writer and a reader", "stream: a writer and a reader", 150, "M records/s", False),
    ("book, table published, of private memory", "state: book, table published", 0.95, "times", False),
    ("book, table and stream published, of private memory", "state: book, table and stream", 0.86,
     "times", False),
    ("the stream's writer beside a stopped reader, of none", "stream: the writer beside a stopped reader", 1,
     "times", False),
    ("chain of 5,000 series, updates of all series",
     "state: chain of 5,000 series, updates of all series", 0.4, "ms", True),
    ("attach to a table of 1.5 M series, up to the first chain", "state: attach", 100, "ms", True),
]


def measure_published(report, options):
    hugepages = ["--hugepages"] if options.hugepages is not None else []
    taker = near(report, options)
    rows = []
    for name, more in (("state", ()), ("stream", ("--messages", STREAM_MESSAGES))):
        command = (options.pinstrike, "bench", name, "--series", SERIES, "--runs", options.runs, *more, *hugepages)
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
    measure_instructions(report, options)
    measure_path(report, options, hugepages)
    measure_python(report, options)


def measure_instructions(report, options):
    alone, beside = (instructions.of_stream_writer(options.pinstrike, readers) for readers in (0, 8))
    report.section("The writer of a stream, by instructions",
                   "`valgrind --tool=callgrind` with `pinstrike bench stream --counting`: for each record "
                   f"{alone:.2f} instructions without readers, {beside:.2f} beside 8 readers.")
    report.goal("the stream's writer, instructions beside 8 readers, of none", 1, beside / alone, "times", lower=True)


def measure_path(report, options, hugepages):
    """Searches of the three kinds of memory take turns."""
    how = two_threads.path_options(report, options)
    how.memory = ["--hugetlbfs"] if hugepages else []
    figures = path.measure(how, path.PUBLISHED_CELLS, path.enough_hugepages())
    lines = ["| shape | memory of the book | M messages/s | of private memory |", "|---|---|---|---|"]
    names = {"book": "private", "book-table": "table published", "book-stream": "table and stream published"}
    for shape, streams, end in path.PUBLISHED_CELLS:
        rates = figures.messages[shape, streams, end]
        private = figures.messages[shape, streams, "book"]
        ratios = [rate / alone for rate, alone in zip(rates, private, strict=True)]
        lines.append(f"| {shape} | {names[end]} | {path.spread(rates, 1)} | {path.spread(ratios, 2)} |")
        goal = {"book-table": 0.95, "book-stream": 0.86}.get(end)
        if goal is not None:
            report.goal(f"whole path, {shape}, {names[end]}, of private memory", goal,
                        statistics.median(ratios), "times")
    report.section("The whole path, published",
                   "As in *The whole path, on two cores*, from packets of stream A to a book of 1.5 M series. Its "
                   f"memory is private, or a file in {'a hugetlbfs' if hugepages else 'shm'}. The searches of the "
                   "three take turns, and a ratio is of one turn. " + figures.uncounted(), "\n".join(lines))


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
