#!/usr/bin/env python3
"""Faults of the network and the host, on real ports. The effect of each is known for every message.

    fault_test.py PINSTRIKE RELAY FAULT uring|af_xdp MOVED_CLOCK

one_stream: first A stops until this is reported, then B: nothing is lost.
outage: both stop for 50 ms, and a peer repairs the gap. outage_alone: the same without a peer.
corrupt: one packet in a hundred is damaged, and one in a hundred false, on each stream.
disorder: packets come twice, and late. full_disk: the disk of log, account and book is full.
clock: the instances' time of day is set an hour forward and back during losses.
"""

import os
import re
import struct
import subprocess
import sys

import live
from instance import ADDRESSES, KEEPS, METRICS, config, join, secret, serves, wait_for
from stage import Stage

MOVED_CLOCK = os.path.abspath(sys.argv[5])
ASKS_NOBODY = """
recovery:
  sources: [peer]
peer:
  connect: ["10.92.0.2:9470"]
  secret_file: {secret}
"""


def codes(said, code):
    """The log entries with a code: subject and sentence."""
    return re.findall(rf"^\S+ [a-z]+ {code} ([^:\n]+): (.*)$", said, re.M)


def pair(stage, port, environments=(None, None)):
    """Each instance keeps a history for the other, and requests from it."""
    join(*stage.instances)
    shared = secret(stage.here / "secret")
    for each, other, environment in zip(stage.instances, reversed(stage.instances), environments):
        each.run(config(port) + METRICS + KEEPS + "recovery: {sources: [peer], give_up_after: 60s}\npeer:"
                 + serves(each.name, other.name, shared)
                 + f'  connect: ["{ADDRESSES[other.name]}:9470"]\n', environment=environment)
    for each in stage.instances:
        wait_for(lambda who=each: "missing messages can be requested from it" in who.said(),
                 lambda who=each: f"{who.name}: no connection: {who.tail()}")


def stop(stage):
    for each in stage.instances:
        each.stop()


def wait_for_repairs(stage):
    """Of all that an instance received on neither stream."""
    def repaired(each):
        return not any(each.values("line_lost_messages")) and (
            sum(each.values("line_repaired_messages_total")) >= stage.lost(each.name))

    def skipped():
        return sum(sum(each.values("history_skipped_blocks_total")) for each in stage.instances)

    for each in stage.instances:
        wait_for(lambda who=each: repaired(who) or skipped(),
                 lambda who=each: f"{who.name}: {stage.lost(who.name)} lost, not all repaired: {who.tail()}")
        live.shows(repaired(each), "a recovery thread was too slow: the history lacks blocks")


def one_stream(stage, pinstrike, port):
    (a,) = stage.instances
    a.run(config(port) + METRICS + "silence: {stream_silent_after: 300ms, stream_down_after: 60s}\n")

    def reported(code, stream):
        lines = {f"line {line} stream {stream}" for line in range(1, 5)}
        stage.wait_in_traffic(lambda: lines <= {subject for subject, _ in codes(a.said(), code)},
                              lambda: f"no {code} of each line's stream {stream}: {a.said()}")

    def meanwhile():
        stage.wait_in_traffic(lambda: sum(a.values("stream_packets_total")) > 1000, a.tail)
        for stream in "AB":
            stage.order(f"a/{stream}/lose")
            reported("stream_silent", stream)
            stage.order("a")
            reported("stream_back", stream)

    stage.play(pinstrike, messages=320_000, meanwhile=meanwhile)
    stop(stage)
    live.compare_account(a.account(), stage.truth)
    series = stage.compare_books(a)
    live.expect(not codes(a.said(), "gap_declared"), f"a gap: {a.said()}")
    return f"each stream gone for a while: nothing lost, {series} series"


def outage(stage, pinstrike, port):
    a, b = stage.instances
    pair(stage, port)
    stage.play(pinstrike, "a/AB/lose@1500-1550")
    wait_for_repairs(stage)
    stop(stage)
    lost = stage.lost("a")
    live.expect(lost > 500 and stage.lost("b") == 0, f"{lost} lost: the test shows nothing")
    for each in (a, b):
        live.compare_account(each.account(), stage.truth)
    repaired = sum(line["repaired"] for line in a.account()["lines"])
    live.expect(repaired == lost, f"{repaired} repaired of {lost} lost on both streams")
    stage.compare_books(a, may_be_stale=True)
    return f"both streams gone for 50 ms: {lost} messages, all had from the peer"


def outage_alone(stage, pinstrike, port):
    (a,) = stage.instances
    a.run(config(port) + METRICS + ASKS_NOBODY.format(secret=secret(stage.here / "secret")))
    stage.play(pinstrike, "a/AB/lose@1500-1550")
    stop(stage)
    lost = stage.lost("a")
    live.expect(lost > 500, f"{lost} lost: the test shows nothing")
    live.compare_account(a.account(), stage.expectation("a"))
    lines = {subject for subject, _ in codes(a.said(), "gap_declared")}
    live.expect(lines == {f"line {line}" for line in range(1, 5)}, f"not reported: {a.said()}")
    return f"both streams gone for 50 ms: {lost} messages declared lost, the very ones"


