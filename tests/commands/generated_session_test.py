#!/usr/bin/env python3
"""`pinstrike generate`: its truth equals the results of others that read its captures.

    generated_session_test.py PINSTRIKE TESTS_FOLDER

Three readings of each session meet here: the truth that generate writes from what it made, an
independent one of the capture (tests/independent), and the product's own (`replay`; for `decode`:
sessions_decode_test.py).
"""

import json
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PINSTRIKE, TESTS = sys.argv[1], Path(sys.argv[2])
sys.path.insert(0, str(TESTS / "independent"))
import session as independent  # noqa: E402  pylint: disable=wrong-import-position

SMALL = ["--messages", "30000", "--series", "3000", "--roots", "100", "--rate", "30000"]
REGULAR = SMALL + ["--lines", "1-6,220"]
LOSSY = REGULAR + ["--loss-a", "0.03", "--loss-b", "0.04", "--corrupt-a", "0.02", "--duplicate-b",
                   "0.02", "--reorder-a", "0.05", "--skew-b", "150", "--test-symbols", "0.02"]
# Messages that both streams lost come on the retransmission groups, among those that others requested.
RETRANSMITTED = LOSSY + ["--retransmit", "1", "--retransmit-others", "0.05"]
# Everything late arrives in time, so nothing is lost and the book is exact.
REPAIRED = REGULAR + ["--loss-a", "0.05", "--corrupt-a", "0.02", "--duplicate-b", "0.02", "--skew-b",
                    "150", "--test-symbols", "0.02"]
SESSIONS = {
    "regular": REGULAR,
    "gth": SMALL + ["--lines", "1-2,201-204"],
    "full": REGULAR + ["--shape", "full"],
    "repaired": REPAIRED,
    "wrap": REGULAR + ["--first-sequence", "4294966000"],
    "announced wrap": REGULAR + ["--first-sequence", "4294966000", "--rollover-reset"],
    "restarts": REGULAR + ["--restarts", "3"],
    "disaster": REGULAR + ["--disaster"],
    "restarts, one stream lossy": REPAIRED + ["--restarts", "2"],
}


