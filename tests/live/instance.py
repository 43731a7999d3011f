"""An appliance on a wire of its own, as the live tests run it: config, start, end, output."""

import operator
import re
import signal
import subprocess
import time

import live

LINES = range(1, 5)
ADDRESSES = {"a": "10.92.0.1", "b": "10.92.0.2"}
SECRET = "0123456789abcdef0123456789abcdef"
PORTS = {
    "uring": """
    kind: uring
    interface: receiver
""",
    "af_xdp": """
    kind: dpdk
    vdev: "net_af_xdp0,iface=receiver"
    hugepages: false
    source_address: 10.91.0.2
    udp_checksum: software
""",
}
CONFIG = """
name: live
kind: opra
lines: 1-4
ports:
  - name: wire0
{port}
pollers:
  - name: poller0
    wait: park
cores:
  - name: core0
    wait: park
arbitration:
  window: {window}
  hold: 64MiB
book:
  series_capacity: 100000
"""
METRICS = "metrics_address: 127.0.0.1:9464\n"
KEEPS = """
history:
  keep: 60s
  memory: 64MiB
"""


def config(port="uring", window="2ms", room=""):
    """`room`: more keys of the port."""
    return CONFIG.format(port=(PORTS[port] + room).strip("\n"), window=window)


def serves(own, other, secret):
    return f"""
  listen: {ADDRESSES[own]}:9470
  allow: [{ADDRESSES[other]}]
  secret_file: {secret}
"""


class Instance:
    def __init__(self, name, here, pinstrike, beside=None):
        self.name, self.here, self.pinstrike = name, here, pinstrike
        self.wire = live.Wire(name, beside.wire if beside else None)
        self.listener = live.IgmpListener(self.wire)
        self.process = None

    def file(self, kind):
        return self.here / f"{self.name}.{kind}"

    def said(self):
        return self.file("log").read_text()

    def run(self, text, log=None, account=None, environment=None, program=None, lines=LINES):
        """`log`, `account`: other files than the usual ones; `program`: other words than the path."""
        self.file("yaml").write_text(text)
        log = log or open(self.file("log"), "w", encoding="utf-8")
        self.process = self.wire.start(
            self.wire.receiver, *(program or [self.pinstrike]), "run", self.file("yaml"), "--account",
            account or self.file("account.json"), "--book", self.file("book.json"), stdout=log,
            stderr=subprocess.STDOUT, env=environment)
        missing = self.listener.wait_for(live.groups_of(lines))
        live.expect(self.process.poll() is None, f"{self.name} ended: {self.tail()}")
        live.expect(not missing, f"{self.name}: no IGMP report for {missing}")

    def tail(self):
        return self.said()[-2000:] if self.file("log").exists() else "its log is elsewhere"

    def generate(self, *faults, traffic):
        return self.wire.start(
            self.wire.sender, self.pinstrike, "generate", "--interface", self.wire.outlet, *traffic,
            *faults, "--truth", self.file("truth"), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return next(int(row.split()[1]) * 1024 for row in status if row.startswith("VmRSS"))

    def metrics(self):
        """The endpoint's text; the config has METRICS. The endpoint turns slow clients away, so this asks again."""
        end_s = time.monotonic() + live.PATIENCE_S
        while True:
            answer = subprocess.run(
                ["ip", "netns", "exec", self.wire.receiver, "curl", "-sS", "--max-time", "20",
                 "http://127.0.0.1:9464/metrics"], capture_output=True, text=True, check=False)
            if answer.returncode == 0:
                return answer.stdout
            live.expect(self.process.poll() is None and time.monotonic() < end_s,
                        f"{self.name}: no metrics: {answer.stderr}")
            time.sleep(0.1)

    def values(self, name):
        """Of the metric, one for each of its labels."""
        return [float(value) for value in
                re.findall(rf"^pinstrike_{name}{{\S*}} (\S+)$", self.metrics(), re.MULTILINE)]

    def wait_for_packets(self, sent):
        """Waits until so many packets of the streams arrived, or no more come although the kernel dropped some."""
        end_s = time.monotonic() + live.PATIENCE_S
        before = since_s = 0
        while time.monotonic() < end_s:
            arrived = sum(self.values("stream_packets_total"))
            if arrived != before:
                before, since_s = arrived, time.monotonic()
            if arrived >= sent or (self.drops() and time.monotonic() > since_s + 5):
                return
            time.sleep(0.1)

    def drops(self):
        return sum(self.values("device_missed_packets_total") + self.values("device_no_buffer_packets_total"))

    def wait_for_the_days_end(self, truth, joined=LINES):
        """Waits for the last of each line's controls. `joined`: lines that were received only after the two controls
        around the open interest, with which the day begins."""
        wanted = [line["controls"] - (2 if line["line"] in joined else 0) for line in truth["lines"]]

        def ended():
            found = self.values("line_controls_messages_total")
            return len(found) == len(wanted) and all(map(operator.ge, found, wanted))

        wait_for(ended, lambda: f"{self.name}: not {wanted} controls by line: {self.tail()}")

    def stop(self, wanted=0):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=live.PATIENCE_S)
        live.expect(status == wanted, f"{self.name} ended with {status}: {self.tail()}")

    def account(self):
        account = live.read_json(self.file("account.json"))
        count = sum((port["missed"] or 0) + (port["no_buffer"] or 0) for port in account["ports"])
        if count:
            live.dropped[self.name] = count
        return account

    def truth(self):
        return live.read_json(self.file("truth.account.json"))


def join(one, other):
    """A separate link between the two receivers."""
    live.run("ip", "link", "add", "peers", "netns", one.wire.receiver, "type", "veth", "peer",
             "name", "peers", "netns", other.wire.receiver)
    for each in (one, other):
        space = each.wire.receiver
        live.run("ip", "-n", space, "addr", "add", ADDRESSES[each.name] + "/24", "dev", "peers")
        live.run("ip", "-n", space, "link", "set", "peers", "up")


def secret(path, text=SECRET):
    path.write_text(text)
    path.chmod(0o600)
    return path


def packets_of(truth):
    """That were sent, on all streams."""
    return sum(stream["packets"] for line in truth["lines"] for stream in line["streams"].values())


def finish(process):
    said, _ = process.communicate(timeout=300)
    live.expect(process.returncode == 0, f"{process.args[4:6]} failed: {said}")
    return said


def wait_for(condition, what):
    deadline = time.monotonic() + live.PATIENCE_S
    while not condition():
        live.expect(time.monotonic() < deadline, what())
        time.sleep(0.05)
