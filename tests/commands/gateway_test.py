#!/usr/bin/env python3
"""The gateway, as clients on the network use it: `pinstrike gateway` beside a replayed day.

    gateway_test.py PINSTRIKE

A generated day of some hours is replayed within some seconds and published. Each record of each schema must be what
the capture says, decoded message by message by the independent decoder.
"""

import contextlib
import datetime
import json
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import unittest

import gateway_client as client
import gateway_day
import gateway_truth
import recorded_clients
from gateway_client import PATIENCE_S, Client
from gateway_day import WithGateway, WithHours, resident_bytes
from gateway_truth import NO_SIDE, PUBLISHERS, nanos, sides_of


def is_end(record):
    return record.type == client.ERROR and "is ended" in record.text


def is_over(record):
    return record.type == client.SYSTEM and record.code == 3


class Truthful(WithHours):
    """Records against the capture."""

    def collect(self):
        """All records of a replayed day: by schema of one session each, so that no record is asked for twice."""
        records = {schema: [] for schema in gateway_truth.FORMS}
        with self.gateway(keys=f"keys: [{{user: trial, key: {client.KEY}, sessions: 12}}]\n") as gateway:
            sessions = {}
            for index, schema in enumerate(records):
                sessions[schema] = Client(gateway.port, login=client.RUST_LOGIN if index % 2 else client.PYTHON_LOGIN)
                self.assertRegex(sessions[schema].answer, r"^success=1\|session_id=\d+$")
                sessions[schema].subscribe(schema)
                sessions[schema].start()
            with self.replayed_to(gateway):
                while "is ended" not in gateway.text():
                    for schema, session in sessions.items():
                        records[schema] += session.records(0.05)
            for schema, session in sessions.items():  # the error that the feed has ended comes after the last event
                if not any(map(is_end, records[schema])):
                    records[schema] += session.records(PATIENCE_S, is_end)
                self.assertTrue(any(map(is_end, records[schema])))
            last_ns = self.last_ns(records)
            records["cbbo-1s"] += sessions["cbbo-1s"].records(
                PATIENCE_S,
                lambda record: record.type == client.SYSTEM and record.code == 4 and record.event_ns > last_ns)
            for session in sessions.values():
                session.close()
            code, output = gateway.stop()
            self.assertEqual(code, 0, output + gateway.text())
            self.assertIn("the account balances", output)
            account = json.loads((gateway.folder / "account.json").read_text())
            self.assertEqual(account["gateway"]["missed"], 0)
            self.assertEqual(account["sessions"]["skipped"], 0)
            self.access = [json.loads(row) for row in (gateway.folder / "access.log").read_text().splitlines()]
        return records

    @staticmethod
    def last_ns(records):
        return max(record.take("Q", 32) for record in records["mbp-1"] if record.type == client.MBP_1)

    def test_each_record_is_what_the_capture_says(self):
        records = self.collect()
        for schema, of_schema in records.items():
            self.assertEqual(of_schema[0].text, f"Subscription request 0 for {schema} data succeeded")
        end = records["cbbo-1s"][-1]
        self.assertEqual((end.type, end.code), (client.SYSTEM, 4))
        self.assertGreater(end.event_ns, self.last_ns(records), "without events, the clock ends intervals")
        self.check_records(records)
        self.check_access()

    def check_access(self):
        self.assertEqual({row["user"] for row in self.access}, {"trial"})
        self.assertEqual(len({row["session"] for row in self.access}), 12)  # each has a line more if an hour ends
        self.assertIn("cmbp-1", {row["schemas"] for row in self.access})


