"""Shared by the live tests: two network namespaces joined by a veth pair, and the comparisons.

Everything that is made here is removed, also when a test fails or is interrupted. A test that cannot
make namespaces ends with 77 (skipped) and prints the reason; any other problem is a failure.

On a busy machine the kernel may drop packets because the program did not get a processor in time. A check
that fails after that says nothing of the program, so the test begins anew, RUNS_MAX times at most.
"""

import atexit
import ctypes
import errno
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
RUNS_MAX = 5
RUN = "LIVE_TEST_RUN"  # in the environment: the number of this run of the test
PATIENCE_S = 120  # a limit for what never comes; a busy machine is slow
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000

endings = []  # undo what was made, the last first
dropped = {}  # by instance: packets that the kernel dropped


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIPPED)


def expect(condition, what):
    """Like assert, but with a text for the reader, and never compiled away."""
    if condition:
        return
    if dropped:
        begin_anew(f"the kernel dropped packets, {dropped}; {what}")
    print(f"FAILED: {what}")
    sys.exit(1)


def shows(condition, what):
    """For what must have happened so that the test shows something. A slow machine may have prevented it."""
    if not condition:
        begin_anew(what)


def begin_anew(why):
    """Fails after RUNS_MAX runs, because the machine cannot be the reason each time."""
    number = int(os.environ.get(RUN, "1"))
    if number == RUNS_MAX or not endings:  # a test that removes its things in another way does not begin anew
        print(f"FAILED: in each of {number} runs, the last time because: {why}")
        sys.exit(1)
    print(f"once more: {why}", flush=True)
    clean_up()
    os.execve(sys.executable, sys.orig_argv, {**os.environ, RUN: str(number + 1)})


def at_the_end(action):
    """Cleans up, also if a test fails, is interrupted or begins anew."""
    endings.append(action)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave)


@atexit.register
def clean_up():
    if endings:
        try:
            endings.pop()()
        finally:
            clean_up()


