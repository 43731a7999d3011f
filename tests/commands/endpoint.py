"""Shared by the tests of the metrics endpoint."""

import socket
import sys


def fail(what):
    sys.exit(f"FAILED: {what}")


GIVEN = []


def free_port():
    """A port that no other socket gets until this process ends. Programs that reuse addresses can listen at it, because
    the socket that keeps it does not listen."""
    keeper = socket.socket()
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.bind(("127.0.0.1", 0))
    GIVEN.append(keeper)
    return keeper.getsockname()[1]
