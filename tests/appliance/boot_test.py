#!/usr/bin/env python3
"""The packages on a booted Debian 12: installed, run, read, served on the network, compiled with, reloaded, stalled,
drained, misconfigured, upgraded, removed, purged.

    boot_test.py PACKAGE.deb GATEWAY.deb KAFKA.deb BRIDGE.deb LIBRARY.deb...

A container (systemd-nspawn) with a network of its own. Its transcript is the output. Skipped (77) without root or
mmdebstrap and systemd-container.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from container import Container, expect, say, skip_unless_possible

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "commands"))
from gateway_client import KEY  # noqa: E402 pylint: disable=wrong-import-position
from service_test import WAIT_ALL, stop_thread  # noqa: E402 pylint: disable=wrong-import-position

CONFIG = """name: wire
lines: 1-4
ports: [{name: feed, kind: uring, interface: feed1, kernel_buffer: 128KiB, udp_checksum: off}]
pollers: [{name: poller0, wait: park}]
cores: [{name: core0, wait: park}]
book: {series_capacity: 50000}
publish: {memory: shm, stream: on}
metrics_address: 127.0.0.1:9464
"""
UNIT = "pinstrike@wire"
GATEWAY = "pinstrike-gateway@wire"
KAFKA = "pinstrike-kafka@wire"
KAFKA_CONFIG = """feed: wire
brokers: 127.0.0.1:9092
topics: [{schema: mbp-1}]
properties: wire.properties
"""
SERVING, JOINING = "pinstrike-bridge@wire", "pinstrike-bridge-join@far"
BRIDGE_CONFIG = """feed: {feed}
listen: 127.0.0.1:9480
tls: {{certificate: bridge.pem, key: bridge.key, authority: bridge.pem}}
"""
GATEWAY_CONFIG = """feed: wire
address: 127.0.0.1:13000
keys: wire.keys
access_log: /var/lib/pinstrike-gateway/wire.log
metrics_address: 127.0.0.1:9466
"""
# Runs in the network of the container: counts quotes for some seconds, and prints what the session ended with. After a
# reset it connects once more, as the published clients do.
CLIENT = """import sys
sys.path.insert(0, sys.argv[1])
from gateway_client import CMBP_1, ERROR, Client
quotes, resets = [], 0
while resets < 2:
    client, records = Client(13000), []
    client.subscribe("cmbp-1", more="|snapshot=1")
    client.start()
    try:
        for record in client.records(float(sys.argv[2]), until=lambda record: record.type == ERROR):
            records.append(record)
    except ConnectionResetError:
        resets += 1
    quotes.append(sum(record.type == CMBP_1 for record in records))
    if len(quotes) > resets:
        break