def leave(*_):
    """Runs once, and is not interrupted."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(1)


def run(*command, **options):
    words = [str(word) for word in command]
    done = subprocess.run(words, check=False, capture_output=True, text=True, **options)
    expect(done.returncode == 0,
           f"`{' '.join(words)}` ended with {done.returncode}: {done.stderr.strip()}")
    return done


class Wire:
    """Namespaces `sender` and `receiver`, joined by interfaces of the same names."""

    def __init__(self, tag="", beside=None):
        """`tag`: tells several wires of one test apart. `beside`: a wire whose sender sends on this
        one as well; its interface is then called `sender` and the tag."""
        self.sender = beside.sender if beside else f"ps{os.getpid()}s{tag}"
        self.outlet = "sender" + (tag if beside else "")
        self.receiver = f"ps{os.getpid()}r{tag}"
        self.processes = []
        skip_unless_permitted()
        expect(shutil.which("ip") is not None, "`ip` (package iproute2) is not installed")
        at_the_end(self.remove)
        for space in {self.sender, self.receiver} - {beside.sender if beside else None}:
            run("ip", "netns", "add", space)
            # IPv6 neighbour discovery would be counted with the frames
            run("ip", "netns", "exec", space, "sh", "-c",
                "for i in all default; do echo 1 > /proc/sys/net/ipv6/conf/$i/disable_ipv6; done")
            run("ip", "-n", space, "link", "set", "lo", "up")
        self.make_link()

    def make_link(self):
        run("ip", "link", "add", self.outlet, "netns", self.sender, "type", "veth", "peer", "name",
            "receiver", "netns", self.receiver)
        for space, name, address in ((self.sender, self.outlet, "10.91.0.1/24"),
                                     (self.receiver, "receiver", "10.91.0.2/24")):
            run("ip", "-n", space, "addr", "add", address, "dev", name)
            run("ip", "-n", space, "link", "set", name, "up")
        # Without a queue a veth pair drops packets that come faster than the other end reads them.
        run("tc", "-n", self.sender, "qdisc", "add", "dev", self.outlet, "root", "pfifo", "limit",
            "10000")
        # senders of the feed are not routable here, but must be accepted
        for name in ("all", "receiver"):
            run("ip", "netns", "exec", self.receiver, "sh", "-c",
                f"echo 0 > /proc/sys/net/ipv4/conf/{name}/rp_filter")

    def start(self, space, *command, **options):
        process = subprocess.Popen(["ip", "netns", "exec", space, *map(str, command)],
                                   text=True, **options)
        self.processes.append(process)
        return process

    def remove(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        for space in (self.sender, self.receiver):
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


def put_before_others(process, priority=10):
    """Gives all threads of a process priority, as if it had processors of its own."""
    for task in os.listdir(f"/proc/{process.pid}/task"):
        try:
            os.sched_setscheduler(int(task), os.SCHED_FIFO, os.sched_param(priority))
        except (ProcessLookupError, PermissionError):
            pass  # it has ended, or all programs take turns here


def filter_igmp(sock):
    """Makes the kernel deliver only IGMP to this socket, because a feed at full rate would overload it."""
    drop, take = (0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFF)
    program = [(0x28, 0, 0, 12), (0x15, 0, 3, 0x0800),  # IPv4
               (0x30, 0, 0, 23), (0x15, 0, 1, 2),  # protocol 2
               take, drop]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in program))
    attach_filter = 26  # SO_ATTACH_FILTER
    sock.setsockopt(socket.SOL_SOCKET, attach_filter,
                    struct.pack("HL", len(program), ctypes.addressof(code)))


class IgmpListener(threading.Thread):
    """Collects the groups that IGMP reports on the sender's interface ask for, and those they leave.

    `source`: only the reports of this hardware address (6 bytes).
    """

    def __init__(self, wire, source=None):
        super().__init__(daemon=True)
        self.source = source
        self.groups = set()
        self.left = set()
        self.frames = 0
        here = os.open("/proc/self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{wire.sender}", os.O_RDONLY)
        enter_namespace(there)
        try:
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            filter_igmp(self.socket)
            self.socket.bind((wire.outlet, 0x0003))  # all protocols, also sent packets
        finally:
            enter_namespace(here)
            os.close(here)
            os.close(there)
        self.start()

    def run(self):
        while True:
            try:
                frame = self.socket.recv(2048)
            except OSError as error:
                if error.errno == errno.ENETDOWN:  # reported once, because the link may come up again
                    continue
                return  # the namespace does not exist: the test has ended
            if self.source and frame[6:12] != self.source:
                continue
            self.frames += 1
            self.take(frame[14 + (frame[14] & 15) * 4:])

    def take(self, igmp):
        if igmp[0] == 0x16:  # version 2 report
            self.groups.add(socket.inet_ntoa(igmp[4:8]))
        elif igmp[0] == 0x22:  # version 3 report: records of type, length, sources, group
            (count,) = struct.unpack_from(">H", igmp, 6)
            at = 8
            for _ in range(count):
                words, sources = igmp[at + 1], struct.unpack_from(">H", igmp, at + 2)[0]
                if igmp[at] in (2, 4):  # exclude none: join
                    self.groups.add(socket.inet_ntoa(igmp[at + 4:at + 8]))
                elif igmp[at] == 3:  # include none: leave
                    self.left.add(socket.inet_ntoa(igmp[at + 4:at + 8]))
                at += 8 + 4 * (words + sources)

    def wait_for(self, groups):
        deadline = time.monotonic() + PATIENCE_S
        while not set(groups) <= self.groups and time.monotonic() < deadline:
            time.sleep(0.05)
        return sorted(set(groups) - self.groups)


def skip_unless_permitted():
    """Tries to make a network namespace, in a child process that then ends."""
    child = os.fork()
    if child == 0:
        done = LIBC.unshare(CLONE_NEWNET) == 0
        os._exit(0 if done else ctypes.get_errno())
    error = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if error in (errno.EPERM, errno.EACCES):
        skip("network namespaces are not permitted here: " + os.strerror(error))
    expect(error == 0, f"no network namespace can be made: {os.strerror(error)}")


def enter_namespace(descriptor):
    expect(LIBC.setns(descriptor, CLONE_NEWNET) == 0,
           f"a network namespace cannot be entered: {os.strerror(ctypes.get_errno())}")


def as_user(here, program, rights):
    """The words that run a copy of the program as an ordinary user with these capabilities alone.

    The copy and what the program writes stand in `here`, which that user can reach.
    """
    copy = here / "pinstrike"
    shutil.copy(program, copy)
    copy.chmod(0o755)
    here.chmod(0o777)
    granted = ",".join(["-all", *("+" + right for right in rights)])
    return ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps",
            granted, "--ambient-caps", granted, "--bounding-set", granted, copy]


def status_of_threads(pid):
    """The status of each thread in /proc: its name, then the words of each row by key."""
    threads = []
    for folder_of_thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            rows = (folder_of_thread / "status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread ended meanwhile
        threads.append(dict(row.split(":\t", 1) for row in rows if ":\t" in row))
    return threads


def expect_confined(pid, kept, hot):
    """Only the first thread has rights, namely these bits; the hot threads have filters. A thread drops its rights
    when it gets a processor."""
    deadline = time.monotonic() + PATIENCE_S
    while wrong := unconfined(status_of_threads(pid), pid, kept, hot):
        expect(time.monotonic() < deadline, wrong)
        time.sleep(0.05)


def unconfined(threads, pid, kept, hot):
    """What is not as it should be; empty if all is."""
    filtered = {thread["Name"] for thread in threads if thread["Seccomp"] == "2"}
    if filtered != set(hot):
        return f"filters on {filtered}, not {hot}"
    for thread in threads:
        held = int(thread["CapPrm"], 16)
        allowed = kept if int(thread["Pid"]) == pid else 0
        if held != allowed:
            return f"thread {thread['Name']} holds rights {held:x}, not {allowed:x}"
        if thread["NoNewPrivs"] != "1":
            return f"thread {thread['Name']} may gain rights"
    return ""


def groups_of(lines):
    """Production groups of regular lines, both streams."""
    return [f"224.0.{third}.{line}" for line in lines for third in (204, 206)]


def folder():
    path = Path(tempfile.mkdtemp(prefix="pinstrike-live-"))
    at_the_end(lambda: shutil.rmtree(path, ignore_errors=True))
    return path


def compare_account(account, truth):
    """Compares the appliance's lines with the generator's: losses, and all other messages delivered."""
    expect(account["balanced"] is True, "the account does not balance")
    mine = {line["line"]: line for line in account["lines"]}
    for line in truth["lines"]:
        here = mine.get(line["line"])
        expect(here is not None, f"line {line['line']} is missing")
        for key in ("highest", "delivered", "lost"):
            expect(here[key] == line[key],
                   f"line {line['line']}: {key} {here[key]}, the truth says {line[key]}")
        expect(here["gaps"] == line["gaps"], f"line {line['line']}: gaps differ")
    for ring in account["rings"]:
        shows(ring["refused"] == 0, f"a core was too slow: ring {ring['from']} refused {ring['refused']}")


def compare_books(mine, truth, may_be_stale=False):
    with open(mine, encoding="utf-8") as a, open(truth, encoding="utf-8") as b:
        mine, truth = [json.loads(row) for row in a], [json.loads(row) for row in b]
    expect(len(mine) == len(truth), f"book: {len(mine)} series, the truth has {len(truth)}")
    for row, other in zip(mine, truth):
        if may_be_stale:
            states = [key for key in ("bid_state", "offer_state") if row[key] == "stale"]
            row.update({key: "fresh" for key in states})
        expect(row == other, f"book differs: {row} against {other}")
    return len(mine)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)
