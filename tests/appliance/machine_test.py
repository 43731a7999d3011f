#!/usr/bin/env python3
"""The package on a booted machine with two NICs: installed as deploy/RUNBOOK.md says, OPRA from both NICs by
vfio-pci and DPDK's driver, a cable pulled and plugged in again, stopped, rebooted, upgraded; a second feed by AF_XDP;
removed and purged.

    machine_test.py PACKAGE.deb

The machine is qemu's, which emulates every instruction, with an IOMMU and two Intel 82574 (e1000e). The switch is a
Linux bridge that forwards to each NIC only the groups that it joined, so a stream arrives only if the NIC requested it
by IGMP. Takes some ten minutes; the output is a transcript. Skipped (77) without root or its tools.

The test cannot show: speed, latency and losses under load (only 400 messages a second are sent); NICs with more than
one queue, so it uses one poller where the example has two; flow rules and receive stamps (the 82574 has none); NUMA;
isolated processors; the watchdog's ten seconds (an emulated processor may be stopped for longer when its host is busy,
see the drop-in below); session hours (the test runs at any time, with `hours: any`).
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

from container import expect, say, skip_unless_possible
from machine import NEEDED, NICS, SLOW, Machine

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "live"))
import live  # noqa: E402 pylint: disable=wrong-import-position

UNIT = "pinstrike@opra"
CONFIG = "/etc/pinstrike/opra.yaml"
ACCOUNT = "/var/lib/pinstrike/account.json"
PATIENCE = """# An emulated machine stands still for longer than a real one may.
[Service]
WatchdogSec=600
TimeoutStartSec=900
TimeoutStopSec=300
"""
DROP_IN = f"""{PATIENCE}# The account as JSON is for the test.
ExecStart=
ExecStart=/usr/bin/pinstrike run /etc/pinstrike/%i.yaml --account {ACCOUNT}
"""
# Two and a half minutes, at a rate that an emulated machine on a busy host can carry.
TRAFFIC = ["--lines", "1-96,201-204", "--shape", "ordinary", "--series", "20000", "--roots", "200",
           "--messages", "60000", "--rate", "400"]

XDP_UNIT = "pinstrike@xdp"
XDP = """name: xdp
kind: opra
lines: 1-4
ports: [{name: feed, kind: dpdk, vdev: "net_af_xdp0,iface=feed1", hugepages: false, source_address: 10.93.0.2,
         udp_checksum: software}]
