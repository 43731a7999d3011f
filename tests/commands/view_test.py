#!/usr/bin/env python3
"""The live view of `run`: a screen on a terminal, lines elsewhere, and nothing with --no-view.

    view_test.py PINSTRIKE
"""

import os
import pty
import re
import select
import subprocess
import sys
import tempfile
from pathlib import Path

COLUMNS, ROWS = 80, 24


def fail(what):
    sys.exit(f"FAILED: {what}")


def write_config(path, capture):
    path.write_text(f"""
name: shown
kind: opra
lines: 1-2
ports:
  - {{name: file, kind: pcap, files: [{capture}], pace: real}}
pollers:
  - {{name: poller0, wait: park}}
cores:
  - {{name: core0, wait: park, actors: [book]}}
book:
  series_capacity: 20000
when_full: wait
""", encoding="utf-8")


def run_on_terminal(command, errors_too=False):
    """The output of the program on an 80x24 terminal: standard output, on request also standard error."""
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    subprocess.run(["stty", "-F", os.ttyname(slave), "cols", str(COLUMNS), "rows", str(ROWS)],
                   check=True)
    program = subprocess.Popen(command, stdout=slave,
                               stderr=slave if errors_too else subprocess.DEVNULL)
    os.close(slave)
    written = b""
    while True:
        ready, _, _ = select.select([master], [], [], 0.1)
        if ready:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            written += piece
        elif program.poll() is not None:
            break
    os.close(master)
    if program.wait() != 0:
        fail(f"{command} ended with {program.returncode}")
    return written.decode()


def check_screen(written):
    if not written.startswith("\x1b[?25l") or not written.rstrip().endswith("\x1b[?25h"):
        fail("the cursor is not hidden first and shown last")
    last = check_frames(written)[-1]
    for wanted in ("shown", "packets/s", "messages/s", "Gb/s", "dropped", "lost", "2 of 2 up",
                   "p99.9", "poller0", "core0", "book", "busiest series"):
        if wanted not in last:
            fail(f"no '{wanted}' on the screen:\n{last}")
    total = re.search(r"^delivered ([\d,]+)   packets ([\d,]+)", last, re.MULTILINE)
    if not total or int(total.group(1).replace(",", "")) == 0:
        fail(f"no messages on the screen:\n{last}")


def check_log_on_screen(written):
    """Lines of the log are within the screen, and nothing is written between two screens."""
    shown = written[written.index("\x1b[?25l"):written.index("\x1b[?25h")]
    frames = check_frames(shown)
    between = [frame.split("\x1b[J")[1] for frame in shown.split("\x1b[H")[1:]]
    if any(between):
        fail(f"the screen is torn by {between}")
    # On a busy machine other lines may follow and push it off the last screen.
    if not any(re.search(r"^\S+Z info running feed shown: ", frame, re.MULTILINE) for frame in frames):
        fail(f"no log on the screen:\n{frames[-1]}")
    after = written[written.index("\x1b[?25h"):]
    if "info stopping feed shown: the input has ended" not in after:
        fail(f"the end is not reported below the screen: {after}")


def check_frames(written):
    """Checks that all screens fit the terminal; returns them without their control characters."""
    frames = [frame.split("\x1b[J")[0] for frame in written.split("\x1b[H")[1:]]
    if len(frames) < 2:
        fail(f"{len(frames)} screens in three seconds")
    for frame in frames:
        rows = [re.sub(r"\x1b\[[0-9?]*[A-Za-z]", "", row).rstrip("\r")
                for row in frame.rstrip("\r\n").split("\n")]
        if len(rows) >= ROWS or max(map(len, rows)) > COLUMNS:
            fail(f"a screen of {max(map(len, rows))} columns and {len(rows)} rows")
    return [re.sub(r"\x1b\[[0-9?]*[A-Za-z]", "", frame) for frame in frames]


def main():
    pinstrike = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        capture, config = folder / "session.pcap", folder / "run.yaml"
        subprocess.run([pinstrike, "generate", "--out", capture, "--lines", "1-2", "--messages",
                        "12000", "--series", "2000", "--roots", "20", "--no-session", "--rate",
                        "3000"], check=True, capture_output=True)
        write_config(config, capture)
        check_screen(run_on_terminal([pinstrike, "run", config]))
        check_log_on_screen(run_on_terminal([pinstrike, "run", config], errors_too=True))
        if "\x1b" in run_on_terminal([pinstrike, "run", config, "--no-view", "--for", "1s"]):
            fail("--no-view shows a view")
        done = subprocess.run([pinstrike, "run", config, "--view", "--for", "3s"], text=True,
                              capture_output=True, check=True)
        rows = done.stdout.splitlines()
        if not rows or not all(re.match(r"\d+ s   [\d,]+ messages/s   [\d,]+ packets/s", row)
                               for row in rows):
            fail(f"no plain lines: {done.stdout}")
        done = subprocess.run([pinstrike, "run", config, "--for", "1s"], text=True,
                              capture_output=True, check=True)
        if done.stdout:
            fail(f"without a terminal, and not asked: {done.stdout}")


main()