print(quotes[-1], "quotes", [one.text for one in records if one.type == ERROR], resets, "resets")
"""
ROOT = "SPY"


def install(box):
    box.run("dpkg -i /root/pinstrike.deb")
    box.run("getent passwd pinstrike; ls -ld /etc/pinstrike /run/pinstrike")
    box.run("ip link add feed0 type veth peer name feed1; ip address add 10.91.0.2/24 dev feed1;"
            "ip address add 10.91.0.1/24 dev feed0; ip link set feed0 up; ip link set feed1 up;"
            "ip link set lo up")
    box.run("systemd-analyze security --no-pager pinstrike@wire.service | tail -1")


def serve(box):
    box.write("/etc/pinstrike/wire.yaml", CONFIG)
    box.run(f"systemctl enable --now {UNIT}")
    expect(box.value(UNIT, "ActiveState") == "active", "it is started once it is ready")
    box.run("pinstrike generate --interface feed0 --lines 1-4 --messages 100000 --rate 50000"
            " --series 20000 --roots 200")
    time.sleep(2)
    status = box.run(f"systemctl --no-pager status {UNIT}")
    delivered = re.search(r'Status: "(.*) M messages/s; (\d) of 4 lines up; since the start (\d+) '
                          r'delivered, (\d+) lost', status)
    expect(delivered and int(delivered[3]) > 90_000 and delivered[4] == "0",
           "systemctl status tells of all that came")
    process = box.value(UNIT, "MainPID")
    rights = box.run(f"grep -E '^(Uid|Cap|NoNewPrivs|Seccomp:)' /proc/{process}/status")
    expect("CapPrm:\t0000000000000000" in rights and not re.search(r"Uid:\t0", rights),
           "it is not root and has no capability")
    expect("call_refused" not in box.ask(f"journalctl -u {UNIT}").stdout, "no call was refused")


def operate(box):
    """`ctl`: views, reloads, captures, valid and not; by root, a member of the group, and a stranger."""
    before = box.value(UNIT, "MainPID")
    box.run("ls -ld /run/pinstrike/wire /run/pinstrike/wire/admin.sock")
    expect("4 of 4 up" in box.run("pinstrike ctl wire status"), "ctl status")
    box.run("useradd --no-create-home --groups pinstrike watcher && useradd --no-create-home guest")
    expect(box.ask("runuser -u watcher -- pinstrike ctl wire lines").returncode == 0,
           "a member of the group may ask")
    expect("only root" in box.ask("runuser -u guest -- pinstrike ctl wire lines 2>&1").stdout,
           "nobody else may")
    box.write("/etc/pinstrike/wire.yaml", CONFIG + "log_level: debug\nsilence: {stream_down_after: 50s}\n")
    box.run(f"systemctl reload {UNIT}")
    expect("log level debug" in box.ask("pinstrike ctl wire status").stdout, "a good config is taken")
    box.write("/etc/pinstrike/wire.yaml", CONFIG.replace("lines: 1-4", "lines: 1-3"))
    refused = box.ask(f"systemctl reload {UNIT}; echo status $?; journalctl --no-pager -o cat -u {UNIT} "
                      "PINSTRIKE_CODE=reload_refused; systemctl is-active " + UNIT).stdout
    expect("status 1" in refused and "lines: needs a restart" in refused and refused.endswith("active\n"),
           "a config that needs a restart is refused, by name, and the feed goes on")
    box.write("/etc/pinstrike/wire.yaml", "lines: 1-500\n")
    expect(box.ask(f"systemctl reload {UNIT}").returncode != 0, "a wrong one as well")
    box.write("/etc/pinstrike/wire.yaml", CONFIG)
    box.run(f"systemctl reload {UNIT}")
    box.run(f"journalctl --no-pager -o cat -u {UNIT} PINSTRIKE_CODE=reloaded")
    box.run("(sleep 2; pinstrike generate --interface feed0 --lines 1-4 --messages 20000 --rate 20000"
            " --series 20000 --roots 200 >/dev/null 2>&1) & pinstrike ctl wire capture 2 20 --out /root/l2.pcapng"
            "; wait; pinstrike decode /root/l2.pcapng | head -3; rm /root/l2.pcapng")
    expect(box.value(UNIT, "MainPID") == before, "all of it in one process")


def read(box):
    """Published memory: read by a member of its group, by nobody else, and written by neither."""
    box.run("ls -ld /dev/shm/pinstrike; ls -lL /dev/shm/pinstrike")
    box.run("useradd --no-create-home --groups pinstrike-data reader")
    shown = box.run(f"runuser -u reader -- pinstrike chain {ROOT} --strikes all --expiration all | head -5")
    expect("feed wire: live" in shown, "a member of pinstrike-data reads")
    for user in ("watcher", "guest"):
        for arguments in (ROOT, f"{ROOT} --feed wire"):
            done = box.ask(f"runuser -u {user} -- pinstrike chain {arguments} 2>&1")
            say(f"# runuser -u {user} -- pinstrike chain {arguments}\n{done.stdout.rstrip()}")
            expect(done.returncode == 1 and "not in the group that may read published memory" in done.stdout,
                   f"{user} does not, and learns why")
    for user in ("reader", "watcher", "guest"):
        for change in ("dd if=/dev/zero of=/dev/shm/pinstrike/wire bs=8 count=1 conv=notrunc",
                       "rm /dev/shm/pinstrike/wire", "touch /dev/shm/pinstrike/other"):
            expect(box.ask(f"runuser -u {user} -- {change} 2>&1").returncode != 0, f"{user}: {change}")


def start_client(box, seconds):
    commands = Path(__file__).resolve().parents[1] / "commands"
    return subprocess.Popen(["nsenter", "-t", box.leader, "-n", "--", sys.executable, "-B", "-c", CLIENT, commands,
                             str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def served(client):
    """(quotes, text) of a client that has ended."""
    said = client.communicate(timeout=120)[0]
    say(said.rstrip())
    count = re.match(r"(\d+) quotes", said)
    return int(count[1]) if count else -1, said


def install_gateway(box, package):
    shutil.copy(package, box.root / "root" / "pinstrike-gateway.deb")
    box.run("dpkg -i /root/pinstrike-gateway.deb && rm /root/pinstrike-gateway.deb")
    exposure = box.run(f"systemd-analyze security --no-pager {GATEWAY}.service | tail -1")
    expect(float(re.search(r"(\d+\.\d+)", exposure)[1]) <= 3.0, "the exposure of its unit is at most 3.0")
    box.write("/etc/pinstrike-gateway/wire.yaml", GATEWAY_CONFIG)
    box.write("/root/my.keys", f"keys: [{{user: trial, key: {KEY}}}]\n")
    box.run("install -o pinstrike-gateway -m 600 /root/my.keys /etc/pinstrike-gateway/wire.keys")
    box.run(f"systemctl enable --now {GATEWAY}")
    box.run(f"systemctl --no-pager status {GATEWAY}")
    rights = box.run(f"grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/{box.value(GATEWAY, 'MainPID')}/status; "
                     "id pinstrike-gateway")
    expect("CapPrm:\t0000000000000000" in rights and "Seccomp:\t2" in rights, "it has no capability, and a filter")
    for change in ("touch /dev/shm/pinstrike/other", "pinstrike ctl wire status"):
        expect(box.ask(f"runuser -u pinstrike-gateway -- {change} 2>&1").returncode != 0,
               f"its user may not: {change}")


def figures_of_feed(box):
    return json.loads(box.ask("pinstrike ctl wire status --json").stdout)["status"]


def serve_clients(box, package):
    """The gateway's unit: clients, keys, a kill under load, an end for good, a wrong config."""
    install_gateway(box, package)
    feed = box.value(UNIT, "MainPID")
    quotes, said = served(start_client(box, 3))
    expect(quotes > 1000 and "[]" in said, "a client gets the state of all series")
    box.run("echo 'keys: []' >/etc/pinstrike-gateway/wire.keys")
    box.run(f"systemctl reload {GATEWAY}")
    box.wait("wrong keys are refused, and reported", lambda: "reload_refused" in box.ask(
        f"journalctl --no-pager -u {GATEWAY} -o cat").stdout)
    box.run("install -o pinstrike-gateway -m 600 /root/my.keys /etc/pinstrike-gateway/wire.keys; rm /root/my.keys")
    box.run(f"systemctl reload {GATEWAY}")
    before = figures_of_feed(box)
    box.ask("pinstrike generate --interface feed0 --lines 1-4 --messages 200000 --rate 20000 --series 20000"
            " --roots 200 >/root/generated 2>&1 &")
    client = start_client(box, 60)
    time.sleep(2)
    box.run(f"systemctl kill -s KILL {GATEWAY}")
    box.wait("systemd starts it again", lambda: box.value(GATEWAY, "NRestarts") == "1" and
             box.value(GATEWAY, "ActiveState") == "active")
    time.sleep(4)
    box.run(f"systemctl restart {GATEWAY}")
    quotes, said = served(client)
    expect(quotes > 1000 and "1 resets" in said, "a client of the killed gateway connects again and gets quotes")
    expect("connect again" in said, "a restart makes clients connect again")
    box.wait("the traffic ends", lambda: "packets sent" in box.ask("cat /root/generated").stdout)
    sent = int(re.search(r"(\d+) packets sent", box.run("cat /root/generated"))[1])
    box.wait("the feed receives all of it", lambda: figures_of_feed(box)["packets"] - before["packets"] >= sent)
    after = figures_of_feed(box)
    say(f"before the kill: {before}\nafter it: {after}")
    expect(all(after[name] == before[name] for name in ("lost", "gaps", "refused", "missed")),
           "the feed lost nothing and refused nothing while its gateway was killed")
    client = start_client(box, 60)
    time.sleep(2)
    box.run(f"systemctl kill -s INT {GATEWAY}")
    expect("[]" in served(client)[1], "an end for good has no error record")
    box.wait("and it stays ended", lambda: box.value(GATEWAY, "ActiveState") == "inactive")
    box.run(f"journalctl -u {GATEWAY} --no-pager -o cat PINSTRIKE_CODE=session_ended")
    month = time.strftime("%Y-%m", time.gmtime())
    usage = box.run(f"pinstrike gateway usage --month {month} /var/lib/pinstrike-gateway/wire.log")
    expect("trial" in usage and "cmbp-1" in usage, "the access log has its sessions")
    expect(box.value(UNIT, "MainPID") == feed, "the feed runs on in one process")
    refuse(box, "bad", "feed: wire\n", "a config without keys", kind="pinstrike-gateway")
    box.run("dpkg --purge pinstrike-gateway", 300)