pollers: [{name: poller0, wait: park}]
cores: [{name: core0, wait: park}]
book: {series_capacity: 5000}
metrics_address: 127.0.0.1:9465
"""
NET_ADMIN = "0000000000001000"


def edited(text):
    """The example, edited for these NICs, with one queue each, and three processors."""
    text = text.replace("0000:3b:00.0", NICS["nic_a"][0]).replace("0000:5e:00.0", NICS["nic_b"][0])
    before, rest = text.split("pollers:\n")
    after = rest[rest.index("# When data is expected"):]
    threads = ("pollers:\n  - {name: poller0, cpu: 1, wait: park}\n\n"
               "cores:\n  - {name: core0, cpu: 2, wait: park}\n\n")
    for old, new in (("hours: session", "hours: any"), ("control_cpu: 1", "control_cpu: 0"),
                     ("series_capacity: 2200000", "series_capacity: 200000")):
        expect(old in after, f"the example says `{old}`")
        after = after.replace(old, new)
    return before + threads + after


def install(host):
    host.run("uname -r; cat /proc/cmdline; lspci -D | grep Ethernet; ls /sys/class/iommu")
    host.run("apt-get install -y --no-install-recommends -o Dpkg::Use-Pty=0 -o Dpkg::Progress-Fancy=0"
             " /root/pinstrike.deb driverctl 2>&1 | grep -E '^(Setting up|Creating)'")
    host.run(f"cp /usr/share/doc/pinstrike/examples/opra.yaml {CONFIG}")
    host.write(CONFIG, edited(host.ask(f"cat {CONFIG}").stdout))
    host.write(f"/etc/systemd/system/{UNIT}.service.d/slow.conf", DROP_IN)
    host.run("systemctl daemon-reload")
    host.run(f"pinstrike check --config-only {CONFIG} >/dev/null")


def prepare(host):
    found = host.ask(f"pinstrike doctor {CONFIG}")
    expect(found.returncode == 1 and re.search(r"error +hugepages", found.stdout) and
           re.search(r"error .*nic_a", found.stdout), "doctor names what is missing: hugepages, the NICs' driver")
    host.run(f"/usr/lib/pinstrike/nics bind {CONFIG}")
    host.run("systemctl start pinstrike-hugepages; journalctl --no-pager -o cat -u pinstrike-hugepages")
    host.run("ls -l /dev/vfio; grep HugePages_ /proc/meminfo")
    found = host.ask(f"pinstrike doctor {CONFIG}").stdout
    say(found)
    expect(re.search(r"ok +binding of nic_a .*vfio-pci", found) and re.search(r"ok +binding of nic_b .*vfio-pci", found)
           and re.search(r"ok +hugepages", found) and re.search(r"ok +IOMMU", found),
           "doctor has no more to say of NICs, hugepages and IOMMU")
    expect(not re.search(r"^error", found, re.MULTILINE), "nor any error at all")


def groups_of_lines(host):
    """The groups that each NIC should join by the config: {nic: groups}."""
    printed = host.ask(f"pinstrike check --config-only {CONFIG}").stdout
    rows = re.findall(r"\{number: \d+, a: ([\d.]+):\d+, b: ([\d.]+):\d+", printed)
    expect(len(rows) == 101, "the config has 101 lines")
    return {"nic_a": {a for a, _ in rows}, "nic_b": {b for _, b in rows}}


def listen(host):
    return {nic: live.IgmpListener(SimpleNamespace(sender=host.switch.space, outlet=nic),
                                   bytes.fromhex(mac.replace(":", "")))
            for nic, (_, mac) in NICS.items()}


def start(host, ears, groups):
    host.run(f"systemctl enable --now {UNIT}", 3 * SLOW)
    expect(host.value(UNIT, "ActiveState") == "active", "the service is started")
    process = host.value(UNIT, "MainPID")
    rights = host.run(f"grep -E '^(Uid|CapPrm|CapBnd|NoNewPrivs)' /proc/{process}/status;"
                      f" ls -l /proc/{process}/fd | grep -o '/dev/vfio.*'")
    expect("CapPrm:\t0000000000000000" in rights and "CapBnd:\t0000000000000000" in rights and
           not re.search(r"Uid:\t0", rights), "it is not root and has no capability")
    expect(len(re.findall(r"/dev/vfio/\d+", rights)) >= 2, "it holds both NICs' VFIO groups")
    journal = host.run(f"journalctl --no-pager -o cat -u {UNIT}")
    expect(journal.count("Probe PCI driver: net_e1000_em") == 2, "by DPDK's PCI driver")
    for nic, ear in ears.items():
        host.wait(f"{nic} joins all its {len(groups[nic])} groups, seen on its wire",
                  lambda nic=nic, ear=ear: groups[nic] <= ear.groups, SLOW)
        expect(not any(ear.groups & groups[other] for other in NICS if other != nic),
               f"{nic} joins none of the other stream's")
        host.wait(f"and the switch has them for {nic}",
                  lambda nic=nic: groups[nic] <= host.switch.members(nic), SLOW)
    ask_again(host, ears, groups)


def ask_again(host, ears, groups):
    """The switch's general query, every 10 s."""
    for ear in ears.values():
        ear.groups.clear()
    for nic, ear in ears.items():
        host.wait(f"{nic} answers the switch's query with all groups",
                  lambda nic=nic, ear=ear: groups[nic] <= ear.groups, SLOW)


def figure(host, name, nic):
    printed = host.ask("curl -sS --max-time 60 http://127.0.0.1:9464/metrics").stdout
    found = re.search(rf'^pinstrike_{name}{{[^}}]*port="{nic}"[^}}]*}} (\d+)', printed, re.MULTILINE)
    return int(found[1]) if found else None


