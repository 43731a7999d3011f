#!/usr/bin/env python3
"""A venue, a kind of port and an actor are each one folder and one word in one list.

    growth_test.py [FOLDER]

Copies the tree, adds the toy venue, port and actor of this folder, and builds the program. Fails if
that needs a change of any other file, if a message of a generated capture with losses is not
delivered once and in order, if a gap is not exact, or if the toy actor's key, counter, account row,
memory or state is missing where such things are shown. FOLDER keeps the copy and its build.
"""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "commands"))
import captures  # noqa: E402
from endpoint import fail, free_port  # noqa: E402

PARTS = ["config", "nic", "feed", "actors", "deploy", "tests", "meson.build", "meson_options.txt",
         "README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"]
ADDITIONS = [  # folder here, folder in the copy, list, the word behind which the new one stands
    ("venue", "feed/toy", "feed/meson.build", "venues = ['opra'", ", 'toy'"),
    ("port", "nic/frames", "nic/meson.build", "port_kinds = ['dpdk', 'uring', 'capture', 'sim'",
     ", 'frames'"),
    ("actor", "actors/tally", "actors/meson.build", "actor_kinds = ['book'", ", 'tally'"),
]
GROUPS = {"A": (224, 1, 1, 1), "B": (224, 1, 1, 2), "R": (224, 1, 1, 3)}  # R: retransmissions
PORT = 5001
START_NS = captures.START_NS
SEED = 20260
LINES = """
name: growth
kind: toy
lines:
  - {number: 1, a: "224.1.1.1:5001", b: "224.1.1.2:5001", retransmission_a: "224.1.1.3:5001"}
  - {number: 2, a: "224.1.1.1:5001", b: "224.1.1.2:5001", retransmission_a: "224.1.1.3:5001"}
pollers:
  - {name: poller0, wait: park}
cores:
  - {name: core0, wait: park, actors: [tally]}
  - {name: core1, wait: park, actors: [tally]}
"""


def expect(good, what):
    if not good:
        fail(what)


# The tree


def grow(tree):
    """The copy with the additions; what is equal keeps its time, and what was built of it."""
    for part in PARTS:
        for path in (tree / part).rglob("*"):  # an earlier copy may have files that were removed since
            if path.is_file() and not (ROOT / path.relative_to(tree)).exists():
                path.unlink()
        subprocess.run(["cp", "-a", "-T", "-u", str(ROOT / part), str(tree / part)], check=True)
    for here, there, list_file, row, word in ADDITIONS:
        shutil.copytree(HERE / here, tree / there, dirs_exist_ok=True)
        path = tree / list_file
        text = (ROOT / list_file).read_text()
        expect(text.count(row) == 1, f"{list_file} has no list that begins with {row}")
        if path.read_text() != text.replace(row, row + word):
            path.write_text(text.replace(row, row + word))


def check_changes(tree):
    """No other file of the copy differs from the tree's."""
    new = {Path(there) for _, there, _, _, _ in ADDITIONS}
    lists = {Path(list_file) for _, _, list_file, _, _ in ADDITIONS}
    changed = 0
    for part in PARTS:
        for path in [tree / part, *(tree / part).rglob("*")]:
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            where = path.relative_to(tree)
            if new & set(where.parents):
                continue
            before, after = (ROOT / where).read_text(errors="replace"), path.read_text(errors="replace")
            if before == after:
                continue
            lines = [pair for pair in zip(before.splitlines(), after.splitlines()) if pair[0] != pair[1]]
            expect(where in lists and len(lines) == 1, f"{where} had to change")
            changed += 1
    expect(changed == len(ADDITIONS), f"{changed} lists changed, expected {len(ADDITIONS)}")


def build(tree):
    folder = tree / "build"
    environment = dict(os.environ, CCACHE_BASEDIR=str(tree), CCACHE_NOHASHDIR="1")
    if not (folder / "build.ninja").exists():
        subprocess.run(["meson", "setup", "-Doptimization=0", "-Dmarch=x86-64-v3", folder, tree],
                       check=True, stdout=subprocess.DEVNULL, env=environment)
    done = subprocess.run(["ninja", "-C", folder, "actors/command/pinstrike"], check=False,
                          capture_output=True, text=True, env=environment)
    expect(done.returncode == 0, "the copy does not build:\n" + done.stdout[-6000:])
    return folder / "actors" / "command" / "pinstrike"


# The traffic


BEFORE_FIRST = 1 << 33  # every session has the numbers after it


