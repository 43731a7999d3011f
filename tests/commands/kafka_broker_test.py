#!/usr/bin/env python3
"""`pinstrike kafka` with a real broker: what was acknowledged is read back exactly once.

    kafka_broker_test.py PINSTRIKE FOLDER

Makes a virtual environment with a consumer, and gets the broker from Maven Central, in FOLDER, unless they are there.
Skipped (77) with the reason if either cannot be had, or Java is not installed.
"""

import collections
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
import venv
from pathlib import Path

PACKAGES = ["confluent-kafka==2.8.0", "pandas==2.2.3"]

try:
    import confluent_kafka
except ImportError:
    folder = Path(sys.argv[2]) / "venv"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    installed = subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], capture_output=True, text=True,
                               check=False)
    if installed.returncode != 0 or os.environ.get("PINSTRIKE_IN_VENV"):
        print(f"SKIP: {PACKAGES} cannot be installed: {installed.stderr[-500:]}")
        sys.exit(77)
    os.execve(python, [str(python), *sys.argv], dict(os.environ, PINSTRIKE_IN_VENV="1"))

import kafka_broker  # noqa: E402
from endpoint import free_port  # noqa: E402

PINSTRIKE = sys.argv[1]
ROOT = Path(__file__).resolve().parents[2]
JARS, WHY_NOT = kafka_broker.jars(Path(sys.argv[2]) / "broker")
if WHY_NOT:
    print(f"SKIP: {WHY_NOT}")
    sys.exit(77)

SIZES = {"trades": 48, "cmbp-1": 80, "definition": 520}
FEED = """name: live
lines: 1-4
ports: [{name: simulator, kind: sim}]
pollers: [{name: poller0, wait: park}]
cores: [{name: core0, wait: park}]
publish: {memory: shm, stream: on}
book: {series_capacity: 4000}
traffic: {shape: blend, lines_count: 4, roots_count: 20, series_count: 2000, rate_messages_per_second: 20000}
"""


class Running:
    """A program with its log."""

    def __init__(self, folder, environment, *command):
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        self.log = open(self.folder / "log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([PINSTRIKE, *map(str, command), "--account", self.folder / "account.json"],
                                        env=environment, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def text(self):
        return (self.folder / "log").read_text(encoding="utf-8")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        output = self.process.communicate(timeout=300)[0]
        self.log.close()
        account = self.folder / "account.json"
        return self.process.returncode, output, json.loads(account.read_text()) if account.exists() else None

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


class Reading:
    """All messages of a topic, and what is wrong with them."""

    def __init__(self, test, broker, schema):
        self.messages, self.records, self.missing = [], collections.Counter(), collections.Counter()
        self.stated = {}
        following, positions = collections.Counter(), set()
        for message in self.read(broker, f"pinstrike.live.{schema}"):
            headers = {name: value.decode() for name, value in message.headers()}
            life, first, count = headers["position"].split()
            key, first, count = message.key(), int(first), int(count)
            test.assertEqual(headers["dbn"], f"3 OPRA.PILLAR {schema}")
            test.assertEqual(len(message.value() or b""), count * SIZES[schema])
            test.assertLessEqual(count, 100)
            test.assertGreaterEqual(first, following[life, key], "a message twice, or in the wrong order")
            if count:
                test.assertNotIn((life, key, first), positions)
                positions.add((life, key, first))
            self.missing[life] += first - following[life, key]
            following[life, key] = first + count
            self.records[life] += count
            self.stated[life, key] = int(headers.get("lost", 0)), int(headers.get("uncertain", 0))
            self.messages.append(message.value() or b"")

    @staticmethod
    def read(broker, topic):
        consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.address, "group.id": "test",
                                             "enable.auto.commit": False})
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        ends = {}
        for partition in partitions:
            at = confluent_kafka.TopicPartition(topic, partition)
            end = consumer.get_watermark_offsets(at, timeout=30)[1]
            if end:
                ends[partition] = end
        consumer.assign([confluent_kafka.TopicPartition(topic, partition, 0) for partition in ends])
        got = []
        while ends:
            message = consumer.poll(30)
            if message is None or message.error():
                raise AssertionError(f"{topic}: {message and message.error()}")
            got.append(message)
            if message.offset() + 1 >= ends.get(message.partition(), sys.maxsize):
                del ends[message.partition()]
        consumer.close()
        return got