def carry(host, ears, groups, folder):
    """Both streams; meanwhile the cable of NIC A is pulled and plugged in again."""
    words = ["generate", "--interface", "source", *TRAFFIC, "--truth", folder / "truth"]
    say(f"(on the switch) pinstrike {' '.join(map(str, words))}")
    with subprocess.Popen(host.switch.inside(folder / "usr/bin/pinstrike", *words)) as generator:
        try:
            for nic in NICS:
                host.wait(f"{nic} hands packets to lines",
                          lambda nic=nic: figure(host, "port_handed_packets_total", nic) > 500, SLOW)
            changes = figure(host, "port_link_changes_total", "nic_a")
            pull(host, changes)
            ears["nic_a"].groups.clear()
            plug_in(host, ears["nic_a"], groups["nic_a"], changes)
            expect(generator.poll() is None, "all that within the traffic")
            expect(generator.wait(2 * SLOW) == 0, "the generator has sent all")
        finally:
            if generator.poll() is None:
                generator.kill()


def pull(host, changes):
    host.pull_cable("nic_a")
    host.wait("the metrics show nic_a's link down", lambda: figure(host, "port_link_up", "nic_a") == 0, SLOW)
    host.wait("counted once", lambda: figure(host, "port_link_changes_total", "nic_a") == changes + 1, SLOW)
    expect(figure(host, "port_link_up", "nic_b") == 1, "nic_b's link is up")
    expect(not host.switch.members("nic_a"), "the switch has forgotten what nic_a had joined")
    packets = [figure(host, "port_handed_packets_total", nic) for nic in NICS]
    host.wait("nic_b goes on", lambda: figure(host, "port_handed_packets_total", "nic_b") > packets[1] + 500, SLOW)
    expect(figure(host, "port_handed_packets_total", "nic_a") == packets[0], "nic_a is silent")


def plug_in(host, ear, groups, changes):
    silent_at = figure(host, "port_handed_packets_total", "nic_a")
    host.plug_in("nic_a")
    host.wait("the metrics show nic_a's link up", lambda: figure(host, "port_link_up", "nic_a") == 1, SLOW)
    host.wait("nic_a joins all groups again, seen on its wire", lambda: groups <= ear.groups, SLOW)
    host.wait("counted once", lambda: figure(host, "port_link_changes_total", "nic_a") == changes + 2, SLOW)
    host.wait("nic_a brings packets again",
              lambda: figure(host, "port_handed_packets_total", "nic_a") > silent_at + 200, SLOW)


def stop(host, ears, groups, folder):
    truth = json.loads((folder / "truth.account.json").read_text())
    sent = sum(line["delivered"] for line in truth["lines"])
    host.wait(f"all {sent} messages are delivered", lambda: f"since the start {sent} delivered, 0 lost, 0 refused"
              in host.value(UNIT, "StatusText"), SLOW)
    passed = {nic: figure(host, "port_handed_packets_total", nic) for nic in NICS}
    say(f"  packets passed to lines: {passed}")
    expect(passed["nic_a"] < passed["nic_b"], "stream B carried alone for a while")
    for nic in NICS:
        expect(figure(host, "device_missed_packets_total", nic) == 0, f"{nic} missed none")
    host.run(f"systemctl stop {UNIT}")
    expect(host.value(UNIT, "Result") == "success", "the service ends well")
    journal = host.run(f"journalctl --no-pager -o cat -u {UNIT} | "
                       "grep -v -E 'stream_back|line_back|line_down|streams?_'")
    expect("the account balances" in journal, "its account balances")
    live.compare_account(json.loads(host.ask(f"cat {ACCOUNT}").stdout), truth)
    say("  ok: line by line its account is the generator's")
    # Not thread_stalled: an emulated processor may be stopped for seconds when its host is busy.
    for wrong in ("gap_declared", "call_refused", "device_missed", "link_flapped"):
        expect(wrong not in journal, f"the journal has no {wrong}")
    expect(not re.search("DMAR.*fault|vfio.*error", host.ask("dmesg").stdout, re.IGNORECASE),
           "the IOMMU refused nothing")
    for nic, ear in ears.items():
        host.wait(f"{nic} has left its groups", lambda nic=nic, ear=ear: groups[nic] <= ear.left, SLOW)


def reboot(host, groups):
    host.reboot()
    host.wait("the service is started at boot", lambda: host.value(UNIT, "ActiveState") == "active", 3 * SLOW)
    host.run("driverctl list-overrides; grep HugePages_ /proc/meminfo")
    for nic in NICS:
        host.wait(f"{nic} has its groups again", lambda nic=nic: groups[nic] <= host.switch.members(nic), SLOW)