def packet(line, kind, session, number, *messages):
    body = b"".join(messages)
    return struct.pack("<HBBBB4xQ", 18 + len(body), line, kind, session, len(messages), number) + body


def message(kind, series, body):
    return struct.pack("<BB2xI", 8 + len(body), ord(kind), series) + body


BAD = message("Q", 0, b"cut")


def frame(payload, stream):
    return captures.ethernet(captures.ipv4(captures.udp(payload, PORT), source=(10, 0, 0, 9),
                                           group=GROUPS[stream]))


class Traffic:
    """Two lines in two sessions with the same numbers, in datagrams of one to four packets of one to
    three messages. `loses`: packets are lost, and some messages are bad."""

    def __init__(self, seed, loses=True):
        self.random = random.Random(seed)
        self.loses = loses
        self.frames = []  # (time, stream, payload)
        self.expected = {1: [], 2: []}  # rows in the format of the tally
        self.lost_in_last_session = 0  # messages that neither stream carries
        self.now_ns = START_NS
        for session in (1, 2):
            for line in (1, 2):
                self.session(line, session)
            self.now_ns += 20_000_000

    def session(self, line, session):
        # Both streams lose the start of session 2 on line 2; its first packet reveals the session.
        if (line, session) != (2, 2):
            self.send(packet(line, 1, session, BEFORE_FIRST + 1), "AB")
        self.expected[line].append(f"S {line} {BEFORE_FIRST}")
        ids = list(range(40))
        self.random.shuffle(ids)
        self.directory(line, session, ids)
        self.send(packet(line, 0, session + 1, 0), "R")  # a heartbeat there begins no session
        number = self.quotes(line, session, ids)
        # A heartbeat reveals losses at the end.
        self.now_ns += 5_000_000
        self.send(packet(line, 0, session, number), "AB")

    def directory(self, line, session, ids):
        """The series of ids, without numbers. Each copy is delivered."""
        for first in range(0, 40, 4):
            streams = self.random.choice(["AB", "A", "B"])  # also without losses: the same numbers follow
            streams = streams if self.loses else "AB"
            group = range(first, first + 4)
            messages = [message("D", ids[i], struct.pack("<5s3xI", f"R{line}".encode().ljust(5), 100 + i))
                        for i in group]
            messages.insert(2, BAD)
            self.now_ns += 50_000
            self.send(packet(line, 3, session, 0, *messages), streams)
            self.expected[line] += [f"D {line} 0 R{line}    {100 + i} 0" for i in group] * len(streams)
        self.now_ns += 1_000_000

    def quotes(self, line, session, ids):
        """Returns the next number."""
        number = BEFORE_FIRST + 1
        lost = 0  # consecutive numbers that neither stream carries
        while number <= BEFORE_FIRST + 600:
            self.now_ns += 50_000
            sizes = [self.random.randint(1, 3) for _ in range(self.random.randint(1, 4))]
            fate = self.random.choices(["AB", "A", "B", "", "hole", "bad"], [60, 12, 12, 8, 8, 8])[0]
            if fate == "bad":
                sizes[0] = 3
                self.now_ns += 20_000_000  # nothing is held any more
            # A bad message behind a hole would be declared lost before the hole.
            if not self.loses or (fate == "bad" and lost):
                fate = "AB"
            payload = b""
            for place, size in enumerate(sizes):
                series = [self.random.randrange(40) for _ in range(size)]
                rows = [f"Q {line} {number + i} R{line}    {100 + each} {self.now_ns + i}"
                        for i, each in enumerate(series)]
                messages = [message("Q", ids[each], struct.pack("<q4I", self.now_ns + i, 100, 1, 110, 2))
                            for i, each in enumerate(series)]
                if fate == "" or (fate == "hole" and place == 1):
                    lost += size
                    number += size
                    continue
                self.close_gap(line, session, number, lost)
                lost = 0
                if fate == "bad" and place == 0:
                    messages[1], rows[1] = BAD, f"gap {line} {number + 1} {number + 1} 1"
                payload += packet(line, 3, session, number, *messages)
                self.expected[line] += rows
                number += size
            if payload:
                self.send(payload, fate if fate in ("A", "B") else "AB")
        self.close_gap(line, session, number, lost)
        return number

    def close_gap(self, line, session, number, lost):
        if lost:
            self.expected[line].append(f"gap {line} {number - lost} {number - 1} {lost}")
            self.lost_in_last_session += lost if session == 2 else 0

    def send(self, payload, streams):
        for stream in streams:
            late_ns = 0 if stream == "A" else 300_000
            self.frames.append((self.now_ns + late_ns, stream, payload))

    def records(self):
        return [(time_ns, frame(payload, stream))
                for time_ns, stream, payload in sorted(self.frames, key=lambda each: each[0])]


