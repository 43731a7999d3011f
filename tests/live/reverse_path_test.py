#!/usr/bin/env python3
"""The kernel's reverse path filter drops the feed, and log and metric report it.

    reverse_path_test.py PINSTRIKE
"""

import re
import sys
import tempfile
import time
from pathlib import Path

import instance
import live


def filter_strictly(wire):
    live.run("ip", "netns", "exec", wire.receiver, "sh", "-c",
             "echo 1 > /proc/sys/net/ipv4/conf/receiver/rp_filter")


def main():
    with tempfile.TemporaryDirectory() as folder:
        one = instance.Instance("one", Path(folder), sys.argv[1])
        filter_strictly(one.wire)
        one.run(instance.config("uring") + "metrics_address: 127.0.0.1:9464\n")
        time.sleep(2)  # the log reports an increase between two snapshots, one a second
        instance.finish(one.generate(traffic=("--lines", "1-4", "--messages", "1000", "--series",
                                              "400", "--rate", "10000")))
        time.sleep(2)
        dropped = re.search(r"^pinstrike_reverse_path_dropped_packets_total\S* (\S+)$", one.metrics(),
                            re.MULTILINE)
        one.stop()
        live.expect(dropped is not None and float(dropped[1]) > 0, f"no count: {dropped}")
        live.expect("reverse_path_dropped feed" in one.said(), f"no warning: {one.tail()}")
        packets = sum(line["streams"][stream]["packets"] for line in one.account()["lines"]
                      for stream in "AB")
        live.expect(packets == 0, f"{packets} packets came through")
        print(f"{float(dropped[1]):.0f} packets dropped by the kernel, and reported")


main()
