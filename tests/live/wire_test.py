#!/usr/bin/env python3
"""Live packets into a running appliance: `generate` on one side of a veth pair, `run` on the other.

    wire_test.py PINSTRIKE uring|af_xdp

All messages delivered, the account balanced, the book as the generator says, IGMP reports seen on
the wire, and a clean end on SIGTERM.
"""

import json
import signal
import subprocess
import sys
import time

import live

LINES = range(1, 5)
PORTS = {
    "uring": """
    kind: uring
    interface: receiver
""",
    "af_xdp": """
    kind: dpdk
    vdev: "net_af_xdp0,iface=receiver"
    hugepages: false
    source_address: 10.91.0.2
    udp_checksum: software
""",
}
CONFIG = """
name: live
kind: opra
lines: 1-4
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
  series_capacity: 100000
"""


def example_sees_every_queue(pinstrike, wire, here):
    """The example, as people copy it, on an interface that spreads frames over four queues."""
    live.run("ip", "-n", wire.receiver, "link", "add", "spread", "numrxqueues", "4", "type", "veth",
             "peer", "name", "spread_far")
    config = here / "example.yaml"
    example = (live.ROOT / "config" / "af_xdp.yaml").read_text()
    config.write_text(example.replace("iface=eth1", "iface=spread"))
    check = wire.start(wire.receiver, pinstrike, "check", config, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)
    told = check.communicate(timeout=60)[1]
    live.expect(check.returncode == 78, f"check refuses four queues: {check.returncode}")
    live.expect("interface spread spreads frames over 4 receive queues" in told, told)


def main():
    pinstrike, kind = sys.argv[1:3]
    wire, here = live.Wire(), live.folder()
    if kind == "af_xdp":
        example_sees_every_queue(pinstrike, wire, here)
    config = here / "live.yaml"
    config.write_text(CONFIG.format(port=PORTS[kind].strip("\n")))
    listener = live.IgmpListener(wire)
    log = open(here / "run.log", "w", encoding="utf-8")
    appliance = wire.start(wire.receiver, pinstrike, "run", config, "--account",
                           here / "account.json", "--book", here / "book.json", stdout=log,
                           stderr=subprocess.STDOUT)
    missing = listener.wait_for(live.groups_of(LINES))
    tail = (here / "run.log").read_text()[-2000:]
    live.expect(appliance.poll() is None, f"the appliance ended: {tail}")
    live.expect(not missing, f"no IGMP report for {missing}; {tail}")

    generator = wire.start(wire.sender, pinstrike, "generate", "--interface", "sender", "--lines",
                           "1-4", "--messages", "200000", "--rate", "60000", "--series", "20000",
                           "--roots", "200", "--truth", here / "truth", stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
    said, _ = generator.communicate(timeout=120)
    live.expect(generator.returncode == 0, f"generate failed: {said}")
    time.sleep(1)
    appliance.send_signal(signal.SIGTERM)
    status = appliance.wait(timeout=30)
    tail = (here / "run.log").read_text()[-2000:]
    live.expect(status == 0, f"the appliance ended with {status}: {tail}")

    said = (here / "run.log").read_text()
    live.expect("hot threads allocated" not in said and "hot_allocation" not in said,
                f"a hot thread allocated: {said}")
    account = live.read_json(here / "account.json")
    live.compare_account(account, live.read_json(here / "truth.account.json"))
    series = live.compare_books(here / "book.json", here / "truth.book.json")
    delivered = sum(line["delivered"] for line in account["lines"])
    print(f"{kind}: {delivered} messages, {series} series, {listener.frames} IGMP frames; "
          + json.dumps(account["ports"]))


if __name__ == "__main__":
    main()