# The checks


def by_session(rows):
    """(how many sessions have begun, row)."""
    begun = 0
    for row in rows:
        begun += row[0] == "S"
        yield begun, row


def rows_of(folder, core):
    return (folder / f"tally.{core}").read_text().splitlines()


def check_delivery(folder, traffic):
    """Each message is delivered once, in order, to one core, and each copy of a message without a number. Gaps and
    sessions are delivered exactly, to every core."""
    for line in (1, 2):
        wanted = list(by_session(traffic.expected[line]))
        shared = [row for row in wanted if row[1][0] not in "DQ"]
        expect(sum(row.startswith("gap") for _, row in shared) > 40, "few gaps: the test shows little")
        found = []
        for core in ("core0", "core1"):
            rows = list(by_session(row for row in rows_of(folder, core) if row.split()[1] == str(line)))
            numbers = [(session, int(row.split()[2])) for session, row in rows if row[0] != "D"]
            expect(numbers == sorted(numbers), f"line {line}, {core}: not in order")
            received = [row for row in rows if row[1][0] not in "DQ"]
            expect(received == shared, f"line {line}, {core}: {received[:5]} expected {shared[:5]}")
            found += [row for row in rows if row[1][0] in "DQ"]
        wanted = sorted(row for row in wanted if row[1][0] in "DQ")
        expect(sorted(found) == wanted,
               f"line {line}: {len(found)} messages, expected {len(wanted)}; "
               f"{sorted(set(wanted) - set(found))[:3]} missing, {sorted(set(found) - set(wanted))[:3]} too much")
    return sum(row[0] == "Q" for rows in traffic.expected.values() for row in rows)


def replay(pinstrike, folder, traffic):
    capture, config, account = folder / "toy.pcap", folder / "replay.yaml", folder / "account.json"
    captures.pcap(capture, traffic.records())
    config.write_text(LINES + f"ports: [{{name: captures, kind: pcap, files: [{capture}]}}]\n"
                      f"tally: {{capacity: 100000, file: {folder}/tally}}\n")
    done = subprocess.run([pinstrike, "replay", capture, "--config", config, "--account", account],
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"replay: status {done.returncode}\n{done.stdout}{done.stderr}")
    quotes = check_delivery(folder, traffic)
    rows = json.loads(account.read_text())["cores"]
    expect(sum(core["tallied_quotes"] for core in rows) == quotes, f"account rows: {rows}")
    return quotes


def refuse_two_pollers(pinstrike, folder):
    """Lines that share a group have one poller."""
    config = folder / "two_pollers.yaml"
    config.write_text(LINES.replace("  - {name: poller0, wait: park}\n",
                                    "  - {name: poller0, wait: park, lines: [1]}\n"
                                    "  - {name: poller1, wait: park, lines: [2]}\n")
                      + "ports: [{name: captures, kind: pcap, files: [a.pcap]}]\n")
    done = subprocess.run([pinstrike, "check", "--config-only", config], capture_output=True,
                          text=True, check=False)
    wanted = "found line 2, which shares 224.1.1.1:5001 with line 1 of pollers[0]"
    expect(done.returncode == 78 and wanted in done.stderr, f"two pollers: {done.returncode} {done.stderr}")


def said(command, *words):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    for word in words:
        expect(word in done.stdout, f"{command}: no {word} in\n{done.stdout[-3000:]}")
    return done.stdout


class Instance:
    """One `run` on the toy port, with a peer."""

    def __init__(self, pinstrike, folder, name, frames, listen, connect):
        self.metrics = free_port()
        config = folder / f"{name}.yaml"
        config.write_text(LINES + f"""
ports:
  - {{name: frames, kind: frames, frames: [{frames}]}}
metrics_address: 127.0.0.1:{self.metrics}
history: {{keep: 20s, memory: 16MiB}}
recovery: {{sources: [peer]}}
peer: {{listen: "127.0.0.1:{listen}", connect: ["127.0.0.1:{connect}"], secret_file: {folder}/secret,
        state: true, state_within: 5s}}
tally: {{capacity: 100000}}
""")
        self.config = config
        self.log = open(folder / f"{name}.log", "w", encoding="utf-8")
        self.process = subprocess.Popen([pinstrike, "run", config, "--no-view"], stdout=self.log,
                                        stderr=self.log)

    def figure(self, name):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=5) as page:
                text = page.read().decode()
        except OSError:
            return None
        rows = [line for line in text.splitlines() if line.startswith(name)]
        return sum(float(line.rsplit(" ", 1)[1]) for line in rows) if rows else None

    def said(self):
        return Path(self.log.name).read_text(encoding="utf-8")

    def wait_until(self, holds, what):
        deadline = time.monotonic() + 60
        while not holds():
            if time.monotonic() > deadline or self.process.poll() is not None:
                fail(f"{what()}\n{self.said()[-3000:]}")
            time.sleep(0.2)

    def wait_for(self, name, wanted):
        self.wait_until(lambda: self.figure(name) == wanted,
                        lambda: f"{name} is {self.figure(name)}, expected {wanted}")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=30)
        self.log.close()


