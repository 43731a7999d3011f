#!/usr/bin/env python3
"""A stream without any packet: metrics show it, and cores get its state.

    silence_test.py PINSTRIKE
"""

import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from endpoint import fail, free_port

DEADLINE_S = 120


def config_text(port):
    return f"""
name: silence
kind: opra
lines: 1-2, 220
ports:
  - {{name: simulator, kind: sim}}
pollers:
  - {{name: poller0, wait: park}}
cores:
  - {{name: core0, wait: park, actors: [book]}}
  - {{name: core1, wait: park, actors: [book]}}
book: {{series_capacity: 20000}}
silence: {{stream_silent_after: 2s, stream_down_after: 4s}}
traffic:
  {{shape: ordinary, lines_count: 2, roots_count: 50, series_count: 2000, rate_messages_per_second: 20000,
   b: {{loss: 1}}}}
metrics_address: 127.0.0.1:{port}
"""


def figures(port):
    """Every sample of the endpoint, by name and labels without the feed."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            samples[re.sub(r'feed="[^"]*",?', "", name)] = float(value)
    return samples


def state_of(samples, line, stream):
    return samples.get(f'pinstrike_stream_state{{line="{line}",stream="{stream}"}}')


def changes(samples):
    """By core, how many states of lines and streams it got."""
    return {name: value for name, value in samples.items() if "line_state_events_total" in name}


def wait_for_silence(port):
    """Until streams B are down and both cores know it: a core reads later than a poller writes."""
    end = time.monotonic() + DEADLINE_S
    samples = {}
    while time.monotonic() < end:
        try:
            samples = figures(port)
        except OSError:
            samples = {}
        # Streams B of two lines, silent and then down: four changes.
        if (all(state_of(samples, line, "B") == 2 for line in (1, 2)) and
                list(changes(samples).values()) == [4, 4]):
            return samples
        time.sleep(0.1)
    states = [state_of(samples, line, "B") for line in (1, 2)]
    return fail(f"streams B should be down (2), each core with four changes: {states}, {changes(samples)}")


def look(program, port):
    samples = wait_for_silence(port)
    for line in (1, 2):
        if state_of(samples, line, "A") != 0:
            fail(f"stream A of line {line} is heard, but its state is {state_of(samples, line, 'A')}")
        if samples[f'pinstrike_line_down{{line="{line}"}}'] != 0:
            fail(f"line {line} is down though stream A is heard")
        if samples[f'pinstrike_stream_last_packet_timestamp_seconds{{line="{line}",stream="A"}}'] == 0:
            fail(f"stream A of line {line} was never noticed")
    if state_of(samples, 220, "A") is not None or 'pinstrike_line_down{line="220"}' in samples:
        fail("line 220 sends no line integrity, so it would hide that all other lines are down")
    program.terminate()


def main():
    pinstrike = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        config = Path(folder) / "silence.yaml"
        account = Path(folder) / "account.json"
        config.write_text(config_text(port), encoding="utf-8")
        with subprocess.Popen([pinstrike, "run", str(config), "--account", str(account)],
                              stdout=subprocess.DEVNULL) as program:
            try:
                look(program, port)
                if program.wait(timeout=DEADLINE_S) != 0:
                    fail(f"exit status {program.returncode}")
            finally:
                program.kill()
        if not json.loads(account.read_text(encoding="utf-8"))["balanced"]:
            fail("the account does not balance")


if __name__ == "__main__":
    main()