def send(box, messages):
    """Traffic of the same day as before. Only numbers above those that were sent before are new to the feed."""
    box.run(f"pinstrike generate --interface feed0 --lines 1-4 --messages {messages} --rate 50000 --series 20000 "
            "--roots 200")


def write_to_kafka(box, package):
    """The Kafka producer's unit: its rights, records to the brokers that librdkafka mocks, an end, a wrong config."""
    shutil.copy(package, box.root / "root" / "pinstrike-kafka.deb")
    box.run("dpkg -i /root/pinstrike-kafka.deb && rm /root/pinstrike-kafka.deb")
    exposure = box.run(f"systemd-analyze security --no-pager {KAFKA}.service | tail -1")
    expect(float(re.search(r"(\d+\.\d+)", exposure)[1]) <= 3.0, "the exposure of its unit is at most 3.0")
    box.write("/etc/pinstrike-kafka/wire.yaml", KAFKA_CONFIG)
    box.write("/root/my.properties", "test.mock.num.brokers=1\n")
    box.run("install -o pinstrike-kafka -m 600 /root/my.properties /etc/pinstrike-kafka/wire.properties; "
            "rm /root/my.properties")
    box.run(f"systemctl enable --now {KAFKA}")
    rights = box.run(f"grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/{box.value(KAFKA, 'MainPID')}/status; "
                     "id pinstrike-kafka")
    expect("CapPrm:\t0000000000000000" in rights and "Seccomp:\t2" in rights, "it has no capability, and a filter")
    for change in ("touch /dev/shm/pinstrike/other", "pinstrike ctl wire status"):
        expect(box.ask(f"runuser -u pinstrike-kafka -- {change} 2>&1").returncode != 0, f"its user may not: {change}")
    send(box, 400_000)
    time.sleep(2)
    box.run(f"systemctl --no-pager status {KAFKA}; systemctl stop {KAFKA}")
    said = box.run(f"journalctl --no-pager -o cat -u {KAFKA} | tail -5")
    made = re.search(r"([\d,]+) records made = ([\d,]+) acknowledged \+ 0 failed \+ 0 uncertain \+ 0 dropped", said)
    expect(made and made[1] == made[2] and len(made[1]) > 5, "thousands of records are acknowledged")
    expect("the account balances" in said, "its account balances")
    refuse(box, "bad", "feed: wire\nbrokers: 127.0.0.1:9092\n", "a config without topics", kind="pinstrike-kafka")
    box.run("dpkg --purge pinstrike-kafka", 300)