class Slow(WithGateway):
    """A client that does not read, on a day of some hundred thousand messages."""

    DAY = gateway_day.FAST

    def test_a_client_that_does_not_read_is_skipped_and_others_go_on(self):
        with self.gateway(more="queue: 1MiB\n") as gateway:
            slow = Client(gateway.port, receive_bytes=8192)
            slow.subscribe("mbp-1")
            slow.start()
            other = Client(gateway.port)
            other.subscribe("trades")
            other.start()
            trades, behind = [], []
            with self.replayed("--pace", "real"):
                while "is ended" not in gateway.text() or len(behind) < 2 or behind[-1][0] - behind[0][0] < 0.5:
                    trades += other.records(0.2)
                    begin = time.monotonic()
                    page = gateway.metrics()
                    seconds = gateway.metric("gateway_behind_seconds", 'user="trial"', page)
                    stalled = gateway.metric("gateway_stalled_seconds", page=page)
                    self.assertLess(stalled, 30)
                    if seconds and behind and seconds < behind[-1][2]:
                        behind.clear()  # the client was current once more
                    if seconds:  # at a moment between these two
                        behind.append((begin - stalled, time.monotonic(), seconds))
            if not any(map(is_end, trades)):
                trades += other.records(PATIENCE_S, is_end)
            (first_from, first_to, first), (last_from, last_to, last) = behind[0], behind[-1]
            self.assertGreater(last - first, last_from - first_to - 0.3)
            self.assertLess(last - first, last_to - first_from + 0.3)
            self.assertGreater(gateway.metric("gateway_user_skipped_records_total", 'user="trial"'), 10000)
            self.assertFalse([record for record in trades if record.type == client.ERROR and record.code == 7])
            self.assertGreater(sum(record.type == client.TRADE for record in trades), 100)

            records = list(slow.rest())
            skipped = [record for record in records if record.type == client.ERROR and record.code == 7]
            # The kernel takes some more bytes now and then, so the client is current some times before.
            counts = [int(re.search(r": (\d+) records skipped$", record.text)[1]) for record in skipped]
            self.assertGreater(counts[-1], 10000)
            after = records[records.index(skipped[-1]) + 1:]
            snapshots = [record for record in after if record.type == client.MBP_1 and record.flags & 32]
            self.assertEqual(len({record.instrument for record in snapshots}), len(snapshots))
            self.assertGreater(len(snapshots), 1000, "the present values of all series")
            for session in (slow, other):
                session.close()
            gateway.wait_for("session_ended", times=2)
            gateway.wait_for_metric(sum(counts), "gateway_user_skipped_records_total", 'user="trial"')
            gateway.wait_for_metric(0, "gateway_sessions", 'user="trial"')
            code, output = gateway.stop()
            self.assertEqual(code, 0, output)
            account = json.loads((gateway.folder / "account.json").read_text())["sessions"]
            self.assertEqual(account["skipped"], sum(counts), "each skipped record is reported")


