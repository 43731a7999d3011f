#!/usr/bin/env python3
"""`ctl` and `top`: the admin socket of a running instance, as an operator uses it.

    ctl_test.py PINSTRIKE
"""

import contextlib
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from endpoint import fail, free_port
from scraped import TRAFFIC

DEADLINE_S = 120


def expect(condition, what):
    if not condition:
        fail(what)


class Instance:
    """A running feed with an admin socket, and its log."""

    def __init__(self, pinstrike, folder):
        self.pinstrike, self.folder = pinstrike, folder
        self.port = free_port()
        self.config = folder / "traffic.yaml"
        self.text = TRAFFIC.format(port=self.port)
        self.config.write_text(self.text, encoding="utf-8")
        self.socket, self.log, self.account = folder / "a.sock", folder / "log", folder / "account"
        self.delayed_reloads = 0
        with self.log.open("w") as log:
            # A session of its own, because SIGHUP of a terminal would end it.
            self.process = subprocess.Popen(
                [pinstrike, "run", self.config, "--admin", self.socket, "--no-view", "--account",
                 self.account], stderr=log, stdout=subprocess.DEVNULL, start_new_session=True)

    def logged(self, word, count=1):
        """Waits until the log has so many lines with the word; returns the last one."""
        end = time.monotonic() + DEADLINE_S
        while True:
            lines = [line for line in self.log.read_text().splitlines() if word in line]
            if len(lines) >= count:
                return lines[-1]
            expect(time.monotonic() < end and self.process.poll() is None,
                   f"the log never says {word!r}: {self.log.read_text()}")
            time.sleep(0.05)

    def ask(self, *words, status=0):
        """The output of `ctl` with these words; the error message if `status` is not 0. A poller that did not run for
        a while has yet to adopt the latest reload, and refuses the next one."""
        while True:
            asked = subprocess.run([self.pinstrike, "ctl", self.socket, *words], capture_output=True,
                                   text=True, timeout=DEADLINE_S)
            if "has yet to adopt the reload before" not in asked.stderr:
                break
            self.delayed_reloads += 1
        expect(asked.returncode == status,
               f"ctl {' '.join(map(str, words))}: ended with {asked.returncode}: {asked.stderr}")
        return asked.stderr if status else asked.stdout

    def view(self, name):
        return json.loads(self.ask(name, "--json"))

    def metric(self, name):
        url = f"http://127.0.0.1:{self.port}/metrics"
        with urllib.request.urlopen(url, timeout=DEADLINE_S) as answer:
            text = answer.read().decode()
        return float(re.search(rf"^pinstrike_{name}{{[^}}]*}} (\S+)$", text, re.M).group(1))

    def change(self, old, new):
        expect(old in self.text, f"no {old!r} in the config")
        self.text = self.text.replace(old, new)
        self.config.write_text(self.text, encoding="utf-8")


@contextlib.contextmanager
def running(pinstrike, folder):
    instance = Instance(pinstrike, folder)
    try:
        instance.logged(" running ")
        yield instance
    finally:
        instance.process.kill()
        instance.process.wait()


