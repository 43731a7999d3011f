#!/usr/bin/env python3
"""Both streams with 1 % loss each, at full speed: nothing is lost that is not accounted for.

    full_speed_test.py PINSTRIKE

`run` receives a capture that DPDK's net_pcap repeats, as fast as the poller can. The rate depends on the
machine, but the losses do not: each turn loses exactly the messages that the generator lost on both
streams. Messages for which the core is too slow are refused, and the account must still balance.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 2
CONFIG = """\
name: full_speed
lines: 1-8
ports: [{{name: loop, kind: dpdk, vdev: "net_pcap0,rx_pcap={capture},infinite_rx=1",
         hugepages: false, membership: static}}]
arbitration: {{looped_captures: true}}
pollers: [{{name: poller0}}]
cores: [{{name: core0}}]
book: {{series_capacity: 30000}}
"""


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def made_capture(pinstrike, folder, shape):
    """A loop, its packets, and the results of each line in one turn of it."""
    capture, truth = folder / f"{shape}.pcap", folder / shape
    done = subprocess.run(
        [pinstrike, "generate", "--out", capture, "--no-session", "--end-with-reset", "--streams",
         "AB", "--packets", "8000", "--lines", "1-8", "--series", "20000", "--shape", shape,
         "--loss-a", "0.01", "--loss-b", "0.01", "--truth", truth],
        check=True, capture_output=True, text=True, timeout=600)
    packets = int(re.search(r"^(\d+) packets written$", done.stdout, re.MULTILINE).group(1))
    lines = json.loads(Path(f"{truth}.account.json").read_text())["lines"]
    return capture, packets, {line["line"]: line for line in lines}


def at_full_speed(pinstrike, folder, capture):
    """The account."""
    config, account = folder / "full_speed.yaml", folder / "account.json"
    config.write_text(CONFIG.format(capture=capture))
    done = subprocess.run([pinstrike, "run", config, "--for", f"{SECONDS}s", "--account", account],
                          capture_output=True, text=True, check=False, timeout=600)
    expect(done.returncode == 0, f"run ended with {done.returncode}: {done.stderr}")
    expect(re.search(r" poller_behind .* 100 % of \d+ packets in full bursts", done.stderr),
           f"the poller had to wait for packets: {done.stderr}")
    return json.loads(account.read_text())


def check_line(line, truth, turns):
    """`turns` turns are over, and another one has begun."""
    number = line["line"]
    expect(line["delivered"] + line["lost"] == line["highest"], f"line {number}: {line}")
    for what in ("delivered", "lost"):
        expect(turns * truth[what] <= line[what] <= (turns + 1) * truth[what],
               f"line {number}, {turns} turns: {what} {line[what]}, in each turn {truth[what]}")
    for name, stream in line["streams"].items():
        seen = stream["accepted"] + stream["duplicate"]
        expect(stream["messages"] == seen and stream["rejected"] == 0,
               f"line {number}, stream {name}: {stream}")
        expect(seen < line["highest"], f"line {number}: stream {name} has lost nothing: {stream}")


def check(pinstrike, folder, shape):
    capture, loop_packets, truth = made_capture(pinstrike, folder, shape)
    expect(any(line["lost"] for line in truth.values()), f"{shape}: no message was lost twice")
    account = at_full_speed(pinstrike, folder, capture)
    expect(account["balanced"] is True, f"{shape}: the account does not balance")
    port, ring, core = account["ports"][0], account["rings"][0], account["cores"][0]
    turns = port["packets"] // loop_packets
    expect(turns > 0, f"{shape}: not one turn in {SECONDS} s")
    expect(not any(port["dropped"].values()), f"{shape}: {port}")
    for line in account["lines"]:
        check_line(line, truth[line["line"]], turns)
    delivered = sum(line["delivered"] for line in account["lines"])
    lost = sum(line["lost"] for line in account["lines"])
    expect(ring["routed"] == ring["pushed"] + ring["refused"], f"{shape}: {ring}")
    expect(ring["routed"] == delivered, f"{shape}: {delivered} delivered, {ring}")
    expect(core["events"] == ring["pushed"], f"{shape}: {core}, {ring}")
    print(f"{shape}: {turns} turns, {port['packets'] / account['seconds'] / 1e6:.2f} M packets/s, "
          f"{delivered} delivered, {lost} lost, {ring['refused']} refused")


def main():
    with tempfile.TemporaryDirectory(prefix="pinstrike-full-speed-") as folder:
        for shape in ("full", "ordinary"):
            check(sys.argv[1], Path(folder), shape)


if __name__ == "__main__":
    main()
