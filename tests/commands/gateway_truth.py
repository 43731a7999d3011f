"""The records that each schema must have, computed from a capture, and those that a client got, in the same form:
by schema and series, each as the values of its fields in the order of its bytes."""

import collections
import datetime
import decimal
import json
import struct

import gateway_client as client
from gateway_client import UNDEFINED_PRICE, UNDEFINED_TIME

SECOND_NS = 10**9
PUBLISHERS = {"A": 20, "B": 21, "C": 22, "D": 23, "E": 24, "G": 108, "H": 25, "I": 26, "J": 27, "M": 28, "N": 29,
              "O": 30, "P": 31, "Q": 32, "S": 61, "T": 33, "U": 37, "V": 109, "W": 34, "X": 35, "Z": 36}
CONSOLIDATED = 30
FLAGS = 194
MAYBE_BAD_BOOK = 4
NEVER_NS = 2**62
NO_SIDE = (UNDEFINED_PRICE, 0, 0)
BARS = {"ohlcv-1s": SECOND_NS, "ohlcv-1m": 60 * SECOND_NS, "ohlcv-1h": 3600 * SECOND_NS}
INTERVALS = {"cbbo-1s": SECOND_NS, "cbbo-1m": 60 * SECOND_NS}
GRACE_NS = 50_000_000  # a bar is sent this long after its end

# The type of a record, and its fields after the header.
TRADE, VENUE, CONSOLIDATED_BEST = "qIccBBQiI", "qIccBBQiIqqIIII", "qIccBxQi4xqqIIH2xH2x"
BAR, INTERVAL = "qqqqQ", "qIxcBxQ8xqqIIH2xH2x"
FORMS = {"trades": (0x00, TRADE), "mbp-1": (0x01, VENUE), "tbbo": (0x01, VENUE),
         "cmbp-1": (0xB1, CONSOLIDATED_BEST), "tcbbo": (0xC2, CONSOLIDATED_BEST),
         "cbbo-1s": (0xC0, INTERVAL), "cbbo-1m": (0xC1, INTERVAL),
         "ohlcv-1s": (0x20, BAR), "ohlcv-1m": (0x21, BAR), "ohlcv-1h": (0x22, BAR),
         "statistics": (0x18, "QQqqIiHHBB"),
         "definition": (0x13, "24xQ56xq106xH18x71s21s5s11s45x21s75xc")}


def nanos(price):
    return int(decimal.Decimal(price) * 10**9)


def series_of(message):
    """(OSI symbol, session of the night)"""
    expiration = message["expiration"].replace("-", "")[2:]
    strike = int(decimal.Decimal(message["strike"]) * 1000)
    return f"{message['symbol']:<6}{expiration}{message['right']}{strike:08}", message["line"] >= 201


def receive_times(capture):
    """Of each message of a capture whose packets have one block each."""
    data, at, headers = capture.read_bytes(), 24, 16 + 42
    while at < len(data):
        seconds, fraction_ns, size = struct.unpack_from("<III", data, at)
        yield from [seconds * SECOND_NS + fraction_ns] * data[at + headers + 10]
        at += 16 + size


def consolidated(sides):
    (bid, bid_size, bid_publisher), (ask, ask_size, ask_publisher) = sides
    return bid, ask, bid_size, ask_size, bid_publisher, ask_publisher


def sides_of(record):
    bid, ask, bid_size, ask_size, bid_publisher, ask_publisher = client.level_of(record.data)
    return (bid, bid_size, bid_publisher), (ask, ask_size, ask_publisher)


