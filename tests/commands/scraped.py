"""Running instances and a real Prometheus that scrapes them, for tests of metrics and dashboards."""

import collections
import contextlib
import json
import os
import re
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

from endpoint import fail, free_port
from gateway_client import KEY, Client

ROOT = Path(__file__).parents[2]
DEADLINE_S = 600  # a limit for hanging processes; a busy machine is slow
RUN_S = 3600  # longer than any test needs its processes, which it stops itself
# Only some drivers count these, and no driver that works everywhere.
BY_DRIVER = {"device_missed_packets_total", "device_no_buffer_packets_total",
             "reverse_path_dropped_packets_total"}
# No port of the instances below counts these.
BY_PORT = BY_DRIVER | {"port_errors_total"}

EVERYTHING = """
name: spare
kind: opra
lines: 1
ports: [{{name: nothing, kind: dpdk, vdev: "net_null0,no-rx=1", membership: static,
  hugepages: false}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park, actors: [{actors}]}}]
book: {{series_capacity: 20000}}
publish: {{memory: shm, stream: on, stream_records: 1024}}
history: {{keep: 10s, memory: 16MiB}}
recovery: {{sources: [peer]}}
peer: {{listen: "127.0.0.1:{listen}", connect: ["127.0.0.1:{nobody}"],
  secret_file: {secret}, state: true}}
record: {{folder: {folder}/record, segment: 4MiB, memory: 4MiB}}
metrics_address: 127.0.0.1:{port}
"""

# Of the feed above, which publishes in the folder of the config.
GATEWAY = """
feed: {feed}
address: 127.0.0.1:{port}
keys: {keys}
metrics_address: 127.0.0.1:{metrics}
"""

# Of the same feed; librdkafka makes brokers of its own.
KAFKA = """
feed: {feed}
brokers: 127.0.0.1:9092
topics: [{{schema: cmbp-1}}, {{schema: trades}}]
properties: {properties}
metrics_address: 127.0.0.1:{metrics}
"""

# Three lines on both streams, with losses.
TRAFFIC = """
name: traffic
kind: opra
lines: 1-3
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park, actors: [book]}}]
book: {{series_capacity: 20000}}
traffic: {{lines_count: 3, series_count: 10000, rate_messages_per_second: 30000,
  a: {{loss: 0.02}}, b: {{loss: 0.02, skew: 150us}}}}
metrics_address: 127.0.0.1:{port}
"""


# Of the feed above. The instance that has one of everything gets no packets, so it writes no snapshot.
RECORDED = """
record: {{folder: {folder}/recorded, segment: 4MiB, memory: 4MiB, free: 0B, snapshot_interval: 2s}}
"""


