#!/usr/bin/env python3
"""Two instances of one feed, one of which is killed during the day.

    state_test.py PINSTRIKE killed|recorded|alone

killed: SIGKILL ends A while messages come, and A is started again. It copies the state of every series
from B, and finally its book equals B's and the generator's, byte for byte; B lost nothing and was not
affected. recorded: the same, with a recording of A, of which nothing is taken because B gave all. alone:
the same without B. A reports that no peer had state, and its book has only the messages since its start.
"""

import json
import signal
import subprocess
import sys
import time

import live
from instance import ADDRESSES, METRICS, Instance, finish, join, packets_of, secret, wait_for

CONFIG = """
name: live
kind: opra
lines: 1-4
ports:
  - name: wire0
    kind: uring
    interface: receiver
pollers:
  - name: poller0
    wait: park
cores:
{cores}
arbitration:
  window: 500ms
  hold: 64MiB
book:
  series_capacity: 100000
recovery:
  sources: [peer]
history:
  keep: 20s
  memory: 64MiB
peer:
  listen: {own}:9470
  connect: ["{other}:9470"]
  secret_file: {secret}
  state: true
  state_within: {within}
""" + METRICS
SECONDS = 20
TRAFFIC = ["--lines", "1-4", "--messages", str(20000 * SECONDS), "--rate", "20000", "--series",
           "20000", "--roots", "200"]


def config_of(name, other, cores, path, within="20s"):
    """B has another number of cores, so the series of one core may be on another core of A."""
    rows = "\n".join(f"  - name: core{i}\n    wait: park" for i in range(cores))
    return CONFIG.format(cores=rows, own=ADDRESSES[name], other=ADDRESSES[other], secret=path,
                         within=within)


def join_wires(a, b):
    """One sender and two receivers: packets to the hub reach both."""
    space = a.wire.sender
    live.run("ip", "-n", space, "link", "add", "name", "hub", "type", "bridge", "mcast_snooping",
             "0")
    for each in (a, b):
        live.run("ip", "-n", space, "addr", "flush", "dev", each.wire.outlet)
        live.run("ip", "-n", space, "link", "set", each.wire.outlet, "master", "hub")
    live.run("ip", "-n", space, "link", "set", "hub", "up")
    live.run("ip", "-n", space, "addr", "add", "10.91.0.1/24", "dev", "hub")


def generate(b):
    """Returns when packets are on their way."""
    generator = b.wire.start(b.wire.sender, b.pinstrike, "generate", "--interface", "hub", *TRAFFIC,
                             "--truth", b.file("truth"), stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)

    def sent():
        hub = live.run("ip", "-n", b.wire.sender, "-s", "-j", "link", "show", "hub").stdout
        return json.loads(hub)[0]["stats64"]["tx"]["packets"]

    wait_for(lambda: sent() > 1000, lambda: f"{sent()} packets were sent")
    return generator


def kill(instance):
    """Like `kill -9` of the program itself, because `ip netns exec` becomes the program."""
    instance.process.send_signal(signal.SIGKILL)
    live.expect(instance.process.wait(timeout=live.PATIENCE_S) == -signal.SIGKILL, "it ended another way")


def both_began(a, b):
    """If both start together, neither has state for the other, and both report it."""
    for each in (a, b):
        wait_for(lambda each=each: "peer_state_" in each.said(),
                 lambda each=each: f"{each.name} still waits: {each.tail()}")


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return {tuple(row[key] for key in ("symbol", "expiration", "right", "strike", "line")): row
                for row in map(json.loads, file)}


def killed(a, b, path, record=""):
    b.run(config_of("b", "a", 1, path))
    a.run(config_of("a", "b", 2, path) + record)
    both_began(a, b)
    generator = generate(b)
    time.sleep(SECONDS / 4)
    kill(a)
    time.sleep(1)
    a.run(config_of("a", "b", 2, path) + record)
    wait_for(lambda: "peer_state_" in a.said(), lambda: f"not whole: {a.tail()}")
    live.shows("peer_state_taken" in a.said(), f"not whole within the time of the config: {a.tail()}")
    live.shows(generator.poll() is None, "the traffic ended before")
    finish(generator)
    a.wait_for_the_days_end(b.truth())
    b.wait_for_packets(packets_of(b.truth()))
    a.stop()
    b.stop()
    live.compare_account(b.account(), b.truth())
    series = live.compare_books(b.file("book.json"), b.file("truth.book.json"))
    missed = sum(line["delivered"] for line in b.account()["lines"]) - sum(
        line["delivered"] for line in a.account()["lines"])
    live.expect(missed > 0, "A missed nothing: the test shows nothing")
    live.expect(a.file("book.json").read_bytes() == b.file("book.json").read_bytes(),
                f"the books differ: {live.compare_books(a.file('book.json'), b.file('book.json'))}")
    if record:
        live.expect(a.account()["recording"]["recovered_series"] == 0, "recorded state was added to a peer's")
    print(f"killed: {missed} messages not heard, the book of {series} series whole again")


def alone(a, b, path):
    a.run(config_of("a", "b", 2, path))
    generator = generate(b)
    time.sleep(SECONDS / 4)
    kill(a)
    a.run(config_of("a", "b", 2, path, within="2s"))
    wait_for(lambda: "peer_state_missing" in a.said(), lambda: f"not reported: {a.tail()}")
    finish(generator)
    a.wait_for_the_days_end(b.truth())
    a.stop()
    mine, truth = rows_of(a.file("book.json")), rows_of(b.file("truth.book.json"))
    unknown = 0
    for key, row in mine.items():
        for side in ("bid", "offer"):
            if row[side + "_state"] == "fresh":
                live.expect(row["best_" + side] == truth[key]["best_" + side], f"{key}: {row}")
            else:
                unknown += 1
    live.expect(len(mine) < len(truth) or unknown > 0, "it knows what it cannot know")
    print(f"alone: {len(mine)} of {len(truth)} series heard again, {unknown} sides unknown")


def main():
    pinstrike, scenario = sys.argv[1:3]
    here = live.folder()
    a = Instance("a", here, pinstrike)
    b = Instance("b", here, pinstrike, beside=a)
    join(a, b)
    join_wires(a, b)
    path = secret(here / "secret", "0123456789abcdef0123456789abcdef")
    if scenario == "alone":
        alone(a, b, path)
    else:
        record = f"record: {{folder: {here / 'record'}, free: 0B, snapshot_interval: 1s}}\n"
        killed(a, b, path, record if scenario == "recorded" else "")


if __name__ == "__main__":
    main()