def install_bridge(box, package, folder):
    """The package, a certificate for both sides, and a config for each."""
    shutil.copy(package, box.root / "root" / "pinstrike-bridge.deb")
    box.run("dpkg -i /root/pinstrike-bridge.deb && rm /root/pinstrike-bridge.deb")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=bridge", "-keyout", folder / "bridge.key", "-out",
                    folder / "bridge.pem"], check=True, capture_output=True)
    box.write("/etc/pinstrike-bridge/bridge.pem", (folder / "bridge.pem").read_text())
    box.write("/root/bridge.key", (folder / "bridge.key").read_text())
    box.run("install -o pinstrike-bridge -m 600 /root/bridge.key /etc/pinstrike-bridge; rm /root/bridge.key")
    for feed in ("wire", "far"):
        box.write(f"/etc/pinstrike-bridge/{feed}.yaml", BRIDGE_CONFIG.format(feed=feed))
    box.write("/etc/pinstrike-bridge/far.address", "SERVES=127.0.0.1:9480\n")


def carry(box, package):
    """The units of a bridge, both on this host: rights, the same values on both sides, a kill, an end, a wrong
    config."""
    with tempfile.TemporaryDirectory() as folder:
        install_bridge(box, package, Path(folder))
    for unit in (SERVING, JOINING):
        exposure = box.run(f"systemd-analyze security --no-pager {unit}.service | tail -1")
        expect(float(re.search(r"(\d+\.\d+)", exposure)[1]) <= 3.0, f"the exposure of {unit} is at most 3.0")
        box.run(f"systemctl enable --now {unit}")
        rights = box.run(f"grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/{box.value(unit, 'MainPID')}/status")
        expect("CapPrm:\t0000000000000000" in rights and "Seccomp:\t2" in rights, "it has no capability, and a filter")
    expect(box.ask("runuser -u pinstrike-bridge -- touch /dev/shm/pinstrike/other 2>&1").returncode != 0,
           "its user may not write where feeds publish")

    def chain(feed):
        done = box.ask(f"runuser -u reader -- pinstrike chain {ROOT} --feed {feed} --json 2>&1")
        return done.stdout if done.returncode == 0 else None

    def is_equal():
        carried = chain("far")
        return carried is not None and len(carried) > 1000 and carried == chain("wire")

    box.wait("a reader finds the same values on both sides", is_equal)
    box.run(f"systemctl kill -s KILL {SERVING}")
    box.wait("systemd starts the serving side again", lambda: box.value(SERVING, "NRestarts") == "1" and
             box.value(SERVING, "ActiveState") == "active")
    send(box, 500_000)
    box.wait("and the values are the same again", is_equal)
    for unit in (JOINING, SERVING):
        box.run(f"systemctl stop {unit}")
        said = box.run(f"journalctl --no-pager -o cat -u {unit} | tail -5")
        expect("the account balances" in said, f"the account of {unit} balances")
    expect(chain("far") is None, "the memory of the joining side is removed")
    refuse(box, "bad", "feed: wire\n", "a config without certificates", kind="pinstrike-bridge")
    box.run("dpkg --purge pinstrike-bridge", 300)


