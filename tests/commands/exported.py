"""Reads what `pinstrike record export` writes, without the program's code: DBN files and CSV."""

import collections
import csv
import ctypes
import datetime
import decimal
import struct

import gateway_client as client
import gateway_truth

# The names of the fields in gateway_truth.FORMS, behind the header.
LEVEL = "bid_px_00 ask_px_00 bid_sz_00 ask_sz_00 bid_{0}_00 ask_{0}_00"
TRADE = "price size action side flags depth ts_recv ts_in_delta sequence"
CONSOLIDATED = "price size action side flags ts_recv ts_in_delta " + LEVEL.format("pb")
BAR = "open high low close volume"
INTERVAL = "price size side flags ts_recv " + LEVEL.format("pb")
NAMES = {"trades": TRADE, "mbp-1": f"{TRADE} {LEVEL.format('ct')}", "tbbo": f"{TRADE} {LEVEL.format('ct')}",
         "cmbp-1": CONSOLIDATED, "tcbbo": CONSOLIDATED, "cbbo-1s": INTERVAL, "cbbo-1m": INTERVAL,
         "ohlcv-1s": BAR, "ohlcv-1m": BAR, "ohlcv-1h": BAR,
         "statistics": "ts_recv ts_ref price quantity sequence ts_in_delta stat_type channel_id update_action "
                       "stat_flags",
         "definition": "expiration strike_price channel_id raw_symbol group exchange asset underlying instrument_class"}
SCHEMAS = {"cmbp-1": 14, "cbbo-1s": 15, "cbbo-1m": 16, "tcbbo": 17, "trades": 4, "mbp-1": 1, "tbbo": 3,
           "ohlcv-1s": 5, "ohlcv-1m": 6, "ohlcv-1h": 7, "definition": 9, "statistics": 10}
TIMES = {"ts_event", "ts_recv", "ts_ref", "expiration", "activation"}
PRICES = {"price", "open", "high", "low", "close", "strike_price", "bid_px_00", "ask_px_00"}


class Dbn:
    """A DBN file: what its metadata states, and its records."""

    def __init__(self, data):
        assert data[:4] == b"DBN\3"
        length, = struct.unpack_from("<I", data, 4)
        self.dataset = client.text_of(data[8:24])
        (self.schema, self.start_ns, self.end_ns, self.limit, self.stype_in, self.stype_out, self.ts_out,
         self.symbol_bytes) = struct.unpack_from("<HQQQBBBH", data, 24)
        self.data, self.at = data, 108
        self.definition_bytes = self.number()
        self.symbols, self.partial, self.not_found = self.texts(), self.texts(), self.texts()
        self.mappings = {}
        for _ in range(self.number()):
            symbol = self.text()
            assert symbol not in self.mappings
            self.mappings[symbol] = [(self.number(), self.number(), self.text()) for _ in range(self.number())]
        assert self.at <= 8 + length and not any(data[self.at:8 + length]) and (8 + length) % 8 == 0
        self.at, self.records = 8 + length, []
        while self.at < len(data):
            size = data[self.at] * 4
            self.records.append(client.Record(data[self.at:self.at + size], None))
            self.at += size
        assert self.at == len(data)

    def number(self):
        self.at += 4
        return struct.unpack_from("<I", self.data, self.at - 4)[0]

    def text(self):
        self.at += self.symbol_bytes
        return client.text_of(self.data[self.at - self.symbol_bytes:self.at])

    def texts(self):
        return [self.text() for _ in range(self.number())]

    def symbols_by_id(self):
        return {int(number): symbol for symbol, intervals in self.mappings.items() for _, _, number in intervals}


def unpacked(data, bytes_max=1 << 28):
    """What frames of zstd hold."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    to = ctypes.create_string_buffer(bytes_max)
    size = zstd.ZSTD_decompress(to, ctypes.c_size_t(bytes_max), data, ctypes.c_size_t(len(data)))
    assert not zstd.ZSTD_isError(ctypes.c_size_t(size))
    return to.raw[:size]


def by_series(schema, records, names):
    """As gateway_truth.Truth.records. `names`: the series of each id."""
    series = collections.defaultdict(list)
    for record in records:
        series[names[record.instrument]].append(gateway_truth.fields_of(schema, record))
    return series


def nanoseconds(text):
    if not text:
        return client.UNDEFINED_TIME
    assert text[19] == "." and text[29] == "Z" and len(text) == 30, text
    return int(datetime.datetime.fromisoformat(text[:19] + "+00:00").timestamp()) * 10**9 + int(text[20:29])


def defined(value, undefined):
    """A value that the text states. That of an undefined one is empty."""
    assert value != undefined, value
    return value


def value_of(name, text):
    if name in TIMES:
        return nanoseconds(text)
    if name in PRICES:
        return defined(int(decimal.Decimal(text) * 10**9), client.UNDEFINED_PRICE) if text else client.UNDEFINED_PRICE
    if name in ("action", "side"):
        return text.encode()
    if name in ("raw_symbol", "group", "exchange", "asset", "underlying", "instrument_class"):
        return text
    # Of a statistic, the quantity may be undefined.
    return defined(int(text), client.UNDEFINED_PRICE) if text else client.UNDEFINED_PRICE


def rows_of(schema, text):
    """(id, symbol, fields as of gateway_truth.fields_of()) of each row."""
    for row in csv.DictReader(text.splitlines()):
        fields = [value_of(name, row[name]) for name in NAMES[schema].split()]
        head = [int(row["publisher_id"])]
        if schema != "definition":  # its time is that of its announcement
            head.insert(0, nanoseconds(row["ts_event"]))
        yield int(row["instrument_id"]), row["symbol"], (*head, *fields)
