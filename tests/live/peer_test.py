#!/usr/bin/env python3
"""Two appliances, each on a wire of its own, and a road between them.

    peer_test.py PINSTRIKE whole|down|secret

A's streams both lose packets, B's none, and the traffic is the same. whole: B keeps it, and A has all
of it in the end, nothing lost. down: nobody is there to ask, and what A lost it declares, exactly.
secret: the secrets differ, which both say; A declares what it lost.
"""

import signal
import subprocess
import sys
import time

import live

ADDRESSES = {"a": "10.92.0.1", "b": "10.92.0.2"}
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
  - name: core0
    wait: park
arbitration:
  window: {window}
  hold: 64MiB
book:
  series_capacity: 100000
"""
KEEPS = """
history:
  keep: 60s
  memory: 64MiB
peer:
  listen: {listen}
  allow: [{allow}]
  secret_file: {secret}
"""
ASKS = """
recovery:
  sources: [peer]
peer:
  connect: ["{connect}"]
  secret_file: {secret}
"""
TRAFFIC = ["--lines", "1-4", "--messages", "100000", "--rate", "30000", "--series", "20000",
           "--roots", "200"]


class Instance:
    def __init__(self, name, here, pinstrike):
        self.name, self.here, self.pinstrike = name, here, pinstrike
        self.wire = live.Wire(name)
        self.listener = live.IgmpListener(self.wire)
        self.process = None

    def file(self, kind):
        return self.here / f"{self.name}.{kind}"

    def said(self):
        return self.file("log").read_text()

    def run(self, config):
        self.file("yaml").write_text(config)
        log = open(self.file("log"), "w", encoding="utf-8")
        self.process = self.wire.start(
            self.wire.receiver, self.pinstrike, "run", self.file("yaml"), "--account",
            self.file("account.json"), "--book", self.file("book.json"), stdout=log,
            stderr=subprocess.STDOUT)
        missing = self.listener.wait_for(live.groups_of(range(1, 5)))
        live.expect(self.process.poll() is None, f"{self.name} ended: {self.said()[-2000:]}")
        live.expect(not missing, f"{self.name}: no IGMP report for {missing}")

    def generate(self, *faults):
        return self.wire.start(
            self.wire.sender, self.pinstrike, "generate", "--interface", "sender", *TRAFFIC,
            *faults, "--truth", self.file("truth"), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=30)
        live.expect(status == 0, f"{self.name} ended with {status}: {self.said()[-2000:]}")

    def account(self):
        return live.read_json(self.file("account.json"))

    def truth(self):
        return live.read_json(self.file("truth.account.json"))


def join(one, other):
    """A road of their own between the two receivers."""
    live.run("ip", "link", "add", "road", "netns", one.wire.receiver, "type", "veth", "peer",
             "name", "road", "netns", other.wire.receiver)
    for each in (one, other):
        space = each.wire.receiver
        live.run("ip", "-n", space, "addr", "add", ADDRESSES[each.name] + "/24", "dev", "road")
        live.run("ip", "-n", space, "link", "set", "road", "up")


def secret(path, text):
    path.write_text(text)
    path.chmod(0o600)
    return path


def finish(process):
    said, _ = process.communicate(timeout=120)
    live.expect(process.returncode == 0, f"generate failed: {said}")


def wait_for(condition, what, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        live.expect(time.monotonic() < deadline, what())
        time.sleep(0.05)


def whole(a, b):
    wait_for(lambda: "it is asked for what is missing" in a.said(),
             lambda: "no connection: " + a.said()[-2000:])
    first = b.generate()
    second = a.generate("--loss-a", "0.1", "--loss-b", "0.1")
    finish(first)
    finish(second)
    time.sleep(6)  # the window of arbitration is 5 s
    a.stop()
    b.stop()
    account, lossy, full = a.account(), a.truth(), b.truth()
    lost = sum(line["lost"] for line in lossy["lines"])
    live.expect(lost > 0, "the streams lost nothing together: the test shows nothing")
    live.compare_account(account, full)
    repaired = sum(line["repaired"] for line in account["lines"])
    live.expect(repaired == lost, f"{repaired} repaired of {lost} lost on both streams")
    series = live.compare_books(a.file("book.json"), b.file("truth.book.json"))
    live.compare_account(b.account(), full)
    print(f"whole: {lost} messages lost on both streams, all repaired by the peer; {series} series")


def declared(a):
    generator = a.generate("--loss-a", "0.1", "--loss-b", "0.1")
    finish(generator)
    time.sleep(1)
    a.stop()
    live.compare_account(a.account(), a.truth())
    lost = sum(line["lost"] for line in a.account()["lines"])
    live.expect(lost > 0, "the streams lost nothing together: the test shows nothing")
    return lost


def main():
    pinstrike, scenario = sys.argv[1:3]
    here = live.folder()
    a, b = Instance("a", here, pinstrike), Instance("b", here, pinstrike)
    join(a, b)
    window = "5s" if scenario == "whole" else "2ms"
    ours = secret(here / "ours", "0123456789abcdef0123456789abcdef")
    theirs = secret(here / "theirs", "fedcba9876543210fedcba9876543210")
    asks = ASKS.format(connect=ADDRESSES["b"] + ":9470", secret=ours)
    if scenario != "down":
        b.run(CONFIG.format(window="2ms") + KEEPS.format(
            listen=ADDRESSES["b"] + ":9470", allow=ADDRESSES["a"],
            secret=theirs if scenario == "secret" else ours))
    a.run(CONFIG.format(window=window) + asks)
    if scenario == "whole":
        whole(a, b)
    elif scenario == "down":
        print(f"down: {declared(a)} messages declared lost, as they were")
        live.expect("it cannot be reached" in a.said(), f"not told: {a.said()}")
    else:
        wait_for(lambda: "it refused, not_authenticated" in a.said()
                 and "refused, not_authenticated" in b.said(),
                 lambda: f"not told: {a.said()} {b.said()}")
        for said in (a.said(), b.said()):
            live.expect("0123456789abcdef" not in said and "fedcba98" not in said, "a secret is told")
        print(f"secret: refused and told; {declared(a)} messages declared lost, as they were")
        b.stop()


if __name__ == "__main__":
    main()