def compile_reader(box, libraries):
    """The development package: the examples compile, the one in C also with the static library."""
    for library in libraries:
        shutil.copy(library, box.root / "root")
    box.run("dpkg -i /root/libpinstrike*.deb && rm /root/libpinstrike*.deb")
    flags = "-Wall -Wextra -Werror $(pkg-config --cflags --libs pinstrike)"
    box.run("mkdir /opt/examples && cd /usr/share/doc/libpinstrike-dev/examples && "
            f"gcc -std=c11 example.c -o /opt/examples/shared {flags} && "
            "gcc -std=c11 example.c -o /opt/examples/static -l:libpinstrike.a -lstdc++ && "
            f"g++ -std=c++20 example.cpp -o /opt/examples/wrapper {flags} && ldd /opt/examples/shared")
    for program in ("shared", "static", "wrapper"):
        shown = box.ask(f"runuser -u reader -- timeout 20 /opt/examples/{program} wire {ROOT} | head -3").stdout
        say(shown)
        expect(shown.startswith(f"{ROOT} 20"), f"the example reads ({program})")
    refused = box.ask(f"runuser -u guest -- /opt/examples/shared wire {ROOT} 2>&1")
    expect(refused.returncode == 1 and "not in the group" in refused.stdout, "and is refused a guest")
    box.run("rm -r /opt/examples; dpkg --purge libpinstrike-dev libpinstrike1")


def reattach(box):
    """A reader that runs while the service is restarted attaches to the new start by itself."""
    box.ask(f"runuser -u reader -- pinstrike chain {ROOT} --watch 0.2 >/tmp/watched 2>&1 & echo $! >/tmp/watch.pid")

    def seen(words):
        return words in box.ask("tail -c 20000 /tmp/watched").stdout

    box.wait("a reader watches the feed", lambda: seen("feed wire: live"))
    expect("the account" not in box.ask(f"journalctl --no-pager -o cat -u {UNIT}").stdout, "it has run until now")
    box.run(f"systemctl stop {UNIT}")
    expect("the account balances" in box.ask(f"journalctl --no-pager -o cat -u {UNIT}").stdout,
           "the account of the feed whose gateway was killed balances")
    box.wait("it shows that the feed ended, with the last values",
             lambda: seen("feed wire: ended, values are old"))
    box.ask(": >/tmp/watched")
    box.run(f"systemctl start {UNIT}")
    box.wait("and attaches to the next start", lambda: seen("wire lists no such series"))
    box.ask("pinstrike generate --interface feed0 --lines 1-4 --messages 20000 --rate 20000 --series 20000 --roots 200")
    box.wait("whose values it shows", lambda: seen("feed wire: live"))
    box.run("kill $(cat /tmp/watch.pid); rm /tmp/watched /tmp/watch.pid")


