#!/usr/bin/env python3
"""A real Prometheus scrapes a running appliance; its figures equal the account.

    prometheus_test.py PINSTRIKE

Traffic comes over a veth pair and ends before the last scrape, so that both sides speak of the same
moment. Skipped where Debian's prometheus is not installed.
"""

import json
import shutil
import signal
import subprocess
import sys
import time

import live

CONFIG = """
name: scraped
kind: opra
lines: 1-3
ports: [{name: wire0, kind: uring, interface: receiver}]
pollers: [{name: poller0, wait: park}]
cores: [{name: core0, wait: park}, {name: core1, wait: park}]
book: {series_capacity: 100000}
metrics_address: 127.0.0.1:9464
"""
PROMETHEUS = """
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: pinstrike
    static_configs: [{targets: ["127.0.0.1:9464"]}]
"""


def query(wire, expression):
    """{sorted labels: value} of an instant query."""
    done = live.run("ip", "netns", "exec", wire.receiver, "curl", "-sS", "--get",
                    "http://127.0.0.1:9090/api/v1/query", "--data-urlencode",
                    f"query={expression}")
    answer = json.loads(done.stdout)
    live.expect(answer["status"] == "success", f"{expression}: {answer}")
    return [(row["metric"], float(row["value"][1])) for row in answer["data"]["result"]]


def wait_until(what, condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        live.expect(time.monotonic() < deadline, f"in {seconds} s: {what}")
        time.sleep(0.3)


def scraped(wire):
    try:
        return any(value == 1 for _, value in query(wire, "up"))
    except subprocess.CalledProcessError:
        return False  # not listening yet


def expected(account):
    """[(metric, labels, value)] that the account says."""
    for port in account["ports"]:
        yield "pinstrike_port_packets_total", {"port": port["port"]}, port["packets"]
        yield "pinstrike_port_bytes_total", {"port": port["port"]}, port["bytes"]
    for line in account["lines"]:
        here = {"line": str(line["line"])}
        yield "pinstrike_line_delivered_messages_total", here, line["delivered"]
        yield "pinstrike_line_highest_messages_total", here, line["highest"]
        yield "pinstrike_line_lost_messages", here, line["lost"]
        for stream, figures in line["streams"].items():
            for key in ("messages", "accepted", "duplicate", "rejected"):
                yield (f"pinstrike_stream_{key}" + ("_total" if key == "messages" else
                                                    "_messages_total"),
                       {**here, "stream": stream}, figures[key])
    for ring in account["rings"]:
        for key in ("routed", "pushed", "refused"):
            yield (f"pinstrike_ring_{key}_messages_total",
                   {"ring": f"{ring['from']}:{ring['to']}"}, ring[key])
    for core in account["cores"]:
        yield "pinstrike_core_events_total", {"core": core["core"]}, core["events"]
        yield "pinstrike_core_control_events_total", {"core": core["core"]}, core["control_events"]


def main():
    pinstrike = sys.argv[1]
    if shutil.which("prometheus") is None:
        live.skip("prometheus is not installed")
    wire, here = live.Wire(), live.folder()
    (here / "feed.yaml").write_text(CONFIG)
    (here / "prometheus.yml").write_text(PROMETHEUS)
    listener = live.IgmpListener(wire)
    log = open(here / "run.log", "w", encoding="utf-8")
    appliance = wire.start(wire.receiver, pinstrike, "run", here / "feed.yaml", "--account",
                           here / "account.json", stdout=log, stderr=subprocess.STDOUT)
    live.expect(not listener.wait_for(live.groups_of(range(1, 4))), "IGMP reports are missing")
    prometheus = wire.start(
        wire.receiver, "prometheus", f"--config.file={here}/prometheus.yml",
        f"--storage.tsdb.path={here}/data", "--web.listen-address=127.0.0.1:9090",
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until("Prometheus scraped the appliance", lambda: scraped(wire))
    done = wire.start(wire.sender, pinstrike, "generate", "--interface", "sender", "--lines", "1-3",
                      "--messages", "90000", "--rate", "40000", "--series", "10000", "--roots",
                      "100", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said, _ = done.communicate(timeout=120)
    live.expect(done.returncode == 0, f"generate failed: {said}")
    time.sleep(3.5)  # three scrapes of figures that no longer change

    values = {}
    for metric, value in query(wire, '{__name__=~"pinstrike_.*"}'):
        values.setdefault(metric["__name__"], []).append((metric, value))
    for process in (prometheus, appliance):
        process.send_signal(signal.SIGTERM)
    live.expect(appliance.wait(timeout=30) == 0, (here / "run.log").read_text()[-2000:])
    account = live.read_json(here / "account.json")
    live.expect(account["balanced"] is True, "the account does not balance")

    count = 0
    for name, labels, value in expected(account):
        found = [v for metric, v in values.get(name, [])
                 if all(metric.get(k) == w for k, w in labels.items())]
        live.expect(found == [value], f"{name}{labels}: Prometheus {found}, account {value}")
        count += 1
    delivered = sum(line["delivered"] for line in account["lines"])
    live.expect(delivered > 80000, f"only {delivered} messages came")
    print(f"{count} figures of the account equal Prometheus', {delivered} messages delivered")


if __name__ == "__main__":
    main()
