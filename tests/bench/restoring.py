#!/usr/bin/env python3
"""How long a replay takes to have whole books: from its start to the moment behind a snapshot of 1.5 M series.

    restoring.py PINSTRIKE [--series 2600000] [--runs 5]

Records a generated day, whose series are drawn at random, so that about 1.5 M of 2.6 M occur. The feed writes a
snapshot behind the day. Then `replay --from` a moment behind the snapshot begins and ends, time after time: no packets
are in between. The recording is in memory, so that no disk is part of the figures.
"""

import argparse
import json
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

CONFIG = """
name: restoring
kind: opra
lines: 1-4
ports: [{{name: day, kind: dpdk, vdev: "net_pcap0,rx_pcap={capture}", hugepages: false, membership: static}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}]
book: {{series_capacity: {series}}}
record: {{folder: {folder}, free: 0B, snapshot_interval: 10s}}
"""
RUN_S = 40


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout + done.stderr


def record(pinstrike, series, here):
    """The recording, with a snapshot that began behind the last packet."""
    capture, folder, config = here / "day.pcap", here / "record", here / "feed.yaml"
    run(pinstrike, "generate", "--out", capture, "--lines", "1-4", "--series", series, "--messages", 7_000_000,
        "--rate", 1_000_000, "--streams", "A")
    config.write_text(CONFIG.format(capture=capture, folder=folder, series=series))
    run(pinstrike, "run", config, "--for", f"{RUN_S}s", "--no-view")
    return folder


def measure(pinstrike, series, runs):
    """(series in the books, [seconds])"""
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-", dir="/dev/shm") as name:
        folder = record(pinstrike, series, Path(name))
        last_ns = max(row["last_ts_ns"] for row in json.loads(run(pinstrike, "record", "ls", folder, "--json"))
                      ["segments"])
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(last_ns / 1e9 + 2 * RUN_S))
        seconds = []
        for _ in range(runs):
            begin = time.monotonic()
            text = run(pinstrike, "replay", folder, "--from", moment)
            seconds.append(time.monotonic() - begin)
        return int(re.search(r"the states of (\d+) series", text)[1]), seconds


def row_of(count, seconds):
    return (f"replay: whole books of {count} series from a snapshot  {statistics.median(seconds):.2f}  "
            f"{min(seconds):.2f}  {max(seconds):.2f}  s\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike", type=Path)
    parser.add_argument("--series", type=int, default=2_600_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print(row_of(*measure(options.pinstrike, options.series, options.runs)), end="")


if __name__ == "__main__":
    main()
