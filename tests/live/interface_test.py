#!/usr/bin/env python3
"""The interface is deleted and created again under its name while the program runs.

    interface_test.py PINSTRIKE uring|af_xdp

A port of kind uring joins its groups again and continues. With AF_XDP, whose sockets are bound to the
deleted interface, the program ends with 1, and can be started again. Meanwhile the metric says that the
link is down.
"""

import os
import socket
import sys
import time

import instance
import live

sys.path.append(str(live.ROOT / "tests" / "commands"))
import captures  # noqa: E402

MESSAGES = 20000
BEFORE, BEHIND = 20, 50  # blocks of one quote


def wait_for(what, look):
    instance.wait_for(look, lambda: f"no {what}")


def wait_for_link(one, up):
    wait_for(f"link_up {up}", lambda: one.values("port_link_up") == [up])


def make_again(one):
    """Deletes the interface until the program has noticed it."""
    wait_for("start", lambda: " running " in one.said())
    wait_for_link(one, 1)
    live.run("ip", "-n", one.wire.receiver, "link", "del", "receiver")
    wait_for_link(one, 0)
    wait_for("link_down", lambda: "link_down port wire0" in one.said())
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
    wait_for("interface_replaced", lambda: "interface_replaced port wire0" in one.said())
    wait_for_link(one, 1)
    instance.finish(one.generate(traffic=(
        "--lines", "1-4", "--messages", str(MESSAGES), "--rate", "20000", "--series", "400")))
    one.wait_for_packets(instance.packets_of(one.truth()))
    one.stop()
    live.compare_account(one.account(), one.truth())
    print("the account is that of the truth, at the interface that was made again")


def lacks_nothing(one, config):
    """What was sent before the interface was deleted and what is sent after it was made again."""
    one.listener = live.IgmpListener(one.wire)
    one.run(config)
    send(one, 1, BEFORE)
    one.wait_for_packets(2 * BEFORE)
    make_again(one)
    wait_for("interface_replaced", lambda: "interface_replaced port wire0" in one.said())
    wait_for_link(one, 1)
    send(one, 1 + BEFORE, BEHIND)
    one.wait_for_packets(2 * (BEFORE + BEHIND))
    one.stop()
    line = next(line for line in one.account()["lines"] if line["line"] == 4)
    counts = [line["delivered"], line["lost"]] + [
        stream["packets"] for stream in line["streams"].values()]
    live.expect(counts == [BEFORE + BEHIND, 0, BEFORE + BEHIND, BEFORE + BEHIND],
                f"delivered, lost, packets of A and of B: {counts}")
    print("nothing of before or after is lost")


def ends_and_starts_again(one, config):
    make_again(one)
    status = one.process.wait(timeout=live.PATIENCE_S)
    live.expect(status == 1 and "port_lost port wire0" in one.said(),
                f"ended with {status}: {one.tail()}")
    one.listener = live.IgmpListener(one.wire)
    one.run(config)
    wait_for("start", lambda: " running " in one.said())
    wait_for_link(one, 1)
    one.stop()
    print("ended with 1, and started well again")


def main():
    pinstrike, kind = sys.argv[1:]
    one = instance.Instance("one", live.folder(), pinstrike)
    config = instance.config(kind) + instance.METRICS
    one.run(config)
    if kind == "uring":
        goes_on(one)
        lacks_nothing(one, config)
    else:
        ends_and_starts_again(one, config)


main()
