#!/usr/bin/env python3
"""A feed on one host, a bridge to another, and faults between them: two network namespaces.

    bridge_test.py PINSTRIKE SCENARIO MOVED_CLOCK

    SCENARIO: cable|stopped_join|stopped_serve|killed_join|killed_serve|killed_both|slow|slow_cores|slow_clock

cable: the interface goes down for longer than a side may be silent, and comes back. stopped_*: SIGSTOP for
as long, then SIGCONT. killed_*: SIGKILL, and another start; both in either order. slow: the joining host is
stopped until it misses events, twice, while the serving host's feed and memory stay as they are. slow_cores: the
same with a feed of two cores of unequal load. slow_clock: the same, and before it the clocks of both sides are set
back by an hour.
At the end both hosts publish the same, both sides end as agreed, the accounts balance, and the numbers of
each line are the carried ones and those in gaps.
"""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

import live
from instance import wait_for

STOPS_MAX = 10  # of a slow host; one is enough unless the feed is slow as well
FEED = """
name: live
kind: opra
lines: 1-4
ports:
  - {name: simulator, kind: sim}
pollers:
  - {name: poller0, wait: park}
cores:
  - {name: core0, wait: park, actors: [book]}
publish: {memory: shm, stream: on, stream_records: 16384}
book: {series_capacity: 20000}
traffic:
  shape: blend
  lines_count: 4
  roots_count: 50
  series_count: 10000
  rate_messages_per_second: 30000
"""
BRIDGE = """
feed: {feed}
listen: 10.91.0.1:9480
tls:
  certificate: {name}.pem
  key: {name}.key
  authority: authority.pem
metrics_address: 127.0.0.1:9466
"""


# Three underlyings, each on one of two cores.
TWO_CORES = (FEED.replace("publish:", "  - {name: core1, wait: park, actors: [book]}\nsharding: underlying\npublish:")
             .replace("roots_count: 50", "roots_count: 3"))


