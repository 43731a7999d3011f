#!/usr/bin/env python3
"""`run` and `replay` as an operator uses them: signals, endings, exit statuses, idle processors.

    appliance_test.py PINSTRIKE
"""

import atexit
import fcntl
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from endpoint import free_port

DEADLINE_S = 300  # a limit for hanging processes; a busy machine is slow
LOADED = """\
name: loaded
lines: 1-4
ports:
  - {name: sim, kind: sim}
pollers:
  - {name: poll0, wait: park}
cores:
  - {name: core0, wait: park}
  - {name: core1, wait: park}
book: {series_capacity: 40000}
traffic: {lines_count: 4, roots_count: 100, series_count: 5000, rate_messages_per_second: 300000,
          a: {loss: 0.01}, b: {loss: 0.01, skew: 100us}}
"""

# No frame comes, because the generator's first frame is due only after minutes.
IDLE = LOADED.replace("rate_messages_per_second: 300000", "rate_messages_per_second: 1") \
             .replace("lines_count: 4,", "lines_count: 4, session: false,")


def fail(what):
    sys.exit(f"FAILED: {what}")


def expect(condition, what):
    if not condition:
        fail(what)


running = []


@atexit.register
def leave_nothing_behind():
    """Also ends the run if a test fails, because it would affect later tests."""
    for process in running:
        if process.poll() is None:
            process.kill()
            process.wait()


def start(pinstrike, *arguments, **options):
    process = subprocess.Popen([pinstrike, *arguments], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, **options)
    running.append(process)
    return process


def ended(process, status, what):
    """Waits for the end, and returns the standard error."""
    _, errors = process.communicate(timeout=DEADLINE_S)
    expect(process.returncode == status,
           f"{what}: ended with {process.returncode}, not {status}: {errors}")
    expect("hot threads allocated" not in errors and "hot_allocation" not in errors,
           f"{what}: {errors}")
    return errors


def cpu_seconds(process):
    """The processor time of a process's hot threads so far, by name."""
    ticks = os.sysconf("SC_CLK_TCK")
    times = {}
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        try:
            text = (task / "stat").read_text().strip()
        except OSError:
            continue  # the thread has ended meanwhile
        name, fields = re.fullmatch(r"\d+ \((.*)\) (.*)", text).groups()
        if name.startswith(("poll", "core")):
            user, system = fields.split()[11:13]
            times[name] = (int(user) + int(system)) / ticks
    return times


def await_pollers(process):
    """The pollers start last, after all actors."""
    deadline = time.monotonic() + DEADLINE_S
    while not any(name.startswith("poll") for name in cpu_seconds(process)):
        expect(time.monotonic() < deadline and process.poll() is None, "no poller has started")
        time.sleep(0.05)


def stopped_by(pinstrike, folder, number):
    """Under load, a signal drains the rings, the account balances, and the status is 0."""
    config, account = folder / "loaded.yaml", folder / "account.json"
    config.write_text(LOADED)
    process = start(pinstrike, "run", config, "--account", account)
    await_pollers(process)
    time.sleep(1.5)
    process.send_signal(number)
    ended(process, 0, f"{number.name} under load")
    written = json.loads(account.read_text())
    expect(written["balanced"], f"{number.name}: the account does not balance")
    events = sum(core["events"] for core in written["cores"])
    expect(events > 0, f"{number.name}: nothing had been delivered")
    expect(events == sum(ring["pushed"] for ring in written["rings"]),
           f"{number.name}: the cores did not empty their rings")


