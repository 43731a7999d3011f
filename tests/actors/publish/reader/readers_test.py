#!/usr/bin/env python3
"""Readers in C and C++ that attach at random moments of a feed end with its book, and have each message once.

    readers_test.py PROGRAM READER... [--seed N]

The feed is a generated day with losses on both streams, resets and another site's numbers, replayed in its own time.
It is killed in the middle and started again. Each READER prints what it got, as follow.c and follow.cpp do.
"""

import argparse
import random
import subprocess
import sys
import time
import unittest
from collections import Counter
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from publishing import Publisher, book_rows, eventually

DAY = ("--messages", "30000", "--rate", "15000", "--loss-a", "0.05", "--loss-b", "0.05", "--restarts", "2",
       "--disaster")
DAY_SECONDS = 2
READERS_OF_EACH = 4
QUOTE, TRADE, GAP = 1, 2, 25
STATE, RENEWED, MISSED, RESTARTED = 252, 253, 254, 255
CANCELS = "ACEG"  # types of trade reports that no count has
SIDE_STATES = ("unknown", "fresh", "stale")
parameters: argparse.Namespace
chance: random.Random
publisher: Publisher


def key_of(fields):
    root, expiration, right, strike = fields
    date = f"{expiration[:4]}-{expiration[4:6]}-{expiration[6:]}"
    return root, date, right, format(Decimal(strike).scaleb(-8).normalize(), "f")


def price_of(present, value, decimals):
    return Decimal(value).scaleb(-int(decimals)) if present == "1" else None


def side_of(present, participant, price, decimals, size, _state):
    return present == "1" and (chr(int(participant)), price_of(present, price, decimals), int(size)) or None


def side_in_book(side):
    return side and (side["participant"], Decimal(side["price"]), side["size"])


class Value:
    """A state or chain row: the series, its core, and its other fields as the book has them."""

    def __init__(self, fields):
        self.key, self.core, self.old = key_of(fields[:4]), fields[4], fields[5]
        sides, prices, last, counts = fields[6:18], fields[18:30], fields[30:33], fields[33:]
        line, volume, self.trades, self.quotes, has_interest, interest = map(int, counts)
        opened, high, low, price = (price_of(*prices[at:at + 3]) for at in range(0, 12, 3))
        last = price is not None and (price, int(last[0]), *(chr(int(one)) for one in last[1:])) or None
        self.row = (side_of(*sides[:6]), side_of(*sides[6:]), SIDE_STATES[int(sides[5])], SIDE_STATES[int(sides[11])],
                    opened, high, low, last, line, volume, self.trades, self.quotes, interest if has_interest else None)


def row_in_book(row):
    """The same fields of a row that --book wrote."""
    prices = (row[name] and Decimal(row[name]) for name in ("open", "high", "low"))
    last = row["last"]
    last = last and (Decimal(last["price"]), last["size"], last["participant"], last["type"])
    return (side_in_book(row["best_bid"]), side_in_book(row["best_offer"]), row["bid_state"], row["offer_state"],
            *prices, last, row["line"], row["volume"], row["trades"], row["quotes"], row["open_interest"])


class Follower:
    """What a reader printed, counted from each state on that it began or went on with."""

    def __init__(self, lines):
        self.core, self.bests, self.chain = {}, {}, {}
        self.counts = {"quotes": Counter(), "trades": Counter()}
        self.seen = set()  # events since the latest start
        self.repeated = self.restarts = self.gaps = self.joined = self.in_state = 0
        for line in lines:
            word, *fields = line.split()
            {"state": self.take_state, "event": self.take_event, "chain": self.take_chain}[word](fields)

    def take_state(self, fields):
        value = Value(fields)
        self.core[value.key] = value.core
        self.bests.pop(value.key, None)
        for name, counts in self.counts.items():
            counts[value.key] = getattr(value, name)
        self.in_state += value.quotes

    def take_chain(self, fields):
        value = Value(fields)
        self.chain[value.key] = value

    def take_event(self, fields):
        kind, core = int(fields[0]), fields[1]
        if kind >= STATE:
            return self.forget(kind, core)
        identity = tuple(fields[:10])
        self.repeated += identity in self.seen and fields[3] != "0"  # 0: without a number
        self.seen.add(identity)
        self.gaps += kind == GAP
        if kind in (QUOTE, TRADE):
            key = key_of(fields[6:10])
            self.core[key] = core
            counted = kind == QUOTE or chr(int(fields[5])) not in CANCELS
            self.counts["quotes" if kind == QUOTE else "trades"][key] += counted
        if kind == QUOTE:
            self.bests[key] = side_of(*fields[10:16]), side_of(*fields[16:22])
            self.joined += self.in_state > 0  # once for each state
            self.in_state = 0

    def forget(self, kind, core):
        """What a state that follows replaces."""
        if kind == RESTARTED:
            self.restarts += 1
            self.seen.clear()
            self.in_state = 0
        if kind != STATE:
            for key in [key for key, of in self.core.items() if kind == RESTARTED or of == core]:
                del self.core[key]
                for counts in self.counts.values():
                    del counts[key]


