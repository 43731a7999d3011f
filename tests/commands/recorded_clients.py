"""What the published clients send, byte by byte: recorded from them, and sent again to the gateway.

The targets `databento_client` and `rust_client` compare what the clients send with recorded_clients.json. They write it
anew if PINSTRIKE_RECORD is set.
"""

import json
import os
import re
import socket
import threading
from pathlib import Path

FILE = Path(__file__).with_name("recorded_clients.json")
# By name: schema, kind of symbol, symbols, and options as rust_client has them.
SESSIONS = {
    "all series with their state": ("cmbp-1", "raw_symbol", "ALL_SYMBOLS", {"snapshot"}),
    "an underlying, with send times": ("cmbp-1", "parent", "SPY.OPT", {"snapshot", "send_times"}),
    "definitions from the beginning": ("definition", "raw_symbol", "ALL_SYMBOLS", {"all_state"}),
    "compressed": ("trades", "raw_symbol", "SPY   261218C00600000,SPY   261218P00600000", {"zstd"}),
}


def general(sent):
    """The answer to the challenge is another one each time, and the versions are those of the host."""
    sent = re.sub(r"auth=[0-9a-f]{64}-", "auth={digest}-", sent)
    return re.sub(r"( Python| Linux)/[^ \n|]+", r"\1/1.0", sent)


def recordings():
    """What clients send in each session, by client."""
    return json.loads(FILE.read_text())


class Recorder:
    """Carries one connection to the gateway and keeps what the client sends."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sent = b""
        self.thread = threading.Thread(target=self.carry, args=(port,))
        self.thread.start()

    def carry(self, port):
        client = self.listener.accept()[0]
        with client, socket.create_connection(("127.0.0.1", port)) as gateway:
            back = threading.Thread(target=self.carry_back, args=(gateway, client))
            back.start()
            while data := client.recv(65536):
                self.sent += data
                gateway.sendall(data)
            gateway.shutdown(socket.SHUT_WR)
            back.join()

    @staticmethod
    def carry_back(gateway, client):
        try:
            while data := gateway.recv(65536):
                client.sendall(data)
            client.shutdown(socket.SHUT_WR)
        except OSError:  # the client has gone
            gateway.shutdown(socket.SHUT_RD)

    def close(self):
        """Returns what the client sent, when it has closed its connection."""
        self.thread.join(timeout=120)
        self.listener.close()
        return general(self.sent.decode())


def record(port, run):
    """What a client sends in each session. `run` is called with the port of a Recorder, and with what SESSIONS has."""
    sent = {}
    for name, session in SESSIONS.items():
        recorder = Recorder(port)
        run(recorder.port, *session)
        sent[name] = recorder.close()
    return sent


def compare(client, sent):
    """The differences between what a client sends and what was recorded of it. `sent`: by session."""
    if os.environ.get("PINSTRIKE_RECORD"):
        known = recordings() if FILE.exists() else {}
        FILE.write_text(json.dumps(known | {client: sent}, indent=1, sort_keys=True) + "\n")
    known = recordings()[client]
    return {name: (text, known.get(name)) for name, text in sent.items() if text != known.get(name)}
