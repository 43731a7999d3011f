#!/usr/bin/env python3
"""A day that was recorded is replayed from disk, whole and in random parts.

    recorded_day_test.py PINSTRIKE repaired|lossy [--ranges 12] [--seed N]

A generated day with two cold restarts, a failover to the disaster site, losses, damaged, duplicate and late packets
is sent on a wire, and the feed records it (by AF_XDP, because the kernel's sockets get no damaged packets). repaired:
the other stream repairs every loss, so the generator states the book of the end. lossy: messages are lost on both
streams, and some of them are retransmitted late. The replay of the whole recording has the account and the book of the
live run. A replay of a random range begins with a snapshot; at its end its book equals the generator's (repaired: the
range ends with the day), or that of a replay from the beginning of the day to the same moment (lossy).
"""

import argparse
import json
import math
import random
import re
import subprocess
import time
from datetime import UTC, datetime, timedelta

import live
from instance import Instance, finish, wait_for

CONFIG = """
name: live
kind: opra
lines: 1-4
ports: [{{name: wire0, kind: dpdk, vdev: "net_af_xdp0,iface=receiver", hugepages: false, source_address: 10.91.0.2,
  udp_checksum: software}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}, {{name: core1, wait: park}}]
arbitration: {{window: {window}, hold: 64MiB}}
retransmission: true
book: {{series_capacity: 100000}}
record: {{folder: {folder}, segment: 16MiB, free: 0B, snapshot_interval: 2s}}
"""
SECONDS, RATE = 20, 20000
DAY = ["--lines", "1-4", "--messages", str(SECONDS * RATE), "--rate", str(RATE), "--series", "8000", "--roots", "100",
       "--restarts", "2", "--disaster", "--corrupt-a", "0.02", "--duplicate-b", "0.02", "--skew-b", "150"]
FAULTS = {"repaired": ["--loss-a", "0.05"],
          "lossy": ["--loss-a", "0.04", "--loss-b", "0.04", "--reorder-a", "0.02", "--retransmit", "0.6",
                    "--retransmit-others", "0.02", "--retransmit-after", "50000"]}
# A busy machine may take the other stream's copy late. Of the lossy day, late messages are a part.
WINDOW = {"repaired": "2s", "lossy": "20ms"}
ENDS = 10  # different ends of the ranges


class Recorded:
    """The recording of a feed, as the program reads it."""

    def __init__(self, feed, folder):
        self.feed, self.folder = feed, folder
        segments = json.loads(self.run("record", "ls", folder, "--json"))["segments"]
        self.first_ns = min(row["first_ts_ns"] for row in segments)
        self.last_ns = max(row["last_ts_ns"] for row in segments)

    def run(self, *words):
        done = subprocess.run([self.feed.pinstrike, *words], capture_output=True, text=True, check=False, timeout=300)
        live.expect(done.returncode == 0, f"{words}: {done.stderr[-3000:]}")
        self.said = done.stderr
        return done.stdout

    def moment(self, part):
        """A moment between the first (0) and the last packet (1)."""
        us = (self.first_ns + (self.last_ns - self.first_ns) * part) // 1000
        return (datetime.fromtimestamp(0, UTC) + timedelta(microseconds=us)).isoformat()[:26] + "Z"

    def replay(self, *words):
        """The book and the account."""
        book, account = self.feed.here / "replay.book.json", self.feed.here / "replay.json"
        self.run("replay", self.folder, "--config", self.feed.file("yaml"), "--book", book, "--account", account,
                 *words)
        found = live.read_json(account)
        live.expect(found["balanced"], f"the account of {words} does not balance")
        return book.read_text().splitlines(), found

    def replay_part(self, begin, *words):
        book, _ = self.replay("--from", begin, *words)
        live.expect("the books begin with the snapshot of" in self.said, self.said)
        return book


