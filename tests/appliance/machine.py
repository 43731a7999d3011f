"""Debian 12, booted as a machine (qemu without KVM) with two NICs behind an emulated IOMMU, on a switch that
forwards to each NIC only the groups that it joined. It is removed afterwards.

Control does not use the NICs: qemu's guest agent runs commands inside, and qemu's monitor pulls cables.
"""

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from container import SHELL, Booted, make_root, say

NEEDED = ("mmdebstrap", "dpkg-deb", "mke2fs", "ip", "bridge", "qemu-system-x86_64")
PACKAGES = ["udev", "kmod", "pciutils", "curl", "ethtool", "linux-image-amd64", "qemu-guest-agent", "driverctl"]
# The first is the IOMMU, as deploy/RUNBOOK.md requires it. An emulated clock on a shared processor is too late for
# the kernel's test of its timer.
KERNEL_LINE = "root=/dev/vda rw console=ttyS0 intel_iommu=on iommu=pt no_timer_check"
# Each NIC is behind its own PCI port, so it has an IOMMU group of its own.
NICS = {"nic_a": ("0000:01:00.0", "52:54:00:0a:0a:01"), "nic_b": ("0000:02:00.0", "52:54:00:0b:0b:01")}
PLAIN_NIC = ("nic_c", "52:54:00:0c:0c:01")
# The time limit of each step in seconds; an idle machine needs a tenth.
SLOW = 600
# The guest's agent answers at once, later if the machine is stalled, and never while it shuts down.
ANSWER_WITHIN_S = 60


