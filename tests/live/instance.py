"""An appliance on a wire of its own, as the live tests run it: config, start, end, output."""

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
        """The endpoint's text; the config says `metrics_address: 127.0.0.1:9464`."""
        answer = subprocess.run(
            ["ip", "netns", "exec", self.wire.receiver, "curl", "-sS", "--max-time", "5",
             "http://127.0.0.1:9464/metrics"], capture_output=True, text=True, check=False)
        live.expect(answer.returncode == 0, f"{self.name}: no metrics: {answer.stderr}")
        return answer.stdout

    def stop(self, wanted=0):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=30)
        live.expect(status == wanted, f"{self.name} ended with {status}: {self.tail()}")

    def account(self):
        return live.read_json(self.file("account.json"))

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


def finish(process):
    said, _ = process.communicate(timeout=120)
    live.expect(process.returncode == 0, f"{process.args[4:6]} failed: {said}")
    return said


def wait_for(condition, what, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        live.expect(time.monotonic() < deadline, what())
        time.sleep(0.05)