class Readers(unittest.TestCase):
    def follow_a_day(self, capture, seconds):
        """Readers attach at random moments of two starts; {(reader, number): what it printed}, and the book."""
        killed_after = chance.uniform(0.2, 0.8) * seconds
        spans = ((0.0, killed_after), (killed_after, killed_after + 0.9 * seconds))
        moments = [(chance.uniform(*spans[number % 2]), reader, number)
                   for reader in parameters.readers for number in range(READERS_OF_EACH)]
        pace = ("--pace", f"x{DAY_SECONDS / seconds}")
        writer, _ = publisher.replay(capture, "day", *pace)
        eventually((publisher.memory / "day").exists)
        begun = time.monotonic()
        started, book = {}, None
        for moment, reader, number in sorted([*moments, (killed_after, "", 0)]):
            time.sleep(max(0.0, begun + moment - time.monotonic()))
            if reader:
                output = publisher.folder / f"{Path(reader).name}.{number}"
                started[reader, number] = output, self.start(reader, output)
            else:
                writer.kill()
                writer.communicate()
                writer, book = publisher.replay(capture, "day", *pace)
        _, errors = writer.communicate(timeout=300)
        self.assertEqual(writer.returncode, 0, errors)
        printed = {}
        for name, (output, reader) in started.items():
            _, errors = reader.communicate(timeout=300)
            self.assertEqual(reader.returncode, 0, (name, errors))
            printed[name] = Follower(output.read_text().splitlines())
        return printed, {key: row_in_book(row) for key, row in book_rows(book).items()}

    def start(self, reader, output):
        with output.open("w") as file:
            process = subprocess.Popen([reader, "day"], stdout=file, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def check(self, follower, book):
        self.assertEqual({key: value.row for key, value in follower.chain.items()}, book)
        self.assertTrue(all(value.old == "1" for value in follower.chain.values()), "the feed has ended")
        self.assertEqual(follower.repeated, 0)
        for name, at in (("trades", -3), ("quotes", -2)):
            self.assertEqual(+follower.counts[name], +Counter({key: row[at] for key, row in book.items()}), name)
        for key, bests in follower.bests.items():
            for best, side, state in zip(bests, book[key][:2], book[key][2:4], strict=True):
                if state == "fresh":
                    self.assertEqual(best, side, key)

    def test_each_ends_with_the_book_and_has_each_message_once(self):
        capture = publisher.generate("day", *DAY)
        # On a machine that is too slow for readers to attach in the middle, the day takes longer.
        for seconds in (DAY_SECONDS, 10 * DAY_SECONDS, 40 * DAY_SECONDS):
            printed, book = self.follow_a_day(capture, seconds)
            self.assertGreater(len(book), 500)
            joined, restarts, gaps = Counter(), Counter(), Counter()
            for (reader, number), follower in printed.items():
                with self.subTest(reader=reader, number=number, seed=parameters.seed):
                    self.check(follower, book)
                joined[reader] += follower.joined
                restarts[reader] += follower.restarts
                gaps[reader] += follower.gaps
            print(f"a day of {seconds} s: {joined.total()} streams joined a state in the middle, {restarts.total()} "
                  f"restarts, {gaps.total()} gaps")
            if all(min(seen[reader] for seen in (joined, restarts, gaps)) for reader in parameters.readers):
                return
        self.fail("no day had a reader in its middle, a restart and a gap for each reader")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("readers", nargs="+")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parameters = parser.parse_args()
    print(f"seed {parameters.seed}", flush=True)
    chance = random.Random(parameters.seed)
    publisher = Publisher(parameters.program)
    try:
        unittest.main(argv=sys.argv[:1], verbosity=2)
    finally:
        publisher.close()
