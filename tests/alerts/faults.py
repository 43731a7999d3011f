"""Faults, each with a beginning and an end that a test chooses."""

import atexit
import signal
import socket
import struct
import subprocess
import threading
import time

from hold import hold_in_pulses, hold_until, thread_of
from subjects import AS_LONG_AS_IT_TAKES

# Some 1600 records come in this time, so a ring of 1024 is full.
PULSE_S = 4


class InThread:
    """A fault that runs in a thread until `ended` is set."""

    def __init__(self):
        self.ended = threading.Event()
        self.thread = None

    def begin(self):
        # A held thread cannot be waited for, so it is released before anything else at the end, also
        # if the test fails.
        atexit.register(self.ended.set)
        self.thread = threading.Thread(target=self.go_on, daemon=True)
        self.thread.start()

    def end(self):
        self.ended.set()
        self.thread.join()


class Held(InThread):
    what = "a thread is held up by ptrace"

    def __init__(self, subject, name):
        super().__init__()
        self.subject, self.name = subject, name

    def go_on(self):
        hold_until(thread_of(self.subject.process, self.name), self.ended)


class HeldInPulses(Held):
    what = f"a thread is held up by ptrace for {PULSE_S} s, again and again"

    def go_on(self):
        hold_in_pulses(thread_of(self.subject.process, self.name), self.ended, PULSE_S)


class HeldForLong(Held):
    what = "a thread is held up by ptrace for 20 s, again and again"

    def go_on(self):
        hold_in_pulses(thread_of(self.subject.process, self.name), self.ended, 20)


class Reading(InThread):
    what = "a client reads all that it gets"

    def __init__(self, subject):
        super().__init__()
        self.subject = subject

    def go_on(self):
        client = self.subject.client("cmbp-1", "trades")
        while not self.ended.is_set():
            for _ in client.records(1):
                pass


class NotReading:
    what = "a client subscribes everything and does not read"

    def __init__(self, subject):
        self.subject, self.client = subject, None

    def begin(self):
        self.client = self.subject.client("cmbp-1", "mbp-1", "cbbo-1s", receive_bytes=4096)

    def end(self):
        self.client.close()


class Crowd:
    what = "the access log is on a full device, and more clients come than may be connected"

    def __init__(self, subject):
        self.subject, self.connections = subject, []

    def begin(self):
        self.subject.client("cmbp-1").close()
        for _ in range(6):
            self.connections.append(socket.create_connection(("127.0.0.1", self.subject.port), timeout=20))

    def end(self):
        for connection in self.connections:
            connection.close()


class RefusedReload:
    what = "its config is changed in what needs a restart, and reloaded"

    def __init__(self, subject):
        self.subject, self.text = subject, subject.path.read_text()

    def reload(self, text):
        self.subject.path.write_text(text)
        self.subject.process.send_signal(signal.SIGHUP)

    def begin(self):
        self.reload(self.text + "retransmission: true\n")

    def end(self):
        self.reload(self.text)


class Dead:
    what = "killed, and started again later"

    def __init__(self, subject):
        self.subject = subject

    def begin(self):
        self.subject.kill()

    def end(self):
        self.subject.start()


class Stopped:
    what = "the process with the brokers is stopped (SIGSTOP)"

    def __init__(self, subject):
        self.subject = subject

    def begin(self):
        self.subject.process.send_signal(signal.SIGSTOP)

    def end(self):
        self.subject.process.send_signal(signal.SIGCONT)


class KilledOften(InThread):
    what = "killed and started again, until Prometheus knows of three times"

    def __init__(self, subject, prometheus, least_s):
        """`least_s`: how long it runs before it is killed, so that the next start differs from it."""
        super().__init__()
        self.subject, self.prometheus, self.least_s = subject, prometheus, least_s

    def go_on(self):
        ran = f'pinstrike_running_seconds{{feed="{self.subject.feed}"}}'
        known = f"resets({ran}[{self.prometheus.shortened('15m')}])"
        while not self.ended.is_set() and self.prometheus.value(known) < 3:
            if self.prometheus.value(ran) > self.least_s:
                self.subject.kill()
                self.subject.start()
                time.sleep(self.least_s / 2)
            time.sleep(1)


class Otherwise:
    """Restarts the subject with another config, and with its own at the end."""

    def __init__(self, subject, what, **config):
        self.subject, self.what, self.config = subject, what, config

    def begin(self):
        self.subject.stop()
        self.subject.start(**self.config)

    def end(self):
        self.subject.stop()
        self.subject.start()


