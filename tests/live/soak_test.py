#!/usr/bin/env python3
"""A soak: two instances of one feed, each with its own losses on each stream, for any time.

    soak_test.py PINSTRIKE SOAK_SENDER [--minutes 60] [--gigabits 1] [--loss 0.001] ...

One sender sends the same feed to both receivers, on a wire for each, and draws the losses for each
receiver and stream. Each instance requests from the other the messages that it lost on both streams. At
the end, no message may be declared lost that a stream or the peer had, both accounts must balance and
agree with the sender's, and resident memory must be as after the first tenth of the time.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time

import live
from instance import ADDRESSES, Instance, join, secret, serves, wait_for

CONFIG = """
name: soak
kind: opra
lines: 1-{lines}
ports:
  - name: wire0
{port}
pollers:
  - name: poller0
    wait: park
cores:
  - name: core0
    wait: park
book:
  series_capacity: 200000
history:
  keep: 10s
  memory: {history}
recovery: {{sources: [peer]}}
metrics_address: 127.0.0.1:9464
peer:"""
PORTS = {
    "uring": "    kind: uring\n    interface: receiver\n    kernel_buffer: 16MiB",
    "af_xdp": """    kind: dpdk
    vdev: "net_af_xdp0,iface=receiver"
    hugepages: false
    source_address: 10.91.0.2
    descriptors_count: 32768
    udp_checksum: software"""}
LOOK_EVERY_S = 10
# Allows some pages; a leak of one message in a thousand would exceed it in minutes.
GROWTH_BYTES_MAX = 2 << 20


def start(instance, other, options, shared):
    text = CONFIG.format(lines=options.lines, port=PORTS[options.port], history=options.history)
    instance.run(text + serves(instance.name, other.name, shared)
                 + f'  connect: ["{ADDRESSES[other.name]}:9470"]\n', lines=range(1, options.lines + 1))
    if options.realtime:
        live.put_before_others(instance.process)


def processor_s(process):
    """The processor time so far, in the program and in the kernel."""
    with open(f"/proc/{process.pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Looks:
    """Resident memory and processor time of both instances and the sender, every ten seconds."""

    def __init__(self, instances, sender):
        self.processes = [each.process for each in instances] + [sender]
        self.instances, self.sender = instances, sender
        self.begin_s = time.monotonic()
        self.rows = []

    def look(self):
        row = [time.monotonic() - self.begin_s]
        row += [each.resident_bytes() for each in self.instances]
        row += [processor_s(each) for each in self.processes]
        self.rows.append(row)
        for each in self.instances:
            live.expect(each.process.poll() is None, f"{each.name} ended: {each.tail()}")
        if len(self.rows) % 6 == 1:
            print(f"{row[0]:6.0f} s   resident {row[1] >> 10:9,} KiB {row[2] >> 10:9,} KiB   "
                  f"processors {row[3]:7.1f} s {row[4]:7.1f} s, sender {row[5]:7.1f} s", flush=True)

    def until_the_end(self):
        while self.sender.poll() is None:
            self.look()
            try:
                self.sender.wait(LOOK_EVERY_S)
            except subprocess.TimeoutExpired:
                pass

    def growth(self):
        """For each instance, the growth of its memory after the first tenth of the time: the highest value
        less the value then. In the first minute the history touches its pages."""
        settled = self.rows[max(len(self.rows) // 10, 60 // LOOK_EVERY_S):]
        live.expect(len(settled) > 1, "too short to say anything of memory")
        return [max(row[at] for row in settled) - settled[0][at] for at in (1, 2)]

    def loads(self):
        """Processors' worth of time, by process."""
        first, last = self.rows[0], self.rows[-1]
        return [(last[at] - first[at]) / (last[0] - first[0]) for at in (3, 4, 5)]


