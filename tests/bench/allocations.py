#!/usr/bin/env python3
"""What allocates, where and when: by jemalloc's profiler, of an instance that its simulator feeds.

    allocations.py PINSTRIKE

Every allocation is sampled and attributed to the module whose code made it (the innermost of the
stack). Two runs of different length separate the allocations of the start from later ones. The
program itself counts allocations of hot threads; if there are any, this ends with 1. Mapped memory
(rings, books) does not come from the allocator and is not included.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

MODULES = ("nic", "feed", "actors", "config", "command")
SHORT_SECONDS, LONG_SECONDS = 2, 12
ADDRESS = "127.0.0.1:19465"
CONFIG = f"""
name: allocations
kind: opra
lines: 1-96
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0}}]
cores: [{{name: core0}}]
book: {{series_capacity: 200000}}
traffic: {{series_count: 200000, session: false, rate_messages_per_second: 200000}}
metrics_address: {ADDRESS}
"""


def run(pinstrike, folder, seconds):
    """Returns all allocations until the end, as jeprof's collapsed stacks, and the hot threads' count."""
    prefix = folder / f"heap{seconds}"
    config = folder / "allocations.yaml"
    config.write_text(CONFIG)
    settings = f"prof:true,prof_accum:true,prof_final:true,lg_prof_sample:0,prof_prefix:{prefix}"
    with subprocess.Popen([pinstrike, "run", config, "--for", f"{seconds}s"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=os.environ | {"MALLOC_CONF": settings}) as process:
        hot = hot_allocations(process, seconds)
        text = process.communicate(timeout=120)[0]
    profiles = list(folder.glob(f"{prefix.name}*.heap"))
    if process.returncode != 0 or len(profiles) != 1:
        sys.exit(f"the run of {seconds} s ended with {process.returncode} and {len(profiles)} "
                 f"profiles:\n{text[-2000:]}")
    stacks = subprocess.run(["jeprof", "--collapsed", "--alloc_space", pinstrike, profiles[0]],
                            capture_output=True, text=True, check=True).stdout
    return stacks, hot


def hot_allocations(process, seconds):
    """The allocations of all hot threads, shortly before the end."""
    deadline = time.monotonic() + seconds + 60
    for line in process.stdout:
        if " running " in line or time.monotonic() > deadline:
            break
    time.sleep(seconds - 1)
    with urllib.request.urlopen(f"http://{ADDRESS}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    found = re.findall(r"^pinstrike_hot_allocations_total\S* (\S+)$", text, re.MULTILINE)
    if not found:
        sys.exit("the metrics tell of no hot allocations: nothing was looked for")
    return sum(map(float, found))


def module_of(stack):
    """The module and the function whose code allocated; without parameters."""
    for frame in reversed(stack.split(";")):
        match = re.search(r"pinstrike::(\w+)::([\w:~]+)", frame)
        if match and match.group(1) in MODULES and "note_allocation" not in frame:
            return match.group(1), f"{match.group(1)}::{match.group(2)}"
    libraries = [("DPDK", r"rte_|eal_|DPDK"), ("libpcap", r"pcap_"), ("hwloc", r"hwloc"),
                 ("prometheus, civetweb", r"prometheus|mg_|civetweb"), ("start", r"_dl_")]
    for name, pattern in libraries:
        if re.search(pattern, stack):
            return name, name
    return "other", "other"


def by_module(stacks):
    modules, places = {}, {}
    for line in stacks.splitlines():
        stack, _, count = line.rpartition(" ")
        if not count.isdigit():
            continue
        module, place = module_of(stack)
        modules[module] = modules.get(module, 0) + int(count)
        places[place] = places.get(place, 0) + int(count)
    return modules, places


def main():
    pinstrike = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="pinstrike-allocations-") as folder:
        short, _ = run(pinstrike, Path(folder), SHORT_SECONDS)
        long, hot = run(pinstrike, Path(folder), LONG_SECONDS)
    (modules, places), (later, later_places) = by_module(short), by_module(long)
    seconds = LONG_SECONDS - SHORT_SECONDS
    print("| module | bytes until it runs, about | bytes a second afterwards |\n|---|---|---|")
    for module in sorted(later, key=later.get, reverse=True):
        rate = (later[module] - modules.get(module, 0)) / seconds
        print(f"| {module} | {modules.get(module, 0):,} | {max(rate, 0):,.0f} |")
    print("\n| the ten largest places | bytes | a second afterwards |\n|---|---|---|")
    for place in sorted(later_places, key=later_places.get, reverse=True)[:10]:
        rate = (later_places[place] - places.get(place, 0)) / seconds
        print(f"| `{place}` | {places.get(place, 0):,} | {max(rate, 0):,.0f} |")
    print(f"\nAllocations on hot threads once they were ready: {hot:.0f}")
    return 1 if hot else 0


if __name__ == "__main__":
    sys.exit(main())
