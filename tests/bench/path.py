#!/usr/bin/env python3
"""The poll path with a book on two cores, on both packet shapes: a table for the README.

    path.py PINSTRIKE BENCH_PATH [--seconds S]

Each figure is the highest offered rate at which nothing was missed, refused or lost (bench_path).
Beside it stands what testpmd receives and drops of the same capture on one core: the ceiling of the
port. Rates depend on the machine, which is named; run it on a quiet one.
"""

import argparse
import atexit
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CAPTURES = [
    ("full", "A", ["--shape", "full", "--mix", "0"]),
    ("full, mix", "A", ["--shape", "full", "--mix", "1"]),
    ("ordinary", "A", ["--shape", "ordinary", "--mix", "0"]),
    ("ordinary, mix", "A", ["--shape", "ordinary", "--mix", "1"]),
    ("full, mix", "AB", ["--shape", "full", "--mix", "1"]),
    ("ordinary, mix", "AB", ["--shape", "ordinary", "--mix", "1"]),
]


def capture(pinstrike, folder, number, streams, options):
    """About 10,000 frames that may be looped for ever."""
    path = folder / f"{number}.pcap"
    subprocess.run([pinstrike, "generate", "--out", path, "--no-session", "--end-with-reset",
                    "--packets", "10000" if streams == "A" else "5000", "--streams", streams,
                    "--series", "1500000", "--lines", "1-96", *options],
                   check=True, stdout=subprocess.DEVNULL)
    return path


HUGEPAGES = Path("/proc/sys/vm/nr_hugepages")


def reserve_hugepages(wanted=600):
    """True if so many pages of 2 MiB are there; as many as were before remain at the end."""
    before = int(HUGEPAGES.read_text())
    if before < wanted:
        try:
            HUGEPAGES.write_text(str(wanted))
        except OSError:
            return False
        atexit.register(lambda: HUGEPAGES.write_text(str(before)))
    return int(HUGEPAGES.read_text()) >= wanted


def testpmd(path, huge):
    """Packets per second that testpmd in rxonly mode takes, or None where it is not there."""
    program = shutil.which("dpdk-testpmd")
    if program is None:
        return None
    done = run_for(program, path, huge)
    rates = [int(rate) for rate in re.findall(r"Rx-pps:\s+(\d+)", done)]
    rates = sorted(rate for rate in rates[1:] if rate)
    return rates[len(rates) // 2] if rates else None


def run_for(program, path, huge, seconds=5):
    memory = ["--in-memory"] if huge else ["--no-huge", "-m", "1024", "--no-shconf"]
    process = subprocess.Popen(
        [program, *memory, "--no-pci", "-l", "0,1", "--vdev",
         f"net_pcap0,rx_pcap={path},infinite_rx=1", "--", "--forward-mode=rxonly", "--burst=64",
         "--no-flush-rx", "--stats-period=1", "--total-num-mbufs=32768"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        out, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(2)
        try:
            out, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
    return out


def measure(bench, path, seconds, huge, trusting):
    done = subprocess.run([bench, path, "--seconds", str(seconds),
                           *(["--hugepages"] if huge else []),
                           *(["--trusting"] if trusting else [])],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])["nothing_lost"]


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return (f"{model.group(1) if model else platform.processor()}, {os.cpu_count()} cores, "
            f"Linux {platform.release()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("pinstrike")
    parser.add_argument("bench")
    parser.add_argument("--seconds", type=float, default=1)
    options = parser.parse_args()
    huge = reserve_hugepages()
    print(f"{machine()}, {'2 MiB huge pages' if huge else 'no huge pages'}")
    print("\n| shape | streams | checksums | M packets/s | M messages/s | testpmd, M packets/s | "
          "of testpmd |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-") as folder:
        for number, (shape, streams, traffic) in enumerate(CAPTURES):
            path = capture(options.pinstrike, Path(folder), number, streams, traffic)
            ceiling = testpmd(path, huge)
            for trusting in (False, True):
                row = measure(options.bench, path, options.seconds, huge, trusting)
                packets = row["packets_per_second"]
                beside = f"{ceiling / 1e6:.1f} | {packets / ceiling:.2f}" if ceiling else "- | -"
                print(f"| {shape} | {streams} | {'block' if trusting else 'block, UDP'} | "
                      f"{packets / 1e6:.2f} | {row['messages_per_second'] / 1e6:.1f} | {beside} |",
                      flush=True)


if __name__ == "__main__":
    sys.exit(main())
