"""Shared by the tests of the metrics endpoint."""

import socket
import sys


def fail(what):
    sys.exit(f"FAILED: {what}")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