class Hosts:
    def __init__(self, pinstrike, scenario, moved_clock):
        self.pinstrike = pinstrike
        self.scenario = scenario
        self.moved_clock = os.path.abspath(moved_clock)
        self.wire = live.Wire()
        self.spaces = {"serve": self.wire.sender, "join": self.wire.receiver}
        self.here = live.folder()
        self.set_clocks(3600)
        self.folders = {}
        for host in ("serve", "join"):
            self.folders[host] = self.here / f"shm.{host}"
            self.folders[host].mkdir(mode=0o700)
            self.certify(host)
        self.starts = {"serve": 0, "join": 0}
        self.sides = {}
        self.feed, self.complaint = None, ""

    def openssl(self, *words):
        live.run("openssl", *words, cwd=self.here)

    def certify(self, host):
        new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        if not (self.here / "authority.pem").exists():
            self.openssl("req", "-x509", *new, "-days", "2", "-subj", "/CN=authority", "-keyout", "authority.key",
                         "-out", "authority.pem")
        self.openssl("req", *new, "-subj", f"/CN={host}", "-keyout", f"{host}.key", "-out", f"{host}.csr")
        self.openssl("x509", "-req", "-days", "1", "-in", f"{host}.csr", "-CA", "authority.pem", "-CAkey",
                     "authority.key", "-CAcreateserial", "-out", f"{host}.pem")
        os.chmod(self.here / f"{host}.key", 0o600)
        (self.here / f"{host}.yaml").write_text(
            BRIDGE.format(feed="live" if host == "serve" else "copy", name=host))

    def environment(self, host):
        return dict(os.environ, PINSTRIKE_FOLDER=str(self.folders[host]))

    def set_clocks(self, seconds):
        """The time of day that both sides of the bridge read in slow_clock (moved_clock.cpp)."""
        with open(self.here / "moved", "r+b" if (self.here / "moved").exists() else "wb", buffering=0) as file:
            file.write(struct.pack("=q", seconds))

    def side_environment(self, side):
        if self.scenario != "slow_clock":
            return self.environment(side)
        return dict(self.environment(side), LD_PRELOAD=self.moved_clock, MOVED_CLOCK=str(self.here / "moved"))

    def run_feed(self):
        (self.here / "feed.yaml").write_text(TWO_CORES if self.scenario == "slow_cores" else FEED)
        with open(self.here / "feed.log", "w", encoding="utf-8") as log:
            self.feed = self.wire.start(self.wire.sender, self.pinstrike, "run", self.here / "feed.yaml", stdout=log,
                                        stderr=subprocess.STDOUT, env=self.environment("serve"))
        wait_for(lambda: (self.folders["serve"] / "live").exists(), lambda: "the feed publishes nothing")

    def start(self, side):
        self.starts[side] += 1
        words = ["serve"] if side == "serve" else ["join", "10.91.0.1:9480"]
        with open(self.log(side), "w", encoding="utf-8") as log:
            self.sides[side] = self.wire.start(
                self.spaces[side], self.pinstrike, "bridge", *words, self.here / f"{side}.yaml", "--account",
                self.account_file(side), stdout=log, stderr=subprocess.STDOUT, env=self.side_environment(side))

    def log(self, side):
        return self.here / f"{side}.{self.starts[side]}.log"

    def account_file(self, side):
        return self.here / f"{side}.{self.starts[side]}.account.json"

    def said(self, side):
        return self.log(side).read_text()

    def wait_for_text(self, side, text, times=1):
        wait_for(lambda: self.said(side).count(text) >= times,
                 lambda: f"{side} did not report {text} {times} times:\n{self.said(side)}")

    def kill(self, side):
        self.sides[side].kill()
        self.sides[side].wait(timeout=live.PATIENCE_S)

    def send(self, side, number):
        self.sides[side].send_signal(number)

    def chain(self, host, feed):
        """Empty if the feed is not published at the moment."""
        done = subprocess.run([self.pinstrike, "chain", "--json", "--feed", feed], capture_output=True, text=True,
                              check=False, env=self.environment(host), timeout=300)
        self.complaint = done.stderr
        rows = [json.loads(row) for row in done.stdout.splitlines()] if done.returncode == 0 else []
        for row in rows:
            # Gaps that the bridge states take stamps, so times may differ by what rounding hides.
            row.pop("changed_ns", None)
        return rows

    def compare(self):
        """The feed is stopped, so that both hosts come to rest."""
        wait_for(lambda: len(self.chain("serve", "live")) > 1000, lambda: "too few series: the test shows nothing")
        self.feed.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + live.PATIENCE_S
        there, here = [], []
        while (there != here or not there) and time.monotonic() < deadline:
            time.sleep(0.5)
            there, here = self.chain("serve", "live"), self.chain("join", "copy")
        self.feed.send_signal(signal.SIGCONT)
        differ = [(a, b) for a, b in zip(there, here) if a != b]
        live.expect(there and there == here, f"{len(there)} series there, {len(here)} here, {len(differ)} differ: "
                    f"{differ[:2]} {self.complaint}")
        return len(there)

    def metrics(self, side):
        """Empty if the endpoint turned this client away, because it was too slow."""
        done = subprocess.run(["ip", "netns", "exec", self.spaces[side], "curl", "-sS", "--max-time", "20",
                               "http://127.0.0.1:9466/metrics"], capture_output=True, text=True, check=False)
        return {name: float(value) for name, value in
                re.findall(r"^pinstrike_bridge_(\w+)\{.*\} (\S+)$", done.stdout, re.MULTILINE)}

    def check_metrics(self):
        """Both sides report that they advance, and what they do."""
        for side, wanted in (("serve", {"current_hosts": 1, "joined_hosts": 1}), ("join", {"live": 1})):
            def is_well(side=side, wanted=wanted):
                found = self.metrics(side)
                return 0 <= found.get("stalled_seconds", -1) < 10 and wanted.items() <= found.items()

            wait_for(is_well, lambda side=side: f"{side}: {self.metrics(side)}")

    def stop(self, side):
        self.send(side, signal.SIGTERM)
        status = self.sides[side].wait(timeout=live.PATIENCE_S)
        live.expect(status == 0, f"{side} ended with {status}:\n{self.said(side)}")
        account = live.read_json(self.account_file(side))
        live.expect(account["balances"], f"{side}'s account does not balance: {account}")
        return account


def check_lines(account, cores):
    """Every number was carried or is in a gap. Of several cores, each has a part of the lines and of their numbers.
    Returns how many were carried, and how many are in gaps."""
    lines = {line["line"] for line in account["lines"]}
    live.expect(len(lines) == 4, f"not four lines: {account['lines']}")
    for line in account["lines"] if cores == 1 else []:
        span = line["last"] - line["first"] + 1
        live.expect(span == line["carried"] + line["lost"], f"numbers are missing without notice: {account}")
    carried, lost = (sum(line[which] for line in account["lines"]) for which in ("carried", "lost"))
    live.expect(lost == account["join"]["gap_numbers"], f"{lost} lost, but {account['join']} in gaps")
    return carried, lost


