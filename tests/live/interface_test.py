#!/usr/bin/env python3
"""The interface is deleted and created again under its name while the program runs.

    interface_test.py PINSTRIKE uring|af_xdp

A port of kind uring joins its groups again and continues. With AF_XDP, whose sockets are bound to the
deleted interface, the program ends with 1, and can be started again.
"""

import sys
import tempfile
import time
from pathlib import Path

import instance
import live

MESSAGES = 20000


def wait_for(what, seconds, look):
    end = time.monotonic() + seconds
    while not look():
        live.expect(time.monotonic() < end, f"no {what} within {seconds} s")
        time.sleep(0.1)


def make_again(wire):
    """Deletes the interface for longer than the program needs to notice it."""
    live.run("ip", "-n", wire.receiver, "link", "del", "receiver")
    time.sleep(2.5)
    wire.make_link()


def goes_on(one):
    make_again(one.wire)
    wait_for("interface_replaced", 30, lambda: "interface_replaced port wire0" in one.said())
    instance.finish(one.generate(traffic=(
        "--lines", "1-4", "--messages", str(MESSAGES), "--rate", "20000", "--series", "400")))
    time.sleep(1)
    one.stop()
    live.compare_account(one.account(), one.truth())
    live.expect("link_down port wire0" in one.said(), f"its end is not reported: {one.tail()}")
    print("the account is that of the truth, at the interface that was made again")


def ends_and_starts_again(one, config):
    make_again(one.wire)
    status = one.process.wait(timeout=30)
    live.expect(status == 1 and "port_lost port wire0" in one.said(),
                f"ended with {status}: {one.tail()}")
    one.listener = live.IgmpListener(one.wire)
    one.run(config)
    one.stop()
    print("ended with 1, and started well again")


def main():
    pinstrike, kind = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        one = instance.Instance("one", Path(folder), pinstrike)
        config = instance.config(kind)
        one.run(config)
        if kind == "uring":
            goes_on(one)
        else:
            ends_and_starts_again(one, config)


main()