def check_views(instance):
    status = instance.ask("status")
    expect(re.search(r"^feed traffic .* process \d+ ", status), f"status begins otherwise: {status}")
    expect("3 of 3 up" in status, f"status: {status}")
    end = time.monotonic() + DEADLINE_S
    while (view := instance.view("status"))["status"]["lost"] == 0:
        expect(time.monotonic() < end, f"nothing is ever lost: {view}")
        time.sleep(0.1)
    lines = instance.view("lines")["lines"]
    expect([line["line"] for line in lines] == [1, 2, 3], f"other lines: {lines}")
    for line in lines:
        expect(line["delivered"] > 0 and line["a"]["accepted"] > line["b"]["accepted"] > 0,
               f"A comes first, and B has what A lost: {line}")
        # After a preemption, both copies of a block may be received at the same time.
        skew = line["a"]["skew"]
        expect(skew["count"] > 0 and skew["highest_ns"] > 50e3, f"the skew is 150 us: {skew}")
        # The counters are read one after the other, so they may differ by the latest messages.
        taken = line["a"]["accepted"] + line["b"]["accepted"]
        expect(abs(taken - line["delivered"]) < 0.5 * taken, f"accepted is not delivered: {line}")
    expect(len(instance.ask("lines").splitlines()) == 4, "not a row a line")
    one = instance.ask("lines", "2")
    expect("stream A   up" in one and "line 1" not in one and "duplicate" in one, f"line 2: {one}")
    expect("lines" in instance.ask("lines", "9", status=1), "line 9 is none of the feed's")
    [port] = instance.view("ports")["ports"]
    expect(port["port"] == "simulator" and port["packets"] > 0 and port["missed"] is None,
           f"ports: {port}")
    cores = instance.view("cores")
    expect([thread["thread"] for thread in cores["threads"]] == ["poller0", "core0"]
           and cores["rings"][0]["high_water_records"] > 0, f"cores: {cores}")
    expect(all(word in instance.ask("cores") for word in ("poller0", "core0", "ring from")),
           "cores as text")
    [actor] = instance.view("actors")["actors"]
    expect(actor["actor"] == "book" and actor["messages"] > 0 and "p50_ns" in actor["service"],
           f"actors: {actor}")
    expect("book" in instance.ask("actors"), "actors as text")
    expect("receive_to_actor" in instance.ask("latency"), "latency as text")
    expect("rate_messages_per_second: 30000" in instance.ask("config"), "the config in force")


def check_clear(instance):
    """The views restart at zero; metrics and account do not."""
    before = instance.metric("port_packets_total")
    instance.ask("clear")
    view = instance.view("status")
    after = instance.metric("port_packets_total")
    expect(view["status"]["packets"] <= after - before, f"not cleared: {view}, {before} packets before")
    expect(view["counted_seconds"] < view["running_seconds"], f"since when: {view}")
    expect(after >= before > 0, "a scraped total fell")
    expect("the counts shown were reset" in instance.logged("admin_asked"), "the log does not say who cleared")


def check_capture(instance):
    """The next packets of a line as they were received: decoded, they are of that line."""
    capture = instance.folder / "line2.pcapng"
    instance.ask("capture", "2", "50", "--out", capture)
    decoded = subprocess.run([instance.pinstrike, "decode", capture, "--json"], check=True,
                             capture_output=True, text=True, timeout=DEADLINE_S).stdout
    blocks = [json.loads(line) for line in decoded.splitlines()]
    expect({block["line"] for block in blocks if "line" in block} == {2}, "packets of other lines")
    expect({block["stream"] for block in blocks if "stream" in block} == {"A", "B"},
           "not both streams")
    before = capture.read_bytes()
    text = instance.ask("capture", "77", "1", "--out", capture, status=1)
    expect("77" in text and "no such line" in text, f"line 77: {text}")
    text = instance.ask("capture", "2", "5", "--out", "/dev/full", status=1)
    expect("not written whole" in text, f"a full disk: {text}")
    # A client that gives up while it waits for packets blocks no other.
    waiting = subprocess.Popen([instance.pinstrike, "ctl", instance.socket, "capture", "1",
                                "100000", "--out", instance.folder / "cut.pcap"])
    instance.logged("capture of 100000 packets")
    text = instance.ask("capture", "1", "1", "--out", capture, status=1)
    expect("another capture is in progress" in text, f"two at once: {text}")
    nobody = subprocess.run([instance.pinstrike, "ctl", instance.folder / "no.sock", "capture", "1", "1", "--out",
                             capture], capture_output=True, timeout=DEADLINE_S)
    expect(nobody.returncode == 1 and capture.read_bytes() == before, "a refused capture changed the file")
    text = instance.ask("capture", "1", "1", "--out", instance.folder / "absent/x.pcap", status=1)
    expect("No such file" in text, f"no folder: {text}")
    waiting.send_signal(signal.SIGINT)
    waiting.wait(DEADLINE_S)
    decoded = subprocess.run([instance.pinstrike, "decode", instance.folder / "cut.pcap", "--json"],
                             capture_output=True, text=True, timeout=DEADLINE_S)
    expect(decoded.returncode == 0 and '"line":1' in decoded.stdout.replace(" ", ""),
           f"what came before the interrupt: {decoded.stderr} {decoded.stdout[:500]}")
    end = time.monotonic() + DEADLINE_S
    again = [instance.pinstrike, "ctl", instance.socket, "capture", "1", "1", "--out", capture]
    while subprocess.run(again, capture_output=True, timeout=DEADLINE_S).returncode:
        expect(time.monotonic() < end, "a capture that was given up still goes on")
        time.sleep(0.1)


