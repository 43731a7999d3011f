"""The gateway: what it makes and sends, and how old the quotes of a running feed are at a client."""

import collections
import contextlib
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from parts.instances import free_port
from parts.running import median_of, output_of, rows_of, span, table

RATE = 1_000_000  # messages a second
SECONDS = 10
KEY = "db-0123456789abcdef0123456789abc"
FEED = f"""
name: bench
kind: opra
lines: 1-8
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park, actors: [book]}}]
publish: {{memory: shm, stream: on}}
book: {{series_capacity: 300000}}
traffic: {{shape: blend, lines_count: 8, series_count: 200000, rate_messages_per_second: {RATE}}}
"""
# Counts what the published Python client gives to a callback.
PYTHON_CLIENT = """
import sys, time, databento
port, key, seconds = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
count = 0
def take(record):
    global count
    count += 1
client = databento.Live(key=key, gateway="127.0.0.1", port=port)
client.subscribe(dataset="OPRA.PILLAR", schema="cmbp-1")
client.add_callback(take)
client.start()
time.sleep(2)  # mappings
before, begun = count, time.monotonic()
time.sleep(seconds)
print((count - before) / (time.monotonic() - begun))
client.terminate()
"""
# (what, start of the row, goal)
GOALS = [("records for one client of all series", "gateway: make, one of all", 10),
         ("records for 100 clients of 1,000 series each", "gateway: make, 100 clients", 10),
         ("the same records made and sent to a client that decodes them", "gateway: make and send", 10)]


def on_processor(number):
    return ["taskset", "-c", str(number)]


