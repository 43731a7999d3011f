#!/usr/bin/env python3
"""A Prometheus scrapes `run`: names pass promtool, figures equal the account.

    metrics_test.py PINSTRIKE

A capture is replayed at its own pace. Its last packet, which is not market data, comes seconds after
the others, so that the test has time to read the final figures.
"""

import json
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from endpoint import fail, free_port
from scraped import DEADLINE_S, fetch, instant, prometheus, wait_for

QUIET_SECONDS = 3000  # a signal ends it when all figures have been read
FIGURES_OF_LINES = ("highest", "delivered", "repaired", "unasked", "filtered")
FIGURES_OF_RINGS = ("routed", "pushed", "refused")
FIGURES_OF_CORES = ("events", "gap_events", "control_events")
REJECTED = "sum by (reason) (pinstrike_line_rejected_blocks_total)"
METRICS = (
    [f"pinstrike_line_{key}_messages_total" for key in FIGURES_OF_LINES]
    + [f"pinstrike_ring_{key}_messages_total" for key in FIGURES_OF_RINGS]
    + [f"pinstrike_core_{key}_total" for key in FIGURES_OF_CORES]
    + [f"pinstrike_stream_{key}_messages_total" for key in ("accepted", "duplicate", "rejected")]
    + ["pinstrike_stream_packets_total", "pinstrike_stream_messages_total",
       "pinstrike_line_lost_messages", "pinstrike_book_entries", "pinstrike_port_packets_total",
       "pinstrike_port_dropped_packets_total", REJECTED])
ARP = bytes.fromhex("ffffffffffff02000000000108060001080006040001") + bytes(38)


def append_late_packet(capture):
    """Adds an ARP frame some seconds after the last packet of a pcap file."""
    data = capture.read_bytes()
    magic = struct.unpack_from("<I", data)[0]
    order = "<" if magic in (0xA1B2C3D4, 0xA1B23C4D) else ">"
    at, stamp = 24, (0, 0)
    while at < len(data):
        seconds, fraction, length, _ = struct.unpack_from(order + "IIII", data, at)
        stamp = (seconds, fraction)
        at += 16 + length
    record = struct.pack(order + "IIII", stamp[0] + QUIET_SECONDS, stamp[1], len(ARP), len(ARP))
    capture.write_bytes(data + record + ARP)


def write_config(path, capture, port):
    path.write_text(f"""
name: scraped
kind: opra
lines: 1-3
ports:
  - {{name: file, kind: pcap, files: [{capture}], pace: real}}
pollers:
  - {{name: poller0, wait: park}}
cores:
  - {{name: core0, wait: park, actors: [book]}}
  - {{name: core1, wait: park, actors: [book]}}
book:
  series_capacity: 20000
when_full: wait
metrics_address: 127.0.0.1:{port}
""", encoding="utf-8")


def settled(url):
    """The metrics, once two consecutive scrapes have the same deliveries, and more than none."""
    def deliveries(text):
        return [line for line in text.splitlines()
                if line.startswith("pinstrike_line_delivered_messages_total{")]

    before = deliveries(fetch(url))
    time.sleep(2)
    text = fetch(url)
    some = any(not line.endswith(" 0") for line in before)
    return text if some and deliveries(text) == before else None


def query(port, expression):
    """{labels: value} of an instant query; labels without those that Prometheus adds."""
    out = {}
    for row in instant(port, expression):
        labels = row["metric"]
        for name in ("__name__", "instance", "job", "feed"):
            labels.pop(name, None)
        out[tuple(sorted(labels.items()))] = float(row["value"][1])
    return out