class Behaving(WithGateway):
    """Sessions, limits and failures, on a day that has been replayed and kept."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_well("replay", cls.capture, "--publish", "day", "--keep")
        cls.values = [json.loads(row) for row in cls.run_well("chain", "--json", "--feed", "day").splitlines()]

    def test_a_wrong_key_is_refused(self):
        with self.gateway() as gateway:
            refused = Client(gateway.port, key=client.KEY[:-1] + "x")
            self.assertTrue(refused.answer.startswith("success=0|error=CRAM"), refused.answer)
            self.assertEqual(refused.socket.recv(10), b"")
            self.assertEqual(gateway.stop()[0], 0)
            self.assertNotIn(client.KEY, gateway.text())

    def test_a_snapshot_is_the_book(self):
        root = self.values[0]["symbol"]
        with self.gateway() as gateway:
            gateway.wait_for("feed_attached")
            session = Client(gateway.port, ts_out=True)
            session.subscribe("cmbp-1", f"{root.lower()}.opt", "parent", "|snapshot=1")
            session.subscribe("definition", "ALL_SYMBOLS", more="|start=0")
            session.start()
            records = list(session.records(PATIENCE_S, is_over))
            self.assertEqual(records[-1].text, "Finished definition replay")
            defined = [record.instrument for record in records if record.type == client.DEFINITION]
            self.assertEqual(len(set(defined)), len(defined))
            self.assertLess({value["id"] for value in self.values}, set(defined), "announced series beside them")
            self.assertTrue(all(record.send_ns for record in records))
            self.assertEqual(session.metadata[:8], b"DBN\3" + (120).to_bytes(4, "little"))
            by_id = {value["id"]: value for value in self.values if value["symbol"] == root}
            snapshots = [record for record in records if record.type == client.CMBP_1]
            self.assertEqual({record.instrument for record in snapshots}, set(by_id))
            for record in snapshots:
                self.assertEqual(record.flags & 32, 32)
                for side, seen in zip(("best_bid", "best_offer"), sides_of(record)):
                    stated = by_id[record.instrument][side]
                    self.assertEqual(seen, (nanos(stated["price"]), stated["size"],
                                            PUBLISHERS[stated["participant"]]) if stated else NO_SIDE)
            mapping = next(record for record in records if record.type == client.MAPPING)
            self.assertEqual(client.text_of(mapping.data[17:88]), f"{root}.OPT")

    def test_published_clients_are_served_by_the_bytes_that_they_send(self):
        expected = {"definition": client.DEFINITION, "cmbp-1": client.CMBP_1}
        with self.gateway() as gateway:
            gateway.wait_for("feed_attached")
            for name, sessions in recorded_clients.recordings().items():
                for what, (schema, _, _, options) in recorded_clients.SESSIONS.items():
                    with self.subTest(client=name, session=what):
                        session = Client(gateway.port, ts_out="send_times" in options, login=sessions[what])
                        self.assertRegex(session.answer, r"^success=1\|session_id=\d+$")
                        if "zstd" in options:  # the frame begins with zstd's number
                            self.assertEqual(session.take(4), b"\x28\xb5\x2f\xfd")
                            continue
                        records = list(session.records(PATIENCE_S, lambda record: record.type == expected[schema]))
                        self.assertRegex(records[0].text, rf"^Subscription request [01] for {schema} data succeeded$")
                        self.assertEqual(records[-1].type, expected[schema])
                        session.close()

    def test_what_cannot_be_served_is_said_after_the_start(self):
        with self.gateway() as gateway:
            for line, words in (("schema=status|stype_in=raw_symbol|symbols=ALL_SYMBOLS\n", "schema status"),
                                ("schema=trades|stype_in=raw_symbol|symbols=ALL_SYMBOLS|start=0\n", "no recording"),
                                ("schema=trades|stype_in=continuous|symbols=ES.c.0\n", "stype_in")):
                session = Client(gateway.port)
                session.send(line)
                session.start()
                records = list(session.records(PATIENCE_S))
                self.assertEqual((records[-1].type, records[-1].code), (client.ERROR, 5))
                self.assertIn(words, records[-1].text)
            session = Client(gateway.port)
            session.subscribe("trades", "NOT A SYMBOL,AAPL  261218C00250000")
            session.start()
            records = list(session.records(PATIENCE_S, is_end))
            records += session.records(1)
            self.assertEqual([(record.type, record.code) for record in records],
                             [(client.ERROR, 4), (client.SYSTEM, 1), (client.ERROR, 6)], "the session goes on")
            self.assertIn("is ended; values are old", records[-1].text)

    def test_entitlements_and_limits_are_kept(self):
        roots = sorted({value["symbol"] for value in self.values})
        keys = (f"keys:\n  - {{user: one, key: {client.KEY}, underlyings: [{roots[0]}], sessions: 1, "
                "subscriptions: 2}\n")
        with self.gateway(keys=keys) as gateway:
            gateway.wait_for("feed_attached")
            session = Client(gateway.port)
            second = Client(gateway.port)
            self.assertIn("open connection limit: sessions 1", second.answer)
            session.subscribe("definition", more="|start=0")
            session.subscribe("trades", f"{roots[1]}.OPT", "parent")
            session.start()
            records = list(session.records(PATIENCE_S, is_over))
            own = [value for value in self.values if value["symbol"] == roots[0]]
            defined = [record for record in records if record.type == client.DEFINITION]
            self.assertLessEqual({value["id"] for value in own}, {record.instrument for record in defined})
            self.assertEqual({client.text_of(record.data[238:309])[:6].strip() for record in defined}, {roots[0]})
            self.assertTrue(any(record.type == client.ERROR and "limit underlyings" in record.text
                                for record in records))
            session.subscribe("trades")
            last = list(session.records(PATIENCE_S))[-1]
            self.assertEqual((last.type, last.code), (client.ERROR, 5))
            self.assertIn("limit subscriptions is 2", last.text)

    def test_an_ended_session_holds_its_connection_for_some_seconds_only(self):
        with self.gateway(keys=f"keys: [{{user: one, key: {client.KEY}, sessions: 1}}]\n") as gateway:
            session = Client(gateway.port)
            session.start()
            session.send("nonsense\n")  # it reads nothing and closes nothing from now on
            gateway.wait_for("session_begun")
            self.assertIn("open connection limit", Client(gateway.port).answer)
            gateway.wait_for("session_ended")
            self.assertTrue(Client(gateway.port).answer.startswith("success=1"))

    def test_a_killed_gateway_resets_its_connections(self):
        """Clients connect again after a reset, and not after a plain end."""
        with self.gateway() as gateway:
            session = Client(gateway.port)
            session.subscribe("trades")
            session.begin()
            gateway.process.kill()
            with self.assertRaises(ConnectionResetError):
                while session.socket.recv(65536):
                    pass

    def test_a_removed_key_ends_its_sessions(self):
        with self.gateway() as gateway:
            session = Client(gateway.port)
            session.subscribe("trades")
            session.begin()
            gateway.write_keys("keys: [{user: other, key: db-99999999999999999999999999999}]\n")
            gateway.process.send_signal(signal.SIGHUP)
            last = list(session.records(PATIENCE_S))[-1]
            self.assertEqual((last.type, last.code), (client.ERROR, 2))
            gateway.wait_for("key was removed")

    def test_a_restart_ends_with_an_error_and_an_end_for_good_without(self):
        for how, errors in ((signal.SIGTERM, 1), (signal.SIGINT, 0)):
            with self.gateway() as gateway:
                session = Client(gateway.port)
                session.subscribe("trades")
                session.begin()
                first = session.metadata
                self.assertEqual(gateway.stop(how)[0], 0)
                # Other errors say that the day's feed has ended.
                ends = ["the gateway restarts" in each.text if each.type == client.ERROR else False
                        for each in session.records(PATIENCE_S)]
                self.assertEqual(sum(ends), errors, gateway.text())
                self.assertTrue(not errors or ends[-1])
                gateway.start()
                again = Client(gateway.port)
                again.begin()
                self.assertEqual(first[:26] + first[34:], again.metadata[:26] + again.metadata[34:])

    def test_a_client_that_connects_during_a_restart_waits_for_the_next_process(self):
        with self.gateway(managed=True) as gateway:
            gateway.manager.keep()
            session = Client(gateway.port)
            session.begin()
            self.assertEqual(gateway.stop(signal.SIGTERM)[0], 0)
            early = socket.create_connection(("127.0.0.1", gateway.port))
            gateway.start()
            early.settimeout(PATIENCE_S)
            self.assertTrue(early.recv(4096).startswith(b"lsg_version="))
            early.close()

    def test_no_record_is_sent_before_it_was_received(self):
        config = self.folder / "live.yaml"
        config.write_text("name: live\nkind: opra\nlines: 1-2\nports: [{name: simulator, kind: sim}]\n"
                          "pollers: [{name: poller0, wait: park}]\n"
                          "cores: [{name: core0, wait: park, actors: [book]}]\n"
                          "publish: {memory: shm, stream: on}\nbook: {series_capacity: 20000}\n"
                          "traffic: {lines_count: 2, series_count: 5000, rate_messages_per_second: 50000}\n")
        with subprocess.Popen([gateway_day.PINSTRIKE, "run", config], env=self.environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as feed:
            try:
                with self.gateway(feed="live") as gateway:
                    gateway.wait_for("feed_attached")
                    session = Client(gateway.port, ts_out=True)
                    session.subscribe("cmbp-1")
                    session.start()
                    quotes, wanted = [], 20000
                    for record in session.records(PATIENCE_S, lambda _: len(quotes) > wanted):
                        if record.type == client.CMBP_1:
                            quotes.append(record)
            finally:
                feed.send_signal(signal.SIGINT)
        self.assertGreater(len(quotes), wanted)
        ages = [record.send_ns - record.take("Q", 32) for record in quotes]
        self.assertGreater(min(ages), 0)

    def test_clients_stay_when_the_feed_dies_and_get_its_values_when_it_is_back(self):
        with self.gateway() as gateway:
            gateway.wait_for("feed_attached")
            session = Client(gateway.port)
            session.subscribe("cmbp-1", f"{self.values[0]['symbol']}.OPT", "parent")
            session.start()
            with self.replayed("--keep", "--pace", "x0.1") as replay:
                list(session.records(PATIENCE_S, lambda record: record.type == client.CMBP_1))
                replay.kill()
            lost = list(session.records(PATIENCE_S, lambda record: record.type == client.ERROR))
            self.assertEqual((lost[-1].type, lost[-1].code), (client.ERROR, 6))
            self.assertIn("is dead", lost[-1].text)
            self.run_well("replay", self.capture, "--publish", "day", "--keep")
            back = list(session.records(PATIENCE_S, lambda record: record.type == client.CMBP_1 and record.flags & 32))
            self.assertTrue(back and back[-1].type == client.CMBP_1, "a snapshot when it is back")

    def test_hostile_connections_harm_nobody(self):
        with self.gateway(more="connections_max: 40\n") as gateway:
            good = Client(gateway.port)
            junk = []
            for text in (b"\0\xff" * 1000, b"x" * (300 << 10), b"auth=" + b"|" * 9000 + b"\n", b"\n\n\n", b""):
                raw = socket.create_connection(("127.0.0.1", gateway.port))
                with contextlib.suppress(OSError):
                    raw.sendall(text)
                junk.append(raw)
            good.subscribe("definition", more="|start=0")
            good.start()
            self.assertTrue(any(record.type == client.DEFINITION for record in good.records(PATIENCE_S)))
            gateway.wait_for_metric(1, "gateway_sessions", 'user="trial"')
            for raw in junk:
                raw.close()
            time.sleep(1.1)
            many = [socket.create_connection(("127.0.0.1", gateway.port)) for _ in range(60)]
            good.subscribe("statistics", more="|start=0")
            self.assertTrue(any(map(is_over, good.records(PATIENCE_S))))
            for raw in many:
                raw.close()
            self.assertEqual(gateway.stop()[0], 0)

    def test_a_session_takes_less_than_a_mebibyte(self):
        """Sessions that are logged in, follow one series and are current, from many addresses."""
        count = 300
        self.raise_limit_of_files()
        with self.gateway(keys=f"keys: [{{user: trial, key: {client.KEY}, sessions: 1000}}]\n") as gateway:
            gateway.wait_for("feed_attached")
            sessions, before = [], None
            for i in range(count + 1):  # the first one makes what all share
                sessions.append(Client(gateway.port, address=f"127.0.{i // 20 + 1}.1"))
                sessions[-1].subscribe("cmbp-1", str(self.values[0]["id"]), "instrument_id", "|snapshot=1")
                sessions[-1].start()
                self.assertTrue(any(record.type == client.CMBP_1 for record in sessions[-1].records(PATIENCE_S)))
                before = before or resident_bytes(gateway.process.pid)
            each = (resident_bytes(gateway.process.pid) - before) / count
            print(f"{each / 1024:.1f} KiB for each session")
            self.assertLess(each, 1 << 20)
            gateway.wait_for_metric(count + 1, "gateway_sessions", 'user="trial"')
            for session in sessions:
                session.close()
            self.assertEqual(gateway.stop()[0], 0)

    def raise_limit_of_files(self):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limit)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limit[1]), limit[1]))

    def test_silent_connections_are_bounded_in_memory_and_time(self):
        """From many addresses, because one address may open only some connections a second."""
        count = 900
        self.raise_limit_of_files()
        with self.gateway() as gateway:
            good = Client(gateway.port)
            good.subscribe("statistics")
            good.start()
            before = resident_bytes(gateway.process.pid)
            silent = [socket.create_connection(("127.0.0.1", gateway.port),
                                               source_address=(f"127.0.{i // 200 + 1}.{i % 200 + 1}", 0))
                      for i in range(count)]
            for one in silent[::3]:
                one.sendall(b"auth=")
            good.subscribe("definition", more="|start=0")
            self.assertTrue(any(map(is_over, good.records(PATIENCE_S))))
            self.assertLess((resident_bytes(gateway.process.pid) - before) / count, 1 << 20)
            end = time.monotonic() + PATIENCE_S
            seen = None
            while seen != (1, count) and time.monotonic() < end:
                time.sleep(0.2)
                seen = (gateway.metric("gateway_connections"),
                        gateway.metric("gateway_ended_sessions_total", 'reason="login"'))
            self.assertEqual(seen, (1, count), "those that do not log in are closed")
            for one in silent:
                one.close()
            self.assertEqual(gateway.stop()[0], 0)

    def test_usage_is_reported_by_user_and_month(self):
        with self.gateway() as gateway:
            session = Client(gateway.port)
            session.subscribe("trades")
            session.begin()
            session.close()
            gateway.wait_for("session_ended")
            gateway.stop()
            month = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m")
            rows = self.run_well("gateway", "usage", gateway.folder / "access.log", "--month", month,
                                 "--csv").splitlines()
            self.assertEqual(len(rows), 2)
            self.assertTrue(rows[1].startswith("trial,1,"), rows[1])
            self.assertTrue(rows[1].endswith(",trades"), rows[1])
            empty = self.run_well("gateway", "usage", gateway.folder / "access.log", "--month", "2020-01", "--csv")
            self.assertEqual(len(empty.splitlines()), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
