"""Shared by the tests of the metrics endpoint."""

import socket
import sys


def fail(what):
    sys.exit(f"FAILED: {what}")


GIVEN = set()


def free_port():
    """A port that is free now, and not the same twice."""
    while True:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        if port not in GIVEN:
            GIVEN.add(port)
            return port
