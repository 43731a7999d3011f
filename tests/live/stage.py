"""Appliances behind a relay (relay.cpp) that loses, damages, repeats and delays the packets of one
generator; and the messages that each of them can have, derived from the relay's record."""

import collections
import subprocess

import live
from instance import Instance, finish, wait_for

# Some 9000 blocks a second on each stream.
TRAFFIC = ["--lines", "1-4", "--rate", "20000", "--shape", "ordinary", "--series", "20000",
           "--roots", "200"]

# A copy of a block for one receiver; `times`: how often it was sent; `messages`: those with numbers.
Copy = collections.namedtuple("Copy", "name stream line number messages fate times")


class Stage:
    def __init__(self, pinstrike, relay, names="a"):
        self.relay, self.here = relay, live.folder()
        self.instances = []
        for name in names:
            self.instances.append(
                Instance(name, self.here, pinstrike, self.instances[0] if self.instances else None))
        self.hub = self.instances[0].wire
        live.run("ip", "-n", self.hub.sender, "link", "add", "source", "type", "veth", "peer",
                 "name", "intake")
        for end in ("source", "intake"):
            live.run("ip", "-n", self.hub.sender, "link", "set", end, "up")
        self.copies, self.truth = [], {}
        self.relaying = self.generator = None

    def play(self, pinstrike, *faults, messages=60_000, meanwhile=None):
        """Sends 20,000 messages a second through the relay's faults, and returns when the instances have them."""
        record = self.here / "record"
        ways = [f"{each.name}={each.wire.outlet}" for each in self.instances]
        for each in self.instances:
            live.put_before_others(each.process)  # the kernel's ring holds a quarter of a second of this traffic
        self.relaying = self.hub.start(
            self.hub.sender, self.relay, "intake", record, "1", "-", *ways, *faults,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        live.expect(self.relaying.stdout.readline() == "ready\n", "the relay does not start")
        self.generator = self.hub.start(
            self.hub.sender, pinstrike, "generate", "--interface", "source", *TRAFFIC,
            "--messages", messages, "--truth", self.here / "truth", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if meanwhile:
            meanwhile()
        finish(self.generator)
        self.relaying.terminate()
        said, _ = self.relaying.communicate(timeout=300)
        live.shows("frames missed" not in said, said)
        live.expect(self.relaying.returncode == 0, f"the relay failed: {said}")
        with open(record, encoding="utf-8") as rows:
            self.copies = [copy_of(row) for row in rows]
        self.truth = live.read_json(self.here / "truth.account.json")
        for each in self.instances:
            each.wait_for_packets(sum(copy.times for fate in ("whole", "falsified")
                                      for copy in self.copies_of(each.name, fate)))

    def order(self, text):
        """To the relay (relay.cpp)."""
        self.relaying.stdin.write(text + "\n")
        self.relaying.stdin.flush()

    def wait_in_traffic(self, condition, what):
        """Waits for what must come before the traffic ends."""
        wait_for(lambda: condition() or self.generator.poll() is not None, what)
        live.shows(condition(), what())

    def copies_of(self, name, fate=None):
        return [each for each in self.copies
                if each.name == name and fate in (None, each.fate)]

    def expectation(self, name):
        """The account of a receiver that accepts all intact messages of both streams, and nothing else."""
        whole = collections.defaultdict(set)
        for each in self.copies_of(name, "whole"):
            if each.times:
                whole[each.line].update(range(each.number, each.number + each.messages))
        lines = []
        for line in self.truth["lines"]:
            missing = sorted(set(range(1, line["highest"] + 1)) - whole[line["line"]])
            lines.append({"line": line["line"], "highest": line["highest"], "lost": len(missing),
                          "delivered": line["highest"] - len(missing), "gaps": ranges(missing)})
        return {"lines": lines}

    def lost(self, name):
        """The messages that arrived intact on neither stream."""
        return sum(line["lost"] for line in self.expectation(name)["lines"])

    def compare_books(self, instance, may_be_stale=False):
        """`may_be_stale`: a repair does not make fresh what was set before the gap."""
        return live.compare_books(instance.file("book.json"), self.here / "truth.book.json",
                                  may_be_stale)


def copy_of(row):
    name, stream, line, number, messages, fate, times = row.split()
    return Copy(name, stream, int(line), int(number), int(messages), fate, int(times))


def ranges(numbers):
    """[[first, last]] of sorted numbers."""
    found = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found