def figures_of(account):
    port = account["ports"][0]
    return {key: sum(line[key] for line in account["lines"])
            for key in ("highest", "delivered", "lost", "repaired")} | {
                "missed": (port["missed"] or 0) + (port["no_buffer"] or 0),
                "refused": sum(ring["refused"] for ring in account["rings"])}


def judge(instances, truth, looks):
    """Prints all results before a check fails."""
    wrong = []
    for instance, receiver, grown in zip(instances, truth["receivers"], looks.growth()):
        account = instance.account()
        figures = figures_of(account)
        print(f"{instance.name}: {receiver}; {figures}; memory grew by {grown >> 10} KiB")
        highest = {line["line"]: line["highest"] for line in account["lines"]}
        if highest != {line["line"]: line["highest"] for line in truth["lines"]}:
            wrong.append(f"{instance.name} does not know of all messages")
        if figures["lost"] != truth["nobody_has"]:
            wrong.append(f"{instance.name} lost {figures['lost']} messages; "
                         f"{truth['nobody_has']} were on no stream of either; its kernel had no "
                         f"room for {figures['missed']} packets")
        if figures["refused"] or account["balanced"] is not True:
            wrong.append(f"{instance.name}: {figures['refused']} refused, or no balance")
        if figures["repaired"] < receiver["lost_on_both"] - truth["nobody_has"]:
            wrong.append(f"{instance.name}: {figures['repaired']} repaired")
        if receiver["lost_on_both"] == 0:
            wrong.append("nothing was lost on both streams: too short to show anything")
        if grown > GROWTH_BYTES_MAX:
            wrong.append(f"{instance.name}: {grown} bytes more memory")
        if re.search(r" hot_allocation ", instance.said()):
            wrong.append(f"{instance.name}: a hot thread allocated")
    live.expect(not wrong, "; ".join(wrong))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike")
    parser.add_argument("sender")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--gigabits", default="1", help="of each receiver's wire, both streams")
    parser.add_argument("--loss", default="0.001", help="share of packets, by receiver and stream")
    parser.add_argument("--shape", default="full", choices=("full", "ordinary"))
    parser.add_argument("--lines", type=int, default=16)
    parser.add_argument("--port", default="af_xdp", choices=sorted(PORTS))
    parser.add_argument("--history", default="512MiB", help="kept for the peer, by each")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--realtime", action="store_true",
                        help="instances and sender go before all other programs (SCHED_FIFO)")
    return parser.parse_args()


def main():
    options = parse_options()
    here = live.folder()
    a = Instance("a", here, options.pinstrike)
    b = Instance("b", here, options.pinstrike, a)
    join(a, b)
    shared = secret(here / "secret")
    start(a, b, options, shared)
    start(b, a, options, shared)
    for each in (a, b):
        wait_for(lambda who=each: "missing messages can be requested from it" in who.said(),
                 lambda who=each: f"{who.name}: no connection: {who.tail()}")
    sender = a.wire.start(
        a.wire.sender, options.sender, options.lines, options.shape, options.gigabits,
        options.minutes * 60, options.loss, options.seed, a.wire.outlet, b.wire.outlet,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if options.realtime:
        live.put_before_others(sender, 5)  # including the kernel's delivery, which counts as its time
    looks = Looks((a, b), sender)
    looks.until_the_end()
    said = sender.stdout.read()
    live.expect(sender.returncode == 0, f"the sender failed: {said}")
    truth = json.loads(said)
    time.sleep(15)  # as long as messages are requested again
    for each in (a, b):
        each.stop()
    loads = looks.loads()
    print(f"{truth['gigabits_per_s']} Gb/s on each wire for {options.minutes} minutes "
          f"({truth['late_s']} s could not be sent in time); processors: a {loads[0]:.2f}, "
          f"b {loads[1]:.2f}, sender and the kernel's delivery {loads[2]:.2f}")
    judge((a, b), truth, looks)
    print("nothing lost that any stream or the peer had; memory flat")


if __name__ == "__main__":
    sys.exit(main())