def held_by(host):
    """The resources of the machine that the feed uses."""
    return [host.value(UNIT, "MainPID"), host.ask("driverctl list-overrides").stdout,
            host.ask("cat /proc/sys/vm/nr_hugepages").stdout, host.ask(f"cat {CONFIG}").stdout]


def upgrade(host):
    before = held_by(host)
    expect(before[1].count("vfio-pci") == len(NICS) and int(before[2]) > 0, "it holds NICs and hugepages")
    host.run("dpkg -i /root/pinstrike.deb", 3 * SLOW)
    expect(held_by(host) == before, "an upgrade leaves the running feed, its NICs, hugepages and config")


def by_af_xdp(host):
    """Another instance, on the kernel's side of a wire within the machine; rights as deploy/README.md links them."""
    host.run(f"systemctl stop {UNIT}")
    host.run("ip link add feed0 type veth peer name feed1 && ip address add 10.93.0.1/24 dev feed0 && "
             "ip address add 10.93.0.2/24 dev feed1 && ip link set feed0 up && ip link set feed1 up")
    host.write("/etc/pinstrike/xdp.yaml", XDP)
    host.write(f"/etc/systemd/system/{XDP_UNIT}.service.d/slow.conf", PATIENCE)
    host.run(f"ln -s /usr/share/pinstrike/rights/af_xdp.conf /etc/systemd/system/{XDP_UNIT}.service.d/;"
             " systemctl daemon-reload")
    host.run(f"systemctl start {XDP_UNIT} || ! journalctl --no-pager -o cat -u {XDP_UNIT}", 3 * SLOW)
    process = host.value(XDP_UNIT, "MainPID")
    rights = host.run(f"grep -E '^(Uid|CapPrm|NoNewPrivs)' /proc/{process}/status; ip link show feed1")
    expect(f"CapPrm:\t{NET_ADMIN}" in rights and not re.search(r"Uid:\t0", rights) and "xdp" in rights,
           "by AF_XDP; it keeps CAP_NET_ADMIN alone")
    host.run("pinstrike generate --interface feed0 --lines 1-4 --messages 10000 --rate 1000 --series 1000"
             " --truth /root/xdp", SLOW)
    truth = json.loads(host.ask("cat /root/xdp.account.json").stdout)
    sent = sum(line["delivered"] for line in truth["lines"])
    host.wait(f"all {sent} messages are delivered", lambda: f"since the start {sent} delivered, 0 lost, 0 refused"
              in host.value(XDP_UNIT, "StatusText"), SLOW)
    host.run(f"systemctl stop {XDP_UNIT}", SLOW)
    journal = host.run(f"journalctl --no-pager -o cat -u {XDP_UNIT}")
    expect("call_refused" not in journal and "the account balances" in journal,
           "no call was refused, and its account balances")
    expect("xdp" not in host.ask("ip link show feed1").stdout, "its program is off the interface")


def remove(host):
    host.run("DEBIAN_FRONTEND=noninteractive apt-get remove -y -o Dpkg::Use-Pty=0 pinstrike 2>&1 | grep -v Reading",
             3 * SLOW)
    expect(host.ask("cat /proc/sys/vm/nr_hugepages").stdout.strip() == "0", "no hugepage stays reserved")
    for address, _ in NICS.values():
        driver = host.ask(f"readlink /sys/bus/pci/devices/{address}/driver").stdout.strip()
        expect(driver.endswith("/e1000e"), f"{address} is the kernel's again")
    expect(host.ask("driverctl list-overrides").stdout == "", "no override stays")
    expect(host.ask(f"test -e {CONFIG}").returncode == 0, "the config stays")
    host.run("dpkg --purge pinstrike", 3 * SLOW)
    left = host.left_over()
    expect(left == "", f"a purge leaves nothing {left}")


def main():
    skip_unless_possible(NEEDED)
    package = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder, Machine(package) as host:
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        install(host)
        prepare(host)
        groups, ears = groups_of_lines(host), listen(host)
        start(host, ears, groups)
        carry(host, ears, groups, Path(folder))
        stop(host, ears, groups, Path(folder))
        reboot(host, groups)
        upgrade(host)
        by_af_xdp(host)
        remove(host)
    say("all held")


if __name__ == "__main__":
    main()