def fetch(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def wait_for(what, seconds, look):
    """The first true result of look(). `what`: for the error, a text or a function that returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found = look()
            if found:
                return found
        except OSError:
            pass
        time.sleep(0.2)
    return fail(f"no {what() if callable(what) else what} within {seconds} s")


@contextlib.contextmanager
def instance(pinstrike, config, port, seconds=RUN_S, admin=None):
    """A running instance, with an admin socket if one is named; yields the address of its metrics. It publishes in
    the folder of its config, which only this user may write to."""
    with subprocess.Popen([pinstrike, "run", config, "--for", f"{seconds}s",
                           *(["--admin", admin] if admin else [])],
                          env={**os.environ, "PINSTRIKE_FOLDER": str(Path(config).parent)},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            url = f"http://127.0.0.1:{port}/metrics"
            wait_for(f"metrics at {url}", DEADLINE_S,
                     lambda: "pinstrike_loop_steps_total" in fetch(url))
            yield url
        finally:
            process.terminate()
            said = process.communicate(timeout=DEADLINE_S)[1].decode()
            if process.returncode != 0:
                print(said[-2000:])


@contextlib.contextmanager
def everything(pinstrike, folder, seconds=RUN_S):
    """An instance that has one of everything, and receives nothing."""
    secret = folder / "secret"
    secret.write_text("known to both of the pair, and to nobody else")
    secret.chmod(0o600)
    port = free_port()
    config = folder / "everything.yaml"
    kinds = re.search(r"actor_kinds = \[(.*?)\]", (ROOT / "actors" / "meson.build").read_text())[1]
    config.write_text(EVERYTHING.format(folder=folder, listen=free_port(), nobody=free_port(), secret=secret, port=port,
                                        actors=kinds.replace("'", "")))
    with instance(pinstrike, config, port, seconds) as url:
        yield url


def read_all(client, seconds):
    with contextlib.suppress(OSError):  # its socket is closed at the end
        collections.deque(client.records(seconds), maxlen=0)


@contextlib.contextmanager
def gateway(pinstrike, folder, seconds=RUN_S, feed="spare"):
    """A gateway of a feed in the same folder, by default of everything(), with a client that reads; yields the address
    of its metrics."""
    keys = folder / "keys"
    keys.write_text(f"keys: [{{user: trial, key: {KEY}}}]\n")
    keys.chmod(0o600)
    port, metrics = free_port(), free_port()
    config = folder / "gateway.yaml"
    config.write_text(GATEWAY.format(feed=feed, port=port, keys=keys, metrics=metrics))
    with open(folder / "gateway.log", "w", encoding="utf-8") as log, subprocess.Popen(
            [pinstrike, "gateway", config, "--for", f"{seconds}s"],
            env={**os.environ, "PINSTRIKE_FOLDER": str(folder)}, stdout=log, stderr=log) as process:
        client = None
        try:
            url = f"http://127.0.0.1:{metrics}/metrics"
            wait_for(f"metrics at {url}", DEADLINE_S, lambda: "pinstrike_gateway_feed_live" in fetch(url))
            client = Client(port)
            client.subscribe("cmbp-1")
            client.start()
            threading.Thread(target=read_all, args=(client, seconds), daemon=True).start()
            wait_for("session", DEADLINE_S, lambda: re.search(r"^pinstrike_gateway_sessions{.*} 1$", fetch(url), re.M))
            yield url
        finally:
            if client:
                client.close()
            process.terminate()
            process.wait(timeout=DEADLINE_S)
            if process.returncode != 0:
                print((folder / "gateway.log").read_text()[-2000:])


@contextlib.contextmanager
def kafka(pinstrike, folder, seconds=RUN_S, feed="spare"):
    """A Kafka producer of a feed in the same folder; yields the address of its metrics."""
    properties = folder / "kafka.properties"
    properties.write_text("test.mock.num.brokers=1\n")
    properties.chmod(0o600)
    metrics = free_port()
    config = folder / "kafka.yaml"
    config.write_text(KAFKA.format(feed=feed, properties=properties, metrics=metrics))
    with open(folder / "kafka.log", "w", encoding="utf-8") as log, subprocess.Popen(
            [pinstrike, "kafka", config, "--for", f"{seconds}s"],
            env={**os.environ, "PINSTRIKE_FOLDER": str(folder)}, stdout=log, stderr=log) as process:
        try:
            url = f"http://127.0.0.1:{metrics}/metrics"
            wait_for(f"metrics at {url}", DEADLINE_S, lambda: "pinstrike_kafka_feed_live" in fetch(url))
            yield url
        finally:
            process.terminate()
            process.wait(timeout=DEADLINE_S)
            if process.returncode != 0:
                print((folder / "kafka.log").read_text()[-2000:])

BRIDGE = """
feed: {feed}
listen: 127.0.0.1:{port}
tls: {{certificate: bridge.pem, key: bridge.key, authority: bridge.pem}}
metrics_address: 127.0.0.1:{metrics}
"""


@contextlib.contextmanager
def bridge(pinstrike, folder, seconds=RUN_S, feed="spare"):
    """A bridge of a feed in the same folder to a feed `bridged` in this folder; yields the addresses of the metrics
    of its serving and its joining side."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=bridge", "-keyout", folder / "bridge.key", "-out",
                    folder / "bridge.pem"], check=True, capture_output=True)
    (folder / "bridge.key").chmod(0o600)
    port, urls = free_port(), []
    with contextlib.ExitStack() as running:
        for side, name, words in (("serve", feed, []), ("join", "bridged", [f"127.0.0.1:{port}"])):
            metrics = free_port()
            config = folder / f"bridge_{side}.yaml"
            config.write_text(BRIDGE.format(feed=name, port=port, metrics=metrics))
            log = running.enter_context(open(folder / f"bridge_{side}.log", "w", encoding="utf-8"))
            process = running.enter_context(subprocess.Popen(
                [pinstrike, "bridge", side, *words, config, "--for", f"{seconds}s"],
                env={**os.environ, "PINSTRIKE_FOLDER": str(folder)}, stdout=log, stderr=log))
            running.callback(process.terminate)
            urls.append(f"http://127.0.0.1:{metrics}/metrics")
        wait_for("bridge", DEADLINE_S, lambda: re.search(r"^pinstrike_bridge_live{.*} 1$", fetch(urls[1]), re.M))
        yield urls