@contextlib.contextmanager
def running(command, until, environment):
    """A command that has printed the word `until` on standard error, until the end."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=environment) as process:
        try:
            if not any(until in line for line in process.stderr):
                sys.exit(f"{command[0]} never printed {until!r}")
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


def median_ns(buckets):
    """Of {bucket of config/histogram.h: samples}; samples spread evenly over their bucket, because buckets are up to
    6 % apart."""
    before, half = 0, sum(buckets.values()) / 2
    for bucket, count in sorted(buckets.items()):
        if before + count >= half:
            power = max(bucket // 16 - 1, 0)
            begin = bucket if bucket < 16 else 16 + bucket % 16 << power
            return begin + (half - before) / count * (1 << power)
        before += count
    sys.exit("the book has no sample")


class Served:
    """A feed of one million messages a second, and a gateway that serves it."""

    def __init__(self, options, folder):
        self.options, self.folder, self.port = options, folder, free_port()
        self.environment = dict(os.environ, PINSTRIKE_FOLDER=str(folder / "memory"))
        self.client = options.build / "tests/bench/bench_gateway_client"
        (folder / "memory").mkdir(mode=0o750)
        (folder / "feed.yaml").write_text(FEED)
        keys = folder / "keys"
        keys.write_text(f"keys: [{{user: bench, key: {KEY}}}]\n")
        keys.chmod(0o600)
        (folder / "gateway.yaml").write_text(f"feed: bench\naddress: 127.0.0.1:{self.port}\nkeys: keys\n")

    def feed(self):
        return running([*on_processor(0), self.options.pinstrike, "run", self.folder / "feed.yaml", "--admin",
                        self.folder / "admin.sock", "--account", self.folder / "account.json"], "running",
                       self.environment)

    def gateway(self, config=None, *more):
        return running([*on_processor(1), self.options.pinstrike, "gateway", config or self.folder / "gateway.yaml",
                        *more], "feed_attached", self.environment)

    def arguments(self, seconds, processor=1):
        return [*on_processor(processor), str(self.client), str(self.port), KEY, str(seconds)]

    def measure(self):
        """What the client prints, and the median time in ns that the book took for a batch meanwhile."""
        with subprocess.Popen(self.arguments(SECONDS), stdout=subprocess.PIPE, text=True) as client:
            time.sleep(1)
            before = self.book_services()
            time.sleep(SECONDS - 2)
            during = self.book_services() - before
            found = json.loads(client.communicate(timeout=60)[0])
        found["book_ns"] = median_ns(during)
        return found

    def book_services(self):
        """How often the book took how long for a batch, by bucket, since its start."""
        with socket.socket(socket.AF_UNIX) as asked:
            asked.connect(str(self.folder / "admin.sock"))
            asked.sendall(b'{"ask": "histograms"}\n')
            answer = json.loads(asked.makefile().readline())
        stage = next(stage for stage in answer["histograms"]["stages"]
                     if (stage["stage"], stage["actor"]) == ("actor_service", "book"))
        return collections.Counter({bucket: count for bucket, count in stage["all"]["buckets"]})

    def python_rate(self):
        """Records a second that the published Python client takes; None if it is not installed."""
        python = self.options.build / "tests/commands/databento/bin/python"
        if not python.exists():
            return None
        return float(output_of(python, "-c", PYTHON_CLIENT, self.port, KEY, SECONDS, timeout=120))

    def measure_added(self):
        """The same of quotes that one thread publishes, of which a gateway that does not sleep adds its time."""
        program = self.options.build / "tests/bench/bench_gateway_writer"
        writer = [*on_processor(0), program, "bench", RATE, SECONDS + 10]
        config = self.folder / "spin.yaml"
        config.write_text(f"feed: bench\naddress: 127.0.0.1:{self.port}\nkeys: keys\nwait: spin\n")
        with subprocess.Popen([str(word) for word in writer], env=self.environment) as published:
            try:
                time.sleep(1)
                account = self.folder / "added.json"
                with self.gateway(config, "--account", account):
                    found = json.loads(output_of(*self.arguments(SECONDS, 0)))
                write = json.loads(account.read_text())["write"]
                found["to_write_us"] = {name: write[f"{name}_ns"] / 1000 for name in ("p50", "p99", "p999")}
                return found
            finally:
                published.kill()

    @contextlib.contextmanager
    def stopped_client(self):
        """A client that reads for a second, then nothing."""
        with subprocess.Popen(self.arguments(3600), stdout=subprocess.DEVNULL) as client:
            try:
                time.sleep(1)
                client.send_signal(signal.SIGSTOP)
                yield
            finally:
                client.kill()


def median(found, *path):
    values = found
    for word in path:
        values = [value[word] for value in values]
    return statistics.median(values)


def measure_gateway(report, options):
    rows = rows_of(output_of(options.build / "tests/bench/bench_gateway", options.runs, span(report)))
    alone, beside = [], []
    with tempfile.TemporaryDirectory(prefix="pinstrike-report-") as name:
        served = Served(options, Path(name))
        with served.feed(), served.gateway():
            for _ in range(options.runs):  # in turns
                alone.append(served.measure())
                with served.stopped_client():
                    beside.append(served.measure())
            python = served.python_rate()
        added = [served.measure_added() for _ in range(options.runs)]
        account = json.loads((Path(name) / "account.json").read_text())
    lost = sum(line["lost"] for line in account["lines"])
    rule = "|---" * 7 + "|"
    percentiles = ("p50", "p99", "p999")
    times = [f"{median(added, part, name):.1f}" for part in ("to_write_us", "to_read_us") for name in percentiles]
    lines = ["| clients | records a second | to send, us: p50 | p99 | p99.9 | to read, us: p50 | p99 | p99.9 | "
             "book, ns a batch |", "|---" * 9 + "|"]
    for what, found in (("one", alone), ("one beside a stopped one", beside)):
        cells = [f"{median(found, part, name):.1f}" for part in ("to_send_us", "to_read_us") for name in percentiles]
        lines.append(f"| {what} | {median(found, 'records_per_second'):,.0f} | {' | '.join(cells)} | "
                     f"{median(found, 'book_ns'):.0f} |")
    beside_it = "| the published Python client | not measured (`meson test databento_client` installs it) | | | |"
    if python is not None:
        beside_it = ("| the published Python client (0.88.0), of the feed below, to a callback that counts | "
                     f"{python / 1e6:.2f} | | | M records/s |")
    report.section("Gateway", "`bench_gateway`: records from events that were made or published before, and sent from "
                   "one processor to a client on the other while these were near. *Ring to socket* reads published "
                   "memory and sends to a client that discards the bytes. *Without a gateway*, a thread that does "
                   "nothing else writes the bytes to the same client that decodes.", f"{table(rows)}\n{beside_it}",
                   f"A feed of {RATE:,} messages a second on both streams, a gateway, and one client of all series. "
                   "The feed has one processor, the gateway and its clients have the other; their threads sleep when "
                   "idle. *To send* is from the receive time of a packet to the send time of its record, *to read* to "
                   "its read by the client. The stopped client reads nothing (SIGSTOP). A client counts from two "
                   f"seconds after its start, when it has the symbols. Medians of {options.runs} runs of {SECONDS} s, "
                   f"in turns. The feed lost {lost} messages.", "\n".join(lines),
                   "What a gateway adds (`wait: spin`, alone on a processor): `bench_gateway_writer` publishes "
                   f"{RATE:,} quotes a second in bursts of 50 us, and shares the other processor with the client. "
                   "Their receive time is that of their publication. *To write* is from there until the record is "
                   "given to the socket (`pinstrike_gateway_write_seconds`; the kernel's time follows): all records "
                   "of a write count with the age of the oldest, also those of the client's first two seconds.",
                   "| records a second | to write, us: p50 | p99 | p99.9 | to read, us: p50 | p99 | p99.9 |\n"
                   f"{rule}\n| {median(added, 'records_per_second'):,.0f} | {' | '.join(times)} |")
    for what, start, goal in GOALS:
        report.goal(what, goal, median_of(rows, start), "M records/s")
    for name, goal in (("p50", 20), ("p99", 200)):
        report.goal(f"publication to the write to the socket, {name}", goal, median(added, "to_write_us", name), "us",
                    lower=True)
    report.goal("rate of a client beside a stopped one, of alone", 0.98,
                median(beside, "records_per_second") / median(alone, "records_per_second"), "times")
    report.goal("time of the book beside a stopped client, of without", 1.02,
                median(beside, "book_ns") / median(alone, "book_ns"), "times", lower=True)
