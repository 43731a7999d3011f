"""Shared by the parts of the report: runs programs, and reads the rows that they print."""

import json
import re
import subprocess
import sys

import distance


def output_of(*command, timeout=3600):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, timeout=timeout)
    if done.returncode not in (0, 77):
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def objects_of(options, name, *words):
    text = output_of(options.build / f"tests/bench/bench_{name}", "--runs", options.runs, "--json",
                     *words, timeout=7200)
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def rows_of(text):
    """(name, lowest, median, highest, unit) of each row that measure.h prints."""
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


def span(report, far=False):
    return distance.span(report.needed("distance", "near_to_ns"), far)


def near(report, options):
    return distance.Near(options.build / "tests/bench/bench_distance",
                         report.needed("distance", "near_to_ns"))
