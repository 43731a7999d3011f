#!/usr/bin/env python3
"""`record state` takes of a recording what the feed took.

    record_state_test.py PINSTRIKE
"""

import struct
import subprocess
import sys
import tempfile
import time
import unittest
from datetime import UTC, datetime, timedelta
from pathlib import Path

import captures
from recording_kills import ALIGNMENT, HEAD, LOCAL_BLOCK, crc32c

PINSTRIKE = sys.argv[1]
CONFIG = """
name: {name}
kind: opra
lines: [4]
ports: [{{name: simulator, kind: sim{port}}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}]
arbitration: {{window: 200ms}}
record: {{folder: {folder}, segment: 4MiB, memory: 4MiB, free: 0B}}
book: {{series_capacity: 2000}}
{more}"""
PEER = """recovery: {{sources: [peer]}}
peer: {{connect: ["127.0.0.1:9"], secret_file: {secret}}}
"""
DEADLINE_S = 120  # a limit for hanging processes; a busy machine is slow
MS_NS = 1_000_000
RETRANSMISSION = {"group": (224, 0, 204, 131), "port": 46004}  # line 4, stream A
SERIES_FRAME = 10
STRIKE_UNIT = 10**7  # a strike of short quotes is in tenths, that of a frame in 1e-8


def filler(size):
    return captures.pcapng_block(LOCAL_BLOCK, bytes(size - 12))


def segment_of(packets):
    """A segment of one chunk (feed/recording/README.md has the bytes). Its interfaces play no part here."""
    def interface(name):
        return captures.pcapng_interface(
            options=captures.pcapng_option(2, name) + captures.pcapng_option(9, b"\x09"))

    head = captures.pcapng_section() + interface(b"no line") + interface(b"line 4 A")
    head += filler(ALIGNMENT - len(head))
    content = b"".join(captures.pcapng_packet(1, *packet) for packet in packets)
    content += filler(ALIGNMENT - HEAD - len(content))
    begin = struct.pack("<II4s4xIII28x", LOCAL_BLOCK, HEAD, b"CHK1", ALIGNMENT, crc32c(content), len(packets))
    return head + sealed(begin) + struct.pack("<I", HEAD) + content


def sealed(head):
    return head + struct.pack("<I", crc32c(head))


def series_of(strike, reset_ns, ts_ns):
    """A frame: a series of line 4 with a quote, at the place of the first message."""
    place = struct.pack("<IIqq", 1, 0, reset_ns, ts_ns)
    name = b"SPY  A" + bytes((19, 24))
    body = struct.pack("<QHB", 0, 4, 0) + place + name + struct.pack("<q", strike * STRIKE_UNIT) + bytes(30)
    body += struct.pack("<I", 1)
    return struct.pack("<2sBBI", b"PS", 2, SERIES_FRAME, len(body)) + body


