#!/usr/bin/env python3
"""Live packets into a running appliance: `generate` on one side of a veth pair, `run` on the other.

    wire_test.py PINSTRIKE uring|af_xdp

All messages are delivered, the account balances, the book equals the generator's, IGMP reports are on
the wire, and SIGTERM ends the program in order. The appliance runs as an ordinary user with the rights
that deploy/README.md lists, drops most of them, and leaves the interface unchanged.
"""

import json
import subprocess
import sys
import time

import live
from instance import METRICS, Instance, config, finish, packets_of

RIGHTS = {"uring": [], "af_xdp": ["net_admin", "net_raw", "sys_admin", "ipc_lock"]}
KEPT = {"uring": (0, "none"), "af_xdp": (1 << 12, "CAP_NET_ADMIN (")}
TRAFFIC = ["--lines", "1-4", "--messages", "200000", "--rate", "60000", "--series", "20000",
           "--roots", "200"]


def example_sees_every_queue(pinstrike, wire, here):
    """The shipped example, on an interface that spreads frames over four queues."""
    live.run("ip", "-n", wire.receiver, "link", "add", "spread", "numrxqueues", "4", "type", "veth",
             "peer", "name", "spread_far")
    text = (live.ROOT / "config" / "af_xdp.yaml").read_text()
    example = here / "example.yaml"
    example.write_text(text.replace("iface=eth1", "iface=spread"))
    check = wire.start(wire.receiver, pinstrike, "check", example, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)
    said = check.communicate(timeout=300)[1]
    live.expect(check.returncode == 78, f"check refuses four queues: {check.returncode}")
    live.expect("interface spread spreads frames over 4 receive queues" in said, said)


def interface_state(wire):
    """The flags, accepted addresses and programs of the receiving interface."""
    link = live.run("ip", "-n", wire.receiver, "-d", "link", "show", "receiver").stdout
    return link, live.run("ip", "-n", wire.receiver, "maddr", "show", "receiver").stdout


def expect_as_before(wire, before):
    """The kernel closes a ring's sockets, and leaves their groups, some time after its process has
    ended, on a thread of its own."""
    deadline = time.monotonic() + live.PATIENCE_S
    while (after := interface_state(wire)) != before and time.monotonic() < deadline:
        time.sleep(0.05)
    live.expect(after == before, f"left behind: {after}; it was {before}")


def main():
    pinstrike, kind = sys.argv[1:3]
    appliance = Instance("a", live.folder(), pinstrike)
    if kind == "af_xdp":
        example_sees_every_queue(pinstrike, appliance.wire, appliance.here)
    before = interface_state(appliance.wire)
    appliance.run(config(kind) + METRICS, program=live.as_user(appliance.here, pinstrike, RIGHTS[kind]))
    live.expect_confined(appliance.process.pid, KEPT[kind][0], ["poller0", "core0"])
    live.put_before_others(appliance.process)  # the kernel's buffers hold a tenth of a second of this traffic
    finish(appliance.generate(traffic=TRAFFIC))
    appliance.wait_for_packets(packets_of(appliance.truth()))
    appliance.stop()

    said = appliance.said()
    live.expect("hot threads allocated" not in said and "hot_allocation" not in said,
                f"a hot thread allocated: {said}")
    live.expect("call_refused" not in said and "calls_unfiltered" not in said, said)
    live.expect(f"confined feed live: rights kept: {KEPT[kind][1]}" in said, said)
    expect_as_before(appliance.wire, before)
    account = appliance.account()
    live.compare_account(account, appliance.truth())
    series = live.compare_books(appliance.file("book.json"), appliance.file("truth.book.json"))
    delivered = sum(line["delivered"] for line in account["lines"])
    print(f"{kind}: {delivered} messages, {series} series, {appliance.listener.frames} IGMP frames; "
          + json.dumps(account["ports"]))


if __name__ == "__main__":
    main()
