#!/usr/bin/env python3
"""A recorder that is killed again and again: each start finds all that was on disk, and says what is missing.

    recording_kills.py PINSTRIKE [--kills 200] [--seed N]

Starts a feed with a simulated exchange and kills it (SIGKILL) at a random moment, again and again, in one folder. What
is on disk after each kill is read by this script alone: a chunk counts if its head and its checksum are right. After
the next start has repaired the segments, they must have exactly the packets of these chunks.
"""

import argparse
import json
import random
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONFIG = """
name: killed
kind: opra
lines: 1-4
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, lines: 1-2, wait: park}}, {{name: poller1, lines: 3-4, wait: park}}]
cores: [{{name: core0, wait: park}}]
record: {{folder: {folder}, segment: 4MiB, memory: 8MiB, free: 0B, compress: 1, compress_percent: 100}}
book: {{series_capacity: 50000}}
traffic: {{lines_count: 4, roots_count: 100, series_count: 20000, rate_messages_per_second: 300000}}
"""
ALIGNMENT, HEAD, LOCAL_BLOCK, PACKET_BLOCK = 4096, 64, 0x80434850, 6
POLYNOMIAL = 0x82F63B78  # CRC-32C
START_S = 60  # a limit for a start on a busy machine


def crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def packets_in(chunk):
    """Packets in the blocks of a chunk, or in the whole blocks of one that the end of the file cuts."""
    at, packets = 0, 0
    while at + 12 <= len(chunk):
        kind, size = struct.unpack_from("<II", chunk, at)
        if size < 12 or at + size > len(chunk):
            break
        packets += kind == PACKET_BLOCK
        at += size
    return packets


def packets_on_disk(segment):
    data, at, end, packets = segment.read_bytes(), 0, None, 0
    while at + HEAD <= len(data):
        kind, size, magic = struct.unpack_from("<IIQ", data, at)
        if (kind, size, magic & 0xFFFFFFFF) != (LOCAL_BLOCK, HEAD, 0x314B4843):
            at += ALIGNMENT
            continue
        size, checksum, count = struct.unpack_from("<III", data, at + 16)
        chunk = data[at:at + size]
        if len(chunk) < size:  # its whole blocks count if nothing before it is damaged
            return packets + (packets_in(chunk) if end in (None, at) else 0)
        if crc32c(chunk[HEAD:]) == checksum:
            assert packets_in(chunk) == count, (segment, at)
            packets += count
            at += size
            end = at
        else:
            at += ALIGNMENT
    return packets


class Killed:
    def __init__(self, pinstrike, folder):
        self.pinstrike, self.record = pinstrike, folder / "record"
        self.config, self.log = folder / "feed.yaml", folder / "log"
        self.config.write_text(CONFIG.format(folder=self.record))

    def run_and_kill(self, seconds):
        """Kills a run so many seconds after it has begun to write."""
        known = set(self.segments())
        with open(self.log, "w", encoding="utf-8") as log:
            process = subprocess.Popen([self.pinstrike, "run", self.config], stdout=subprocess.DEVNULL, stderr=log)
        try:
            end = time.monotonic() + START_S
            while not set(self.segments()) - known and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(seconds)
        finally:
            process.kill()
            process.wait()

    def segments(self):
        return {path.name: path for path in self.record.glob("*.pcapng")}

    def found(self):
        """Packets of each segment, as the program reads them."""
        done = subprocess.run([self.pinstrike, "record", "ls", self.record, "--json"], capture_output=True, text=True,
                              check=True)
        return {row["segment"].removesuffix(".zst"): row["packets"] for row in json.loads(done.stdout)["segments"]}

    def repair(self):
        """What a start does, and `record verify --repair` as well."""
        done = subprocess.run([self.pinstrike, "record", "verify", self.record, "--repair", "--json"],
                              capture_output=True, text=True, check=False)
        return done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    chosen = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="pinstrike-kills-") as name:
        killed = Killed(options.pinstrike, Path(name))
        known, missing, packets = {}, 0, 0
        for kill in range(options.kills):
            killed.run_and_kill(chosen.uniform(0, 1.5))
            for name, path in killed.segments().items():
                if name not in known:
                    known[name] = packets_on_disk(path)
            said = killed.repair()
            missing += said.count("missing")
            found = killed.found()
            for segment in [segment for segment, count in known.items() if count != found.get(segment, 0)]:
                sys.exit(f"kill {kill}: {segment} had {known[segment]} packets, has {found.get(segment, 0)}: {said}")
            packets += sum(found.values()) if kill % 20 == 19 or kill + 1 == options.kills else 0
            for path in [*killed.record.glob("*")]:  # so that the folder stays small
                if kill % 20 == 19:
                    path.unlink()
            if kill % 20 == 19:
                known.clear()
        print(f"{options.kills} kills: nothing lost that was on disk; {missing} segments were repaired; "
              f"{packets} packets")


if __name__ == "__main__":
    main()