def ends_with_its_terminal(pinstrike, folder):
    """SIGHUP means a reload, except when the terminal was closed."""
    config, account = folder / "loaded.yaml", folder / "account.json"
    config.write_text(LOADED)
    account.unlink(missing_ok=True)
    terminal, slave = pty.openpty()

    def take_terminal():
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    admin = folder / "admin.sock"
    process = start(pinstrike, "run", config, "--account", account, "--no-view", "--admin", admin,
                    start_new_session=True, preexec_fn=take_terminal)
    os.close(slave)
    deadline = time.monotonic() + DEADLINE_S
    # Its control thread, which answers, has looked for the terminal.
    while subprocess.run([pinstrike, "ctl", admin, "status"], capture_output=True, check=False).returncode != 0:
        expect(time.monotonic() < deadline and process.poll() is None, "it does not run")
        time.sleep(0.05)
    os.close(terminal)
    errors = ended(process, 0, "a terminal that is closed")
    expect("stopping feed loaded: SIGHUP" in errors, f"ended by something else: {errors}")
    expect(json.loads(account.read_text())["balanced"], "a closed terminal: not balanced")


def ends_cleanly_when_asked_twice(pinstrike, folder):
    """An impatient operator, or a timeout that signals child and group."""
    config, account = folder / "loaded.yaml", folder / "account.json"
    config.write_text(LOADED)
    account.unlink(missing_ok=True)
    process = start(pinstrike, "run", config, "--account", account)
    await_pollers(process)
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.01)
    errors = ended(process, 0, "signals without end")
    expect(json.loads(account.read_text())["balanced"], "signals without end: not balanced")
    for row in ("port ", "line ", "all 4 ", "ring ", "poll0:core1 ", "core "):
        expect("\n" + row in errors, f"no row {row!r} in the account that is printed: {errors}")


def tells_of_a_full_book(pinstrike, folder):
    """The messages that a full book refuses are reported, and are in the account."""
    config, account = folder / "full.yaml", folder / "account.json"
    config.write_text(LOADED.replace("series_capacity: 40000", "series_capacity: 1000"))
    errors = ended(start(pinstrike, "run", config, "--for", "2s", "--account", account), 0,
                   "a run with a full book")
    for core in json.loads(account.read_text())["cores"]:
        expect(core["series_refused"] > 0, f"{core['core']} refused nothing: {core}")
        said = f"{core['core']}: {core['series_refused']} messages of series did not fit"
        expect(said in errors, f"not reported: {said}; but: {errors}")


def lasts(pinstrike, folder):
    config = folder / "loaded.yaml"
    config.write_text(LOADED)
    account = folder / "account.json"
    ended(start(pinstrike, "run", config, "--for", "1500ms", "--account", account), 0,
          "--for 1500ms")
    seconds = json.loads(account.read_text())["seconds"]
    expect(seconds >= 1.5, f"--for 1500ms ended after {seconds} s")


def idles(pinstrike, folder):
    """Parked threads take below 10 % of a processor each."""
    config = folder / "idle.yaml"
    config.write_text(IDLE)
    process = start(pinstrike, "run", config)
    await_pollers(process)
    time.sleep(1)
    begin, before = time.monotonic(), cpu_seconds(process)
    time.sleep(4)
    seconds, after = time.monotonic() - begin, cpu_seconds(process)
    process.terminate()
    ended(process, 0, "an idle run")
    expect(len(after) == 3, f"hot threads: {sorted(after)}")
    for name, used in after.items():
        share = (used - before[name]) / seconds
        expect(share < 0.1, f"{name} takes {share:.1%} of a processor and has nothing to do")


def cpus_of_threads(process):
    """The processors that each thread may use, by the thread's name."""
    found = {}
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        try:
            name, status = (task / "comm").read_text().strip(), (task / "status").read_text()
        except OSError:
            continue  # the thread has ended meanwhile
        found[name] = re.search(r"Cpus_allowed_list:\s*(\S+)", status).group(1)
    return found