def corrupt(stage, pinstrike, port):
    (a,) = stage.instances
    a.run(config(port) + METRICS)
    stage.play(pinstrike, "a/AB/damage=0.01@300-2700", "a/AB/falsify=0.01@300-2700")
    stop(stage)
    lost = stage.lost("a")
    live.expect(lost > 0, "no block was corrupt on both streams: the test shows nothing")
    account = a.account()
    live.compare_account(account, stage.expectation("a"))
    damaged, false = (len(stage.copies_of("a", fate)) for fate in ("damaged", "falsified"))
    rejected = sum(account["rejects"].values())
    live.expect(rejected == false, f"{rejected} blocks rejected of {false}: {account['rejects']}")
    if port == "af_xdp":  # with other ports, the kernel drops damaged packets
        dropped = account["ports"][0]["dropped"]
        count = sum(dropped.values()) - dropped["arp"] - dropped["igmp"]
        live.expect(count == damaged, f"{count} packets dropped of {damaged}: {dropped}")
    return (f"{damaged} packets damaged and {false} false: {lost} messages came whole on neither "
            f"stream, and are declared lost")


def disorder(stage, pinstrike, port):
    (a,) = stage.instances
    a.run(config(port, window="5s") + METRICS)  # a relay that gets no processor delays packets longer
    stage.play(pinstrike, "a/AB/repeat=0.05@300-2700", "a/AB/delay=0.05@300-2700")
    stop(stage)
    account = a.account()
    live.compare_account(account, stage.truth)
    stage.compare_books(a)
    live.expect(not codes(a.said(), "gap_declared"), f"a gap: {a.said()}")
    received = sum(stream["messages"] for line in account["lines"]
                   for stream in line["streams"].values())
    sent = sum(each.messages * each.times for each in stage.copies)
    repeated = sum(each.times == 2 for each in stage.copies)
    live.expect(received == sent, f"{received} messages received of {sent}")
    return f"{repeated} packets twice, as many late: each message once, in order"


class SmallDisk:
    """A file system of 64 KiB in memory, which fill() fills."""

    def __init__(self, path):
        self.path = path
        path.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "pinstrike-test", path],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            live.skip(f"nothing can be mounted here: {done.stderr.strip()}")
        live.at_the_end(lambda: subprocess.run(["umount", "-l", path], check=False))

    def fill(self):
        with open(self.path / "ballast", "wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(4096))
            except OSError:
                pass

    def empty(self):
        (self.path / "ballast").unlink()


def full_disk(stage, pinstrike, port):
    """The disk is full for most of the run, then not, then full again when the account is written."""
    (a,) = stage.instances
    disk = SmallDisk(stage.here / "disk")
    log = disk.path / "log"
    disk.fill()
    a.run(config(port) + METRICS + "log_level: debug\n", log=open(log, "w", encoding="utf-8"))
    failed = []

    def meanwhile():
        wait_for(lambda: sum(a.values("stream_packets_total")) > 20_000, lambda: "few packets arrive")
        failed.append(sum(a.values("log_failed_entries_total")))
        live.expect(log.stat().st_size == 0, "the disk was not full: the test shows nothing")
        disk.empty()

    stage.play(pinstrike, "a/AB/lose=0.05@300-2700", meanwhile=meanwhile)
    stop(stage)
    live.expect(failed[0] > 0, "entries that failed are not counted")
    live.compare_account(a.account(), stage.expectation("a"))
    live.expect(codes(log.read_text(), "stopping"), f"no log behind a full disk: {log.read_text()}")

    disk.fill()
    account = disk.path / "account.json"
    a.run(config(port), account=account)
    wait_for(lambda: codes(a.said(), "running"), lambda: f"does not run: {a.tail()}")
    a.stop(wanted=1)
    live.expect(f"{account}: No space left on device" in a.said(), f"not reported: {a.tail()}")
    return f"{failed[0]:.0f} entries of the log failed, nothing else; no account is printed"


class MovedClock:
    """The time of day that an instance reads (moved_clock.cpp)."""

    def __init__(self, instance):
        self.file = instance.file("moved")
        self.file.write_bytes(bytes(8))
        self.environment = {**os.environ, "LD_PRELOAD": MOVED_CLOCK, "MOVED_CLOCK": str(self.file)}

    def move(self, hours):
        with open(self.file, "r+b", buffering=0) as file:
            file.write(struct.pack("=q", hours * 3600))


def clock(stage, pinstrike, port):
    clocks = [MovedClock(each) for each in stage.instances]
    pair(stage, port, environments=[each.environment for each in clocks])

    def steps(instance):
        """That it has reported."""
        return max([int(re.search(r"(\d+) since the start", text)[1])
                    for _, text in codes(instance.said(), "clock_stepped")], default=0)

    def meanwhile():
        for count, hours in enumerate((1, 0), 1):
            clocks[0].move(hours)
            clocks[1].move(-hours)
            for each in stage.instances:
                wait_for(lambda who=each, least=count: steps(who) >= least,
                         lambda who=each: f"steps: {who.said()}")

    stage.play(pinstrike, "a/AB/lose=0.03@300-2900", "b/AB/lose=0.03@300-2900", meanwhile=meanwhile)
    wait_for_repairs(stage)
    stop(stage)
    for each in stage.instances:
        live.expect(stage.lost(each.name) > 0, "nothing lost: the test shows nothing")
        for code in ("stream_silent", "stream_down", "line_down"):
            live.expect(not codes(each.said(), code), f"{code}: {each.said()}")
        live.compare_account(each.account(), stage.truth)
    return (f"an hour on and back: {[stage.lost(each.name) for each in stage.instances]} messages "
            "lost on both streams, all had from the peer; nothing silent")


FAULTS = {"one_stream": (one_stream, "a"), "outage": (outage, "ab"),
          "outage_alone": (outage_alone, "a"), "corrupt": (corrupt, "a"),
          "disorder": (disorder, "a"), "full_disk": (full_disk, "a"), "clock": (clock, "ab")}


def main():
    pinstrike, relay, fault, port = sys.argv[1:5]
    test, names = FAULTS[fault]
    print(f"{fault}, {port}: {test(Stage(pinstrike, relay, names), pinstrike, port)}")


if __name__ == "__main__":
    main()