class JsonSocket:
    """Requests and answers of one line of JSON each: qemu's monitor and its guest agent."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.pending = b""

    def close(self):
        self.socket.close()

    def read(self, timeout):
        self.socket.settimeout(timeout)
        while b"\n" not in self.pending:
            more = self.socket.recv(65536)
            if not more:
                raise ConnectionError("qemu has closed the connection")
            self.pending += more
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def ask(self, command, timeout=SLOW, **arguments):
        text = json.dumps({"execute": command, "arguments": arguments})
        self.socket.sendall(text.encode() + b"\n")
        while True:
            answer = self.read(timeout)
            if "error" in answer:
                raise RuntimeError(f"{command}: {answer['error']}")
            if "return" in answer:
                return answer["return"]


class Switch:
    """A network namespace with a bridge that snoops IGMP, a port for each NIC, and `source` for sending."""

    def __init__(self):
        self.space = f"pinstrike-machine-{os.getpid()}"

    def make(self, nics):
        self.ip("netns", "add", self.space, here=True)
        # A querier: without one, such switches flood groups that no host has joined.
        self.ip("link", "add", "switch", "type", "bridge", "mcast_snooping", "1", "mcast_querier", "1",
                "mcast_igmp_version", "3", "mcast_query_interval", "1000", "mcast_query_response_interval", "500",
                "mcast_startup_query_interval", "500")
        self.ip("link", "add", "source", "type", "veth", "peer", "name", "uplink")
        for nic in nics:
            self.ip("tuntap", "add", nic, "mode", "tap")
        for name in ("uplink", *nics):
            self.ip("link", "set", name, "master", "switch")
        subprocess.run(self.inside("sh", "-c", "for i in /proc/sys/net/ipv6/conf/*/disable_ipv6; do"
                                   " echo 1 >$i; done"), check=True)
        for name in ("switch", "source", "uplink", *nics):
            self.ip("link", "set", name, "txqueuelen", "10000", "up")

    def ip(self, *words, here=False):
        subprocess.run(["ip", *([] if here else ["-n", self.space]), *words], check=True)

    def inside(self, *words):
        return ["ip", "netns", "exec", self.space, *map(str, words)]

    def members(self, nic):
        """Groups that the switch sends to this NIC."""
        text = subprocess.run(["bridge", "-n", self.space, "-j", "mdb", "show"], capture_output=True, text=True,
                              check=True).stdout
        return {row["grp"] for part in json.loads(text) for row in part.get("mdb", []) if row["port"] == nic}

    def remove(self):
        subprocess.run(["ip", "netns", "del", self.space], capture_output=True, check=False)


class Machine(Booted):
    """`with Machine(package) as m`: booted, the package's file at /root/pinstrike.deb."""

    def __init__(self, package):
        self.package = package
        self.folder = Path(tempfile.mkdtemp(prefix="pinstrike-machine-"))
        self.switch = Switch()
        self.process = None
        self.monitor = None
        self.agent = None
        # Also cleaned up if the test's runner ends the test.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

    def __enter__(self):
        try:
            self.make()
            self.start()
            self.wait_for_boot()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def make(self):
        root = self.folder / "root"
        say("making a Debian 12 with a kernel")
        make_root(root, self.package, PACKAGES)
        (root / "etc/hostname").write_text("trading-host\n")
        for part in ("vmlinuz", "initrd.img"):
            shutil.copy(next((root / "boot").glob(part + "-*")), self.folder / part)
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", root, self.folder / "disk", "3G"], check=True,
                       timeout=SLOW)
        shutil.rmtree(root)

    def start(self):
        self.switch.make([*NICS, PLAIN_NIC[0]])
        log = (self.folder / "qemu").open("w")
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            self.switch.inside("qemu-system-x86_64", *self.hardware()), stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT)
        self.monitor = self.connect("monitor")
        self.monitor.read(SLOW)
        self.monitor.ask("qmp_capabilities")

    def hardware(self):
        """`-cpu max`: the package wants AVX2, which qemu emulates since 7.2."""
        words = ["-nodefaults", "-no-user-config", "-display", "none", "-machine", "q35", "-accel",
                 "tcg,thread=multi", "-cpu", "max", "-smp", "3", "-m", "3072",
                 # 48 address bits, as on servers; with 39, DPDK would need physical addresses and root.
                 "-device", "intel-iommu,intremap=on,aw-bits=48",
                 "-kernel", self.folder / "vmlinuz", "-initrd", self.folder / "initrd.img", "-append", KERNEL_LINE,
                 "-drive", f"if=none,id=disk,format=raw,cache=unsafe,file={self.folder / 'disk'}",
                 "-device", "virtio-blk-pci,drive=disk,addr=10",
                 "-serial", f"file:{self.folder / 'console'}",
                 "-qmp", f"unix:{self.folder / 'monitor'},server=on,wait=off",
                 "-device", "virtio-serial,addr=11",
                 "-chardev", f"socket,id=agent,server=on,wait=off,path={self.folder / 'agent'}",
                 "-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"]
        for number, (nic, (_, mac)) in enumerate(NICS.items(), 1):
            words += ["-device", f"pcie-root-port,id=slot{number},chassis={number},addr={number}", *self.wire(nic),
                      "-device", f"e1000e,id={nic},netdev=wire_{nic},bus=slot{number},mac={mac},romfile="]
        name, mac = PLAIN_NIC
        return [*words, *self.wire(name),
                "-device", f"virtio-net-pci,id={name},netdev=wire_{name},mac={mac},addr=12,romfile="]

    @staticmethod
    def wire(nic):
        return ["-netdev", f"tap,id=wire_{nic},ifname={nic},script=no,downscript=no"]

    def connect(self, name):
        end = time.monotonic() + SLOW
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return JsonSocket(self.folder / name)
            except OSError:
                time.sleep(0.2)
        return self.fail(f"qemu does not open its {name}")

    def wait_for_boot(self):
        """Waits until the agent answers and systemd has started all units."""
        end = time.monotonic() + 2 * SLOW
        while time.monotonic() < end and self.process.poll() is None:
            try:
                self.greet()
                if self.ask("systemctl is-system-running --wait").stdout.strip() in ("running", "degraded"):
                    return
            except (OSError, RuntimeError):
                time.sleep(1)
        self.fail("it does not boot")

    def greet(self):
        """A new connection; answers to requests of an old one are ignored."""
        if self.agent:
            self.agent.close()
        self.agent = self.connect("agent")
        token = time.monotonic_ns() // 1_000_000
        while self.agent.ask("guest-sync", timeout=10, id=token) != token:
            pass

    def ask(self, command, timeout=2 * SLOW, text=""):
        """Runs a shell command inside, and returns its result with any status; `text` is its input."""
        words = [*SHELL, command]
        number = self.agent.ask("guest-exec", ANSWER_WITHIN_S, **{
            "path": words[0], "arg": words[1:], "capture-output": True,
            "input-data": base64.b64encode(text.encode()).decode()})["pid"]
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            done = self.agent.ask("guest-exec-status", ANSWER_WITHIN_S, pid=number)
            if done["exited"]:
                outputs = [base64.b64decode(done.get(key, "")).decode(errors="replace")
                        for key in ("out-data", "err-data")]
                return subprocess.CompletedProcess(command, done.get("exitcode", -1), *outputs)
            time.sleep(0.2)
        return self.fail(f"`{command}` takes longer than {timeout} s")

    def write(self, path, text):
        if self.ask(f"mkdir -p $(dirname {path}); cat >{path}", text=text).returncode != 0:
            self.fail(f"{path} cannot be written")

    def pull_cable(self, nic):
        """Unplugs or plugs both ends: a switch forgets the members behind a port that is down."""
        say(f"(the cable of {nic} is pulled)")
        self.monitor.ask("set_link", name=nic, up=False)
        self.switch.ip("link", "set", nic, "down")

    def plug_in(self, nic):
        say(f"(the cable of {nic} is plugged in again)")
        self.switch.ip("link", "set", nic, "up")
        self.monitor.ask("set_link", name=nic, up=True)

    def reboot(self):
        say("# systemctl reboot")
        before = self.ask("cat /proc/sys/kernel/random/boot_id").stdout
        self.ask("(sleep 2; systemctl reboot) >/dev/null 2>&1 &")  # after the agent's answer
        while self.now_booted() in ("", before):
            time.sleep(2)

    def now_booted(self):
        """The id of this boot; "" if the machine shuts down meanwhile."""
        self.wait_for_boot()
        try:
            return self.ask("cat /proc/sys/kernel/random/boot_id").stdout
        except (OSError, RuntimeError):
            return ""

    def explain(self):
        text = ""
        for name in ("console", "qemu"):
            path = self.folder / name
            if path.exists():
                text += f"\n--- {name}, its end ---\n{path.read_text(errors='replace')[-4000:]}"
        return text

    def remove(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
        self.switch.remove()
        shutil.rmtree(self.folder, ignore_errors=True)
