#!/usr/bin/env python3
"""No client of the metrics endpoint delays another.

    metrics_endpoint_test.py PINSTRIKE

1,000 connections that send nothing and 100 that send a byte now and then stay open, and come again
when they are closed; scrapes and the end of the program do not wait for them.
"""

import contextlib
import http.client
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from endpoint import fail, free_port
from scraped import DEADLINE_S, TRAFFIC, fetch, wait_for

IDLE, DRIPPING = 1000, 100
# What waits for 16 connections takes longer, because each has two seconds. A busy machine takes less.
WITHIN_S = 20


class Crowd:
    """The connections. A thread replaces closed ones, and sends single bytes on the others."""

    def __init__(self, port):
        self.port = port
        self.over = threading.Event()
        self.opened = 0
        self.idle, self.dripping = [None] * IDLE, [None] * DRIPPING
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        wait_for("crowd", DEADLINE_S, lambda: self.opened >= IDLE + DRIPPING)
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        for each in self.idle + self.dripping:
            if each:
                each.close()

    def opened_again(self, old):
        """The connection, or a new one if it was closed."""
        if old:
            with contextlib.suppress(BlockingIOError):
                try:
                    if old.recv(1) != b"":
                        fail("a connection that asked nothing is answered")
                except ConnectionResetError:
                    pass
                old.close()
                return self.opened_again(None)
            return old
        new = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        new.setblocking(False)
        self.opened += 1
        return new

    def run(self):
        with contextlib.suppress(ConnectionRefusedError):  # the program has ended
            while not self.over.is_set():
                for kind, begins in ((self.idle, b""), (self.dripping, b"x")):
                    for i, old in enumerate(kind):
                        kind[i] = self.opened_again(old)
                        if begins:
                            with contextlib.suppress(OSError):
                                kind[i].send(b"GET /metrics HTTP/1.1\r\nX: " if old is not kind[i]
                                             else begins)
                self.over.wait(0.2)


def scrape(url):
    """The text of a scrape, which must arrive in time."""
    start = time.monotonic()
    text = fetch(url)
    took = time.monotonic() - start
    if took > WITHIN_S or "pinstrike_running_seconds" not in text:
        fail(f"a scrape took {took:.2f} s")
    return took


def head(port):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as asking:
        asking.sendall(b"HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = b""
        while piece := asking.recv(65536):
            answer += piece
    if not answer.startswith(b"HTTP/1.1 200") or not answer.endswith(b"\r\n\r\n"):
        fail(f"HEAD is answered {answer[:200]}")


def check_one_idle(url, port):
    """One connection that sends nothing, then 16."""
    for count in (1, 16):
        with contextlib.ExitStack() as idle:
            for _ in range(count):
                idle.enter_context(socket.create_connection(("127.0.0.1", port)))
            time.sleep(0.2)
            scrape(url)


def check_crowd(process, url, port):
    with Crowd(port) as crowd:
        took = []
        end = time.monotonic() + DEADLINE_S
        while len(took) < 30:  # meanwhile late connections are closed and opened again
            # If the server had no processor, so many may come that it closes the scrape before its request.
            with contextlib.suppress(http.client.RemoteDisconnected, ConnectionResetError):
                took.append(scrape(url))
            if time.monotonic() > end:
                fail(f"{len(took)} of 30 scrapes were answered")
            time.sleep(0.1)
        head(port)
        start = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=DEADLINE_S)
        if time.monotonic() - start > WITHIN_S:
            fail(f"SIGTERM took {time.monotonic() - start:.1f} s")
    print(f"{IDLE} idle and {DRIPPING} dripping, {crowd.opened} opened in all: the slowest of "
          f"{len(took)} scrapes took {max(took):.3f} s")


def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    pinstrike = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        port = free_port()
        config = Path(name) / "run.yaml"
        config.write_text(TRAFFIC.format(port=port), encoding="utf-8")
        url = f"http://127.0.0.1:{port}/metrics"
        with subprocess.Popen([pinstrike, "run", config], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            threading.Thread(target=process.stderr.read, daemon=True).start()
            try:
                wait_for("metrics", DEADLINE_S, lambda: "pinstrike_loop_steps_total" in fetch(url))
                check_one_idle(url, port)
                check_crowd(process, url, port)
            finally:
                process.kill()
        if process.returncode != 0:
            fail(f"run ended with {process.returncode}")


main()