def metric_names(url):
    return set(re.findall(r"^# TYPE (\S+)", fetch(url), re.M))


SCRAPED = """
  - job_name: {job}
    scrape_interval: {interval}
    scrape_timeout: {interval}
    static_configs: [{{targets: [{targets}]}}]"""


@contextlib.contextmanager
def prometheus(folder, addresses, rules=None, interval="1s", within_s=DEADLINE_S, gateways=(), producers=(),
               bridges=()):
    """Scrapes the addresses of instances, gateways, Kafka producers and bridges; yields its own port once all have
    answered, at the latest after `within_s`."""
    port = free_port()
    config = folder / "prometheus.yml"
    jobs = "".join(SCRAPED.format(job=job, interval=interval, targets=", ".join(f'"{one}"' for one in scraped))
                   for job, scraped in (("pinstrike", addresses), ("pinstrike-gateway", gateways),
                                         ("pinstrike-kafka", producers), ("pinstrike-bridge", bridges)) if scraped)
    config.write_text(f"""
global: {{evaluation_interval: 5s}}
rule_files: [{rules or ""}]
scrape_configs:{jobs}
""", encoding="utf-8")
    with open(folder / "prometheus.log", "w", encoding="utf-8") as log:
        server = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    every = {*addresses, *gateways, *producers, *bridges}

    def missing():
        return every - {row["metric"]["instance"] for row in instant(port, "up == 1")}

    try:
        wait_for(lambda: f"scrape by prometheus of {missing()}", within_s, lambda: not missing())
        time.sleep(1)
        yield port
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def watched(pinstrike, folder, configs, served, rules=None, seconds=RUN_S):
    """The instance that has one of everything, instances of `configs` (texts with places for `port` and `folder`), a
    gateway, a Kafka producer and a bridge of the feed `served` of these, and a Prometheus that scrapes them all;
    yields its port."""
    with contextlib.ExitStack() as running:
        url = running.enter_context(everything(pinstrike, folder, seconds))
        ports = [urllib.parse.urlsplit(url).port]
        beside = [urllib.parse.urlsplit(running.enter_context(run(pinstrike, folder, seconds, served))).netloc
                  for run in (gateway, kafka)]
        for number, text in enumerate(configs):
            port = free_port()
            config = folder / f"config{number}.yaml"
            config.write_text(text.format(port=port, folder=folder))
            running.enter_context(instance(pinstrike, config, port, seconds))
            ports.append(port)
        addresses = [f"127.0.0.1:{port}" for port in ports]
        bridge_urls = running.enter_context(bridge(pinstrike, folder, seconds, served))
        yield running.enter_context(prometheus(
            folder, addresses, rules, gateways=beside[:1], producers=beside[1:],
            bridges=[urllib.parse.urlsplit(url).netloc for url in bridge_urls]))


def filled_in(expression, rate_interval="20s", time_range="60s"):
    """A panel's query as Grafana sends it if all values of its variables are selected."""
    for name, value in {"$__rate_interval": rate_interval, "$__range": time_range, "$feed": ".*",
                        "$instance": ".*", "$line": ".*", "$core": ".*"}.items():
        expression = expression.replace(name, value)
    return expression


def asked(port, path, **parameters):
    """The answer of Prometheus."""
    url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    return json.loads(fetch(url))["data"]


def instant(port, expression):
    return asked(port, "query", query=expression)["result"]


def ranged(port, expression, start, end, step):
    """A query over time; all arguments in seconds."""
    return asked(port, "query_range", query=expression, start=start, end=end, step=step)["result"]


def alerts(port):
    """The alerts that are pending or firing."""
    return asked(port, "alerts")["alerts"]
