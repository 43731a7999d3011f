#!/usr/bin/env python3
"""The gateway answers `start`: records of the recording, then live ones, without a gap and without a duplicate.

    gateway_replay_test.py PINSTRIKE

A feed of generated traffic records and publishes. Clients ask for records of the past while it runs. When it has
ended, their records must be those of an export of the recording.
"""

import collections
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import exported
import gateway_client as client
from gateway_client import PATIENCE_S, Client
from gateway_day import Gateway
from gateway_truth import BARS

PINSTRIKE = sys.argv[1]
SECOND_NS = 10**9

# One stream has losses, which the other one fills.
CONFIG = """
name: day
lines: 1-4
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, lines: 1-2, wait: park}}, {{name: poller1, lines: 3-4, wait: park}}]
cores: [{{name: core0, wait: park}}, {{name: core1, wait: park}}]
record: {{folder: {folder}, segment: 16MiB, free: 0B, snapshot_interval: 2s}}
publish: {{memory: shm, stream: on}}
book: {{series_capacity: 20000}}
traffic: {{lines_count: 4, roots_count: 20, series_count: 2000, rate_messages_per_second: 8000, a: {{loss: 0.02}}}}
"""
KEYS = f"keys: [{{user: trial, key: {client.KEY}, replays: 3}}, {{user: none, key: {client.KEY[:-1]}x, replays: 0}}]\n"


def is_over(record):
    return record.type == client.SYSTEM and record.code == 3