def write_frames(path, records):
    with open(path, "wb") as file:
        for _, data in records:
            file.write(struct.pack("<H", len(data)) + data)
    return path


def repair(pinstrike, folder, traffic):
    """What both streams lose comes from a peer, whose copy lost nothing. Of a session that has ended,
    what has not come yet stays lost."""
    whole = Traffic(SEED, loses=False)
    lossy = write_frames(folder / "lossy", traffic.records())
    kept = write_frames(folder / "kept", whole.records())
    ports = (free_port(), free_port())
    lost = sum(int(row.split()[4]) for rows in traffic.expected.values() for row in rows
               if row.startswith("gap"))
    lost_in_last = traffic.lost_in_last_session
    repaired_name, lost_name = "pinstrike_line_repaired_messages_total", "pinstrike_line_lost_messages"
    giver = Instance(pinstrike, folder, "giver", kept, *ports)
    taker = None
    try:
        giver.wait_for("pinstrike_tally_quotes_messages_total",
                       sum(row[0] == "Q" for rows in whole.expected.values() for row in rows))
        taker = Instance(pinstrike, folder, "taker", lossy, ports[1], ports[0])
        taker.wait_until(lambda: (taker.figure(repaired_name) or 0) >= lost_in_last,
                         lambda: f"{taker.figure(repaired_name)} repaired of {lost_in_last}")
        time.sleep(1)
        repaired, left = taker.figure(repaired_name), taker.figure(lost_name)
        expect(repaired + left == lost, f"{repaired} repaired, {left} lost; neither stream had {lost}")
    finally:
        giver.stop()
        if taker is not None:
            taker.stop()
    return int(repaired)


def run(pinstrike, folder, traffic, quotes):
    """The counter in /metrics, and the state that a second instance takes from the first."""
    write_frames(folder / "frames", traffic.records())
    (folder / "nothing").touch()
    secret = folder / "secret"
    secret.write_text("5a" * 32)
    secret.chmod(0o600)
    ports = (free_port(), free_port())
    counter = "pinstrike_tally_quotes"
    first = Instance(pinstrike, folder, "first", folder / "frames", *ports)
    second = None
    try:
        first.wait_for(counter, quotes)
        # While it tries to take state itself, it has none to give.
        first.wait_until(lambda: "peer_state_" in first.said(), lambda: "takes state for ever")
        second = Instance(pinstrike, folder, "second", folder / "nothing", ports[1], ports[0])
        second.wait_for("pinstrike_tally_taken_quotes", quotes)
    finally:
        first.stop()
        if second is not None:
            second.stop()
    return first.config


def main():
    kept = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(prefix="pinstrike-growth-") as scratch:
        tree = kept or Path(scratch) / "tree"
        tree.mkdir(parents=True, exist_ok=True)
        folder = Path(scratch)
        grow(tree)
        check_changes(tree)
        pinstrike = build(tree)
        traffic = Traffic(SEED)
        quotes = replay(pinstrike, folder, traffic)
        refuse_two_pollers(pinstrike, folder)
        config = run(pinstrike, folder, traffic, quotes)
        repaired = repair(pinstrike, folder, traffic)
        said([pinstrike, "explain", "tally.capacity"], "Events that a tally keeps.")
        said([pinstrike, "explain", "pinstrike_tally_quotes_messages_total"], "quotes that came")
        said([pinstrike, "check", "--schema"], '"tally"', "Events that a tally keeps.", '"frames"', '"toy"')
        said([pinstrike, "check", config], "actors tally; 6.1 MiB", "kind: frames", "kind: toy")
        print(f"growth: {quotes} quotes of the toy venue, each delivered once and in order; gaps exact; "
              f"{repaired} messages repaired by a peer")


if __name__ == "__main__":
    main()
