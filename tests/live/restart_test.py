#!/usr/bin/env python3
"""A feed that records is killed during the day, and starts again without a peer.

    restart_test.py PINSTRIKE SCENARIO

whole: SIGKILL ends the feed while messages come, and it starts again. Its books take the recorded state, while messages
come. At the end they equal a replay of the whole recording, in which the messages between the two runs are a gap,
and the account states that gap. no_peer: the same, after it has asked in vain for the state of a peer. damaged: the
last snapshot is damaged, so that the one before is taken. damaged_chunk: of the packets since the last snapshot a part
is damaged; the log states how many messages it lacks, and the books equal those of a replay all the same. at_snapshot:
it is killed when a snapshot is complete, whose last packets are not on disk yet; all series of the snapshot come back,
and what is fresh at the end is true. no_packets: the segments were removed, but not the snapshots; this is a failure
and counts as one. yesterday: the snapshots are of another trade date; nothing
is taken, and the log says so. off: the config turns it off.
"""

import collections
import json
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import live
from instance import Instance, finish, secret, wait_for

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "commands"))
from recording_kills import crc32c  # noqa: E402 pylint: disable=wrong-import-position

CONFIG = """
name: live
kind: opra
lines: 1-4
ports: [{{name: wire0, kind: uring, interface: receiver}}]
pollers: [{{name: poller0, lines: 1-2, wait: park}}, {{name: poller1, lines: 3-4, wait: park}}]
cores: [{{name: core0, wait: park}}, {{name: core1, wait: park}}]
arbitration: {{window: 5s, hold: 64MiB}}
book: {{series_capacity: 100000}}
record: {{folder: {folder}, segment: 16MiB, free: 0B, snapshot_interval: 8s{more}}}
metrics_address: 127.0.0.1:9464
"""
PEER = """
recovery: {{sources: [peer]}}
history: {{keep: 20s, memory: 64MiB}}
peer: {{connect: ["10.92.0.2:9470"], secret_file: {secret}, state: true, state_within: 2s}}
"""
SECONDS, RATE = 48, 10000  # two snapshots take 16 s, and the restart some 2 s, on a busy machine much more
TRAFFIC = ["--lines", "1-4", "--messages", str(RATE * SECONDS), "--rate", str(RATE), "--series",
           "20000", "--roots", "200"]


def kill(feed):
    """Like `kill -9` of the program itself, because `ip netns exec` becomes the program."""
    feed.process.send_signal(signal.SIGKILL)
    live.expect(feed.process.wait(timeout=live.PATIENCE_S) == -signal.SIGKILL, "it ended another way")


def damage(path):
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle:middle + 64] = bytes(64)
    path.write_bytes(content)


def chunks_since(folder, begin_ns):
    """(segment, offset) of the chunks on disk that begin after this time, by the indexes."""
    for index in sorted(folder.glob("*.index")):
        content, at = index.read_bytes(), 16
        while at + 8 <= len(content):
            size, _ = struct.unpack_from("<II", content, at)
            if at + 8 + size > len(content):
                break
            offset, first_ns = struct.unpack_from("<Q24xq", content, at + 8)
            if first_ns > begin_ns:
                yield index.with_suffix(""), offset
            at += 8 + size


def chunks_since_snapshot(folder):
    """Since the last one was complete."""
    return chunks_since(folder, max(folder.glob("STATE-*.state")).stat().st_mtime_ns)


def is_on_disk(folder):
    """That all packets of the last snapshot are, and some more: each poller's chunks are written in their order."""
    chunks = collections.Counter(segment.name.split("-")[0] for segment, _ in chunks_since_snapshot(folder))
    return len(chunks) == 2 and min(chunks.values()) >= 2


def make_old(folder):
    """The snapshots get the trade date of another day (feed/recording/README.md has the bytes)."""
    for path in folder.glob("STATE-*.state"):
        content = bytearray(path.read_bytes())
        struct.pack_into("<I", content, 16, struct.unpack_from("<I", content, 16)[0] - 1)
        struct.pack_into("<I", content, 60, crc32c(content[:60]))
        path.write_bytes(content)


def said(feed, code):
    """The text of the log entry; fails after a while without one."""
    wait_for(lambda: code in feed.said(), lambda: f"no {code}: {feed.tail()}")
    return next(line for line in feed.said().splitlines() if code in line)


def replayed(feed, folder, status=0):
    """The book and the account of a replay of the whole recording."""
    book, account = feed.here / "replay.book.json", feed.here / "replay.json"
    done = subprocess.run([feed.pinstrike, "replay", folder, "--config", feed.file("yaml"), "--book", book,
                           "--account", account], capture_output=True, text=True, check=False, timeout=300)
    live.expect(done.returncode == status, f"replay: {done.stderr}")
    return book.read_text().splitlines(), live.read_json(account)


def compare(feed, folder, lacking):
    """`lacking`: messages that the recording lacked between the snapshot and its end; None: it is not damaged."""
    book, account = replayed(feed, folder, 0 if lacking is None else 1)
    lacking = lacking or 0
    own = feed.file("book.json").read_text().splitlines()
    different = [pair for pair in zip(own, book) if pair[0] != pair[1]]
    live.expect(len(own) == len(book) and not different,
                f"{len(own)} series, {len(book)} in the replay; {len(different)} differ: {different[:3]}")
    missed = {line["line"]: line["missed_before_start"] for line in feed.account()["lines"]}
    lost = {line["line"]: line["lost"] for line in account["lines"]}
    live.expect(sum(lost.values()) == sum(missed.values()) + lacking and (lacking or missed == lost),
                f"missed {missed}, lacking {lacking}, but the replay lost {lost}")
    live.shows(all(missed.values()), f"nothing was missed on a line: {missed}")
    stale = sum(row.count('"stale"') for row in own)
    return len(own), stale, sum(missed.values())


