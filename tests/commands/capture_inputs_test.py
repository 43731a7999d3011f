#!/usr/bin/env python3
"""`replay` and `decode` of captures from the field: link layers, interfaces, many files, compression.

    capture_inputs_test.py PINSTRIKE TESTS_FOLDER

The captures of tests/captures have the same 21 blocks of line 4: a start of day and 20 of 2 quotes.
"""

import gzip
import json
import lzma
import os
import resource
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import captures

PINSTRIKE, CAPTURES = sys.argv[1], Path(sys.argv[2]) / "captures"
RAW = CAPTURES / "big-endian.pcap"

RUN = """\
lines: 4
ports: [{{name: file, kind: pcap, files: [{file}]}}]
pollers: [{{name: poll0, wait: park}}]
cores: [{{name: core0, wait: park}}]
book: {{series_capacity: 1000}}
"""


def rewritten(change):
    """The capture with each frame changed; the lengths on the wire stay."""
    data = RAW.read_bytes()
    out, at = data[:24], 24
    while at < len(data):
        captured, sent = struct.unpack_from(">II", data, at + 8)
        frame = change(data[at + 16:at + 16 + captured])
        out += data[at:at + 8] + struct.pack(">II", len(frame), sent) + frame
        at += 16 + captured
    return out


def run(*words, **options):
    return subprocess.run([PINSTRIKE, *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=120, **options)


class CaptureInputs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="pinstrike-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def replay(self, *files, status=0, **options):
        """The accounts of the port and of line 4, and the standard error."""
        account = self.folder / "account.json"
        account.unlink(missing_ok=True)
        done = run("replay", *files, "--account", account, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        written = json.loads(account.read_text())
        self.assertTrue(written["balanced"])
        line = next(line for line in written["lines"] if line["line"] == 4)
        return written["ports"][0], line, done.stderr

    def decoded(self, *files, status=0):
        done = run("decode", *files, "--json")
        self.assertEqual(done.returncode, status, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertFalse([row for row in rows if "error" in row])
        return len(rows)

    def expect_good(self, *files, blocks=21, copies=1, **options):
        port, line, said = self.replay(*files, **options)
        self.assertEqual(port["packets"], blocks, said)
        self.assertEqual(port["errors"], 0)
        self.assertEqual(sum(port["dropped"].values()), 0, port)
        self.assertEqual((line["delivered"], line["lost"]), (40, 0))
        duplicate = sum(stream["duplicate"] for stream in line["streams"].values())
        self.assertEqual(duplicate, 40 * (copies - 1))
        self.assertNotIn("refused to make", said)
        self.assertNotIn("system_call", said)

    def test_link_layers_tags_and_byte_orders(self):
        for name in ("big-endian.pcap", "fcs-bits-in-link-type.pcap", "options.pcap", "qinq.pcap",
                     "raw.pcap", "simple-blocks.pcapng", "sll-vlan.pcap", "sll.pcap",
                     "trailer-and-fcs.pcap", "tsoffset.pcapng"):
            with self.subTest(name):
                self.expect_good(CAPTURES / name)
                self.assertEqual(self.decoded(CAPTURES / name), 41)
        self.expect_good(CAPTURES / "sll2-both-ways.pcap", blocks=42, copies=2)

    def test_interfaces_of_a_pcapng_differ(self):
        merged = CAPTURES / "merged.pcapng"
        self.expect_good(merged, blocks=42, copies=2)
        _, line, _ = self.replay(merged)
        self.assertEqual([line["streams"][name][count] for name in "AB"
                          for count in ("accepted", "duplicate")], [40, 0, 0, 40])
        done = run("decode", merged, "--json")
        streams = [json.loads(row)["stream"] for row in done.stdout.splitlines()]
        self.assertEqual((streams.count("A"), streams.count("B"), len(streams)), (41, 41, 82))
        port, line, _ = self.replay(CAPTURES / "late.pcapng")
        self.assertEqual((port["packets"], line["delivered"], line["lost"]), (37, 40, 0))

    def test_compressed_captures_and_pipes(self):
        packed = {"x.gz": gzip.compress(RAW.read_bytes()), "x.xz": lzma.compress(RAW.read_bytes())}
        for name, content in packed.items():
            (self.folder / name).write_bytes(content)
            self.expect_good(self.folder / name)
            self.assertEqual(self.decoded(self.folder / name), 41)
        for name in ("-", "/dev/stdin"):
            for content in (RAW.read_bytes(), packed["x.gz"]):
                with self.subTest(name):
                    account = self.folder / "account.json"
                    done = subprocess.run([PINSTRIKE, "replay", name, "--account", account],
                                          input=content, capture_output=True, check=False,
                                          timeout=300)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(json.loads(account.read_text())["ports"][0]["packets"], 21)

    def test_more_captures_than_may_be_open(self):
        """One file per packet: read in order of time, although far fewer files may be open."""
        data = RAW.read_bytes()
        head, at, files = data[:24], 24, []
        folder = self.folder / "many"
        folder.mkdir()
        while at < len(data):
            size = 16 + struct.unpack_from(">I", data, at + 8)[0]
            files.append(head + data[at:at + size])
            at += size
        self.assertEqual(len(files), 21)
        copies = 100  # copies of one block, each in its own file
        for number, content in enumerate(files):
            for copy in range(copies):
                (folder / f"{(number * 7) % 21:02}-{number:02}-{copy:03}.pcap").write_bytes(content)

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

        port, line, said = self.replay(folder, preexec_fn=limit)
        self.assertEqual(port["packets"], 21 * copies, said)
        self.assertEqual((port["errors"], line["delivered"], line["lost"]), (0, 40, 0))
        self.assertNotIn("openat", said)
        self.assertEqual(self.decoded(folder), 41 * copies)

    def one_file_each(self, count):
        """A folder of so many captures of one packet."""
        folder = self.folder / f"files{count}"
        folder.mkdir()
        for number, (time_ns, payload) in enumerate(captures.traffic(count - 1)):
            captures.pcap(folder / f"f{number:05}.pcap",
                          [(time_ns, captures.ethernet(captures.datagram(payload)))])
        return folder

    def test_a_file_each_minute_of_each_group(self):
        """More files than the usual limit of 1,024 open ones. Memory does not grow with them."""
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))

        folder = self.one_file_each(1100)
        port, line, said = self.replay(folder, preexec_fn=limit)
        self.assertEqual((port["packets"], port["errors"]), (1100, 0), said)
        self.assertEqual((line["delivered"], line["lost"]), (2198, 0))
        self.assertEqual(self.decoded(folder), 2199)
        few, many = (self.most_resident_bytes("replay", each)
                     for each in (self.one_file_each(100), folder))
        self.assertLess(many - few, 8 << 20)

    def most_resident_bytes(self, *words):
        # The address sanitizer would keep what was freed.
        options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
        process = subprocess.Popen([PINSTRIKE, *map(str, words)], stderr=subprocess.DEVNULL,
                                   env={**os.environ, "ASAN_OPTIONS": options})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss * 1024

    def test_what_was_not_read_to_its_end_fails(self):
        cut = CAPTURES / "cut.pcap"
        text = "the file ends within record 21, at byte 2738: 92 of its 122 bytes are there"
        port, line, said = self.replay(cut, status=1)
        self.assertEqual((port["packets"], port["errors"], line["delivered"]), (20, 1, 38))
        self.assertIn(text, said.splitlines()[-1])
        done = run("decode", cut, "--json")
        self.assertEqual(done.returncode, 1)
        self.assertIn(text, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 39)
        config = self.folder / "run.yaml"
        config.write_text(RUN.format(file=cut))
        done = run("run", config)
        self.assertEqual(done.returncode, 1)
        self.assertIn(text, done.stderr.splitlines()[-1])
        done = run("latency", "--replay", cut)
        self.assertEqual(done.returncode, 1)
        self.assertIn(text, done.stderr)

    def test_packets_of_lines_that_the_snapshot_length_cut_fail(self):
        for name, change in (("snap", lambda frame: frame),
                             ("tunnel", lambda frame: captures.gre(frame, captures.ETHERNET))):
            cut = self.folder / f"{name}.pcap"
            cut.write_bytes(rewritten(lambda frame, change=change: change(frame)[:96]))
            for command in ("replay", "decode"):
                done = run(command, cut)
                self.assertEqual(done.returncode, 1)
                self.assertIn("the snapshot length of the capture cut 20 packets of lines", done.stderr)

    def test_packets_that_reach_no_line_fail_unless_one_does(self):
        """Those of other protocols alone are no failure, because they were not meant for a line."""
        def of_tcp(frame):
            total = struct.unpack_from(">H", frame, 24)[0] + 17 - 6  # of the IPv4 header
            total = (total & 0xFFFF) + (total >> 16)
            return frame[:23] + b"\x06" + struct.pack(">H", total) + frame[26:]

        def to_port_1(frame):  # without a UDP checksum
            return frame[:36] + b"\x00\x01" + frame[38:40] + b"\x00\x00" + frame[42:]

        for name, status, change in (
                ("arp", 0, lambda frame: frame[:12] + b"\x08\x06" + frame[14:]),
                ("tcp", 0, of_tcp),
                ("unknown-type", 1, lambda frame: frame[:12] + b"\x12\x34" + frame[14:]),
                ("unknown-port", 1, to_port_1)):
            foreign = self.folder / f"{name}.pcap"
            foreign.write_bytes(rewritten(change))
            for command, said in (("replay", "21 packets were read from captures, and none reached"),
                                  ("decode", "none of 21 packets reached a line")):
                with self.subTest(name, command=command):
                    done = run(command, foreign)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertEqual(said in done.stderr.splitlines()[-1], status == 1, done.stderr)
                    self.assertEqual(run(command, foreign, RAW).returncode, 0)

    def test_empty_captures_are_reported_and_fail(self):
        empty = self.folder / "empty.pcap"
        packed = self.folder / "empty.pcap.gz"
        config = self.folder / "run.yaml"
        config.write_text(RUN.format(file=empty))
        empty.touch()
        packed.write_bytes(gzip.compress(b""))
        for path in (empty, packed):
            for words in (["replay"], ["decode"], ["bench", "stages", "--capture"]):
                with self.subTest(path=path, words=words):
                    done = run(*words, path)
                    self.assertEqual((done.returncode, done.stderr.removeprefix("pinstrike: ")),
                                     (1, f"{path}: is empty, a pcap or pcapng file expected\n"))
        done = run("run", config)
        self.assertEqual(done.returncode, 78, done.stderr)
        self.assertIn(f"{empty}: is empty, ", done.stderr)
        for command in ("replay", "decode"):
            for content, text in (("", "standard input is empty, a pcap or pcapng file expected"),
                                  ("no capture", "cannot be read as a capture")):
                done = run(command, "-", input=content)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(text, done.stderr)

    def test_the_time_of_for_is_no_failure(self):
        config = self.folder / "run.yaml"
        config.write_text(RUN.format(file=RAW).replace("kind: pcap", "kind: pcap, pace: x0.001"))
        self.assertEqual(run("run", config, "--for", "500ms").returncode, 0)

    def test_a_folder_without_captures(self):
        for command in ("replay", "decode"):
            done = run(command, self.folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("has no capture", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