def run(*arguments):
    return subprocess.run([PINSTRIKE, *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=300)


def rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def gaps_joined(gaps):
    """Joins adjacent ranges, because the truth does not say how a loss was noticed."""
    joined = []
    for first, last in gaps:
        if joined and joined[-1][1] % (2**32 - 1) + 1 == first:
            joined[-1][1] = last
        else:
            joined.append([first, last])
    return joined


def balance(line):
    """The part of a line's account that depends only on the messages that arrived, in any order."""
    return {**{key: line[key] for key in ("highest", "delivered", "lost", "filtered")},
            "gaps": gaps_joined(line["gaps"]),
            **{stream: line["streams"][stream]["messages"] for stream in "AB"}}


def lines_of(account):
    """The lines by number, without lines that received nothing."""
    return {line["line"]: balance(line) for line in account["lines"]
            if any(line["streams"][stream]["packets"] for stream in "AB")}


class Generate(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pinstrike-generate-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def generate(self, *options, name="s.pcap"):
        done = run("generate", "--out", self.folder / name, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / name

    def with_truth(self, *options):
        return self.generate("--truth", self.folder / "t", *options)

    def account(self):
        return json.loads((self.folder / "t.account.json").read_text())

    def same_books(self, book, truth):
        self.assertEqual(len(book), len(truth))
        for mine, theirs in zip(book, truth):
            self.assertEqual(mine, theirs)

    def test_help_is_text_and_names_the_shapes(self):
        text = subprocess.run([PINSTRIKE, "generate", "--help"], capture_output=True, text=True,
                              check=True, timeout=300).stdout
        self.assertTrue(text.replace("\n", "").isprintable())
        self.assertIn("--shape TEXT:{blend,full,ordinary}", text)

    def test_the_same_seed_makes_the_same_file(self):
        options = ["--messages", "5000", "--series", "2000", "--lines", "1-4", "--loss-a", "0.1"]
        first = self.generate(*options, "--seed", "5").read_bytes()
        self.assertEqual(first, self.generate(*options, "--seed", "5", name="b").read_bytes())
        self.assertNotEqual(first, self.generate(*options, "--seed", "6", name="c").read_bytes())

    def test_the_independent_reading_agrees(self):
        for name in ("regular", "gth", "repaired"):
            with self.subTest(name):
                capture = self.with_truth(*SESSIONS[name])
                lines, book = independent.session([capture])
                self.same_books(list(book.rows()), rows(self.folder / "t.book.json"))
                self.assertEqual({number: balance(line.account()) for number, line in
                                  lines.items()}, lines_of(self.account()))

    def test_the_independent_reading_agrees_on_what_was_lost(self):
        capture = self.with_truth(*LOSSY)
        lines, _ = independent.session([capture])
        truth = lines_of(self.account())
        self.assertGreater(sum(line["lost"] for line in truth.values()), 0)
        self.assertEqual({number: balance(line.account()) for number, line in lines.items()}, truth)
        self.assertFalse((self.folder / "t.book.json").exists())

    def replay(self, capture, *options):
        if "replay" not in run("--help").stdout:
            self.skipTest("this program has no replay command")
        done = run("replay", capture, "--account", self.folder / "account", "--book",
                   self.folder / "book", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        account = json.loads((self.folder / "account").read_text())
        self.assertTrue(account["balanced"])
        return account

    def with_repairs(self, account):
        lines = lines_of(account)
        for line in account["lines"]:
            if line["line"] in lines:
                lines[line["line"]] |= {key: line[key] for key in ("repaired", "unasked")}
        return lines

    def test_retransmissions_fill_what_both_streams_lost(self):
        # In time to go on in order, and long after the gap was declared; what others asked for
        # comes as well.
        for after_us in ("500", "50000"):
            with self.subTest(after_us):
                account = self.replay(self.with_truth(*RETRANSMITTED, "--retransmit-after",
                                                      after_us))
                lines = self.with_repairs(account)
                self.assertEqual(lines, self.with_repairs(self.account()))
                total = {key: sum(line[key] for line in lines.values())
                         for key in ("lost", "repaired", "unasked")}
                self.assertEqual(total["lost"], 0)
                self.assertGreater(total["repaired"], 10)
                self.assertGreater(total["unasked"], total["repaired"])

    def test_what_is_not_retransmitted_stays_lost_at_any_pace(self):
        capture = self.with_truth(*LOSSY, "--retransmit", "0.5", "--retransmit-others", "0.05")
        lines = self.with_repairs(self.replay(capture))
        self.assertEqual(lines, self.with_repairs(self.account()))
        self.assertGreater(sum(line["lost"] for line in lines.values()), 10)
        self.assertGreater(sum(line["repaired"] for line in lines.values()), 10)
        books = rows(self.folder / "book")
        paced = self.with_repairs(self.replay(capture, "--pace", "x5000"))
        self.assertEqual(paced, lines)
        self.same_books(rows(self.folder / "book"), books)

    def test_replay_delivers_the_truth(self):
        for name, options in SESSIONS.items():
            with self.subTest(name):
                account = self.replay(self.with_truth(*options))
                self.assertEqual(lines_of(account), lines_of(self.account()))
                self.same_books(rows(self.folder / "book"), rows(self.folder / "t.book.json"))

    def test_replay_reports_what_was_lost(self):
        for seed in range(3):
            with self.subTest(seed=seed):
                account = self.replay(self.with_truth(*LOSSY, "--seed", seed))
                self.assertEqual(lines_of(account), lines_of(self.account()))

    def test_a_capture_that_cannot_be_written_leaves_the_last_good_one(self):
        before = self.generate("--messages", "100").read_bytes()
        limit = 4096  # ends writing like a full disk
        done = subprocess.run([PINSTRIKE, "generate", "--out", self.folder / "s.pcap", *SMALL],
                              capture_output=True, text=True, check=False, timeout=300,
                              preexec_fn=lambda: resource.setrlimit(  # pylint: disable=subprocess-popen-preexec-fn
                                  resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("not written whole", done.stderr)
        self.assertEqual((self.folder / "s.pcap").read_bytes(), before)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["s.pcap"])

    def test_presets_are_captures_to_be_looped(self):
        messages = {"full": 33, "full-mix": 27.7, "ordinary": 2.26, "ordinary-mix": 2.26}
        for preset, expected in messages.items():
            with self.subTest(preset):
                done = run("generate", "--out", self.folder / "p.pcap", "--preset", preset,
                           "--packets", "2000", "--series", "20000")
                self.assertEqual(done.returncode, 0, done.stderr)
                words = done.stdout.split()
                blocks = int(words[words.index("blocks") - 1]) - 96
                self.assertAlmostEqual((int(words[0]) - 96) / blocks, expected, delta=1)
                last = run("decode", self.folder / "p.pcap", "--json").stdout.splitlines()[-96:]
                for row in map(json.loads, last):
                    self.assertEqual((row["category"], row["type"], row["seq"], row["stream"]),
                                     ("H", "K", 0, "A"))

    def test_wrong_use_ends_with_2(self):
        for options in ([], ["--out", "x", "--interface", "lo"], ["--out", "x", "--lines", "97"],
                        ["--out", "x", "--lines", "3-1"], ["--out", "x", "--lines", "220"],
                        ["--out", "x", "--shape", "round"], ["--out", "x", "--loss-a", "2"],
                        ["--out", "x", "--for", "3s"],
                        ["--interface", "lo", "--for", "1s", "--truth", "t"],
                        ["--interface", "lo", "--for", "60"], ["--interface", "lo", "--for", "0s"],
                        *(["--out", "x", option, "-1"] for option in (
                            "--messages", "--packets", "--series", "--roots", "--maps", "--seed",
                            "--restarts", "--rate", "--first-sequence"))):
            with self.subTest(options):
                self.assertEqual(run("generate", *options).returncode, 2)

    def test_what_cannot_be_written_or_sent_on_ends_with_1(self):
        for options in (["--out", self.folder / "no" / "x.pcap"], ["--interface", "no-such-one"]):
            done = run("generate", "--messages", "10", "--series", "10", *options)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stderr.startswith("pinstrike: "), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
