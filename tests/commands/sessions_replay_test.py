#!/usr/bin/env python3
"""Compares `replay` of generated sessions with the generator's truth and the independent model.

    sessions_replay_test.py PINSTRIKE

Account and book must equal both; the same capture must give the same account and book at any pace,
and the same lines and book with several pollers and cores, for each sharding rule.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "independent"))
import session  # noqa: E402

COMMON = ["--series", "5000", "--roots", "60", "--seed", "11"]
SESSIONS = {
    "whole": ["--messages", "60000", "--lines", "1-6,201-204,220", "--maps", "300",
              "--test-symbols", "0.01"],
    "ordinary": ["--messages", "40000", "--lines", "1-3", "--shape", "ordinary"],
    "skewed": ["--messages", "40000", "--lines", "1-3", "--skew-b", "300", "--loss-a", "0.02"],
    "lossy": ["--messages", "60000", "--lines", "1-4", "--loss-a", "0.03", "--loss-b", "0.03",
              "--duplicate-a", "0.01", "--reorder-b", "0.01", "--corrupt-a", "0.01"],
}
CONFIG = """\
name: sessions
lines: 1-4
ports: [{name: capture, kind: pcap, files: [unused]}]
pollers: [{name: poll0}]
cores: [{name: core0, wait: park}]
book: {series_capacity: 20000}
"""
SPREAD = """\
name: spread
lines: 1-4
ports: [{name: capture, kind: pcap, files: [unused]}]
pollers: [{name: poll0, lines: 1-2}, {name: poll1, lines: 3-4}]
cores: [{name: core0, wait: park}, {name: core1, wait: park}, {name: core2, wait: park}]
book: {series_capacity: 20000}
"""
STREAM_KEYS = ("packets", "messages", "accepted", "duplicate", "rejected")
LINE_KEYS = ("highest", "delivered", "lost", "repaired", "unasked", "filtered", "gaps")


def fail(what):
    sys.exit(f"FAILED: {what}")


def replay(pinstrike, capture, folder, *options):
    account, book = folder / "account.json", folder / "book.json"
    done = subprocess.run([pinstrike, "replay", capture, "--account", account, "--book", book,
                           *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"replay {capture} {options} ended with {done.returncode}: {done.stderr}")
    return json.loads(account.read_text()), book.read_text().splitlines()


def compare_lines(name, account, others, keys, who):
    mine = {line["line"]: line for line in account["lines"]}
    for other in others:
        here = mine.get(other["line"], {})
        for key in keys:
            if key in other and here.get(key) != other[key]:
                fail(f"{name}: line {other['line']} {key}: {here.get(key)}, {who}: {other[key]}")
        for stream, figures in other.get("streams", {}).items():
            for key in STREAM_KEYS:
                if key in figures and here["streams"][stream].get(key) != figures[key]:
                    fail(f"{name}: line {other['line']} stream {stream} {key}: "
                         f"{here['streams'][stream].get(key)}, {who}: {figures[key]}")


def compare_books(name, mine, theirs, who):
    if len(mine) != len(theirs):
        fail(f"{name}: book of {len(mine)} series, {who}: {len(theirs)}")
    for a, b in zip(mine, theirs):
        if json.loads(a) != json.loads(b):
            fail(f"{name}: book\n  replay: {a}\n  {who}: {b}")


def independent(capture):
    lines, book = session.session([capture])
    rows = [json.dumps(row) for row in book.rows()]
    return [lines[number].account() for number in sorted(lines)], rows


def check(pinstrike, folder, name, options):
    capture, truth = str(folder / f"{name}.pcap"), folder / f"{name}.truth"
    subprocess.run([pinstrike, "generate", "--out", capture, "--truth", truth, *COMMON, *options],
                   check=True, stdout=subprocess.DEVNULL)
    account, book = replay(pinstrike, capture, folder)
    if account["balanced"] is not True:
        fail(f"{name}: not balanced")
    compare_lines(name, account, json.loads(Path(f"{truth}.account.json").read_text())["lines"],
                  LINE_KEYS, "generator")
    lines, rows = independent(capture)
    compare_lines(name, account, lines, LINE_KEYS, "independent model")
    compare_books(name, book, rows, "independent model")
    truth_book = Path(f"{truth}.book.json")
    if truth_book.exists():
        compare_books(name, book, truth_book.read_text().splitlines(), "generator")
    elif name != "lossy":
        fail(f"{name}: the generator gave no book")
    lost = sum(line["lost"] for line in account["lines"])
    if name == "lossy" and lost == 0:
        fail("lossy: nothing was lost")
    print(f"{name}: {sum(line['delivered'] for line in account['lines'])} delivered, {lost} lost, "
          f"{len(book)} series")
    return capture, account, book


def without_time(account):
    return {key: value for key, value in account.items() if key != "seconds"}


def check_spread(pinstrike, folder, capture, account, book, sharding):
    """Two pollers and three cores have the same results as one of each."""
    config = folder / "spread.yaml"
    config.write_text(SPREAD + f"sharding: {sharding}\n")
    spread, spread_book = replay(pinstrike, capture, folder, "--config", config)
    if spread["lines"] != [line for line in account["lines"] if line["highest"]]:
        fail(f"the lossy session over three cores by {sharding} gave other lines")
    if spread_book != book:
        fail(f"the lossy session over three cores by {sharding} gave another book")
    idle = [core["core"] for core in spread["cores"] if core["events"] == 0]
    if len(spread["cores"]) != 3 or idle:
        fail(f"sharding by {sharding}: no message came to {idle}")


def check_short_gap_list(pinstrike, folder):
    """If the list of gaps is too short, it is cut and says so. Nothing else changes, and the account balances."""
    capture = folder / "holes.pcap"
    subprocess.run([pinstrike, "generate", "--out", capture, *COMMON, "--messages", "20000",
                    "--lines", "1-4", "--loss-a", "0.4", "--loss-b", "0.4"],
                   check=True, stdout=subprocess.DEVNULL)
    account, _ = replay(pinstrike, capture, folder)
    config = folder / "short.yaml"
    config.write_text(CONFIG + "arbitration: {gap_ranges: 10}\n")
    cut, _ = replay(pinstrike, capture, folder, "--config", config)
    if cut["balanced"] is not True:
        fail("a short list of gaps does not balance")
    unlisted = 0
    for line, whole in zip(cut["lines"], account["lines"]):
        listed = sum(last - first + 1 for first, last in line["gaps"])
        if (line["lost"], line["delivered"]) != (whole["lost"], whole["delivered"]):
            fail(f"line {line['line']}: a short list of gaps changed what is lost")
        if len(line["gaps"]) > 10 or listed + line["gaps_unlisted"] != line["lost"]:
            fail(f"line {line['line']}: a short list of gaps: {listed} listed, "
                 f"{line['gaps_unlisted']} unlisted, {line['lost']} lost")
        if whole["gaps_unlisted"] != 0:
            fail(f"line {line['line']}: unlisted gaps where there was room")
        unlisted += line["gaps_unlisted"]
    if unlisted == 0:
        fail("a list of 10 gaps was not too short")


def main():
    pinstrike = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="pinstrike-replay-") as folder:
        folder = Path(folder)
        for name, options in SESSIONS.items():
            capture, account, book = check(pinstrike, folder, name, options)
        again = replay(pinstrike, capture, folder, "--pace", "x20")
        if without_time(again[0]) != without_time(account) or again[1] != book:
            fail("the lossy session at another pace gave other figures")
        for sharding in ("series", "underlying"):
            check_spread(pinstrike, folder, capture, account, book, sharding)
        check_short_gap_list(pinstrike, folder)


if __name__ == "__main__":
    main()