class Truth:
    """What follows from a capture without losses for a client that follows all series from the first message on:
    `records`, by schema and series. `decoded`: the capture's messages in JSON, by tests/independent/opra.py.
    `to_the_end`: all intervals are closed after the last message.

    A number that is missing on a line is a loss: values that were stated before it are stale."""

    def __init__(self, capture, decoded, to_the_end=False):
        self.records = {schema: collections.defaultdict(list) for schema in FORMS}
        self.best = collections.defaultdict(lambda: (NO_SIDE, NO_SIDE))
        self.last = collections.defaultdict(lambda: (UNDEFINED_TIME, UNDEFINED_PRICE, 0))
        self.changed = {schema: set() for schema in INTERVALS}
        self.begin_ns = dict.fromkeys(INTERVALS, 0)
        times = list(receive_times(capture))
        self.closed_ns = NEVER_NS if to_the_end else times[-1] - GRACE_NS  # intervals that end later may stay open
        self.numbers = {}
        self.losses = collections.Counter()  # by line
        self.losses_before = collections.defaultdict(lambda: [None, None])  # each side of a series; None: unknown
        self.lines = {}  # of each series
        for row, receive_ns in zip(decoded.splitlines(), times, strict=True):
            self.close_intervals(receive_ns)
            message = json.loads(row)
            self.count_losses(message)
            kind = message["category"]
            if "strike" in message and kind != "R":
                series = series_of(message)
                self.lines[series] = message["line"]
                self.add_definition(series, message)
                if kind in "qk":
                    self.add_quote(series, message, receive_ns)
                elif kind == "a" and message["type"] not in "ACEG":
                    self.add_trade(series, message, receive_ns)
                elif kind in "df":
                    self.add_statistics(series, message, receive_ns)

        if to_the_end:
            self.close_intervals(NEVER_NS)

    def count_losses(self, message):
        """A line integrity message repeats the number of the last message."""
        line, number = message["line"], message["seq"]
        is_repeated = message["category"] == "H" and message["type"] == "N"
        after = self.numbers.get(line, number) + (0 if is_repeated else 1)
        self.losses[line] += number > after
        self.numbers[line] = number

    def add(self, schema, series, *fields):
        self.records[schema][series].append(fields)

    def add_definition(self, series, message):
        if series not in self.records["definition"]:
            expiration = datetime.datetime.fromisoformat(message["expiration"] + "T00:00:00+00:00")
            texts = (series[0], f"popra-{message['line']}", "OPRA", message["symbol"], message["symbol"])
            self.add("definition", series, CONSOLIDATED, int(expiration.timestamp()) * SECOND_NS,
                     nanos(message["strike"]), message["line"], *texts, message["right"])

    def add_quote(self, series, message, receive_ns):
        effects = (0, 0)
        if message["indicator"] not in "A ":
            cell = ord(message["indicator"]) - ord("A")
            effects = cell // 4, (0, 1, 3, 2)[cell % 4]
        publisher = PUBLISHERS[message["participant"]]
        sides, venue = list(self.best[series]), []
        for side, own in enumerate(("bid", "offer")):
            size = message[own + "_size"]
            venue.append((nanos(message[own]), size, 0) if size else NO_SIDE)
            if effects[side] == 1:
                sides[side] = (nanos(message[own]), size, publisher)
            elif effects[side] == 2:
                sides[side] = NO_SIDE
            elif effects[side] == 3 and f"best_{own}" in message:
                stated = message[f"best_{own}"]
                sides[side] = (nanos(stated["price"]), stated["size"], PUBLISHERS[stated["participant"]])
        if tuple(sides) != self.best[series]:
            self.best[series] = tuple(sides)
            self.mark(series)
        self.note_losses_before(series, message, effects)
        head = UNDEFINED_PRICE, 0, b"A", b"N"
        self.add("mbp-1", series, message["ts_ns"], publisher, *head, FLAGS, 0, receive_ns, 0, message["seq"],
                 *consolidated(venue))
        head = *head, self.flags(series)
        if effects != (0, 0):
            self.add("mbp-1", series, message["ts_ns"], CONSOLIDATED, *head, 0, receive_ns, 0, message["seq"],
                     *consolidated(sides)[:4], 0, 0)
            self.add("cmbp-1", series, message["ts_ns"], CONSOLIDATED, *head, receive_ns, 0, *consolidated(sides))

    def note_losses_before(self, series, message, effects):
        for side, own in enumerate(("bid", "offer")):
            if effects[side] in (1, 2) or (effects[side] == 3 and f"best_{own}" in message):
                self.losses_before[series][side] = self.losses[message["line"]]

    def flags(self, series):
        """Of a record that shows the best."""
        losses = self.losses[self.lines[series]]
        is_stale = any(one is not None and one < losses for one in self.losses_before[series])
        return FLAGS | (MAYBE_BAD_BOOK if is_stale else 0)

    def add_trade(self, series, message, receive_ns):
        price, size, exchange_ns = nanos(message["price"]), message["volume"], message["ts_ns"]
        publisher, best = PUBLISHERS[message["participant"]], consolidated(self.best[series])
        head = exchange_ns, publisher, price, size, b"T", b"N"
        self.add("trades", series, *head, FLAGS, 0, receive_ns, 0, message["seq"])
        head = *head, self.flags(series)
        for schema in ("mbp-1", "tbbo"):
            self.add(schema, series, *head, 0, receive_ns, 0, message["seq"], *best[:4], 0, 0)
        for schema in ("cmbp-1", "tcbbo"):
            self.add(schema, series, *head, receive_ns, 0, *best)
        if message["type"] not in "uvFB":
            self.last[series] = exchange_ns, price, size
            self.mark(series)
            for schema, length_ns in BARS.items():
                begin_ns = exchange_ns // length_ns * length_ns
                if begin_ns + length_ns <= self.closed_ns:
                    self.add_to_bar(self.records[schema][series], (begin_ns, publisher), price, size)

    @staticmethod
    def add_to_bar(bars, place, price, size):
        for i, (*seen, first, high, low, _, volume) in enumerate(bars):
            if tuple(seen) == place:
                bars[i] = (*place, first, max(high, price), min(low, price), price, volume + size)
                return
        bars.append((*place, price, price, price, price, size))

    def add_statistics(self, series, message, receive_ns):
        prices = [(1, "open"), (4, "low"), (5, "high"), (11, "last"), (12, "net_change")]
        values = [(kind, nanos(message[name]), UNDEFINED_PRICE) for kind, name in prices if name in message]
        kind, name = (6, "volume") if values else (9, "open_interest")
        for kind, price, quantity in [*values, (kind, UNDEFINED_PRICE, message[name])]:
            self.add("statistics", series, message["ts_ns"], PUBLISHERS[message["participant"]], receive_ns,
                     UNDEFINED_TIME, price, quantity, message["seq"], 0, kind, message["line"], 1, 0)

    def mark(self, series):
        for changed in self.changed.values():
            changed.add(series)

    def close_intervals(self, receive_ns):
        """Before a message: an interval has the last best and trade that were received before its end."""
        for schema, length_ns in INTERVALS.items():
            end_ns = self.begin_ns[schema] + length_ns
            if receive_ns < end_ns:
                continue
            self.begin_ns[schema] = receive_ns // length_ns * length_ns
            if end_ns <= self.closed_ns:
                for series in self.changed[schema]:
                    trade_ns, price, size = self.last[series]
                    self.add(schema, series, trade_ns, CONSOLIDATED, price, size, b"N", self.flags(series), end_ns,
                             *consolidated(self.best[series]))
                self.changed[schema].clear()