class OnTheWire:
    """Orders for the relay: STREAMS[LINE]/FAULT[=SHARE]."""

    def __init__(self, subject, exchange, *orders):
        self.subject, self.exchange, self.orders = subject, exchange, orders
        self.what = f"the wire: {' '.join(orders)}"

    def begin(self):
        for order in self.orders:
            self.exchange.order(f"{self.subject.name}/{order}")

    def end(self):
        self.exchange.order(self.subject.name)


class NoLink:
    what = "the other end of the cable is down"

    def __init__(self, subject):
        self.subject = subject

    def begin(self):
        self.subject.link("down")

    def end(self):
        self.subject.link("up")


class Sender:
    """Another generator on the subject's wire."""

    def __init__(self, subject, lines):
        self.subject, self.lines, self.generator = subject, lines, None

    def begin(self):
        wire = self.subject.wire
        self.generator = wire.start(
            wire.sender, self.subject.pinstrike, "generate", "--interface", wire.outlet, "--lines",
            self.lines, "--rate", "3000", "--shape", "ordinary", "--series", "2000", "--for",
            AS_LONG_AS_IT_TAKES, stdout=subprocess.DEVNULL)

    def end(self):
        self.generator.terminate()
        self.generator.wait()


class Foreign(Sender):
    what = "lines on the wire that nobody here asked for"

    def __init__(self, subject):
        super().__init__(subject, "50-53")


class SecondSource(Sender):
    what = "a second system sends a line, numbered otherwise"

    def __init__(self, subject):
        super().__init__(subject, "4")


class ClockSetOften(InThread):
    what = "its clock is set by a second, again and again (LD_PRELOAD)"

    def __init__(self, file):
        super().__init__()
        self.file = file

    def go_on(self):
        moved_s = 0
        while not self.ended.wait(0.3):
            moved_s += 1
            with open(self.file, "r+b", buffering=0) as file:
                file.write(struct.pack("=q", moved_s))


class Misbehaviour:
    """What misbehaving_thread.cpp does while a byte of its file is not 0."""

    def __init__(self, file, byte_at, what):
        self.file, self.byte_at, self.what = file, byte_at, f"its poller {what} (LD_PRELOAD)"

    def begin(self):
        self.write(b"\1")

    def end(self):
        self.write(b"\0")

    def write(self, order):
        with open(self.file, "r+b", buffering=0) as file:
            file.seek(self.byte_at)
            file.write(order)


class RecoveryEnded(Misbehaviour):
    """Ends only with a restart."""

    def __init__(self, subject, file):
        super().__init__(file, 2, "")
        self.subject, self.what = subject, "its thread of recovery throws (LD_PRELOAD)"

    def end(self):
        super().end()
        self.subject.stop()
        self.subject.start()


class Unpackable:
    """Its oldest segment cannot be compressed: a folder has the name of the file."""
    what = "a folder has the name of a compressed segment"

    def __init__(self, subject, folder):
        self.subject, self.folder, self.blocked = subject, folder, None

    def begin(self):
        self.subject.stop()
        newest = max(path for path in self.folder.iterdir() if path.suffix == ".pcapng")
        self.blocked = newest.with_name(f"{newest.name}.zst.part") / "blocked"
        self.blocked.mkdir(parents=True)
        self.subject.start()

    def end(self):
        self.blocked.rmdir()
        self.blocked.parent.rmdir()


class NoPackets:
    what = "it starts with snapshots of a recording whose packets were removed"

    def __init__(self, subject, folder):
        self.subject, self.folder = subject, folder

    def begin(self):
        while not any(self.folder.glob("STATE-*.state")):
            time.sleep(1)
        self.subject.stop()
        for path in self.folder.glob("*.pcapng*"):
            path.unlink()
        self.subject.start()

    def end(self):
        self.subject.stop()
        self.subject.start()


class FullDisk:
    what = "the disk of its recording is full when it starts"

    def __init__(self, subject, folder):
        self.subject, self.file = subject, folder / "others"

    def begin(self):
        self.subject.stop()
        with open(self.file, "wb", buffering=0) as file:
            try:
                while file.write(bytes(1 << 20)):
                    pass
            except OSError:
                pass
        self.subject.start()

    def end(self):
        self.file.unlink()