def check_level(instance):
    instance.ask("log-level", "debug")
    expect(instance.view("status")["log_level"] == "debug", "the level that is in force")
    usage = subprocess.run([instance.pinstrike, "ctl", instance.socket, "log-level", "loud"],
                           capture_output=True, text=True, timeout=DEADLINE_S)
    expect(usage.returncode == 2 and "loud" in usage.stderr, f"a wrong level: {usage}")
    usage = subprocess.run([instance.pinstrike, "ctl", instance.socket, "portz"],
                           capture_output=True, text=True, timeout=DEADLINE_S)
    expect(usage.returncode == 2 and 'no command "portz"; did you mean "ports"' in usage.stderr,
           f"a mistyped question: {usage}")
    usage = subprocess.run([instance.pinstrike, "ctl", instance.socket, "capture", "--help"],
                           capture_output=True, text=True, timeout=DEADLINE_S)
    expect("Usage: pinstrike ctl INSTANCE capture [OPTIONS] LINE PACKETS" in usage.stdout,
           f"how it is called: {usage}")


def check_reload(instance):
    """Applies all changes or none, and names them; by `ctl` and by SIGHUP."""
    expect("log_level: debug -> info" in instance.ask("reload"), "the file's level comes back")
    expect(instance.ask("reload") == "nothing differs\n", "the same file again")
    instance.change("book:", "silence: {stream_silent_after: 5s, stream_down_after: 6s}\nbook:")
    instance.change("kind: sim", "kind: sim, sources: [10.9.0.0/16]")
    taken = instance.ask("reload")
    expect("silence.stream_silent_after: 12s -> 5s" in taken and "ports[0].sources" in taken,
           f"a reload: {taken}")
    end = time.monotonic() + DEADLINE_S
    # The simulator's sender is not allowed, so all packets are dropped and the streams become silent.
    while instance.view("lines")["lines"][0]["a"]["state"] == "up":
        expect(time.monotonic() < end, "the new filter and threshold do nothing")
        time.sleep(0.2)
    dropped = instance.view("ports")["ports"][0]["dropped"]
    expect(dropped.get("foreign_source", 0) > 0, f"drops: {dropped}")
    instance.change(", sources: [10.9.0.0/16]", "")
    instance.process.send_signal(signal.SIGHUP)
    expect("SIGHUP; ports[0].sources" in instance.logged("SIGHUP;"), "a reload by SIGHUP")
    expect(instance.metric("config_applied_reloads_total") == 4, "reloads counted")
    good = instance.text
    instance.change("lines: 1-3", "lines: 1-2")
    instance.change("book:", "log_level: debug\nbook:")
    text = instance.ask("reload", status=1)
    expect("lines: needs a restart" in text and "a list of 3 -> a list of 2" in text,
           f"lines cannot change: {text}")
    expect(instance.view("status")["log_level"] == "info", "half of a refused reload was taken")
    instance.change("kind: opra", "kind: oprah")
    text = instance.ask("reload", status=1)
    expect(f"{instance.config}:" in text and "oprah" in text, f"a broken file: {text}")
    instance.config.unlink()
    expect("No such file" in instance.ask("reload", status=1), "no file")
    expect(instance.metric("config_reload_refused") == 1, "the last reload was refused")
    expect(instance.metric("config_refused_reloads_total") == 3 + instance.delayed_reloads, "refusals counted")
    instance.text = good
    instance.config.write_text(good, encoding="utf-8")
    instance.ask("reload")
    expect(instance.metric("config_reload_refused") == 0, "the file is what runs again")