def stall(box):
    before = box.value(UNIT, "MainPID")
    seen = [path.name for path in Path("/proc").iterdir() if path.name.isdigit() and
            inner_number(path) == before]
    expect(len(seen) == 1, "its process is seen from outside")
    thread = stop_thread(int(seen[0]), "core0")
    say("thread core0 stands")
    # A killed thread disappears only when its tracer has seen its end.
    box.wait("the watchdog ends it", lambda: os.waitpid(thread, WAIT_ALL | os.WNOHANG)[0] == thread)
    box.wait("and systemd starts it again", lambda: box.value(UNIT, "NRestarts") == "1" and
             box.value(UNIT, "ActiveState") == "active")
    journal = box.run(f"journalctl --no-pager -u {UNIT} -o cat | tail -40")
    expect("thread_stalled core core0" in journal, "the journal names the thread")
    expect("Watchdog timeout" in box.ask("journalctl --no-pager").stdout, "and the watchdog")


def kill_while_it_records(box):
    """After kill -9 the books of a feed without a peer are back within 5 s, from its recording."""
    unit = "pinstrike@again"
    box.write("/etc/pinstrike/again.yaml", CONFIG[:CONFIG.index("publish")].replace("wire", "again") +
              "record: {snapshot_interval: 1s, free: 0B}\n")
    box.run(f"systemctl start {unit}")
    box.ask("pinstrike generate --interface feed0 --lines 1-4 --messages 300000 --rate 20000 --series 20000"
            " --roots 200 >/dev/null 2>&1 &")
    time.sleep(7)
    box.run(f"systemctl kill -s KILL {unit}")
    rows = f"journalctl --no-pager -o cat -u {unit} PINSTRIKE_CODE=state_recovered | grep 'states of'"
    box.wait("it starts again and takes its recorded state", lambda: box.ask(rows).returncode == 0)
    taken = re.search(r"states of (\d+) series taken in ([\d.]+) s", box.run(rows))
    expect(int(taken[1]) > 1000 and float(taken[2]) < 5, "within 5 s")
    expect("call_refused" not in box.ask(f"journalctl -u {unit}").stdout, "no call was refused")
    box.run(f"systemctl stop {unit}; rm -r /etc/pinstrike/again.yaml /var/lib/pinstrike/again")


def inner_number(path):
    """The number of a process in its innermost namespace, if the process is pinstrike."""
    try:
        if (path / "comm").read_text().strip() != "pinstrike":
            return None
        return re.search(r"NSpid:.*\s(\d+)$", (path / "status").read_text(), re.MULTILINE)[1]
    except OSError:
        return None


def retry(box, name, text, why):
    """What may come later, such as an interface, is tried again."""
    unit = f"pinstrike@{name}"
    box.write(f"/etc/pinstrike/{name}.yaml", text)
    box.ask(f"systemctl start {unit}")
    box.wait(f"{why}: tried again", lambda: int(box.value(unit, "NRestarts") or 0) >= 1)
    expect(box.value(unit, "ExecMainStatus") in ("0", "1"), f"{why}: ended with 1")
    box.run(f"journalctl --no-pager -u {unit} -o cat | grep 'interface nowhere9: No such device'")
    box.ask(f"systemctl stop {unit}; rm -f /etc/pinstrike/{name}.yaml; systemctl reset-failed {unit}")