def expect_equal(book, expected, what, late=0):
    """`late`: the most messages of the day that came after they were declared lost. A snapshot covers the numbers up to
    a place, so messages before it that come later are not counted again; everything else is equal."""
    different = [pair for pair in zip(book, expected) if pair[0] != pair[1]]
    uncounted = 0
    for one, other in map(lambda pair: map(json.loads, pair), different if late else ()):
        uncounted += other["quotes"] - one["quotes"]
        live.expect(one["quotes"] <= other["quotes"] and {**one, "quotes": 0} == {**other, "quotes": 0},
                    f"{what}: {one} differs from {other}")
    live.expect(len(book) == len(expected) and (uncounted <= late if late else not different),
                f"{what}: {len(book)} series, expected {len(expected)}; {len(different)} differ: {different[:2]}")
    return uncounted


def record(feed, folder, scenario, seed):
    """Runs the feed for the day."""
    feed.run(CONFIG.format(folder=folder, window=WINDOW[scenario]))
    live.put_before_others(feed.process)  # the kernel's ring holds 4096 packets
    generator = feed.generate(*FAULTS[scenario], "--seed", str(seed), traffic=DAY)
    print(finish(generator).strip())
    wait_for(lambda: len(list(folder.glob("STATE-*.state"))) >= 2, lambda: f"too few snapshots: {feed.tail()}")
    time.sleep(1)
    feed.stop()
    account = feed.account()
    live.expect(account["balanced"], "the account does not balance")
    live.shows(account["recording"]["not_recorded"] == 0, "the disk was too slow for the recording")
    return account


def expect_faults(account, scenario, said):
    """The day had what it should have. `said`: the log of the feed."""
    total = {key: sum(line[key] for line in account["lines"]) for key in ("lost", "repaired")}
    # On a busy machine the second copy of a message may come after the window of arbitration.
    total["gap_events"] = sum(core["gap_events"] for core in account["cores"])
    total["late"] = sum(int(count) for count in re.findall(r" gap_mended .*?(\d+) messages? received late", said))
    if re.search(" gap_mended .* more like this", said):
        total["gap_events"] += 1  # the log does not state all late messages
    for core in account["cores"]:  # start of day, two restarts and the failover on each line
        live.expect(core["control_events"] >= 4 * len(account["lines"]), f"too few resets: {core}")
    damaged = sum(sum(port["dropped"].values()) for port in account["ports"])
    live.expect(damaged > 100, f"too few damaged packets: {account['ports']}")
    live.expect(scenario == "repaired" or (total["lost"] > 0 and total["repaired"] > 0), f"nothing lost: {total}")
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike")
    parser.add_argument("scenario", choices=FAULTS)
    parser.add_argument("--ranges", type=int, default=12)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    print(f"--seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    feed = Instance("a", live.folder(), options.pinstrike)
    folder = feed.here / "record"
    account = record(feed, folder, options.scenario, options.seed)
    total = expect_faults(account, options.scenario, feed.said())
    recorded = Recorded(feed, folder)
    book, again = recorded.replay()
    live.expect(again["lines"] == account["lines"], f"lines {again['lines']}, live {account['lines']}")
    expect_equal(book, feed.file("book.json").read_text().splitlines(), "the whole day")
    if options.scenario == "repaired":
        live.compare_account(again, feed.truth())
        truth = feed.file("truth.book.json").read_text().splitlines()
        expect_equal([json.loads(row) for row in book], [json.loads(row) for row in truth], "the whole day, truth")
    begins = sorted(chance.uniform(0.3, 0.99) for _ in range(options.ranges))
    uncounted = []
    late = math.inf if total["gap_events"] and not total["repaired"] else max(total["repaired"], total["late"])
    ends = [1.0] if options.scenario == "repaired" else [chance.uniform(0.3, 1) for _ in range(ENDS)]
    for end in ends:
        mine = [begin for i, begin in enumerate(begins) if ends[i % len(ends)] == end]
        words = () if end == 1 else ("--to", recorded.moment(end))
        whole = book if end == 1 else recorded.replay(*words)[0]
        for begin in mine:
            begin = begin if begin < end else chance.uniform(0.3, end)
            part = recorded.replay_part(recorded.moment(begin), *words)
            uncounted.append(expect_equal(part, whole, f"from {begin} to {end}", late))
    print(f"{options.ranges} ranges of a day with {total}: {len(book)} series at its end; late quotes that were not "
          f"counted: {uncounted}")


if __name__ == "__main__":
    main()