def expectations(account):
    """{metric: {labels: value}} by the account."""
    want = {}

    def add(metric, value, **labels):
        want.setdefault(metric, {})[tuple(sorted(labels.items()))] = value

    for line in account["lines"]:
        number = str(line["line"])
        for key in FIGURES_OF_LINES:
            add(f"pinstrike_line_{key}_messages_total", line[key], line=number)
        add("pinstrike_line_lost_messages", line["lost"], line=number)
        for stream, figures in line["streams"].items():
            for key, value in figures.items():
                unit = "" if key in ("packets", "messages") else "_messages"
                add(f"pinstrike_stream_{key}{unit}_total", value, line=number, stream=stream)
    for ring in account["rings"]:
        for key in FIGURES_OF_RINGS:
            add(f"pinstrike_ring_{key}_messages_total", ring[key],
                ring=f"{ring['from']}:{ring['to']}")
    for core in account["cores"]:
        for key in FIGURES_OF_CORES:
            add(f"pinstrike_core_{key}_total", core[key], core=core["core"])
        add("pinstrike_book_entries", None, core=core["core"])
    for port in account["ports"]:
        # The late packet may have come between the scrapes and the signal.
        add("pinstrike_port_packets_total", port["packets"] - port["dropped"]["arp"], port=port["port"],
            thread="poller0")
        for reason, value in port["dropped"].items():
            add("pinstrike_port_dropped_packets_total", 0 if reason == "arp" else value,
                port=port["port"], thread="poller0", reason=reason)
    for reason, value in account["rejects"].items():
        add(REJECTED, value, reason=reason)
    return want


def compare(account, seen):
    checked = 0
    for metric, values in expectations(account).items():
        for labels, value in values.items():
            found = seen[metric].get(labels)
            if found is None or (value is not None and found != value):
                fail(f"{metric} {dict(labels)}: {found}, the account says {value}")
            checked += 1
    total = sum(seen["pinstrike_book_entries"].values())
    series = sum(core["series"] for core in account["cores"])
    if total != series or series == 0:
        fail(f"pinstrike_book_entries: {total}, the account says {series} series")
    print(f"{checked} figures equal the account")


def scrape(folder, metrics_port):
    """The data of a Prometheus that scrapes the running program. It has none for a moment after a scrape that took
    too long."""
    with prometheus(folder, [f"127.0.0.1:{metrics_port}"]) as port:
        def data():
            found = {metric: query(port, metric) for metric in METRICS}
            return all(found.values()) and found

        return wait_for("data of each metric", DEADLINE_S, data)


def check_names(text):
    done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                          capture_output=True, check=False)
    complaints = [line for line in (done.stdout + done.stderr).splitlines()
                  if line.startswith("pinstrike") or "error" in line.lower()]
    if complaints or (done.returncode != 0 and "pinstrike" in done.stderr):
        fail("promtool check metrics: " + "\n".join(complaints))
    foreign = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")
               and not line.split()[2].startswith("pinstrike_")}
    if foreign:
        fail(f"names without prefix: {foreign}")
    if done.returncode != 0:
        fail(f"promtool check metrics: {done.stdout}{done.stderr}")


def check_taken_port(pinstrike, folder, capture):
    """An address that another program uses is reported."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        write_config(folder / "taken.yaml", capture, port)
        done = subprocess.run([pinstrike, "run", folder / "taken.yaml"], capture_output=True,
                              text=True, check=False, timeout=60)
    if done.returncode != 1 or f"127.0.0.1:{port}" not in done.stderr:
        fail(f"a taken metrics address ended with {done.returncode}: {done.stderr}")


def main():
    for tool in ("prometheus", "promtool"):
        if shutil.which(tool) is None:
            print(f"SKIP: {tool} is not installed")
            sys.exit(77)
    pinstrike = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        capture, account = folder / "session.pcap", folder / "account.json"
        subprocess.run([pinstrike, "generate", "--out", capture, "--lines", "1-3", "--messages",
                        "30000", "--series", "5000", "--roots", "60", "--no-session", "--rate",
                        "30000", "--loss-a", "0.02", "--test-symbols", "0.01"],
                       check=True, capture_output=True)
        append_late_packet(capture)
        check_taken_port(pinstrike, folder, capture)
        port = free_port()
        write_config(folder / "run.yaml", capture, port)
        program = subprocess.Popen([pinstrike, "run", folder / "run.yaml", "--account", account],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            text = wait_for("final figures", DEADLINE_S,
                            lambda: settled(f"http://127.0.0.1:{port}/metrics"))
            check_names(text)
            seen = scrape(folder, port)
        finally:
            program.terminate()
            try:
                _, errors = program.communicate(timeout=DEADLINE_S)
            finally:
                program.kill()  # removes everything, also if it does not end
                program.wait()
        if program.returncode != 1 or "not read to their end: SIGTERM" not in errors:
            fail(f"a capture cut short by SIGTERM ended with {program.returncode}: {errors}")
        compare(json.loads(account.read_text()), seen)


main()
