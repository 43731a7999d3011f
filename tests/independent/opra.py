"""An independent reading of the OPRA wire format, for tests to compare the product with.

Written from the specification's tables alone; it shares nothing with the C++ code, prefers
obvious over fast, and uses no library but Python's own. Run as a program it prints what
`pinstrike decode --json` should print for a pcap file (Ethernet, micro- or nanoseconds).

    python3 opra.py FILE.pcap...
"""

import json
import struct
import sys

DECIMALS = {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5, "F": 6, "G": 7, "H": 8, "I": 0}
SEQUENCES = 2**32 - 1  # numbers run 1..2^32-1, then 1 again
TEST_SYMBOLS = set(
    "ATEST CBO CBX CTEST IGZ MTEST NTEST PTEST ZBZX ZEXIT ZIEXT ZTEST ZTST ZVV ZXIET ZZK "
    "ZAZZT ZBZZT ZCZZT ZJZZT ZVZZC ZVZZT ZWZZT ZXZZT".split()
) | {f"{n:02d}{c}" for n in range(1, 13) for c in "ANPVZ"}


class Undecodable(Exception):
    """The message at this offset ends its block."""


# ------------------------------------------------------------------ lines, groups and ports


def groups():
    """{(group, port): (line, stream)} by the published formulas, production and retransmission."""
    table = {}

    def put(a, b, port, line):
        table[(a, port)] = (line, "A")
        table[(b, port)] = (line, "B")

    for n in range(1, 97):
        put(f"224.0.204.{n}", f"224.0.206.{n}", 45000 + n, n)
        put(f"224.0.204.{127 + n}", f"224.0.206.{127 + n}", 46000 + n, n)
    for n in range(220, 226):
        put(f"224.0.204.{n - 115}", f"224.0.206.{n - 115}", 45105 + n - 220, n)
        put(f"224.0.204.{n + 12}", f"224.0.206.{n + 12}", 46232 + n - 220, n)
    for n in range(201, 205):
        g = n - 200
        put(f"224.0.200.{g}", f"224.0.200.{127 + g}", 48000 + g, n)
        put(f"224.0.200.{15 + g}", f"224.0.200.{143 + g}", 49000 + g, n)
    return table


# ------------------------------------------------------------------ fields


def text(raw):
    return raw.decode("latin-1")


def decimal(value, code):
    """The exact decimal string of an integer and its denominator code."""
    places = DECIMALS[code]
    sign = "-" if value < 0 else ""
    digits = str(abs(value)).rjust(places + 1, "0")
    return sign + (digits if places == 0 else digits[:-places] + "." + digits[-places:])


class Reader:
    """Fields at fixed offsets of one message; `end` is where its block ends."""

    def __init__(self, data, start, end):
        self.data, self.start, self.end = data, start, end

    def need(self, length):
        if self.start + length > self.end:
            raise Undecodable("message cut off by the block size")

    def raw(self, offset, length):
        return self.data[self.start + offset : self.start + offset + length]

    def u(self, offset, length):
        return int.from_bytes(self.raw(offset, length), "big")

    def i(self, offset, length):
        return int.from_bytes(self.raw(offset, length), "big", signed=True)

    def char(self, offset):
        return text(self.raw(offset, 1))

    def code(self, offset):
        code = self.char(offset)
        if code not in DECIMALS:
            raise Undecodable("denominator code outside A-I")
        return code

    def symbol(self, offset, length):
        return text(self.raw(offset, length)).rstrip(" ")

    def expiration(self, offset):
        month, day, year = self.char(offset), self.u(offset + 1, 1), self.u(offset + 2, 1)
        if not "A" <= month <= "X":
            raise Undecodable("expiration month outside A-X")
        if not 1 <= day <= 31:
            raise Undecodable("expiration day outside 1-31")
        if year > 99:
            raise Undecodable("expiration year above 99")
        number = ord(month) - ord("A")
        return (f"{2000 + year:04d}-{number % 12 + 1:02d}-{day:02d}", "C" if number < 12 else "P")


def series(r, symbol, expiration, strike):
    out = {"symbol": symbol}
    out["expiration"], out["right"] = r.expiration(expiration)
    out["strike"] = strike
    return out


# ------------------------------------------------------------------ categories (OPRA Message Categories)


def last_sale(r):
    r.need(43)
    out = series(r, r.symbol(12, 5), 18, decimal(r.i(22, 4), r.code(21)))
    out.update(price=decimal(r.i(31, 4), r.code(30)), volume=r.u(26, 4), trade_id=r.u(35, 4))
    return 43, out


