#!/usr/bin/env python3
"""A flood of what is not the feed's, on the wire that the feed comes on.

    flood_test.py PINSTRIKE FLOOD uring|af_xdp GIGABITS SECONDS

Foreign groups and protocols, fragments, and garbage on the feed's own groups: what the port gets to
see of it (a kernel's sockets bring only the garbage) is counted by its reason, every message of the
feed delivered all the same, and no more memory held than before.
"""

import json
import os
import subprocess
import sys
import time

import live
from instance import Instance, config, finish

REJECTED = {"version_unknown", "payload_short", "size_bad", "checksum_bad"}
# The flood is on the wire before and behind it.
TRAFFIC = ["--lines", "1-4", "--messages", "40000", "--rate", "20000", "--series", "20000",
           "--roots", "200", "--shape", "ordinary"]
# Room for what comes while the poller is not let run.
ROOM = {"uring": "    kernel_buffer: 128MiB\n", "af_xdp": "    descriptors_count: 32768\n"}
GROWTH_BYTES_MAX = 4 << 20


def undisturbed(process):
    """As on processors of its own: the kernel's ring has no room for a tenth of a second in which
    others run."""
    for task in os.listdir(f"/proc/{process.pid}/task"):
        os.sched_setscheduler(int(task), os.SCHED_FIFO, os.sched_param(10))


def expect_counted(account, sent, port):
    """Exactly, but for what a kernel's sockets never get to see."""
    for reason in sorted(REJECTED):
        count = account["rejects"][reason]
        live.expect(count == sent[reason], f"{reason}: {count} of {sent[reason]}")
    dropped = account["ports"][0]["dropped"]
    for reason in sorted(set(sent) - REJECTED):
        wanted = sent[reason] if port == "af_xdp" else 0
        live.expect(dropped[reason] == wanted, f"{reason}: {dropped[reason]} of {wanted}")


def main():
    pinstrike, tool, port, gigabits, seconds = sys.argv[1:6]
    appliance = Instance("a", live.folder(), pinstrike)
    wire = appliance.wire
    appliance.run(config(port, room=ROOM[port]) + "metrics_address: 127.0.0.1:9464\n")
    undisturbed(appliance.process)

    # What is held once is held for ever: a first second of everything, then the measure.
    first = wire.start(wire.sender, tool, wire.outlet, "4", gigabits, "1", stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    sent = [json.loads(finish(first))]
    appliance.metrics()
    before_bytes = appliance.resident_bytes()
    flood = wire.start(wire.sender, tool, wire.outlet, "4", gigabits, seconds,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    time.sleep(0.5)
    finish(appliance.generate(traffic=TRAFFIC))
    live.expect(flood.poll() is None, "the flood ended before the feed: the test shows nothing")
    sent.append(json.loads(finish(flood)))
    appliance.metrics()
    grown_bytes = appliance.resident_bytes() - before_bytes
    appliance.stop()

    account = appliance.account()
    for count in ("missed", "no_buffer"):
        live.expect(not account["ports"][0][count], f"the kernel had no room: {account['ports']}")
    live.compare_account(account, appliance.truth())
    live.compare_books(appliance.file("book.json"), appliance.file("truth.book.json"))
    both = {reason: sum(each["sent"][reason] for each in sent) for reason in sent[0]["sent"]}
    expect_counted(account, both, port)
    live.expect("packets_dropped port wire0" in appliance.said() or port == "uring",
                f"drops are not told: {appliance.tail()}")
    live.expect("blocks_rejected line 1" in appliance.said(), f"not told: {appliance.tail()}")
    # The book of the feed's own series is what may grow.
    live.expect(grown_bytes < GROWTH_BYTES_MAX, f"{grown_bytes} bytes more")
    print(f"{port}: {sum(both.values())} frames at {sent[1]['gigabits_per_s']} Gb/s, all counted; "
          f"no message lost; {grown_bytes >> 10} KiB more memory, of the feed's series")


if __name__ == "__main__":
    main()