def keeps_off_the_hot_processors(pinstrike, folder):
    """All threads except the hot ones are on control_cpu. The hot ones have no cpu, so they may use any."""
    own = re.search(r"Cpus_allowed_list:\s*(\S+)", Path("/proc/self/status").read_text()).group(1)
    control = max(os.sched_getaffinity(0))
    config = folder / "placed.yaml"
    config.write_text(IDLE + f"control_cpu: {control}\nmetrics_address: 127.0.0.1:{free_port()}\n")
    process = start(pinstrike, "run", config)
    await_pollers(process)

    def wanted(placed):
        return {name: own if name.startswith(("poll", "core")) else str(control) for name in placed}

    deadline = time.monotonic() + DEADLINE_S
    while (placed := cpus_of_threads(process)) != wanted(placed) or len(placed) < 5:
        expect(time.monotonic() < deadline,
               f"placed {placed}, expected {wanted(placed)} and a thread of the metrics endpoint")
        time.sleep(0.05)
    process.terminate()
    ended(process, 0, "a run with a control_cpu")


def refuses(pinstrike, folder):
    config = folder / "wrong.yaml"
    config.write_text(LOADED.replace("lines: 1-4", "lines: 1-4\nlinse: 5")
                      .replace("series_capacity: 40000", "series_capacity: many"))
    errors = ended(start(pinstrike, "run", config), 78, "a wrong config")
    for place in ("wrong.yaml:3:", "wrong.yaml:11:", "did you mean"):
        expect(place in errors, f"a wrong config: {place} not reported: {errors}")
    config.write_text(LOADED.replace("wait: park}\ncores", "cpu: 4000}\ncores"))
    errors = ended(start(pinstrike, "run", config), 78, "a cpu that is not there")
    expect("4000" in errors, f"a cpu that is not there is not reported: {errors}")
    for name, content in (("absent.pcap", None), ("text.pcap", b"this is no capture, is it?")):
        if content is not None:
            (folder / name).write_bytes(content)
        errors = ended(start(pinstrike, "replay", folder / name), 1, name)
        expect(name in errors, f"{name} is not reported: {errors}")
    ended(start(pinstrike, "replay", folder / "a.pcap", "--pace", "quickly"), 2, "a wrong pace")
    ended(start(pinstrike, "run"), 2, "no config")


def tells_rings_that_cannot_be_mapped(pinstrike, folder):
    """If the host refuses memory, the program ends as for a config that does not fit, not by an abort."""
    config = folder / "large.yaml"
    config.write_text(LOADED + "ring_slots: 1048576\n")  # 64 MiB

    def limit():
        """A limit on the size of files; the memory of a ring is a file."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 20, 32 << 20))

    errors = ended(start(pinstrike, "run", config, preexec_fn=limit), 78, "rings beyond the limit")
    expect("memory of a ring: File too large" in errors, f"rings beyond the limit are not reported: {errors}")


def replay_is_stopped_by_a_signal(pinstrike, folder):
    """A replay at real pace that would last for minutes."""
    capture, account = folder / "long.pcap", folder / "account.json"
    ended(start(pinstrike, "generate", "--messages", "20000", "--rate", "100", "--lines", "1",
                "--series", "500", "--roots", "10", "--out", capture), 0, "generate")
    process = start(pinstrike, "replay", capture, "--pace", "real", "--account", account)
    await_pollers(process)
    time.sleep(1)
    process.terminate()
    errors = ended(process, 1, "SIGTERM in a replay")
    expect("not read to their end: SIGTERM after" in errors,
           f"a replay cut short is not reported: {errors}")
    expect(json.loads(account.read_text())["balanced"], "a replay cut short does not balance")


def main():
    pinstrike = sys.argv[1]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup, SIGHUP is ignored
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stopped_by(pinstrike, folder, signal.SIGTERM)
        stopped_by(pinstrike, folder, signal.SIGINT)
        ends_with_its_terminal(pinstrike, folder)
        ends_cleanly_when_asked_twice(pinstrike, folder)
        tells_of_a_full_book(pinstrike, folder)
        lasts(pinstrike, folder)
        idles(pinstrike, folder)
        keeps_off_the_hot_processors(pinstrike, folder)
        refuses(pinstrike, folder)
        tells_rings_that_cannot_be_mapped(pinstrike, folder)
        replay_is_stopped_by_a_signal(pinstrike, folder)


main()