def words_of(process):
    """Of its command line; none: it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""


def reached_ns(record):
    """The time of receipt of a record, or of the end of an interval; 0: it has none."""
    if record.type == client.SYSTEM:
        return record.event_ns if record.code == 4 else 0
    return record.take("Q", 32) if record.type in (client.TRADE, client.MBP_1, client.CMBP_1, 0xC0, 0xC2) else 0


class Replays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="pinstrike-gateway-replay-")
        cls.addClassCleanup(cls.holder.cleanup)
        here = Path(cls.holder.name)
        cls.memory, cls.record = here / "memory", here / "record"
        cls.memory.mkdir(mode=0o750)
        config = here / "feed.yaml"
        config.write_text(CONFIG.format(folder=cls.record))
        cls.feed = subprocess.Popen([PINSTRIKE, "run", config, "--no-view"], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL,
                                    env=dict(os.environ, PINSTRIKE_FOLDER=str(cls.memory)))
        cls.addClassCleanup(cls.end_feed)
        folder = here / "gateway"
        folder.mkdir()
        deadline = time.monotonic() + 60
        while not any(cls.memory.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.1)
        cls.gateway = Gateway(folder, cls.memory, keys=KEYS, more=f"record: {cls.record}\nrecord_config: {config}\n"
                              "replays_max: 8\n")
        cls.addClassCleanup(cls.gateway.process.kill)
        cls.gateway.wait_for("feed_attached")
        cls.began = time.monotonic()

    @classmethod
    def end_feed(cls):
        cls.feed.send_signal(signal.SIGINT)
        cls.feed.wait(timeout=PATIENCE_S)

    def wait_until(self, seconds):
        time.sleep(max(0, self.began + seconds - time.monotonic()))

    def follow(self, *subscriptions, **options):
        """All records until those of 1.5 s after the end of the replay have come, and the time up to which they are
        complete. Lines and cores may be a second apart."""
        session = Client(self.gateway.port, **options)
        for schema, symbols, stype, start_ns in subscriptions:
            session.subscribe(schema, symbols, stype, more=f"|start={start_ns}")
        session.start()
        records, left = [], len(subscriptions)
        for record in session.records(600):  # a process of idle priority replays
            records.append(record)
            self.assertNotEqual(record.type, client.ERROR, record.data)
            left -= is_over(record)
            if left == 0:
                break
        self.assertEqual(left, 0, "the replay has come to its end")
        until_ns = time.time_ns() + 3 * SECOND_NS // 2
        records += session.records(PATIENCE_S, lambda record: reached_ns(record) > until_ns)
        self.assertGreater(reached_ns(records[-1]), until_ns)
        self.assertEqual([record.text for record in records if record.type == client.ERROR], [])
        session.close()
        return records, until_ns - SECOND_NS

    def test_records_are_those_of_an_export_of_the_recording(self):
        self.wait_until(9)
        now = time.time_ns()
        followed = []
        for schema, symbols, stype, start_ns, types in (
                ("trades", "ALL_SYMBOLS", "raw_symbol", 0, {client.TRADE}),
                ("mbp-1", "ALL_SYMBOLS", "raw_symbol", now - 5 * SECOND_NS, {client.MBP_1}),
                ("cmbp-1", self.roots(3), "parent", now - 4 * SECOND_NS, {client.CMBP_1}),
                ("ohlcv-1s", "ALL_SYMBOLS", "raw_symbol", now - 4 * SECOND_NS, {0x20}),
                ("cbbo-1s", "ALL_SYMBOLS", "raw_symbol", now - 3 * SECOND_NS, {0xC0}),
                ("tcbbo", "ALL_SYMBOLS", "raw_symbol", time.time_ns() - SECOND_NS // 2, {0xC2})):
            records, until_ns = self.follow((schema, symbols, stype, start_ns))
            followed.append((schema, symbols, start_ns, types, records, until_ns))
        both, until_ns = self.follow(("trades", "ALL_SYMBOLS", "raw_symbol", now),
                                     ("tcbbo", "ALL_SYMBOLS", "raw_symbol", now))
        followed.append(("trades", "ALL_SYMBOLS", now, {client.TRADE}, both, until_ns))
        followed.append(("tcbbo", "ALL_SYMBOLS", now, {0xC2}, both, until_ns))
        self.check_end()
        compared = collections.Counter()
        for schema, symbols, start_ns, types, records, until_ns in followed:
            if schema in ("cbbo-1s", "ohlcv-1s"):
                until_ns = self.check_intervals(records)
            compared[schema] += self.compare(schema, symbols, start_ns, types, records, until_ns)
        print("records compared:", dict(compared))
        for schema in ("trades", "mbp-1", "cmbp-1", "cbbo-1s", "tcbbo", "ohlcv-1s"):
            self.assertGreater(compared[schema], 50, schema)

    def check_intervals(self, records):
        """Each interval ended once. Returns the end of the last one of the replay: the live feed has the events of its
        pollers and cores in another order than an export, so events may be in a neighbouring interval."""
        ends = [record.event_ns // SECOND_NS for record in records if record.type == client.SYSTEM and record.code == 4]
        self.assertEqual(ends, list(range(ends[0], ends[0] + len(ends))))
        over = next(index for index, record in enumerate(records) if is_over(record))
        replayed = [record.event_ns for record in records[:over] if record.type == client.SYSTEM and record.code == 4]
        self.assertLess(len(replayed), len(ends))
        return replayed[-1] + 1

    def roots(self, count):
        """Parents of series that the feed has."""
        session = Client(self.gateway.port)
        session.subscribe("definition", more="|start=0")
        session.start()
        symbols = {record.take("71s", 238)[:6].decode().strip() for record in session.records(PATIENCE_S, is_over)
                   if record.type == client.DEFINITION}
        session.close()
        return ",".join(f"{root}.OPT" for root in sorted(symbols)[:count])

    def check_end(self):
        """No process of a replay is left, and the account says what was replayed."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self.children():
            time.sleep(0.2)
        self.assertEqual(self.children(), [])
        type(self).end_feed()
        self.assertGreater(self.gateway.metric("gateway_user_replayed_records_total", 'user="trial"'), 100)

    def compare(self, schema, symbols, start_ns, types, records, until_ns):
        out = Path(self.holder.name) / "whole.dbn"
        done = subprocess.run([PINSTRIKE, "record", "export", self.record, "--schema", schema, "--out", out],
                              capture_output=True, text=True, check=False, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = exported.Dbn(out.read_bytes())
        names = {record.instrument: client.text_of(record.data[89:160]) for record in records
                 if record.type == client.MAPPING}
        wanted = None if symbols == "ALL_SYMBOLS" else {parent.removesuffix(".OPT") for parent in symbols.split(",")}
        times = (start_ns, until_ns)
        seen = self.chosen(schema, [record for record in records if record.type in types], names, times, wanted)
        expected = self.chosen(schema, whole.records, whole.symbols_by_id(), times, wanted)
        for symbol in expected.keys() | seen.keys():
            one, other = (collections.Counter(records.get(symbol, [])) for records in (seen, expected))
            self.assertEqual([(row.hex(), "more" if one[row] > other[row] else "fewer")
                              for row in one.keys() | other.keys() if one[row] != other[row]], [],
                             (schema, symbol, start_ns))
        return sum(map(len, expected.values()))

    @staticmethod
    def chosen(schema, records, names, times, roots):
        """Records of these times by symbol, without ids. Of cbbo without the last trade: a snapshot has no time of it,
        and none at all if it was cancelled."""
        at, length_ns = (8, BARS[schema]) if schema in BARS else (32, 0)
        chosen = collections.defaultdict(list)
        for record in records:
            symbol, time_ns = names[record.instrument], record.take("Q", at)
            if times[0] <= time_ns and time_ns + length_ns < times[1] and \
                    (roots is None or symbol[:6].strip() in roots):
                data = bytearray(record.data)
                data[4:8] = bytes(4)
                if schema.startswith("cbbo"):
                    data[8:28] = bytes(20)
                chosen[symbol].append(bytes(data))
        return {symbol: sorted(rows) for symbol, rows in chosen.items()}

    def test_what_cannot_be_replayed_is_said(self):
        self.wait_until(2)
        yesterday = time.time_ns() - 25 * 3600 * SECOND_NS
        for key, start, code, text in ((client.KEY, yesterday, 8, "earlier days are not replayed"),
                                       (client.KEY, time.time_ns() + 3600 * SECOND_NS, 5, "a moment of the past"),
                                       (f"{client.KEY[:-1]}x", 0, 5, "limit of replays: replays 0 of none")):
            session = Client(self.gateway.port, key=key)
            session.subscribe("trades", more=f"|start={start}")
            session.start()
            error = [record for record in session.records(PATIENCE_S) if record.type == client.ERROR][-1]
            self.assertEqual(error.code, code)
            self.assertIn(text, error.text)
            session.close()

    def test_a_client_that_leaves_ends_its_replay_alone(self):
        """Its process has not read the request, which does not fit into the pipe."""
        self.wait_until(2)
        session = Client(self.gateway.port)
        for part in range(3):
            symbols = ",".join(f"SPY   261218C{2000 * part + number:08}" for number in range(1, 2001))
            session.send(f"schema=trades|stype_in=raw_symbol|symbols={symbols}|start=0|id=0|is_last={part // 2}\n")
        session.start()
        deadline = time.monotonic() + PATIENCE_S
        while not (children := self.children()):
            self.assertLess(time.monotonic(), deadline)
        os.kill(int(children[0]), signal.SIGSTOP)
        time.sleep(1)  # the gateway writes meanwhile
        session.close()
        while self.children() and self.gateway.process.poll() is None:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        time.sleep(0.5)
        self.assertIsNone(self.gateway.process.poll(), self.gateway.text()[-2000:])

    def children(self):
        """Of the gateway. One that still has its words has not begun: the gateway waits for that, so it must go on."""
        tasks = Path(f"/proc/{self.gateway.process.pid}/task").glob("*/children")
        children = [child for path in tasks for child in path.read_text().split()]
        return [child for child in children if words_of(child) != words_of(self.gateway.process.pid)]

    def test_each_key_has_its_number_of_replays(self):
        self.wait_until(2)
        sessions = []
        for count in range(1, 5):
            session = Client(self.gateway.port)
            session.subscribe("mbp-1", more="|start=0")
            session.start()
            sessions.append(session)
            deadline = time.monotonic() + PATIENCE_S
            while len(children := self.children()) < min(count, 3):
                self.assertLess(time.monotonic(), deadline)
            for child in children:  # none is over before the last one is refused
                os.kill(int(child), signal.SIGSTOP)
        errors = list(sessions[3].records(PATIENCE_S, lambda record: record.type == client.ERROR))
        self.assertIn("limit of replays: replays 3 of trial", errors[-1].text)
        for session in sessions:
            session.close()
        deadline = time.monotonic() + 600
        while True:  # the processes end with their sessions
            session = Client(self.gateway.port)
            session.subscribe("trades", more="|start=0")
            session.start()
            first = list(session.records(60, lambda record: record.type in (client.ERROR, client.TRADE)))
            session.close()
            if first and first[-1].type == client.TRADE:
                break
            self.assertLess(time.monotonic(), deadline)


if __name__ == "__main__":
    # The last test ends the feed.
    order = unittest.TestSuite(Replays(name) for name in ("test_what_cannot_be_replayed_is_said",
                                                          "test_a_client_that_leaves_ends_its_replay_alone",
                                                          "test_each_key_has_its_number_of_replays",
                                                          "test_records_are_those_of_an_export_of_the_recording"))
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(order).wasSuccessful())