def open_interest(r):
    r.need(30)
    out = series(r, r.symbol(12, 5), 18, decimal(r.i(22, 4), r.code(21)))
    out["open_interest"] = r.u(26, 4)
    return 30, out


def end_of_day(r):
    r.need(72)
    out = series(r, r.symbol(12, 5), 18, decimal(r.i(22, 4), r.code(21)))
    out["volume"], out["open_interest"] = r.u(26, 4), r.u(30, 4)
    code = r.code(34)
    for name, offset in dict(open=35, high=39, low=43, last=47, net_change=51).items():
        out[name] = decimal(r.i(offset, 4), code)
    out["underlying"] = decimal(r.i(56, 8), r.code(55))
    out["bid"], out["offer"] = decimal(r.i(64, 4), code), decimal(r.i(68, 4), code)
    return 72, out


def appendages(r, base, indicator):
    """Length and best_bid / best_offer of a quote, by the 4x4 grid of indicators."""
    if indicator == " ":
        return base, {}
    if not "A" <= indicator <= "P":
        raise Undecodable("indicator neither A-P nor space")
    bid, offer = divmod(ord(indicator) - ord("A"), 4)
    out, at = {}, base
    for name, present in (("best_bid", bid == 3), ("best_offer", offer == 2)):
        if present:
            r.need(at + 10)
            out[name] = {
                "participant": r.char(at),
                "price": decimal(r.i(at + 2, 4), r.code(at + 1)),
                "size": r.u(at + 6, 4),
            }
            at += 10
    return at, out


def long_quote(r):
    r.need(43)
    length, best = appendages(r, 43, r.char(3))
    out = series(r, r.symbol(12, 5), 18, decimal(r.i(22, 4), r.code(21)))
    code = r.code(26)
    out.update(bid=decimal(r.i(27, 4), code), bid_size=r.u(31, 4))
    out.update(offer=decimal(r.i(35, 4), code), offer_size=r.u(39, 4), **best)
    return length, out


def short_quote(r):
    r.need(29)
    length, best = appendages(r, 29, r.char(3))
    out = series(r, r.symbol(12, 4), 16, decimal(r.u(19, 2), "A"))
    out.update(bid=decimal(r.u(21, 2), "B"), bid_size=r.u(23, 2))
    out.update(offer=decimal(r.u(25, 2), "B"), offer_size=r.u(27, 2), **best)
    return length, out


def administrative(r):
    r.need(14)
    length = 14 + r.u(12, 2)
    r.need(length)
    return length, {"text": text(r.raw(14, length - 14))}


def control(r):
    r.need(12)
    return 12, {}


def series_map(r):
    r.need(155)
    out = series(r, r.symbol(12, 5), 17, decimal(r.i(21, 4), r.code(20)))
    out["mapped_line"] = r.u(25, 2)
    return 155, out


def underlying(r):
    r.need(27)
    code = r.code(18)
    out = {"symbol": r.symbol(12, 5)}
    if r.char(2) == "I":
        out.update(bid=decimal(r.i(19, 4), code), offer=decimal(r.i(23, 4), code))
    else:
        out["value"] = decimal(r.i(19, 4), code)
    return 27, out


CATEGORIES = dict(
    a=last_sale, d=open_interest, f=end_of_day, k=long_quote, q=short_quote,
    C=administrative, H=control, R=series_map, Y=underlying,
)


def message(data, start, end):
    """(length, fields) of the message at `start`; raises Undecodable."""
    r = Reader(data, start, end)
    r.need(12)
    category = r.char(1)
    if category not in CATEGORIES:
        raise Undecodable("unknown category")
    out = {
        "category": category, "type": r.char(2), "indicator": r.char(3), "participant": r.char(0),
        "transaction_id": r.u(4, 4), "reference": r.u(8, 4),
    }
    length, fields = CATEGORIES[category](r)
    out.update(fields)
    return length, out


# ------------------------------------------------------------------ blocks (OPRA Block Header)


def advance(sequence, count):
    """The number `count` after `sequence`: after 4294967295 comes 1."""
    return sequence if count == 0 else (sequence - 1 + count) % SEQUENCES + 1


