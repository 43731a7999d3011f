#!/usr/bin/env python3
"""The interface is deleted and created again under its name while the program runs.

    interface_test.py PINSTRIKE uring|af_xdp

A port of kind uring joins its groups again and continues. With AF_XDP, whose sockets are bound to the
deleted interface, the program ends with 1, and can be started again. Meanwhile the metric says that the
link is down.
"""

import os
import re
import socket
import sys
import tempfile
import time
from pathlib import Path

import instance
import live

sys.path.append(str(live.ROOT / "tests" / "commands"))
import captures  # noqa: E402

MESSAGES = 20000
BEFORE, BEHIND = 20, 50  # blocks of one quote


def wait_for(what, seconds, look):
    end = time.monotonic() + seconds
    while not look():
        live.expect(time.monotonic() < end, f"no {what} within {seconds} s")
        time.sleep(0.1)


def link_up(one):
    return int(re.search(r"^pinstrike_port_link_up\S* (\S+)$", one.metrics(), re.M)[1])


def make_again(one):
    """Deletes the interface for longer than the program needs to notice it."""
    wait_for("start", 10, lambda: " running " in one.said())
    wait_for("link_up 1", 10, lambda: link_up(one) == 1)
    live.run("ip", "-n", one.wire.receiver, "link", "del", "receiver")
    wait_for("link_up 0", 2, lambda: link_up(one) == 0)
    time.sleep(2.5)
    one.wire.make_link()


def send(one, first, count):
    """Blocks of line 4 on both streams, from a child process in the sender's namespace."""
    child = os.fork()
    if child == 0:
        try:
            with open(f"/run/netns/{one.wire.sender}", encoding="ascii") as space:
                live.enter_namespace(space.fileno())
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
                wire.bind((one.wire.outlet, 0))
                for number in range(first, first + count):
                    block = captures.block([captures.short_quote(bid=100 + number)], number,
                                           time.time_ns())
                    for stream in "AB":
                        wire.send(captures.ethernet(captures.datagram(block, stream)))
                    time.sleep(0.005)
            os._exit(0)
        finally:
            os._exit(1)
    live.expect(os.waitpid(child, 0)[1] == 0, "the blocks cannot be sent")


def goes_on(one):
    make_again(one)
    wait_for("interface_replaced", 30, lambda: "interface_replaced port wire0" in one.said())
    wait_for("link_up 1", 10, lambda: link_up(one) == 1)
    instance.finish(one.generate(traffic=(
        "--lines", "1-4", "--messages", str(MESSAGES), "--rate", "20000", "--series", "400")))
    time.sleep(1)
    one.stop()
    live.compare_account(one.account(), one.truth())
    live.expect("link_down port wire0" in one.said(), f"its end is not reported: {one.tail()}")
    print("the account is that of the truth, at the interface that was made again")


def lacks_nothing(one, config):
    """What was sent before the interface was deleted and what is sent after it was made again."""
    one.listener = live.IgmpListener(one.wire)
    one.run(config)
    send(one, 1, BEFORE)
    time.sleep(0.5)
    make_again(one)
    wait_for("interface_replaced", 30, lambda: "interface_replaced port wire0" in one.said())
    send(one, 1 + BEFORE, BEHIND)
    time.sleep(1)
    one.stop()
    line = next(line for line in one.account()["lines"] if line["line"] == 4)
    counts = [line["delivered"], line["lost"]] + [
        stream["packets"] for stream in line["streams"].values()]
    live.expect(counts == [BEFORE + BEHIND, 0, BEFORE + BEHIND, BEFORE + BEHIND],
                f"delivered, lost, packets of A and of B: {counts}")
    print("nothing of before or after is lost")


def ends_and_starts_again(one, config):
    make_again(one)
    status = one.process.wait(timeout=30)
    live.expect(status == 1 and "port_lost port wire0" in one.said(),
                f"ended with {status}: {one.tail()}")
    one.listener = live.IgmpListener(one.wire)
    one.run(config)
    wait_for("start", 10, lambda: " running " in one.said())
    wait_for("link_up 1", 10, lambda: link_up(one) == 1)
    one.stop()
    print("ended with 1, and started well again")


def main():
    pinstrike, kind = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        one = instance.Instance("one", Path(folder), pinstrike)
        config = instance.config(kind) + "metrics_address: 127.0.0.1:9464\n"
        one.run(config)
        if kind == "uring":
            goes_on(one)
            lacks_nothing(one, config)
        else:
            ends_and_starts_again(one, config)


main()