class RecordState(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="pinstrike-record-state-")
        self.addCleanup(holder.cleanup)
        self.here = Path(holder.name)
        self.folder = self.here / "record"
        self.config = self.here / "feed.yaml"
        self.start_ns = time.time_ns() - 10**10
        self.packets = []

    def quote(self, number, strike, group=(224, 0, 204, 4), port=45004, source=(162, 69, 44, 4), checksum=0):
        """A packet whose only message is a quote of the series of this strike."""
        ts_ns = self.start_ns + (len(self.packets) + 9) * MS_NS
        payload = captures.block([captures.short_quote(strike=strike)], number, self.start_ns + number * MS_NS)
        content = captures.udp(payload, port, checksum)
        self.packets.append((ts_ns, captures.ethernet(captures.ipv4(content, source=source, group=group))))

    def write_config(self, name="recorded", port="", more=""):
        self.config.write_text(CONFIG.format(name=name, port=port, folder=self.folder, more=more))

    def pinstrike(self, *words, status=0):
        done = subprocess.run([PINSTRIKE, *map(str, words)], capture_output=True, check=False, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, status, done.stderr.decode()[-4000:])
        return done

    def record(self):
        """All packets are recorded, whatever the feed does with them. A snapshot of empty books comes before."""
        self.folder.mkdir()
        self.path("poller0", "pcapng").write_bytes(segment_of(self.packets))
        self.write_snapshot()
        self.write_config()

    def path(self, name, ending):
        """A file of the time of the first packet."""
        begin = datetime.fromtimestamp(self.start_ns // 10**9, UTC)
        return self.folder / f"{name}-{begin:%Y%m%dT%H%M%S}.{self.start_ns % 10**9:09}Z.{ending}"

    def write_snapshot(self, series=(), feed=b"recorded"):
        """`series`: frames."""
        begin = datetime.fromtimestamp(self.start_ns // 10**9, UTC)
        day = int((begin + timedelta(minutes=40)).strftime("%Y%m%d"))
        content = sealed(struct.pack("<8sqII32s4x", b"PSSTATE1", self.start_ns, day, len(feed), feed))
        for number, frames in enumerate([b"".join(series), b""] if series else [b""]):
            content += sealed(struct.pack("<4sIqIII", b"SCHK", len(frames), self.start_ns, number,
                                          len(series) if frames else 0, crc32c(frames))) + frames
        self.path("STATE", "state").write_bytes(content)

    def state(self):
        """The strikes of the series, and what was said."""
        done = self.pinstrike("record", "state", self.folder, "--config", self.config)
        strikes, at = [], 0
        while at < len(done.stdout):
            _, _, kind, size = struct.unpack_from("<2sBBI", done.stdout, at)
            if kind == SERIES_FRAME:
                strikes.append(struct.unpack_from("<q", done.stdout, at + 8 + 8 + 2 + 1 + 24 + 8)[0] // STRIKE_UNIT)
            at += 8 + size
        return sorted(strikes), done.stderr.decode()

    def test_blocks_that_a_peer_repaired(self):
        for number, strike in ((1, 4500), (2, 4510), (4, 4530)):
            self.quote(number, strike)
        self.quote(3, 4520, **RETRANSMISSION)
        self.quote(5, 4540)
        self.record()
        strikes, said = self.state()
        self.assertEqual(strikes, [4500, 4510, 4530, 4540], "no recovery is configured")
        self.assertIn("; 1 messages since its snapshot are missing", said)
        secret = self.here / "secret"
        secret.write_text("0123456789abcdef0123456789abcdef")
        secret.chmod(0o600)
        self.write_config(more=PEER.format(secret=secret))
        strikes, said = self.state()
        self.assertEqual(strikes, [4500, 4510, 4520, 4530, 4540], said)
        self.assertNotIn("missing", said)

    def test_packets_of_other_senders(self):
        self.quote(1, 4500)
        self.quote(2, 4510, source=(10, 0, 0, 1))
        self.record()
        self.assertEqual(self.state()[0], [4500, 4510])
        self.write_config(port=", sources: [162.69.44.0/24]")
        self.assertEqual(self.state()[0], [4500])

    def test_packets_with_wrong_checksums(self):
        self.quote(1, 4500)
        self.quote(2, 4510, checksum=0x1234)
        self.record()
        self.assertEqual(self.state()[0], [4500])
        self.write_config(port=", udp_checksum: off")
        self.assertEqual(self.state()[0], [4500, 4510])

    def test_series_of_an_earlier_day(self):
        """A series is of the day of its line's last reset, or without one of the last message."""
        for number in range(1, 4):
            self.quote(number, 4500)
        self.record()
        today, yesterday, month_ago = (self.start_ns - days * 86400 * 10**9 for days in (0, 1, 30))
        self.write_snapshot([series_of(4110, today, today), series_of(4120, yesterday, today),
                             series_of(4130, 0, today), series_of(4140, 0, yesterday), series_of(4150, 0, 0),
                             series_of(4160, month_ago, month_ago)])
        strikes, said = self.state()
        self.assertEqual(strikes, [4110, 4130, 4150, 4160, 4500], said)
        self.assertIn("; the states of 2 series are of an earlier day", said)

    def test_a_folder_of_another_feed(self):
        self.quote(1, 4500)
        self.record()
        self.write_config(name="another")
        said = self.pinstrike("record", "state", self.folder, "--config", self.config, status=1).stderr.decode()
        self.assertIn('is of the feed recorded: the folder of a recording can have one feed only', said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