def fields_of(schema, record):
    kind, form = FORMS[schema]
    assert record.type == kind, (schema, record.type)
    fields = record.take(form, 16)
    if schema == "definition":  # its times are those of the gateway
        return record.publisher, *(client.text_of(field) if isinstance(field, bytes) else field for field in fields)
    return record.event_ns, record.publisher, *fields


def end_of(schema, fields):
    """The end of the interval that a record is about."""
    return fields[0] + BARS[schema] if schema in BARS else fields[6]


def names_of(definitions):
    """The series of each id."""
    return {record.instrument: (client.text_of(record.data[238:309]), record.take("H", 218) >= 201)
            for record in definitions if record.type == client.DEFINITION}


def got(schema, records, names, closed_ns):
    """The records of a session by series, each after the mapping of its series, and each end of an interval after all
    records of the interval."""
    symbols, ends, by_series = {}, [0], collections.defaultdict(list)
    for record in records:
        if record.type == client.MAPPING:
            asked, symbols[record.instrument] = (client.text_of(record.data[at:at + 71]) for at in (17, 89))
            assert asked == symbols[record.instrument] and record.instrument not in ends
        elif record.type == client.SYSTEM and record.code == 4:
            assert record.event_ns > ends[-1], "an interval ends twice"
            ends.append(record.event_ns)
        elif record.type not in (client.SYSTEM, client.ERROR):
            series, fields = names[record.instrument], fields_of(schema, record)
            assert symbols[record.instrument] == series[0], "a record before its mapping"
            if schema in BARS or schema in INTERVALS:
                assert end_of(schema, fields) > ends[-1], "a record after the end of its interval"
                if end_of(schema, fields) > closed_ns:
                    continue
            by_series[series].append(fields)
    if schema in BARS or schema in INTERVALS:
        assert {end_of(schema, fields) for rows in by_series.values() for fields in rows} <= set(ends)
    return by_series


def check(truth, records):
    """`records`: of one session each, by schema. Returns the number of records that were compared, by schema."""
    names = names_of(records["definition"])
    for schema, of_session in records.items():
        seen = got(schema, of_session, names, truth.closed_ns)
        expected = truth.records[schema]
        if schema == "definition":  # the day's list announces series that have no message
            seen = {series: rows for series, rows in seen.items() if series in expected}
        assert seen.keys() == expected.keys(), (schema, len(seen), len(expected), seen.keys() ^ expected.keys())
        for series, rows in expected.items():
            if schema in BARS:  # those of an interval are in the order of their venues
                rows, seen[series] = sorted(rows), sorted(seen[series])
            for i, (one, other) in enumerate(zip(seen[series], rows)):
                assert one == other, (schema, series, i, one, other)
            assert len(seen[series]) == len(rows), (schema, series, len(seen[series]), len(rows))
    return {schema: sum(map(len, truth.records[schema].values())) for schema in records}