class WithBroker(unittest.TestCase):
    def setUp(self):
        self.keeper = tempfile.TemporaryDirectory(prefix="pinstrike-kafka-")
        self.addCleanup(self.keeper.cleanup)
        self.folder = Path(self.keeper.name)
        memory = self.folder / "memory"
        memory.mkdir(mode=0o750)
        self.environment = dict(os.environ, PINSTRIKE_FOLDER=str(memory))
        (self.folder / "broker").mkdir()
        self.broker = kafka_broker.Broker(self.folder / "broker", JARS).start()
        self.addCleanup(self.broker.kill)
        (self.folder / "feed.yaml").write_text(FEED)
        self.feed = self.run_program("run", self.folder / "feed.yaml")
        self.metrics_port = free_port()

    def run_program(self, *command):
        made = Running(self.folder, self.environment, *command)
        self.addCleanup(made.end)
        return made

    def kafka(self, more="", topics="[{schema: trades}, {schema: cmbp-1}]"):
        config = self.folder / "kafka.yaml"
        config.write_text(f"feed: live\nbrokers: {self.broker.address}\ntopics: {topics}\n"
                          f"metrics_address: 127.0.0.1:{self.metrics_port}\n{more}")
        return self.run_program("kafka", config)

    def metric(self, name):
        """The sum over all topics."""
        total = 0
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10) as page:
                for row in page.read().decode().splitlines():
                    if row.startswith(f"pinstrike_{name}{{"):
                        total += float(row.rsplit(" ", 1)[1])
        return total

    def wait_until(self, what, done, seconds=600):
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                raise AssertionError(f"not {what}")
            time.sleep(0.1)

    def wait_acknowledged(self, more):
        wanted = self.metric("kafka_topic_acknowledged_records_total") + more
        self.wait_until("acknowledged", lambda: self.metric("kafka_topic_acknowledged_records_total") >= wanted)

    @staticmethod
    def sums(account):
        return sum(map(collections.Counter, account["topics"].values()), collections.Counter())

    def check_account(self, stopped):
        code, output, account = stopped
        self.assertEqual(code, 0, output)
        self.assertIn("the account balances", output)
        sums = self.sums(account)
        self.assertEqual(sums["made"], sums["acknowledged"] + sums["failed"] + sums["uncertain"] + sums["dropped"])
        self.assertEqual(account["kafka"]["missed"], 0)
        print(output.splitlines()[0])
        return account

    def check_read_back(self, account, lives=1):
        """Each record that was acknowledged is in the topic once, and what is missing is accounted for."""
        for topic, counts in account["topics"].items():
            reading = Reading(self, self.broker, topic.split(".")[-1])
            self.assertEqual(len(reading.records), lives)
            life = max(reading.records)
            records, missing = reading.records[life], reading.missing[life]
            self.assertLessEqual(counts["acknowledged"], records)
            self.assertLessEqual(records, counts["acknowledged"] + counts["uncertain"])
            self.assertLessEqual(records + missing, counts["made"])
            if topic.endswith(".trades"):
                trades = [value[i:i + 48] for value in reading.messages for i in range(0, len(value), 48)]
                self.assertEqual(len(set(trades)), len(trades), "a trade twice")
            print(f"{topic}: {counts}; read back {records}, missing {missing}")
        return account

    def end_feed(self):
        """Ends the feed, and waits until all records are acknowledged or given up."""
        code = self.feed.stop(signal.SIGINT)[0]
        self.assertEqual(code, 0, self.feed.text())
        self.assertIn("the account balances", self.feed.text())
        time.sleep(2)  # until the last records are sent, and losses are stated
        self.wait_until("an empty queue", lambda: self.metric("kafka_queue_messages") == 0)