def fault(hosts, scenario):
    """Causes it, and says how many downs each side's last start must report at least; a machine that stops for
    seconds causes more."""
    if scenario == "cable":
        live.run("ip", "-n", hosts.wire.receiver, "link", "set", "receiver", "down")
        hosts.wait_for_text("serve", "bridge_down")
        hosts.wait_for_text("join", "bridge_down")
        live.run("ip", "-n", hosts.wire.receiver, "link", "set", "receiver", "up")
        return {"serve": 1, "join": 1}
    if scenario.startswith("stopped"):
        side = scenario.removeprefix("stopped_")
        other = "join" if side == "serve" else "serve"
        downs = [hosts.said(each).count("bridge_down") for each in (side, other)]
        hosts.send(side, signal.SIGSTOP)
        hosts.wait_for_text(other, "bridge_down", downs[1] + 1)  # after 5 s of silence
        hosts.send(side, signal.SIGCONT)
        hosts.wait_for_text(side, "bridge_down", downs[0] + 1)
        return {"serve": 1, "join": 1}
    if scenario.startswith("slow"):
        states = hosts.said("join").count("bridge_state")
        for _ in range(STOPS_MAX):
            hosts.send("join", signal.SIGSTOP)
            time.sleep(3.5)  # 105,000 messages, more than the ring and what is on the way hold
            hosts.send("join", signal.SIGCONT)
            time.sleep(2.5)
            if hosts.said("join").count("bridge_state") >= states + 2:
                break
        return {"serve": 0, "join": 0}
    sides = {"killed_join": ["join"], "killed_serve": ["serve"]}.get(scenario, ["serve", "join"])
    for side in sides:
        hosts.kill(side)
    time.sleep(1)
    for side in sides:
        hosts.start(side)
        time.sleep(1)
    return {"serve": 1 if sides == ["join"] else 0, "join": 1 if sides == ["serve"] else 0}


def main():
    pinstrike, scenario, moved_clock = sys.argv[1:4]
    hosts = Hosts(pinstrike, scenario, moved_clock)
    hosts.run_feed()
    hosts.start("serve")
    hosts.start("join")
    hosts.wait_for_text("join", "bridge_state")
    time.sleep(2)
    if scenario == "slow_clock":
        hosts.set_clocks(0)
    hosts.compare()
    hosts.check_metrics()
    downs = fault(hosts, scenario)
    restarted = hosts.starts["join"] > 1
    hosts.wait_for_text("join", "bridge_state", 1 if restarted else 2)
    if scenario == "killed_both":  # and in the other order
        for side in ("join", "serve"):
            hosts.kill(side)
        for side in ("join", "serve"):
            hosts.start(side)
            time.sleep(1)
        hosts.wait_for_text("join", "bridge_state")
    time.sleep(1)
    series = hosts.compare()
    time.sleep(1)
    joined = hosts.stop("join")
    served = hosts.stop("serve")
    live.expect(hosts.feed.poll() is None, "the feed ended")
    hosts.feed.send_signal(signal.SIGTERM)
    status = hosts.feed.wait(timeout=live.PATIENCE_S)
    live.expect(status == 0, f"the feed ended with {status}: {(hosts.here / 'feed.log').read_text()[-2000:]}")
    carried, lost = check_lines(joined, 2 if scenario == "slow_cores" else 1)
    live.expect(joined["join"]["malformed"] == 0, f"frames were refused: {joined['join']}")
    live.expect(carried > 0, "nothing was carried: the test shows nothing")
    live.expect(lost > 0 or restarted, f"no number is in a gap after {scenario}")
    for side, account in (("serve", served), ("join", joined)):
        found = account[side]["downs"]
        live.expect(found >= downs[side], f"{side}: {found} downs, expected {downs[side]} or more")
    if scenario.startswith("slow"):
        live.expect(served["serve"]["missed"] > 0 or served["serve"]["downs"] > 0, "the slow host missed nothing")
    if scenario == "slow_clock":  # the stops are shorter than a side may be silent, unless the machine stops as well
        live.shows(joined["join"]["downs"] == 0, f"a side fell silent: {joined['join']}")
    live.expect(served["serve"]["left"] == 1, f"the last connection did not end as agreed: {served}")
    left = os.listdir(hosts.folders["join"])
    live.expect("copy" not in left, f"the joining host's memory is left: {left}")
    print(f"{scenario}: {series} series equal, {carried} numbers carried, {lost} in gaps, as the accounts say")


if __name__ == "__main__":
    main()
