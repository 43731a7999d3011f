#!/usr/bin/env python3
"""The kernel's reverse path filter drops the feed, and log and metric report it.

    reverse_path_test.py PINSTRIKE
"""

import sys
import time

import instance
import live

TRAFFIC = ("--lines", "1-4", "--messages", "1000", "--series", "400", "--rate", "10000")


def filter_strictly(wire):
    live.run("ip", "netns", "exec", wire.receiver, "sh", "-c",
             "echo 1 > /proc/sys/net/ipv4/conf/receiver/rp_filter")


def reports(one):
    """The log reports an increase between two snapshots, one a second, so the first traffic may come too early."""
    instance.finish(one.generate(traffic=TRAFFIC))
    time.sleep(2)
    return "reverse_path_dropped feed" in one.said()


def main():
    one = instance.Instance("one", live.folder(), sys.argv[1])
    filter_strictly(one.wire)
    one.run(instance.config("uring") + instance.METRICS)
    instance.wait_for(lambda: " running " in one.said(), one.tail)
    instance.wait_for(lambda: reports(one), lambda: f"no warning: {one.tail()}")
    dropped = sum(one.values("reverse_path_dropped_packets_total"))
    one.stop()
    live.expect(dropped > 0, f"no count: {dropped}")
    packets = sum(line["streams"][stream]["packets"] for line in one.account()["lines"]
                  for stream in "AB")
    live.expect(packets == 0, f"{packets} packets came through")
    print(f"{dropped:.0f} packets dropped by the kernel, and reported")


main()
