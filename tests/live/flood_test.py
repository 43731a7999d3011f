#!/usr/bin/env python3
"""A flood of what is not the feed's, on the wire that the feed comes on.

    flood_test.py PINSTRIKE FLOOD uring|af_xdp GIGABITS SECONDS

Foreign groups and protocols, fragments, and garbage on the feed's own groups: what the port gets to
see of it (a kernel's sockets bring only the garbage) is counted by its reason, every message of the
feed delivered all the same, and no more memory held than before.
"""

import json
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
# What the flooded kernel holds back of one processor's packets, another's overtake: declared lost
# within two milliseconds, and found afterwards, which leaves a book's sides stale.
WINDOW = "500ms"
GROWTH_BYTES_MAX = 4 << 20
# A host whose processors are taken away for a while leaves a ring full: that says nothing of us.
RUNS_MAX = 5


def expect_counted(account, sent, port):
    """Exactly, but for what a kernel's sockets never get to see."""
    for reason in sorted(REJECTED):
        count = account["rejects"][reason]
        live.expect(count == sent[reason], f"{reason}: {count} of {sent[reason]}")
    dropped = account["ports"][0]["dropped"]
    for reason in sorted(set(sent) - REJECTED):
        wanted = sent[reason] if port == "af_xdp" else 0
        live.expect(dropped[reason] == wanted, f"{reason}: {dropped[reason]} of {wanted}")


class Flooded:
    """One run: what was sent, and what the appliance says of it."""

    def __init__(self, number, words):
        self.pinstrike, self.tool, self.port, self.gigabits, self.seconds = words
        self.appliance = Instance(str(number), live.folder(), self.pinstrike)
        self.appliance.run(config(self.port, WINDOW, ROOM[self.port]) +
                           "metrics_address: 127.0.0.1:9464\n")
        # the kernel's ring has no room for a tenth of a second in which others run
        live.put_before_others(self.appliance.process)
        # What is held once is held for ever: a first second of everything, then the measure.
        first = json.loads(finish(self.flood("1")))
        before_bytes = self.resident_bytes()
        flood = self.flood(self.seconds)
        time.sleep(0.5)
        finish(self.appliance.generate(traffic=TRAFFIC))
        live.expect(flood.poll() is None,
                    "the flood ended before the feed: the test shows nothing")
        second = json.loads(finish(flood))
        self.grown_bytes = self.resident_bytes() - before_bytes
        self.appliance.stop()
        self.gigabits_per_s = second["gigabits_per_s"]
        self.sent = {reason: first["sent"][reason] + second["sent"][reason]
                     for reason in first["sent"]}
        self.account, self.truth = self.appliance.account(), self.appliance.truth()
        self.counts = self.account["ports"][0]
        self.without_room = sum(self.counts[count] or 0 for count in ("missed", "no_buffer"))

    def flood(self, seconds):
        wire = self.appliance.wire
        return wire.start(wire.sender, self.tool, wire.outlet, "4", self.gigabits, seconds,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def resident_bytes(self):
        self.appliance.metrics()  # the endpoint's own memory is there from the first question on
        return self.appliance.resident_bytes()

    def expect_reported(self):
        """Nothing that was sent is in no count, whether or not the kernel had room for it."""
        said = self.appliance.said()
        live.expect("packets_dropped port wire0" in said or self.port == "uring",
                    f"drops are not reported: {self.appliance.tail()}")
        live.expect("blocks_rejected line 1" in said, f"not reported: {self.appliance.tail()}")
        # The book of the feed's own series is what may grow.
        live.expect(self.grown_bytes < GROWTH_BYTES_MAX, f"{self.grown_bytes} bytes more")
        if self.port == "af_xdp":  # a kernel's sockets do not bring all of it
            sent = sum(self.sent.values()) + packets_of(self.truth)
            seen = self.counts["packets"] + self.without_room
            live.expect(seen == sent, f"{sent} packets sent, {seen} reported: {self.counts}")

    def expect_whole(self):
        live.compare_account(self.account, self.truth)
        said = self.appliance.said()
        live.expect("gap_declared" not in said, f"declared lost, though found later: {said}")
        live.compare_books(self.appliance.file("book.json"),
                           self.appliance.file("truth.book.json"))
        expect_counted(self.account, self.sent, self.port)


def packets_of(truth):
    return sum(stream["packets"] for line in truth["lines"] for stream in line["streams"].values())


def main():
    for number in range(RUNS_MAX):
        run = Flooded(number, sys.argv[1:6])
        run.expect_reported()
        if not run.without_room:
            run.expect_whole()
            print(f"{run.port}: {sum(run.sent.values())} frames at {run.gigabits_per_s} Gb/s, all "
                  f"counted; no message lost; {run.grown_bytes >> 10} KiB more memory, of the "
                  "feed's series")
            return
        print(f"once more: the kernel had no room for {run.without_room} packets, all reported")
    live.skip(f"in each of {RUNS_MAX} runs this machine was too busy to take every packet from "
              "the kernel's ring in time; all of them were reported")


if __name__ == "__main__":
    main()
