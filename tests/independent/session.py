"""The account and the book that a perfect handler makes of a capture, computed in a simple way.

It first collects all intact messages of both streams, then applies them in the order of their numbers.
It ignores time, so it is valid for captures in which no copy is later than the hold window, with at
most one start of day per line (at its beginning) and no reset. That is enough to compare a whole
generated session, message by message. It shares nothing with the C++ code.

    python3 session.py FILE.pcap --book OUT --account OUT
"""

import argparse
import json
from decimal import Decimal

import opra

GTH = range(201, 205)
NO_NUMBER = ("C", "K", "N")


def plain(value):
    """A decimal string without trailing zeros or point."""
    if "." in value:
        value = value.rstrip("0").rstrip(".")
    return "0" if value == "-0" else value


# ------------------------------------------------------------------ one series


class Series:
    def __init__(self):
        self.listed = False
        self.line = None
        self.best = {"bid": None, "offer": None}
        self.state = {"bid": "unknown", "offer": "unknown"}
        self.open = self.high = self.low = self.last = self.open_interest = None
        self.volume = self.trades = self.quotes = 0

    def quote(self, m):
        self.quotes += 1
        if m["indicator"] == " ":
            return
        bid, offer = divmod(ord(m["indicator"]) - ord("A"), 4)
        self.side("bid", {0: "keep", 1: "own", 2: "none", 3: "appendage"}[bid], m)
        self.side("offer", {0: "keep", 1: "own", 2: "appendage", 3: "none"}[offer], m)

    def side(self, side, effect, m):
        if effect == "keep":
            return
        self.state[side] = "fresh"
        if effect == "none":
            self.best[side] = None
        elif effect == "own":
            self.best[side] = dict(
                participant=m["participant"], price=plain(m[side]), size=m[side + "_size"])
        else:
            best = m["best_" + side]
            self.best[side] = {**best, "price": plain(best["price"])}

    def trade(self, m):
        kind, price, volume = m["type"], Decimal(m["price"]), m["volume"]
        if kind in "ACEG":
            self.volume = 0 if kind == "G" else max(0, self.volume - volume)
            if kind in "CG":
                self.last = None
            if kind in "EG":
                self.open = None
            if kind == "G":
                self.high = self.low = None
            return
        self.trades += 1
        self.volume += volume
        if kind in "uv":
            return
        self.high = price if self.high is None else max(self.high, price)
        self.low = price if self.low is None else min(self.low, price)
        if kind in "FH" or (kind != "B" and self.open is None):
            self.open = price
        if kind not in "FB":
            self.last = dict(participant=m["participant"], price=plain(m["price"]), size=volume,
                             type=kind)

    def row(self, key):
        symbol, expiration, right, strike, _ = key

        def price(value):
            return None if value is None else plain(f"{value:f}")

        return {
            "symbol": symbol, "expiration": expiration, "right": right,
            "strike": plain(f"{strike:f}"), "line": self.line,
            "best_bid": self.best["bid"], "best_offer": self.best["offer"],
            "bid_state": self.state["bid"], "offer_state": self.state["offer"],
            "open": price(self.open), "high": price(self.high), "low": price(self.low),
            "last": self.last, "volume": self.volume, "trades": self.trades,
            "quotes": self.quotes, "open_interest": self.open_interest,
        }


# ------------------------------------------------------------------ the book


