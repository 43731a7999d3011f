"""Shared by the tests of the metrics endpoint, and others that look at a running program."""

import contextlib
import socket
import sys
from pathlib import Path


def fail(what):
    sys.exit(f"FAILED: {what}")


def thread_names(process):
    names = []
    for name in Path(f"/proc/{process.pid}/task").glob("*/comm"):
        with contextlib.suppress(OSError):  # the thread has ended meanwhile
            names.append(name.read_text().strip())
    return names


GIVEN = []


def free_port():
    """A port that no other socket gets until this process ends. Programs that reuse addresses can listen at it, because
    the socket that keeps it does not listen."""
    keeper = socket.socket()
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.bind(("127.0.0.1", 0))
    GIVEN.append(keeper)
    return keeper.getsockname()[1]