class Quiet(WithBroker):
    def test_everything_is_acknowledged_and_read_back_once(self):
        kafka = self.kafka(topics="[{schema: trades}, {schema: cmbp-1}, {schema: definition}]")
        self.wait_acknowledged(100_000)
        self.end_feed()
        account = self.check_account(kafka.stop())
        sums = self.sums(account)
        self.assertEqual(sums["made"], sums["acknowledged"])
        self.check_read_back(account)
        shown = subprocess.run([sys.executable, ROOT / "actors/kafka/examples/trades_frame.py", self.broker.address,
                                "live"], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        trades = account["topics"]["pinstrike.live.trades"]["acknowledged"]
        said = re.search(r"^(\d+) trades of (\d+) series; 0 records are missing$", shown.stdout, re.MULTILINE)
        self.assertEqual(int(said[1]), trades, shown.stdout)
        self.assertGreater(int(said[2]), 100)

    def test_a_life_that_is_killed_ends_without_a_duplicate_and_the_next_one_goes_on(self):
        kafka = self.kafka()
        self.wait_acknowledged(50_000)
        kafka.stop(signal.SIGKILL)
        kafka = self.kafka()
        self.wait_acknowledged(50_000)
        self.end_feed()
        self.check_read_back(self.check_account(kafka.stop()), lives=2)


class Killed(WithBroker):
    def test_a_broker_that_is_killed_and_started_again_under_load_costs_nothing(self):
        kafka = self.kafka("queue: 512MiB\ntimeout: 5m\nlinger: 50ms\n")  # a busy machine starts a broker slowly
        for _ in range(2):
            self.wait_acknowledged(50_000)
            self.broker.kill()
            time.sleep(2)
            self.broker.start()
        self.wait_acknowledged(50_000)
        self.end_feed()
        account = self.check_read_back(self.check_account(kafka.stop()))
        sums = self.sums(account)
        self.assertEqual(sums["failed"] + sums["uncertain"] + sums["dropped"], 0)

    def test_a_broker_that_stays_away_makes_records_failed_uncertain_and_dropped(self):
        kafka = self.kafka("queue: 1MiB\ntimeout: 3s\n")
        self.wait_acknowledged(50_000)
        os.kill(self.broker.process.pid, signal.SIGSTOP)  # it takes messages and answers nothing
        self.wait_until("uncertain", lambda: self.metric("kafka_topic_uncertain_records_total") > 0)
        self.wait_until("dropped", lambda: self.metric("kafka_topic_dropped_records_total") > 0)
        self.broker.kill()
        self.wait_until("failed", lambda: self.metric("kafka_topic_failed_records_total") > 0)
        self.wait_until("brokers down", lambda: "kafka_brokers_down" in kafka.text())
        self.assertRegex(kafka.text(), r"kafka_dropped topics: \d+ records: the queue is full")
        self.broker.start()
        self.wait_acknowledged(50_000)
        self.end_feed()
        account = self.check_read_back(self.check_account(kafka.stop()))
        sums = self.sums(account)
        self.assertGreater(min(sums["failed"], sums["uncertain"], sums["dropped"]), 0)
        for topic, counts in account["topics"].items():
            reading = Reading(self, self.broker, topic.split(".")[-1])
            lost = sum(lost for lost, _ in reading.stated.values())
            uncertain = sum(uncertain for _, uncertain in reading.stated.values())
            self.assertEqual(lost, counts["failed"] + counts["dropped"], "each loss is stated in the topic")
            self.assertEqual(uncertain, counts["uncertain"])
            self.assertEqual(sum(reading.missing.values()) + sum(reading.records.values()), counts["made"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