class Block:
    """One UDP payload: header fields, decoded messages, and errors."""

    def __init__(self, payload):
        self.messages, self.error, self.refused = [], None, False
        self.sequence = None
        if len(payload) < 21:
            self.refuse("payload shorter than a block header")
            return
        if payload[0] != 6:
            self.refuse("version is not 6")
            return
        (self.size,) = struct.unpack_from(">H", payload, 1)
        (self.sequence,) = struct.unpack_from(">I", payload, 6)
        self.retransmitted = payload[4:5] == b"V"
        self.session = payload[5]
        self.count = payload[10]
        seconds, nanos = struct.unpack_from(">II", payload, 11)
        self.ts_ns = seconds * 1_000_000_000 + nanos
        if payload[3:4] != b"O":
            self.refuse("feed indicator is not O")
        elif not 21 <= self.size <= min(len(payload), 1000):
            self.refuse("block size out of bounds")
        elif self.checksum(payload) != struct.unpack_from(">H", payload, 19)[0]:
            self.refuse("checksum")
        elif self.count > 0:  # a block without messages has no content
            self.walk(payload)

    def refuse(self, reason):
        self.error, self.refused = reason, True

    def checksum(self, payload):
        return (sum(payload[: self.size]) - payload[19] - payload[20]) & 0xFFFF

    def walk(self, payload):
        at = 21
        for _ in range(self.count):
            try:
                length, fields = message(payload, at, self.size)
            except Undecodable as reason:
                self.error = str(reason)
                return
            self.messages.append(fields)
            at += length
        if self.size - at > 1:
            self.error = "bytes left over in the block"

    def number(self, index):
        """The canonical `seq` of a decoded message."""
        fields = self.messages[index]
        if fields["category"] == "H" and fields["type"] in "CKN":
            return self.sequence
        return advance(self.sequence, index) if self.sequence else self.sequence + index


# ------------------------------------------------------------------ captures


def packets(path):
    """(time in ns, frame) of a classic pcap file."""
    with open(path, "rb") as file:
        data = file.read()
    magic = data[:4]
    order = "<" if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    nano = magic in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, kept, _ = struct.unpack_from(order + "IIII", data, at)
        at += 16
        yield seconds * 1_000_000_000 + fraction * (1 if nano else 1000), data[at : at + kept]
        at += kept


def ones_sum(data):
    """The Internet checksum's sum: 0xffff over data that carries a right one."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def udp(frame, verify=False):
    """(group, port, payload) of an unfragmented UDP datagram over IPv4, else None.

    `verify`: also None where the IPv4 header's or the datagram's checksum is wrong.
    """
    if len(frame) < 14:
        return None
    at = 12
    kind = frame[at : at + 2]
    while kind in (b"\x81\x00", b"\x88\xa8"):
        at += 4
        kind = frame[at : at + 2]
    if kind != b"\x08\x00":
        return None
    ip = frame[at + 2 :]
    if len(ip) < 20 or ip[0] >> 4 != 4:
        return None
    header, total = (ip[0] & 15) * 4, struct.unpack_from(">H", ip, 2)[0]
    fragment = struct.unpack_from(">H", ip, 6)[0] & 0x3FFF  # more-fragments flag and offset
    if header < 20 or total < header + 8 or total > len(ip) or ip[9] != 17 or fragment:
        return None
    port, length = struct.unpack_from(">HH", ip, header + 2)
    if length < 8 or header + length > total:
        return None
    if verify:
        datagram = ip[header : header + length]
        pseudo = ip[12:20] + struct.pack(">BBH", 0, 17, length)
        sent = datagram[6:8] != b"\0\0"
        if ones_sum(ip[:header]) != 0xFFFF or sent and ones_sum(pseudo + datagram) != 0xFFFF:
            return None
    return ".".join(map(str, ip[16:20])), port, ip[header + 8 : header + length]


def decode(path, table=None):
    """The canonical JSON objects of a capture, in order."""
    table = table or groups()
    for number, (_, frame) in enumerate(packets(path), 1):
        datagram = udp(frame)
        if datagram is None:
            continue
        group, port, payload = datagram
        line, stream = table.get((group, port), (0, "?"))
        block = Block(payload)
        for index, fields in enumerate(block.messages):
            yield {
                "line": line, "stream": stream, "seq": block.number(index), "ts_ns": block.ts_ns,
                "session": block.session, "retransmitted": block.retransmitted, **fields,
            }
        if block.error:
            out = {"error": block.error, "line": line, "stream": stream, "packet": number}
            if block.sequence is not None:
                out["seq"] = block.sequence
            yield out


def main():
    for path in sys.argv[1:]:
        for row in decode(path):
            print(json.dumps(row, separators=(",", ":")))


if __name__ == "__main__":
    main()
