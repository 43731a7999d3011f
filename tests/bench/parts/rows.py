"""Benchmarks that print rows: the machine, rings, book, codec, runtime, metrics, receiving."""

import sys

import bars
from parts.running import median_of, output_of, rows_of, span, table

# Benchmarks that are programs of their own and print rows: (name, title, arguments).
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


def measure_rows(report, options):
    found = {}
    for name, title, words in ROWS:
        program = options.build / f"tests/bench/bench_{name}"
        text = output_of(program, *(word.format(runs=options.runs, near=span(report))
                                    for word in words))
        rows = rows_of(text)
        if text.startswith("skipped"):
            report.section(title, f"`bench_{name}`: {text.strip()}.")
            continue
        if not rows:
            sys.exit(f"{program} printed no rows")
        found[name] = rows
        pictures = [report.plot("ring", ring_picture(rows))] if name == "ring" else []
        report.section(title, f"`bench_{name}`.", table(rows), *pictures)
    row_goals(report, found)
    report.part["rows"] = found


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
