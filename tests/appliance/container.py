"""A Debian 12 root that is booted with its own systemd in a container and removed afterwards; and code that
machine.py, which boots it as a machine, shares."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
NEEDED = ("mmdebstrap", "systemd-nspawn", "nsenter", "dpkg-deb")
SHELL = ["env", "-i", "LC_ALL=C.UTF-8", "PAGER=cat", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-c"]


def say(text):
    print(text, flush=True)


def fail(text):
    say(f"FAILED: {text}")
    sys.exit(1)


def expect(condition, what):
    if not condition:
        fail(what)
    say(f"  ok: {what}")


def skip_unless_possible(needed=NEEDED):
    """Without packages to test, ends here: boot.sh asks before it builds them."""
    missing = [tool for tool in needed if shutil.which(tool) is None]
    if missing or os.geteuid() != 0:
        say(f"SKIP: wants root and {', '.join(missing) or 'no more tools'}")
        sys.exit(SKIPPED)
    if len(sys.argv) == 1:
        sys.exit(0)


def needed_by(package):
    """The dependencies of a package, the first of alternatives."""
    text = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, text=True,
                          check=True).stdout
    return [each.split("|")[0].split("(")[0].strip() for each in text.split(",")]


def make_root(root, package, packages):
    """A root with the dependencies of the package and `packages`; the package is at /root/pinstrike.deb."""
    wanted = ["systemd", "systemd-sysv", "dbus", "iproute2", "procps", *packages, *needed_by(package)]
    done = subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase",
                           f"--include={','.join(wanted)}", "bookworm", root],
                          capture_output=True, text=True, check=False, timeout=1800)
    if done.returncode != 0:
        fail(f"no root: {done.stderr[-2000:]}")
    shutil.copy(package, root / "root" / "pinstrike.deb")


class Booted:
    """Operations on any booted system, by its `ask`."""

    def ask(self, command, timeout=180):
        """Runs a shell command inside, and returns its result with any status."""
        raise NotImplementedError

    def explain(self):
        """Information for a failed test."""
        return ""

    def fail(self, text):
        fail(text + self.explain())

    def run(self, command, timeout=180):
        """Runs and prints a command as a user at a shell; it must succeed."""
        say(f"# {command}")
        done = self.ask(command, timeout)
        say((done.stdout + done.stderr).rstrip())
        if done.returncode != 0:
            self.fail(f"`{command}` ended with {done.returncode}")
        return done.stdout

    def value(self, unit, name):
        return self.ask(f"systemctl show -P {name} {unit}").stdout.strip()

    def left_over(self):
        """Files of the package or its instances that are still there."""
        return self.ask("find / -xdev -ipath '*pinstrike*' -not -path '/proc/*' -not -path '/sys/*' "
                        "-not -path '/root/pinstrike.deb' -not -path '/var/log/journal/*' "
                        "-not -path '/var/lib/dpkg/info/*'; find /run -name '*pinstrike*'").stdout

    def wait(self, what, holds, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds():
                expect(True, what)
                return
            time.sleep(0.3)
        self.fail(f"{what}: not within {seconds} s")


class Container(Booted):
    """`with Container(package, packages) as c`: booted with these packages of Debian, the package's file at
    /root/pinstrike.deb."""

    def __init__(self, package, packages=()):
        self.package = package
        self.packages = packages
        self.folder = Path(tempfile.mkdtemp(prefix="pinstrike-boot-"))
        self.root = self.folder / "root"
        self.machine = None
        self.leader = None

    def __enter__(self):
        try:
            self.make()
            self.boot()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def make(self):
        make_root(self.root, self.package, self.packages)

    def boot(self):
        log = (self.folder / "console").open("w")
        self.machine = subprocess.Popen(  # pylint: disable=consider-using-with
            ["systemd-nspawn", "--quiet", "--directory", self.root, "--boot", "--register=no",
             "--keep-unit", "--private-network", "--link-journal=no", "--machine=pinstrike-boot"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            children = Path(f"/proc/{self.machine.pid}/task/{self.machine.pid}/children")
            if self.machine.poll() is not None:
                break
            self.leader = (children.read_text().split() or [None])[0]
            if self.leader and self.ask("systemctl is-system-running", 20).stdout.strip() in (
                    "running", "degraded"):
                return
            time.sleep(0.5)
        fail(f"it does not boot: {(self.folder / 'console').read_text()[-2000:]}")

    def ask(self, command, timeout=180):
        return subprocess.run(["nsenter", "-t", self.leader, "-a", "--", *SHELL, command],
                              capture_output=True, text=True, check=False, timeout=timeout)

    def write(self, path, text):
        (self.root / path.lstrip("/")).write_text(text)

    def write_inside(self, path, text):
        """A path in a file system that only the container sees (/run)."""
        subprocess.run(["nsenter", "-t", self.leader, "-a", "--", "tee", path], input=text, text=True,
                       stdout=subprocess.DEVNULL, check=True, timeout=60)

    def remove(self):
        if self.machine and self.machine.poll() is None:
            self.machine.terminate()
            try:
                self.machine.wait(60)
            except subprocess.TimeoutExpired:
                self.machine.kill()
                self.machine.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)
