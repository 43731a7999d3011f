#!/usr/bin/env python3
"""Captures in the formats of the field: `decode` and `replay` of the same 21 blocks of line 4.

    field_captures_test.py PINSTRIKE

Link layers, tags of switches and tunnels; unusable packets, and the reports about them;
wrong times; groups and checksums that the config must allow.
"""

import json
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import captures
from captures import datagram, ethernet, gre, ipv4, pcap, udp

PINSTRIKE = sys.argv[1]
CONFIG = """\
lines: {lines}
ports: [{ports}]
pollers: [{{name: p0, lines: all, wait: park}}]
cores: [{{name: c0, wait: park}}]
book: {{series_capacity: 10000}}
"""
OWN_LINE = "[{number: 4, a: 239.1.4.4:31004, b: 239.2.4.4:31004}]"


class FieldCaptures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def capture(self, frames, **options):
        """A capture of (time, bytes) pairs."""
        path = self.folder / f"{len(list(self.folder.iterdir()))}.pcap"
        pcap(path, frames, **options)
        return path

    def config(self, lines="1-4", ports="{name: nic, kind: uring, interface: lo}"):
        path = self.folder / "feed.yaml"
        path.write_text(CONFIG.format(lines=lines, ports=ports))
        return path

    def run_it(self, *arguments, status=0):
        done = subprocess.run([PINSTRIKE, *map(str, arguments)], capture_output=True, text=True,
                              check=False, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def decode(self, path, *options, status=0):
        """The messages, and the standard error."""
        done = self.run_it("decode", path, "--json", *options, status=status)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def replay(self, path, *options, status=0):
        """The account, and the standard error."""
        account = self.folder / "account.json"
        done = self.run_it("replay", path, "--account", account, *options, status=status)
        return json.loads(account.read_text()), done.stderr

    def replayed(self, path, *options, status=0):
        """The delivered messages, and drops by reason."""
        account, _ = self.replay(path, *options, status=status)
        self.assertTrue(account["balanced"])
        drops = {reason: count for reason, count in account["ports"][0]["dropped"].items() if count}
        return sum(line["delivered"] for line in account["lines"]), drops

    def expect_all(self, path, duplicates=0):
        messages, text = self.decode(path)
        self.assertEqual(text, "")
        self.assertEqual(len(messages), 41 + duplicates + (duplicates > 0))
        self.assertEqual({(each["line"], each["stream"]) for each in messages}, {(4, "A")})
        self.assertEqual(self.replayed(path), (40, {}))
        account, _ = self.replay(path)
        line = next(line for line in account["lines"] if line["line"] == 4)
        self.assertEqual(line["streams"]["A"]["duplicate"], duplicates)

    def test_link_layers(self):
        packets = [(t, datagram(payload)) for t, payload in captures.traffic()]

        def cooked(packet, kind, tag=b""):
            return struct.pack(">HHH8sH", 0, 1, 6, bytes(8), kind) + tag + packet

        def cooked_2(packet, direction):
            return struct.pack(">HHIHBB8s", 0x0800, 0, direction, 1, 2, 6, bytes(8)) + packet

        trailer = struct.pack(">IIIBHB", 0x12345678, 1, 2, 1, 2, 3) + b"\1\2\3\4"
        for name, frames, options in (
                ("Linux cooked", [(t, cooked(p, 0x0800)) for t, p in packets], {"link": 113}),
                ("Linux cooked, tagged",
                 [(t, cooked(p, 0x8100, b"\0\x64\x08\0")) for t, p in packets], {"link": 113}),
                ("raw IP", packets, {"link": 101}),
                ("QinQ", [(t, ethernet(p, b"\x88\xa8\0\x64\x81\0\0\7")) for t, p in packets], {}),
                ("trailer and FCS", [(t, ethernet(p) + trailer) for t, p in packets], {}),
                ("IP options", [(t, ethernet(datagram(payload, options=b"\x94\x04\0\0")))
                                for t, payload in captures.traffic()], {}),
                ("big endian", [(t, ethernet(p)) for t, p in packets], {"order": ">"}),
                ("FCS length in the link type", [(t, ethernet(p)) for t, p in packets],
                 {"link": 0xF4000001})):
            with self.subTest(name):
                self.expect_all(self.capture(frames, **options))
        with self.subTest("Linux cooked 2, each packet on its way in and out"):
            frames = [record for t, p in packets
                      for record in ((t, cooked_2(p, 3)), (t + 900, cooked_2(p, 4)))]
            self.expect_all(self.capture(frames, link=276), duplicates=40)

    def test_pcapng(self):
        frames = [(t, ethernet(datagram(payload))) for t, payload in captures.traffic()]
        offset_s = 1_700_000_000
        in_ns = (captures.pcapng_option(9, b"\x09")
                 + captures.pcapng_option(14, struct.pack("<q", offset_s)))
        for name, interface, packets in (
                ("an offset of time", captures.pcapng_interface(options=in_ns),
                 [captures.pcapng_packet(0, t - offset_s * 10**9, frame) for t, frame in frames]),
                ("simple packets", captures.pcapng_interface(),
                 [captures.pcapng_simple_packet(frame) for _, frame in frames])):
            with self.subTest(name):
                path = self.folder / "it.pcapng"
                path.write_bytes(captures.pcapng_section() + interface + b"".join(packets))
                self.expect_all(path)

    def test_tags_and_tunnels_of_switches(self):
        packets = [(t, datagram(payload)) for t, payload in captures.traffic()]
        tags = {
            "timestamp of 64 bits": "d28b 0001 0010 6554d5e8 00000007",
            "timestamp of 48 bits": "d28b 0001 0020 d5e8 00000007",
            "timestamp of 48 bits in TAI": "d28b 0001 0120 d5e8 00000007",
            "Cisco metadata": "8909 0101 0001 000a",
            "802.1BR": "893f e000 0100 0000",
            "VN-Tag": "8926 0001 0002",
            "0x9200": "9200 0064",
        }
        for name, tag in tags.items():
            with self.subTest(name):
                self.expect_all(self.capture(
                    [(t, ethernet(p, bytes.fromhex(tag))) for t, p in packets]))
        sequence = bytes(4)
        tunnels = {
            "GRE with IPv4": lambda p: gre(p, captures.IPV4),
            "GRE with Ethernet": lambda p: gre(ethernet(p), captures.ETHERNET),
            "ERSPAN I": lambda p: gre(ethernet(p), captures.ERSPAN),
            "ERSPAN II": lambda p: gre(ethernet(p), captures.ERSPAN, 0x1000,
                                       sequence + b"\x10\x01" + bytes(6)),
            "ERSPAN III": lambda p: gre(ethernet(p), captures.ERSPAN_3, 0x1000,
                                        sequence + b"\x20\x01" + bytes(10)),
        }
        for name, tunnel in tunnels.items():
            with self.subTest(name):
                self.expect_all(self.capture([(t, tunnel(p)) for t, p in packets]))

    def test_a_late_stream_and_one_from_a_clock_ahead(self):
        lost = {10, 20, 21, 50, 80}
        for skew_ns in (50_000_000, 37 * 10**9):
            blocks = captures.traffic(100)
            records = [(t, ethernet(datagram(payload)))
                       for i, (t, payload) in enumerate(blocks) if i not in lost]
            records += [(t + skew_ns, ethernet(datagram(payload, "B"))) for t, payload in blocks]
            account, _ = self.replay(self.capture(sorted(records, key=lambda record: record[0])))
            line = next(line for line in account["lines"] if line["line"] == 4)
            self.assertEqual((line["delivered"], line["lost"], line["gaps"]), (200, 0, []))
            streams = line["streams"]
            self.assertEqual((streams["A"]["accepted"], streams["B"]["accepted"],
                              streams["B"]["duplicate"]), (190, 10, 190))

    def book(self, messages):
        """The quotes by (symbol, strike)."""
        path = self.capture([
            (captures.START_NS + i * 1000,
             ethernet(datagram(captures.block([message], 1 + i, captures.START_NS + i * 1000))))
            for i, message in enumerate(messages)])
        book = self.folder / "book.json"
        self.replay(path, "--book", book)
        rows = [json.loads(line) for line in book.read_text().splitlines()]
        return {(row["symbol"], row["strike"]): row["quotes"] for row in rows}

    def test_strikes_and_roots(self):
        long = captures.long_quote
        self.assertEqual(
            self.book([long("NDX", "A", 999999), long("NDX", "B", 9999990),
                       long("NDX", "C", 99999900), long("BIG", "I", 99999999),
                       long("BIG", "A", 99999999), long("BRKA", "B", 75000000),
                       long("BRKA", "A", 7500000), long("BRKA", "I", 750000),
                       long("ZERO", "A", 0), long("NEG", "B", -250),
                       long("MAXI", "I", 2**31 - 1), long("MAXH", "H", 12345678)]),
            {("BRKA", "750000"): 3, ("NDX", "99999.9"): 3, ("BIG", "9999999.9"): 1,
             ("BIG", "99999999"): 1, ("NEG", "-2.5"): 1, ("ZERO", "0"): 1,
             ("MAXH", "0.12345678"): 1, ("MAXI", "2147483647"): 1})
        symbols = ["SPX", "SPXW", "BRKB", "AAPL1", "2QQQ", "SPY7", "BRK.B", "BRK/B", "aapl"]
        quotes = [captures.short_quote(each) if len(each) < 5 else long(each) for each in symbols]
        found = self.book(quotes + [long("SPXW", "A", 45000)])
        self.assertEqual(sorted(found), sorted(
            [(each, "450" if len(each) < 5 else "4500") for each in symbols] + [("SPXW", "4500")]))

    def test_what_decode_passes_over_is_counted(self):
        packets = [(t, datagram(payload)) for t, payload in captures.traffic()]
        short = self.capture([(t, ethernet(p)[:96], len(ethernet(p))) for t, p in packets],
                             snapshot_bytes=96)
        messages, text = self.decode(short, status=1)
        self.assertEqual(len(messages), 1)
        self.assertIn("20 of 21 packets hold no block: ip_truncated 20 (", text)
        halves = []
        for t, payload in captures.traffic():
            whole = udp(payload)
            for offset, part in ((0, whole[:40]), (40, whole[40:])):
                more = 0x2000 if offset == 0 else 0
                halves.append((t, ethernet(ipv4(part, fragment=more | offset // 8))))
        messages, text = self.decode(self.capture(halves), status=1)
        self.assertEqual(messages, [])
        self.assertIn("42 of 42 packets hold no block: fragment 42 (", text)
        mixed = self.capture([(1, bytes(12) + b"\x08\x06" + bytes(28)), (2, ethernet(packets[1][1])),
                              (3, ethernet(ipv4(bytes(20), 6)))])
        messages, text = self.decode(mixed)
        self.assertEqual(len(messages), 2)
        self.assertIn("2 of 3 packets hold no block: arp 1, not_udp 1 (an ARP frame)", text)

    def test_groups_that_are_no_lines_are_named(self):
        relayed = self.capture([
            (t, ethernet(ipv4(udp(payload, 31004), group=(239, 1, 4, 4))))
            for t, payload in captures.traffic()])
        account, text = self.replay(relayed, status=1)
        self.assertIn("239.1.4.4:31004 from 162.69.44.4, 21 packets", text)
        self.assertEqual(account["ports"][0]["unknown_groups"],
                         [{"group": "239.1.4.4", "port": 31004, "from": "162.69.44.4",
                           "packets": 21}])
        messages, text = self.decode(relayed, status=1)
        self.assertEqual({each["line"] for each in messages}, {0})
        self.assertIn("21 of 21 packets are on groups of no line: 239.1.4.4:31004 from "
                      "162.69.44.4, 21 packets", text)
        own = self.config(lines=OWN_LINE)
        self.assertEqual(self.replayed(relayed, "--config", own), (40, {}))
        messages, text = self.decode(relayed, "--config", own)
        self.assertEqual(({(each["line"], each["stream"]) for each in messages}, text),
                         ({(4, "A")}, ""))
        wrong = self.folder / "wrong.yaml"
        wrong.write_text("lines: 1-4\n")
        self.assertIn("wrong.yaml", self.run_it("decode", relayed, "--config", wrong,
                                                status=78).stderr)

    def test_ctl_names_the_groups(self):
        relayed = self.capture([
            (t, ethernet(ipv4(udp(payload, 31004), group=(239, 1, 4, 4))))
            for t, payload in captures.traffic(6000, 10_000_000)])
        config = self.config(ports=f"{{name: nic, kind: pcap, files: [{relayed}], pace: real}}")
        socket = self.folder / "admin"
        with subprocess.Popen([PINSTRIKE, "run", config, "--admin", socket],
                              stderr=subprocess.DEVNULL) as instance:
            try:
                end = time.monotonic() + 120
                text = ""
                while "unknown group 239.1.4.4:31004 from 162.69.44.4: " not in text:
                    self.assertLess(time.monotonic(), end, text)
                    time.sleep(0.2)
                    text = subprocess.run([PINSTRIKE, "ctl", socket, "ports"], capture_output=True,
                                          text=True, check=False, timeout=120).stdout
            finally:
                instance.terminate()

    def test_checksums_that_the_sender_left_to_its_nic(self):
        wrong = self.capture([(t, ethernet(ipv4(udp(payload, checksum=0x1111
                                                    ^ captures.udp_checksum(payload)))))
                              for t, payload in captures.traffic()])
        self.assertEqual(self.replayed(wrong, status=1), (0, {"udp_checksum": 21}))
        self.assertIn("checksum offload", self.replay(wrong, status=1)[1])
        messages, text = self.decode(wrong)
        self.assertEqual(len(messages), 41)
        self.assertIn("21 of 21 packets have a wrong checksum", text)
        nic = "{{name: nic{}, kind: uring, interface: lo, streams: {}, udp_checksum: {}}}"
        off = self.config(ports=nic.format("", "AB", "off"))
        self.assertEqual(self.replayed(wrong, "--config", off), (40, {}))
        text = self.replay(wrong, "--config", off)[1]
        self.assertIn("udp_checksum (off) and sources (all)", text)
        self.assertIn("not used for captures: ports.interface, when_full, silence", text)
        either = self.config(ports=f"{nic.format(1, 'A', 'off')}, {nic.format(2, 'B', 'software')}")
        self.assertIn("not used for captures: ports.interface, ports.streams, when_full, silence",
                      self.replay(wrong, "--config", either, status=1)[1])
        self.assertEqual(self.replayed(wrong, "--config", either, status=1),
                         (0, {"udp_checksum": 21}))

    def test_senders_that_the_config_allows(self):
        good = self.capture([(t, ethernet(datagram(payload)))
                             for t, payload in captures.traffic()])
        nic = "{{name: nic{}, kind: uring, interface: lo, streams: {}, sources: [{}]}}"
        other, own = "192.0.2.0/24", "162.69.44.0/24"
        config = self.config(ports=nic.format("", "AB", other))
        self.assertEqual(self.replayed(good, "--config", config, status=1),
                         (0, {"foreign_source": 21}))
        for second in (own, ""):  # an empty list allows all senders
            config = self.config(
                ports=f"{nic.format(1, 'A', other)}, {nic.format(2, 'B', second)}")
            self.assertEqual(self.replayed(good, "--config", config), (40, {}), second)

    def test_leaps_in_time_are_not_waited_for(self):
        frames = [(t, ethernet(datagram(payload))) for t, payload in captures.traffic()]
        path = self.capture([(0, frames[0][1])] + frames[1:])
        begin = time.monotonic()
        account, text = self.replay(path, "--pace", "real")
        self.assertLess(time.monotonic() - begin, 200)
        self.assertEqual(sum(line["delivered"] for line in account["lines"]), 40)
        self.assertIn("the time of record 2 leaps ahead by 472238.5 hours", text)
        self.assertNotIn("leaps", self.replay(path)[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
