#!/usr/bin/env python3
"""Compares the instructions of each stage, counted by callgrind, with the recorded ones.

    instructions.py PINSTRIKE RECORD --compiler TEXT [--write]

Fails if a stage takes over 5 % more than RECORD says, if a stage is missing, if the packets have
another number of messages, or if the writer of a published stream takes more instructions beside
readers than without. --write records the counts again; do that only on purpose, and give the
reason in the commit. For one compiler and one instruction set, the counts are the same each time and
on each machine. With any other, the test is skipped and says so.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ALLOWED_GROWTH = 0.05
SAME_TRAFFIC = 0.002
SKIPPED = 77

# Preset and actor cores; the design load is stated for "full, mix".
CASES = [("full", 1), ("full-mix", 1), ("ordinary", 1), ("ordinary-mix", 1), ("full-mix", 2),
         ("ordinary-mix", 2)]


def case_name(preset, cores):
    return preset if cores == 1 else f"{preset}, {cores} cores"


def measured(command):
    """The standard output of a command; if the command fails, prints its last output and exits."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n"
                 f"{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def inclusive_counts(profile):
    """By the order of the stages: instructions in the measured function."""
    text = measured(["callgrind_annotate", "--inclusive=yes", "--threshold=100",
                     "--show-percs=no", profile])
    counts = {}
    for count, order in re.findall(
            r"^\s*([\d,]+).*measured_(?:steps|drain)<\(pinstrike::actors::Stage\)(\d+)", text,
            re.MULTILINE):
        counts[int(order)] = counts.get(int(order), 0) + int(count.replace(",", ""))
    return counts


def count_case(pinstrike, folder, preset, cores):
    """Instructions per packet of each stage, and messages per packet."""
    capture = folder / f"{preset}.pcap"
    if not capture.exists():
        measured([pinstrike, "generate", "--out", capture, "--preset", preset, "--packets", "2000",
                  "--series", "100000"])
    profile = folder / "callgrind.out"
    text = measured(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}",
                     "--toggle-collect=*measured_*", pinstrike, "bench", "stages", "--capture",
                     capture, "--cores", str(cores), "--series", "100000", "--counting", "--json"])
    shape = json.loads(text)["shapes"][0]
    counts = inclusive_counts(profile)
    instructions = {}
    path = 0.0
    for stage in shape["stages"]:
        if stage["stage"] == "pop":  # the first file of another thread
            path = 0.0
        so_far = counts[stage["order"]] / stage["measured_packets"]
        instructions[stage["stage"]] = round(so_far - path, 1)
        path = so_far
    return {"messages_per_packet": round(shape["messages_per_packet"], 3),
            "instructions_per_packet": instructions}


def of_stream_writer(pinstrike, readers):
    """The instructions of a published stream's writer for each record, beside so many readers."""
    with tempfile.TemporaryDirectory(prefix="pinstrike-instructions-") as folder:
        profile = Path(folder) / "callgrind.out"
        text = measured(["env", f"PINSTRIKE_FOLDER={folder}", "valgrind", "--tool=callgrind",
                         f"--callgrind-out-file={profile}", "--toggle-collect=*measured_writes*", pinstrike, "bench",
                         "stream", "--counting", str(readers), "--series", "1000", "--messages", "10000"])
        count = int(re.search(r"^totals: (\d+)$", profile.read_text(), re.MULTILINE)[1])
    return count / int(re.search(r"^(\d+) records written$", text, re.MULTILINE)[1])


def print_case(name, now, then):
    """Prints the stages that take too many instructions."""
    messages = now["messages_per_packet"]
    grown = []
    print(f"{name}: {messages:.2f} messages a packet\n"
          f"  {'stage':<10} {'a packet':>10} {'on record':>10} {'':>8} {'a message':>10}")
    for stage, count in now["instructions_per_packet"].items():
        before = (then or {}).get("instructions_per_packet", {}).get(stage)
        change = "new" if before is None else f"{100 * (count / before - 1):+.1f} %"
        print(f"  {stage:<10} {count:>10.1f} {before if before is not None else '-':>10} "
              f"{change:>8} {count / messages:>10.1f}")
        if before is None or count > before * (1 + ALLOWED_GROWTH):
            grown.append(f"{name}: {stage}: {count} instructions a packet; on record: "
                         f"{before if before is not None else 'nothing'}")
    return grown + differently_measured(name, now, then or {})


def differently_measured(name, now, then):
    """Reasons why the figures are not comparable with the record: other packets, a missing stage."""
    gone = then.get("instructions_per_packet", {}).keys() - now["instructions_per_packet"].keys()
    found = [f"{name}: {stage}: on record, and not measured any more" for stage in sorted(gone)]
    messages, before = now["messages_per_packet"], then.get("messages_per_packet")
    if before is not None and abs(messages / before - 1) > SAME_TRAFFIC:
        found.append(f"{name}: {messages} messages a packet; on record: {before}: other traffic")
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike")
    parser.add_argument("record", type=Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    record = json.loads(options.record.read_text()) if options.record.exists() else {}
    if not options.write and record.get("compiler") != options.compiler:
        print(f"SKIP: the record is of {record.get('compiler')}, this is {options.compiler}")
        return SKIPPED
    for program in ("valgrind", "callgrind_annotate"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is not installed: deploy/setup does it")
    with tempfile.TemporaryDirectory(prefix="pinstrike-instructions-") as folder:
        cases = {case_name(*case): count_case(options.pinstrike, Path(folder), *case)
                 for case in CASES}
    grown = []
    for name, case in cases.items():
        grown += print_case(name, case, record.get("cases", {}).get(name))
    alone, beside = (of_stream_writer(options.pinstrike, readers) for readers in (0, 8))
    print(f"writer of a stream: {alone:.2f} instructions a record without readers, {beside:.2f} beside 8")
    if beside > alone:
        grown.append("the writer of a stream takes more instructions beside readers")
    if options.write:
        options.record.write_text(json.dumps({"compiler": options.compiler, "cases": cases},
                                             indent=2) + "\n")
        return 0
    if grown:
        print("\nmore instructions than on record or than expected (a change on purpose is recorded by --write):")
        print("\n".join(grown))
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
