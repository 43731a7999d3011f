#!/usr/bin/env python3
"""As a service: systemd gets the state, and its watchdog is fed only while all threads make progress;
/healthz of the metrics endpoint reports the same.

    service_test.py PINSTRIKE

The test acts as the service manager, at the socket that NOTIFY_SOCKET names. It stops one thread of
the running program as a debugger does; the other threads continue.
"""

import contextlib
import ctypes
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from endpoint import fail, free_port
from scraped import TRAFFIC, wait_for

WATCHDOG_S = 0.8
DEADLINE_S = 120  # a limit for what must come; a busy machine is slow
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WAIT_ALL = 0x40000000  # __WALL: also threads


def ptrace(request, thread):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(request, thread, None, None) != 0:
        fail(f"ptrace {request:#x} of {thread}: {os.strerror(ctypes.get_errno())}")


def stop_thread(process, name):
    """Stops one thread of the process as a tracer, until the tracer ends; returns the thread's number."""
    threads = []
    for task in Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(OSError):  # the thread has ended meanwhile
            if (task / "comm").read_text().strip() == name:
                threads.append(int(task.name))
    if len(threads) != 1:
        fail(f"{len(threads)} threads are called {name}")
    ptrace(PTRACE_SEIZE, threads[0])
    ptrace(PTRACE_INTERRUPT, threads[0])
    os.waitpid(threads[0], WAIT_ALL)
    return threads[0]


@contextlib.contextmanager
def stopped(process, name):
    thread = stop_thread(process, name)
    try:
        yield
    finally:
        ptrace(PTRACE_DETACH, thread)


def received(manager, seconds, until=None):
    """The words that the manager receives within the time, or until one that begins with `until`."""
    words = []
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if not select.select([manager], [], [], left)[0]:
            break
        words += manager.recv(65536).decode().splitlines()
        if until and any(word.startswith(until) for word in words):
            return words
    if until:
        fail(f"no {until} within {seconds} s, only {words}")
    return words


def health(port):
    """The status of the metrics endpoint's /healthz."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=DEADLINE_S) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


def check_running(manager, port):
    words = received(manager, DEADLINE_S, "READY=1")
    if words[0] != "READY=1":
        fail(f"a word before it is ready: {words}")
    for _ in range(4):
        received(manager, DEADLINE_S, "WATCHDOG=1")
    wait_for("/healthz with 200 while the watchdog is fed", DEADLINE_S, lambda: health(port) == 200)
    for _ in range(60):
        status = next(word for word in received(manager, DEADLINE_S, "STATUS=") if word.startswith("STATUS="))
        if "3 of 3 lines up" in status:
            break
    else:
        fail(f"not all lines are up: {status}")
    print(f"fed, {status}")


def check_stalled(manager, process, thread, port):
    with stopped(process.pid, thread):
        wait_for(f"/healthz with 503 while {thread} stands", DEADLINE_S, lambda: health(port) == 503)
        received(manager, WATCHDOG_S)  # words that were already sent
        words = received(manager, 4 * WATCHDOG_S) + received(manager, DEADLINE_S, "STATUS=")
        if "WATCHDOG=1" in words:
            fail(f"{thread} stands, and the watchdog is fed")
        if health(port) != 503:
            fail(f"{thread} stands, and /healthz is {health(port)}")
    received(manager, DEADLINE_S, "WATCHDOG=1")
    wait_for("/healthz with 200", DEADLINE_S, lambda: health(port) == 200)


def run(pinstrike, folder):
    address = folder / "notify"
    config = folder / "served.yaml"
    port = free_port()
    config.write_text(TRAFFIC.format(port=port))
    environment = {**os.environ, "NOTIFY_SOCKET": str(address),
                   "WATCHDOG_USEC": str(int(WATCHDOG_S * 1e6))}
    environment.pop("WATCHDOG_PID", None)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(address))
        process = subprocess.Popen([pinstrike, "run", config, "--for", "3600s"], env=environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            check_running(manager, port)
            check_stalled(manager, process, "core0", port)
            check_stalled(manager, process, "poller0", port)
            process.terminate()
            received(manager, DEADLINE_S, "STOPPING=1")
        finally:
            process.terminate()
            _, log = process.communicate(timeout=DEADLINE_S)
    for thread in ("core core0", "poller poller0"):
        if f"thread_stalled {thread}" not in log:
            fail(f"the log does not name {thread}: {log[-2000:]}")
    if process.returncode != 0:
        fail(f"run ended with {process.returncode}: {log[-2000:]}")


def check_nobody_listens(pinstrike, folder):
    """A socket that does not exist is reported, and stops nothing."""
    done = subprocess.run([pinstrike, "run", folder / "served.yaml", "--for", "500ms"],
                          env={**os.environ, "NOTIFY_SOCKET": str(folder / "nobody")}, text=True,
                          capture_output=True, check=False, timeout=DEADLINE_S)
    if done.returncode != 0 or "NOTIFY_SOCKET" not in done.stderr:
        fail(f"no manager: {done.returncode}, {done.stderr[-2000:]}")


def main():
    pinstrike = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        run(pinstrike, Path(name))
        check_nobody_listens(pinstrike, Path(name))


if __name__ == "__main__":
    main()
