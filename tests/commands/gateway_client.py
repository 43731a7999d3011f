"""A client of the gateway in plain Python: sends the lines that the published clients send, and reads DBN records."""

import hashlib
import socket
import struct
import time

PATIENCE_S = 120  # for what must come; a busy machine is slow
KEY = "db-0123456789abcdef0123456789abc"
UNDEFINED_PRICE = 2**63 - 1
UNDEFINED_TIME = 2**64 - 1

# Logins of the published clients, which differ in keys and their order.
PYTHON_LOGIN = ("auth={auth}|dataset=OPRA.PILLAR|encoding=dbn|ts_out={ts_out}|compression=none|heartbeat_interval_s=30|"
                "slow_reader_behavior={slow}|client=Databento/0.88.0 Python/3.11 Linux/6.1\n")
RUST_LOGIN = ("auth={auth}|dataset=OPRA.PILLAR|encoding=dbn|compression=none|ts_out={ts_out}|"
              "client=Databento/0.64.0 Rust linux-x86_64\n")

TRADE, MBP_1, DEFINITION, ERROR, MAPPING, SYSTEM, CMBP_1 = 0x00, 0x01, 0x13, 0x15, 0x16, 0x17, 0xB1


def text_of(field):
    return field.split(b"\0", 1)[0].decode()


def level_of(record):
    """(bid price, ask price, bid size, ask size, bid publisher, ask publisher)"""
    bid, ask, bid_size, ask_size, bid_publisher, ask_publisher = struct.unpack_from("<qqIIH2xH2x", record, 48)
    return bid, ask, bid_size, ask_size, bid_publisher, ask_publisher


class Record:
    """One record: the header's fields, and the bytes."""

    def __init__(self, data, send_ns):
        length, self.type, self.publisher, self.instrument, self.event_ns = struct.unpack_from("<BBHIQ", data)
        assert length * 4 == len(data) + (8 if send_ns else 0)
        self.data, self.send_ns = data, send_ns

    def take(self, form, at):
        values = struct.unpack_from("<" + form, self.data, at)
        return values if len(values) > 1 else values[0]

    @property
    def text(self):
        return text_of(self.data[16:])

    @property
    def code(self):
        return self.data[318 if self.type == ERROR else 319]

    @property
    def flags(self):
        return self.data[30]


class Client:
    """A session that begins with the text `login`. `slow`: what is asked for when the client reads too slowly.
    `address`: of the client, on the loopback interface."""

    def __init__(self, port, key=KEY, ts_out=False, login=PYTHON_LOGIN, slow="skip", receive_bytes=None,
                 address=None):
        self.socket = socket.socket()
        if address:
            self.socket.bind((address, 0))
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(("127.0.0.1", port))
        self.bytes, self.at = b"", 0  # what was received, and how much of it was read
        self.ts_out = ts_out
        self.metadata = None
        self.version = self.line()
        challenge = self.line().removeprefix("cram=")
        digest = hashlib.sha256(f"{challenge}|{key}".encode()).hexdigest()
        self.send(login.format(auth=f"{digest}-{key[-5:]}", digest=digest, ts_out=int(ts_out), slow=slow))
        self.answer = self.line()

    def send(self, line):
        self.socket.sendall(line.encode())

    def line(self):
        while b"\n" not in self.bytes:
            got = self.socket.recv(4096)
            if not got:
                raise EOFError(self.bytes)
            self.bytes += got
        line, self.bytes = self.bytes.split(b"\n", 1)
        return line.decode()

    def take(self, count):
        """The next bytes as they come."""
        while len(self.bytes) < count:
            got = self.socket.recv(4096)
            if not got:
                raise EOFError(self.bytes)
            self.bytes += got
        taken, self.bytes = self.bytes[:count], self.bytes[count:]
        return taken

    def subscribe(self, schema, symbols="ALL_SYMBOLS", stype="raw_symbol", more=""):
        self.send(f"schema={schema}|stype_in={stype}|symbols={symbols}{more}|id=0|is_last=1\n")

    def start(self):
        self.send("start_session=0\n")

    def records(self, seconds, until=lambda record: False):
        """Records that come within some seconds, up to one for which `until` is true or the end of the session."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            while (record := self.next_record()) is not None:
                yield record
                if until(record):
                    return
            self.socket.settimeout(max(end - time.monotonic(), 0.01))
            try:
                got = self.socket.recv(1 << 20)
            except TimeoutError:
                return
            if not got:
                return
            self.bytes, self.at = self.bytes[self.at:] + got, 0

    def rest(self, quiet_s=3):
        """Records until none comes for some seconds."""
        while some := list(self.records(quiet_s)):
            yield from some

    def begin(self):
        """Starts the session, and waits for its metadata."""
        self.start()
        while self.metadata is None:
            self.socket.settimeout(PATIENCE_S)
            got = self.socket.recv(1 << 20)
            if not got:
                raise EOFError(self.bytes)
            self.bytes += got
            if len(self.bytes) >= 128:
                self.metadata, self.at = self.bytes[:128], 128

    def next_record(self):
        if self.metadata is None:
            if len(self.bytes) < 128:
                return None
            self.metadata, self.at = self.bytes[:128], 128
        end = self.at + (self.bytes[self.at] * 4 if self.at < len(self.bytes) else 4)
        if end > len(self.bytes):
            return None
        data, self.at = self.bytes[self.at:end], end
        if not self.ts_out:
            return Record(data, None)
        return Record(data[:-8], struct.unpack("<Q", data[-8:])[0])

    def close(self):
        self.socket.close()

    def __del__(self):
        self.socket.close()