class Book:
    def __init__(self):
        self.series = {}

    def apply(self, line, m):
        category = m["category"]
        if category == "H":
            self.control(line, m["type"])
        if category not in "adfkq" or m["symbol"] in opra.TEST_SYMBOLS:
            return
        key = (m["symbol"], m["expiration"], m["right"], Decimal(m["strike"]), line in GTH)
        if category == "f":
            if key in self.series:
                self.series[key].line = line
            return
        series = self.series.setdefault(key, Series())
        series.line = line
        if category == "a":
            series.trade(m)
        elif category == "d":
            series.open_interest = m["open_interest"]
        else:
            series.quote(m)

    def control(self, line, kind):
        mine = [key for key, series in self.series.items() if series.line == line]
        if kind == "C":
            for key in mine:
                del self.series[key]
        elif kind == "P":
            for key in mine:
                self.series[key].best = {"bid": None, "offer": None}
                self.series[key].state = {"bid": "unknown", "offer": "unknown"}

    def gap(self, line):
        for series in self.series.values():
            if series.line == line:
                for side, state in series.state.items():
                    if state == "fresh":
                        series.state[side] = "stale"

    def rows(self):
        for key in sorted(self.series, key=lambda k: (k[0], k[1], k[2], k[3], k[4])):
            yield self.series[key].row(key)


# ------------------------------------------------------------------ a line's two streams


class Line:
    def __init__(self, number):
        self.number = number
        self.first = self.end = None  # numbers known to exist: first .. end - 1
        self.messages = {}
        self.streams = {s: dict(packets=0, messages=0, accepted=0, duplicate=0, rejected=0)
                        for s in "AB"}

    def add(self, block, stream):
        figures = self.streams[stream]
        figures["packets"] += 1
        if block.refused or block.count == 0:
            return
        first = block.messages[0] if block.messages else {"category": "?", "type": "?"}
        if first["category"] == "H" and first["type"] in NO_NUMBER:
            after = 1 if first["type"] == "C" else block.sequence + 1
            if self.first is None:
                self.first = self.end = after
            self.end = max(self.end, after)
            return
        if self.first is None:
            self.first = self.end = block.sequence
        self.end = max(self.end, block.sequence + block.count)
        figures["messages"] += block.count
        for index in range(block.count):
            number = block.sequence + index
            if index >= len(block.messages):
                figures["rejected"] += 1
            elif number < self.first or number in self.messages:
                figures["duplicate"] += 1
            else:
                figures["accepted"] += 1
                self.messages[number] = block.messages[index]

    def gaps(self):
        """[[first, last]] of the messages that neither stream carried."""
        out = []
        for number in range(self.first or 0, self.end or 0):
            if number not in self.messages:
                if out and out[-1][1] == number - 1:
                    out[-1][1] = number
                else:
                    out.append([number, number])
        return out

    def account(self):
        gaps = self.gaps()
        return {
            "line": self.number, "highest": (self.end or 0) - (self.first or 0),
            "delivered": len(self.messages), "lost": sum(b - a + 1 for a, b in gaps),
            "repaired": 0, "unasked": 0,
            "filtered": sum(m.get("symbol") in opra.TEST_SYMBOLS for m in self.messages.values()),
            "gaps": gaps, "streams": self.streams,
        }


def session(paths):
    """({line: Line}, Book) of captures."""
    table, lines = opra.groups(), {}
    for path in paths:
        for _, frame in opra.packets(path):
            datagram = opra.udp(frame, verify=True)
            where = datagram and table.get(datagram[:2])
            if where:
                line = lines.setdefault(where[0], Line(where[0]))
                line.add(opra.Block(datagram[2]), where[1])
    book = Book()
    for line in lines.values():
        gaps = {last + 1 for _, last in line.gaps()}
        for number in range(line.first or 0, (line.end or 0) + 1):
            if number in gaps:
                book.gap(line.number)
            if number in line.messages:
                book.apply(line.number, line.messages[number])
    return lines, book


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--book")
    parser.add_argument("--account")
    options = parser.parse_args()
    lines, book = session(options.files)
    if options.book:
        with open(options.book, "w", encoding="utf-8") as out:
            for row in book.rows():
                out.write(json.dumps(row, separators=(",", ":")) + "\n")
    if options.account:
        with open(options.account, "w", encoding="utf-8") as out:
            json.dump({"lines": [lines[n].account() for n in sorted(lines)]}, out, indent=1)


if __name__ == "__main__":
    main()