def compare_fresh(feed):
    """What is fresh at the end is as the generator says."""
    def rows(path):
        return {tuple(row[key] for key in ("symbol", "expiration", "right", "strike", "line")): row
                for row in map(json.loads, path.read_text().splitlines())}

    own, truth = rows(feed.file("book.json")), rows(feed.file("truth.book.json"))
    stale = 0
    for key, row in own.items():
        for side in ("bid", "offer"):
            fresh = row[side + "_state"] == "fresh"
            stale += not fresh
            live.expect(not fresh or row["best_" + side] == truth[key]["best_" + side], f"{row} {truth[key]}")
        live.expect(row["quotes"] <= truth[key]["quotes"] and row["trades"] <= truth[key]["trades"], f"{row}")
    # without those that had messages between both runs only
    live.expect(len(own) > 0.9 * len(truth), f"{len(own)} of {len(truth)} series")
    return len(own), stale, sum(line.get("missed_before_start", 0) for line in feed.account()["lines"])


def series_of(folder, pinstrike):
    """Series in the newest snapshot, which also has a place of each line and core."""
    done = subprocess.run([pinstrike, "record", "ls", folder, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["snapshots"][-1]["records"] - 4 * 2


def metric(feed, name):
    values = re.findall(rf"^pinstrike_recorder_{name}{{\S* (\S+)$", feed.metrics(), re.M)
    return sum(map(float, values))


def expect_metrics(feed, **wanted):
    found = {name: metric(feed, name) for name in wanted}
    live.expect(found == wanted, f"metrics {found}, expected {wanted}")


def recovered(feed, folder, generator, least=None, lacks=False):
    row = said(feed, "state_recovered")
    lacking = re.search(r"; (\d+) messages since its snapshot are missing in it, and 1 parts of it are damaged", row)
    live.expect(bool(lacking) == lacks, row)
    (series,) = re.search(r"states of (\d+) series taken in ", row).groups()
    live.shows(generator.poll() is None, f"the traffic ended before: {row}")
    finish(generator)
    feed.wait_for_the_days_end(feed.truth())
    expect_metrics(feed, recovery_succeeded=1, recovery_failed=0, recovered_series=int(series))
    missed = metric(feed, "missed_before_start_messages")
    feed.stop()
    live.expect(missed == sum(line.get("missed_before_start", 0) for line in feed.account()["lines"]), f"{missed}")
    live.expect(int(series) == feed.account()["recording"]["recovered_series"], row)
    live.shows(feed.account()["recording"]["not_recorded"] == 0, "the disk was too slow for the recording")
    lacking = int(lacking[1]) if lacks else None
    count, stale, missed = compare_fresh(feed) if least else compare(feed, folder, lacking)
    live.expect(least is None or int(series) >= least, f"{least} series were in the snapshot: {row}")
    print(f"{row}\n{count} series at the end, {stale} sides stale, {missed} messages missed")


def not_recovered(feed):
    time.sleep(1)
    feed.stop()
    live.expect(feed.account()["balanced"] and feed.account()["recording"]["recovered_series"] == 0, "state was taken")
    live.expect(not any("missed_before_start" in line for line in feed.account()["lines"]), "a gap is stated")
    print("nothing was taken, and the account balances")


def main():
    pinstrike, scenario = sys.argv[1:3]
    feed = Instance("a", live.folder(), pinstrike)
    folder = feed.here / "record"
    text = CONFIG.format(folder=folder, more=", recover: false" if scenario == "off" else "")
    if scenario == "no_peer":
        text += PEER.format(secret=secret(feed.here / "secret"))
    feed.run(text)
    generator = feed.generate(traffic=TRAFFIC)
    wait_for(lambda: len(list(folder.glob("STATE-*.state"))) >= 2, lambda: f"too few snapshots: {feed.tail()}")
    if scenario != "at_snapshot":
        wait_for(lambda: is_on_disk(folder), lambda: f"the packets of the snapshot are not on disk: {feed.tail()}")
    kill(feed)
    if scenario != "at_snapshot":
        live.shows(is_on_disk(folder), "another snapshot was completed just before the end")
    if scenario == "damaged":
        damage(max(folder.glob("STATE-*.state")))
    elif scenario == "damaged_chunk":
        segment, offset = next(chunks_since_snapshot(folder))
        with open(segment, "r+b") as file:
            file.seek(offset + 4096)
            file.write(bytes(64))
    elif scenario == "no_packets":
        for path in folder.glob("*.pcapng*"):
            path.unlink()
    elif scenario == "yesterday":
        make_old(folder)
    least = series_of(folder, pinstrike) if scenario == "at_snapshot" else None
    feed.run(text)
    if scenario in ("whole", "no_peer", "damaged", "damaged_chunk", "at_snapshot"):
        recovered(feed, folder, generator, least, scenario == "damaged_chunk")
    elif scenario == "no_packets":
        live.expect("has no recorded packet" in said(feed, "state_unrecovered"), "another reason")
        expect_metrics(feed, recovery_succeeded=0, recovery_failed=1, recovered_series=0)
        not_recovered(feed)
    elif scenario == "yesterday":
        live.expect("no whole snapshot of the trade date" in said(feed, "state_recovered"), "another reason")
        not_recovered(feed)
    else:
        time.sleep(2)
        live.expect("state_recovered" not in feed.said(), feed.tail())
        not_recovered(feed)


if __name__ == "__main__":
    main()