def check_strangers(instance):
    """An invalid request gets an answer with what was expected; other users may not connect."""
    for request in (b"\n", b"hello\n", b"[1]\n", b'{"ask": 7}\n', b'{"ask": "nonsense"}\n',
                    b'{"ask": "capture"}\n', b'{"ask": "log-level", "level": "\xff"}\n'):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(DEADLINE_S)
            client.connect(str(instance.socket))
            client.sendall(request)
            answer = client.makefile("rb").read()
        expect("expected" in json.loads(answer)["error"], f"{request} is answered with {answer}")
    if os.getuid() == 0:
        instance.folder.chmod(0o755)
        done = subprocess.run([instance.pinstrike, "ctl", instance.socket, "status"], user=65534,
                              group=65534, extra_groups=[], capture_output=True, text=True,
                              timeout=DEADLINE_S)
        expect(done.returncode == 1 and "only root" in done.stderr, f"a stranger: {done}")


def check_top(instance):
    """Without a terminal it prints lines; on a terminal it has a screen with keys, which q leaves."""
    command = [instance.pinstrike, "top", instance.socket, "--interval", "200ms"]
    lines = subprocess.run([*command, "--count", "3"], capture_output=True, text=True, check=True,
                           timeout=DEADLINE_S).stdout.splitlines()
    expect(len(lines) == 3 and all("messages/s" in line and "lines " in line for line in lines),
           f"top without a terminal: {lines}")
    terminal, slave = pty.openpty()
    subprocess.run(["stty", "-F", os.ttyname(slave), "cols", "80", "rows", "24"], check=True)
    top = subprocess.Popen(command, stdin=slave, stdout=slave, env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    seen = b""
    try:
        for key, shown in ((b"", b"A first"), (b"c", b"poller0"), (b"a", b"book"),
                           (b"o", b"busiest series"), (b"q", None)):
            os.write(terminal, key)
            seen = b"" if shown else seen
            end = time.monotonic() + DEADLINE_S
            while shown and shown not in seen:
                expect(time.monotonic() < end, f"no {shown} on the screen behind {key}: {seen}")
                seen += os.read(terminal, 65536) if select.select([terminal], [], [], 1)[0] else b""
        expect(top.wait(DEADLINE_S) == 0, "top left by q")
    finally:
        top.kill()
        top.wait()
        os.close(terminal)


def check_drain(instance):
    instance.ask("drain")
    expect(instance.process.wait(DEADLINE_S) == 0, "a drain is no failure")
    expect(json.loads(instance.account.read_text())["balanced"], "a drain: not balanced")
    expect("drain, requested by user" in instance.log.read_text(), "who drained")
    expect(not instance.socket.exists(), "the socket's file is left")
    text = instance.ask("status", status=1)
    expect("is the instance running?" in text, f"nobody is there: {text}")
    top = subprocess.run([instance.pinstrike, "top", instance.socket], capture_output=True,
                         text=True, timeout=DEADLINE_S)
    expect(top.returncode == 1 and "is the instance running?" in top.stderr, f"top of nobody: {top}")


def check_left_over(pinstrike, folder):
    """A socket that kill -9 left is replaced; the socket of a running instance is not."""
    with running(pinstrike, folder) as first:
        second = subprocess.run([pinstrike, "run", first.config, "--admin", first.socket],
                                capture_output=True, text=True, timeout=DEADLINE_S)
        expect(second.returncode == 1 and "another instance answers" in second.stderr,
               f"two at one socket: {second}")
    expect(first.socket.exists(), "killed, and yet the file is gone")
    with running(pinstrike, folder) as third:
        third.ask("status")


def main():
    pinstrike = sys.argv[1]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup, SIGHUP is ignored
    with tempfile.TemporaryDirectory() as name:
        with running(pinstrike, Path(name)) as instance:
            check_views(instance)
            check_clear(instance)
            check_capture(instance)
            check_level(instance)
            check_reload(instance)
            check_strangers(instance)
            check_top(instance)
            check_drain(instance)
    with tempfile.TemporaryDirectory() as name:
        check_left_over(pinstrike, Path(name))


if __name__ == "__main__":
    main()
