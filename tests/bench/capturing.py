#!/usr/bin/env python3
"""What dumpcap, tcpdump and this program record of the same traffic between two namespaces.

    capturing.py PINSTRIKE SOAK_SENDER [--gigabits 100] [--seconds 10] [--runs 3] [--folder FOLDER] [--json]

The sender sends full blocks of 24 lines, both streams, by AF_PACKET on a veth pair, as fast as it can or at
--gigabits. Each program in turn writes all frames into FOLDER (default: the folder of temporary files, on a disk) with
512 MiB of memory; this one through AF_XDP, with books, arbitration and snapshots beside the recording. The frames are
counted in the files, so what a kernel, a ring or a program dropped is missing there. Each program has priority
over the sender, as if it had processors of its own. A program that is not installed is left out, and the output says
so. Needs root.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "live"))
import live  # noqa: E402
from instance import Instance  # noqa: E402

LINES = range(1, 25)
MEMORY_MIB = 512
CONFIG = """
name: live
kind: opra
lines: 1-24
ports: [{{name: wire0, kind: dpdk, vdev: "net_af_xdp0,iface=receiver", hugepages: false, source_address: 10.91.0.2}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}]
book: {{series_capacity: 100000}}
record: {{folder: {folder}, memory: {memory}MiB, free: 0B, snapshot_interval: 1h}}
"""


class Tool:
    """A program for captures, in the namespace of the receiver."""

    def __init__(self, name, *words):
        self.name, self.words = name, words

    def record(self, run, here):
        file = here / "capture"
        with open(here / "log", "w", encoding="utf-8") as log:
            process = run.wire.start(run.wire.receiver, self.name, "-i", "receiver", "-w", file, *self.words,
                                     stdout=log, stderr=subprocess.STDOUT)
            time.sleep(2)  # neither says anything that a pipe would show at once
            live.put_before_others(process)
            sent = run.send()
            time.sleep(2)  # its queue is written
            process.terminate()
            process.wait(timeout=live.PATIENCE_S)
        counted = live.run("capinfos", "-c", "-M", file).stdout
        return sent, int(re.search(r"Number of packets:\s*(\d+)", counted).group(1))


class Pinstrike:
    name = "pinstrike"

    def record(self, run, here):
        run.feed.run(CONFIG.format(folder=here / "record", memory=MEMORY_MIB), lines=LINES)
        live.put_before_others(run.feed.process)
        sent = run.send()
        time.sleep(2)
        run.feed.stop()
        folder = json.loads(live.run(run.pinstrike, "record", "info", here / "record", "--json").stdout)
        return sent, folder["packets"]


class Run:
    def __init__(self, pinstrike, soak_sender, gigabits, seconds, here):
        self.pinstrike, self.seconds = pinstrike, seconds
        self.command = [soak_sender, "1-24", "full-mix", gigabits, seconds, 0, 1]
        self.feed = Instance("capturing", here, pinstrike)
        self.wire = self.feed.wire

    def send(self):
        """How many packets were sent."""
        sender = self.wire.start(self.wire.sender, *self.command, self.wire.outlet, stdout=subprocess.PIPE)
        text = sender.communicate(timeout=10 * self.seconds + live.PATIENCE_S)[0]
        live.expect(sender.returncode == 0, f"the sender ended with {sender.returncode}: {text}")
        return json.loads(text)["receivers"][0]["packets"]


def measure(pinstrike, soak_sender, runs, gigabits=100, seconds=10, to=None):
    """{program: [figures of a run]}, and the programs that are not installed."""
    programs = [Tool("dumpcap", "-q", "-B", MEMORY_MIB), Tool("tcpdump", "-B", MEMORY_MIB * 1024, "-Z", "root"),
                Pinstrike()]
    absent = [each.name for each in programs if isinstance(each, Tool) and shutil.which(each.name) is None]
    figures = {}
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-") as name:
        run = Run(pinstrike, soak_sender, gigabits, seconds, Path(name))
        for _ in range(runs):
            for program in programs:
                if program.name in absent:
                    continue
                with tempfile.TemporaryDirectory(prefix="pinstrike-bench-", dir=to) as folder:
                    sent, recorded = program.record(run, Path(folder))
                figures.setdefault(program.name, []).append(
                    {"sent_per_s": sent / seconds, "recorded_per_s": recorded / seconds,
                     "share": recorded / sent})
    return figures, absent


def text_of(figures, absent):
    head = ["sent, M packets/s", "recorded", "of those sent", "lowest", "highest"]
    rows = [f"{'program':12}" + "".join(f"{each:>{width}}" for each, width in zip(head, (20, 12, 16, 10, 10)))]
    for name, runs in figures.items():
        sent, recorded, share = (statistics.median(run[key] for run in runs)
                                 for key in ("sent_per_s", "recorded_per_s", "share"))
        low, high = (edge(run["share"] for run in runs) for edge in (min, max))
        rows.append(f"{name:12}{sent / 1e6:20.3f}{recorded / 1e6:12.3f}{share:16.3f}{low:10.3f}{high:10.3f}")
    return "\n".join(rows + [f"{name} is not installed" for name in absent]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike", type=Path)
    parser.add_argument("soak_sender", type=Path)
    parser.add_argument("--gigabits", type=float, default=100, help="of the wire, in a second")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures, absent = measure(options.pinstrike, options.soak_sender, options.runs, options.gigabits, options.seconds,
                              options.folder)
    print(json.dumps(figures) if options.json else text_of(figures, absent), end="")


if __name__ == "__main__":
    main()