def refuse(box, name, text, why, kind="pinstrike"):
    unit = f"{kind}@{name}"
    if text is not None:
        box.write(f"/etc/{kind}/{name}.yaml", text)
    box.ask(f"systemctl start {unit}")
    time.sleep(5)
    box.ask(f"systemctl --no-pager status {unit}")
    state = [box.value(unit, key) for key in ("ActiveState", "ExecMainStatus", "NRestarts")]
    expect(state == ["failed", "78", "0"], f"{why}: failed with 78, no restart ({state})")
    box.run(f"journalctl --no-pager -u {unit} -o cat | grep -v -E 'Starting|Started'")
    box.ask(f"rm -f /etc/{kind}/{name}.yaml; systemctl reset-failed {unit}")


def compare_with_start_pre(box):
    """Shows why the unit has no ExecStartPre: with it, systemd starts a bad config again and again."""
    box.write("/etc/pinstrike/bad.yaml", "lines: 1-500\n")
    box.ask("mkdir -p /run/systemd/system/pinstrike@bad.service.d")
    box.write_inside("/run/systemd/system/pinstrike@bad.service.d/pre.conf",
                     "[Service]\nExecStartPre=/usr/bin/pinstrike check /etc/pinstrike/%i.yaml\n")
    box.ask("systemctl daemon-reload; systemctl start pinstrike@bad")
    time.sleep(5)
    again = int(box.value("pinstrike@bad", "NRestarts"))
    expect(again >= 1, f"with an ExecStartPre the same config was started {again} times more in 5 s")
    box.ask("systemctl stop pinstrike@bad; rm -r /run/systemd/system/pinstrike@bad.service.d "
            "/etc/pinstrike/bad.yaml; systemctl daemon-reload; systemctl reset-failed pinstrike@bad")


def drain(box):
    """A requested end is not a failure, so systemd does not start the unit again."""
    box.run("pinstrike ctl wire drain")
    box.wait("it ends", lambda: box.value(UNIT, "ActiveState") == "inactive")
    time.sleep(3)
    expect([box.value(UNIT, key) for key in ("ActiveState", "ExecMainStatus")] == ["inactive", "0"],
           "and stays so")
    expect("the account balances" in box.ask(f"journalctl --no-pager -o cat -u {UNIT}").stdout,
           "its account balances")
    box.run(f"systemctl start {UNIT}")


def upgrade(box):
    before = box.value(UNIT, "MainPID")
    box.run("dpkg -i /root/pinstrike.deb")
    expect(box.value(UNIT, "MainPID") == before, "an upgrade leaves the feed running")
    expect(box.ask("cat /etc/pinstrike/wire.yaml").stdout == CONFIG, "and its config")


def remove(box):
    box.run("dpkg --remove pinstrike", 300)
    expect(box.ask("pgrep -x pinstrike").returncode == 1, "removal ends the feed")
    expect(box.ask("cat /etc/pinstrike/wire.yaml").stdout == CONFIG, "and leaves the config")
    box.run("dpkg --purge pinstrike", 300)
    left = box.left_over()
    expect(left == "", f"a purge leaves nothing {left}")
    expect(box.ask("systemctl list-unit-files 'pinstrike*' --no-legend").stdout == "",
           "nor a unit")
    say("(the user stays, as Debian's system users do)")


def main():
    skip_unless_possible()
    os.environ.pop("NOTIFY_SOCKET", None)
    with Container(Path(sys.argv[1]).resolve(), ["g++", "pkg-config"]) as box:
        install(box)
        serve(box)
        operate(box)
        read(box)
        serve_clients(box, sys.argv[2])
        write_to_kafka(box, sys.argv[3])
        carry(box, sys.argv[4])
        compile_reader(box, sys.argv[5:])
        reattach(box)
        stall(box)
        kill_while_it_records(box)
        refuse(box, "bad", "lines: 1-500\n", "a bad config")
        retry(box, "host", CONFIG.replace("feed1", "nowhere9").replace("9464", "9465"),
              "a host without the interface")
        refuse(box, "pages", CONFIG.replace("9464", "9465").replace(
            "kind: uring, interface: feed1, kernel_buffer: 128KiB",
            "kind: dpdk, vdev: net_null0, membership: static, descriptors_count: 32768"),
            "a host without hugepages")
        refuse(box, "absent", None, "no config")
        compare_with_start_pre(box)
        drain(box)
        upgrade(box)
        remove(box)
    say("all held")


if __name__ == "__main__":
    main()
