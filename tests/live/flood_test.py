#!/usr/bin/env python3
"""A flood of foreign packets on the wire of the feed.

    flood_test.py PINSTRIKE FLOOD uring|af_xdp GIGABITS

Foreign groups and protocols, fragments, and garbage on the feed's own groups. All of it that reaches the
port (only the garbage reaches a kernel's sockets) is counted by its reason, every message of the feed is
delivered, and no more memory is used than before.
"""

import json
import subprocess
import sys
import time

import live
from instance import METRICS, Instance, config, finish, packets_of, wait_for

REJECTED = {"version_unknown", "payload_short", "size_bad", "checksum_bad"}
# The flood begins before the feed and ends after it.
TRAFFIC = ["--lines", "1-4", "--messages", "40000", "--rate", "20000", "--series", "20000",
           "--roots", "200", "--shape", "ordinary"]
# Memory for the packets that arrive while the poller is preempted.
ROOM = {"uring": "    kernel_buffer: 128MiB\n", "af_xdp": "    descriptors_count: 32768\n"}
# The flooded kernel may deliver packets of one processor after later ones of another. With the usual
# window of 2 ms they would be declared lost and found later, which leaves sides of the book stale.
WINDOW = "5s"
GROWTH_BYTES_MAX = 4 << 20
# A preempted host leaves a full ring, which is not a fault of the program.
RUNS_MAX = 5


def expect_counted(account, sent, port):
    """Exact, except for packets that never reach a kernel's sockets."""
    for reason in sorted(REJECTED):
        count = account["rejects"][reason]
        live.expect(count == sent[reason], f"{reason}: {count} of {sent[reason]}")
    dropped = account["ports"][0]["dropped"]
    for reason in sorted(set(sent) - REJECTED):
        wanted = sent[reason] if port == "af_xdp" else 0
        live.expect(dropped[reason] == wanted, f"{reason}: {dropped[reason]} of {wanted}")


class Flooded:
    """One run: the packets that were sent, and the appliance's reports."""

    def __init__(self, number, words):
        self.pinstrike, self.tool, self.port, self.gigabits = words
        self.appliance = Instance(str(number), live.folder(), self.pinstrike)
        self.appliance.run(config(self.port, WINDOW, ROOM[self.port]) + METRICS)
        # the kernel's ring is smaller than a tenth of a second of traffic, in which others may run
        live.put_before_others(self.appliance.process)
        # Memory is never given back, so the measurement begins after a first second of all traffic.
        first = json.loads(finish(self.flood("1")))
        before_bytes = self.resident_bytes()
        flood = self.flood("600")
        time.sleep(0.5)
        finish(self.appliance.generate(traffic=TRAFFIC))
        flood.terminate()
        second = json.loads(finish(flood))
        self.gigabits_per_s = second["gigabits_per_s"]
        self.sent = {reason: first["sent"][reason] + second["sent"][reason]
                     for reason in first["sent"]}
        self.truth = self.appliance.truth()
        self.wait_for_the_rest()
        self.grown_bytes = self.resident_bytes() - before_bytes
        self.appliance.stop()
        self.account = live.read_json(self.appliance.file("account.json"))
        self.counts = self.account["ports"][0]
        self.without_room = sum(self.counts[count] or 0 for count in ("missed", "no_buffer"))

    def flood(self, seconds):
        wire = self.appliance.wire
        return wire.start(wire.sender, self.tool, wire.outlet, "4", self.gigabits, seconds,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def wait_for_the_rest(self):
        if self.port == "uring":  # garbage and feed alone reach its sockets
            garbage = sum(self.sent[reason] for reason in REJECTED)
            self.appliance.wait_for_packets(garbage + packets_of(self.truth))
            return
        sent = sum(self.sent.values()) + packets_of(self.truth)
        wait_for(lambda: sum(self.appliance.values("port_packets_total")) + self.appliance.drops() >= sent,
                 lambda: f"{sent} packets sent, fewer received and dropped: {self.appliance.tail()}")

    def resident_bytes(self):
        self.appliance.metrics()  # the endpoint allocates its memory at the first scrape
        return self.appliance.resident_bytes()

    def expect_reported(self):
        """Every packet that was sent is in a count, even if the kernel had no memory for it."""
        said = self.appliance.said()
        live.expect("packets_dropped port wire0" in said or self.port == "uring",
                    f"drops are not reported: {self.appliance.tail()}")
        live.expect("blocks_rejected line 1" in said, f"not reported: {self.appliance.tail()}")
        # Only the book of the feed's own series may grow.
        live.expect(self.grown_bytes < GROWTH_BYTES_MAX, f"{self.grown_bytes} bytes more")
        if self.port == "af_xdp":  # not all of it reaches a kernel's sockets
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


def main():
    for number in range(RUNS_MAX):
        run = Flooded(number, sys.argv[1:5])
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
