#!/usr/bin/env python3
"""`pinstrike decode` as a user runs it: equal to the independent decoder, and with correct exit codes.

    decode_test.py PINSTRIKE TESTS_FOLDER

The captures have valid, unusual, damaged and cut blocks, so that the test reaches every rule for what is
printed. For real packets, see real_packets_test.py.
"""

import json
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PINSTRIKE, TESTS = sys.argv[1], Path(sys.argv[2])
sys.path.insert(0, str(TESTS / "independent"))
import opra  # noqa: E402  pylint: disable=wrong-import-position

SEEDS = sorted((TESTS / "fuzz" / "corpus" / "opra_block").iterdir())


def checksummed(block):
    """The block with a correct checksum."""
    size = min(struct.unpack_from(">H", block, 1)[0], len(block))
    total = sum(block[:size]) - block[19] - block[20]
    return block[:19] + struct.pack(">H", total & 0xFFFF) + block[21:]


def frame(payload, group=(224, 0, 206, 4), port=45004, fragment=0, protocol=17, vlan=False):
    udp = struct.pack(">HHHH", port, port, 8 + len(payload), 0) + payload
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, fragment, 9, protocol, 0,
                       bytes((162, 69, 52, 4)), bytes(group))
    tag = b"\x81\x00\x00\x07" if vlan else b""
    return bytes(12) + tag + b"\x08\x00" + head + udp


def capture(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, data in enumerate(frames):
            file.write(struct.pack("<IIII", 1700000000, number, len(data), len(data)) + data)


def decode(*arguments):
    return subprocess.run([PINSTRIKE, "decode", *map(str, arguments)], capture_output=True,
                          check=False, timeout=300)


def objects(done):
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def wordless(rows):
    """Error objects without the text of the reason, which is not specified."""
    return [{**row, "error": "?"} if "error" in row else row for row in rows]


def damaged(block, rng):
    """Changes a random byte, and corrects the checksum two times out of three."""
    at = rng.randrange(len(block))
    bad = block[:at] + bytes(((block[at] + rng.randrange(1, 256)) & 255,)) + block[at + 1:]
    return checksummed(bad) if rng.randrange(3) else bad


def odd_frames(rng):
    """Blocks of every layout in packets of every kind for which decode has a rule."""
    blocks = [seed.read_bytes() for seed in SEEDS]
    for block in blocks:
        yield frame(block)
        yield frame(block, group=(224, 0, 200, 131), port=48004)
        yield frame(checksummed(block[:4] + b"V" + block[5:]), group=(224, 0, 204, 131), port=46004)
        yield frame(checksummed(block[:4] + b"?" + block[5:]))
        yield frame(block, group=(224, 0, 205, 4), port=47004)  # playback: no line
        yield frame(block, port=45005)  # a line's group with another's port: no line
        yield frame(block, vlan=True)
        yield frame(block, fragment=0x2000)
        yield frame(block, protocol=6)
        yield frame(block + b"behind")
        yield frame(checksummed(block[:6] + b"\xff\xff\xff\xff" + block[10:]))
        yield frame(checksummed(block[:10] + b"\x00" + block[11:]))  # no messages
        yield frame(block[:10] + b"\x00" + block[11:])  # and a wrong checksum
        yield frame(block)[:-3]  # cut by the capture
        for _ in range(150):
            yield frame(damaged(block, rng))
        cut = block[:21 + rng.randrange(len(block) - 21)]
        yield frame(checksummed(cut[:1] + struct.pack(">H", len(cut)) + cut[3:]))
    for length in range(24):
        yield frame(blocks[0][:length])
    yield b"short"


class Decode(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, frames):
        path = Path(self.folder.name) / name
        capture(path, frames)
        return path

    def test_equals_the_independent_reading(self):
        seed = random.randrange(2**32)
        path = self.file("odd.pcap", odd_frames(random.Random(seed)))
        done = decode(path, "--json")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.decode(), r"odd.pcap: \d+ of \d+ packets hold no block: ")
        ours, theirs = objects(done), list(opra.decode(path))
        self.assertGreater(sum("error" in row for row in ours), 100)
        for mine, wanted in zip(wordless(ours), wordless(theirs)):
            self.assertEqual(mine, wanted, f"seed {seed}")
        self.assertEqual(len(ours), len(theirs), f"seed {seed}")

    def test_packets_count_anew_in_each_file(self):
        bad = frame(b"\x06bad")
        one = self.file("1.pcap", [b"not ip at all", bad])
        two = self.file("2.pcap", [bad])
        errors = objects(decode(one, two, "--json"))
        self.assertEqual([row["packet"] for row in errors], [2, 1])
        self.assertNotIn("seq", errors[0])

    def test_text_is_the_default(self):
        path = self.file("all.pcap", [frame(seed.read_bytes()) for seed in SEEDS])
        done = decode(path)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, decode(path, "--text").stdout)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(objects(decode(path, "--json"))))
        self.assertTrue(all(line.startswith(b"  4B ") for line in lines))

    def test_what_cannot_be_read_is_reported_and_fails(self):
        good = self.file("good.pcap", [frame(SEEDS[0].read_bytes())])
        done = decode(Path(self.folder.name) / "none.pcap", good, "--json")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"none.pcap", done.stderr)
        self.assertEqual(len(objects(done)), 1)

        cut = Path(self.folder.name) / "cut.pcap"
        cut.write_bytes(good.read_bytes()[:-5])
        done = decode(cut, "--json")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cut.pcap", done.stderr)

    def test_output_that_cannot_be_written_fails(self):
        good = self.file("good.pcap", [frame(SEEDS[0].read_bytes())])
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PINSTRIKE, "decode", good], stdout=full, stderr=subprocess.PIPE,
                                  check=False, timeout=300)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write", done.stderr)

    def test_the_status_is_the_same_if_the_complaint_cannot_be_written(self):
        good = self.file("good.pcap", [frame(SEEDS[0].read_bytes())])
        for words, status in ((["decode", "none.pcap"], 1), (["decode", good], 1),
                              (["generate"], 2), (["generate", "--lines", "999", "--out", "x"], 2),
                              (["explain", "nothing_of_the_kind"], 2)):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([PINSTRIKE, *map(str, words)], stdout=full, stderr=full,
                                      check=False, timeout=300)
            self.assertEqual(done.returncode, status, words)

    def test_wrong_use(self):
        self.assertEqual(decode().returncode, 2)
        self.assertEqual(decode("x.pcap", "--json", "--text").returncode, 2)
        self.assertEqual(decode("x.pcap", "--nothing").returncode, 2)
        self.assertEqual(decode("--help").returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
