#!/usr/bin/env python3
"""Every alert fires on its fault and resolves after it: a real Prometheus scrapes running instances.

    alerts_fire_test.py PINSTRIKE SOURCE_ROOT RELAY MOVED_CLOCK MISBEHAVING_THREAD DASHBOARDS [--faster 5]

A dozen instances, some gateways, Kafka producers and bridges run at once. Each has faults of its own,
except two, on which nothing may fire. The rules are the shipped ones, unchanged. All faults begin
together, each ends when its alerts fire, and the test lasts a little longer than the longest window of a
rule (15 minutes). The test fails if an alert of the rules has no fault here; an alert whose fault this
machine cannot have is listed after SKIP. All deadlines are much longer than the usual times. Finally the
test sends every query of every panel in DASHBOARDS for the time of the faults: each must have data.

`--faster` divides every duration of the rules; use it only for work on this test.
"""

import argparse
import dataclasses
import json
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import subjects  # first, because it adds the folders of the others
import faults
import live
from scraped import alerts, filled_in, instant, prometheus, ranged
from subjects import Bridged, Exchange, Here, Served, Simulated, Wired, Written

FIRES_WITHIN_S = 40 * 60
RESOLVES_WITHIN_S = 40 * 60
UP_WITHIN_S = 5 * 60
QUIET_BEFORE_S = 75
PANEL_STEP_S = 5
PANEL_RATE = "20s"  # Grafana's value for a scrape every 5 s
# Long preemptions by the machine cause these by themselves. Threads that sleep for a millisecond when
# little traffic comes (`wait: park`) cause the first.
BY_MACHINE = {"PinstrikeLatencyHigh", "PinstrikeStreamsApart"}


def patiently(ask):
    """Returns ask(), and repeats it for a minute if there is no answer."""
    for _ in range(60):
        try:
            return ask()
        except OSError as error:
            last = error
            time.sleep(1)
    return live.expect(False, f"Prometheus does not answer: {last}")


class Watch:
    """Queries to Prometheus."""

    def __init__(self, port, names, faster):
        """`names`: the names of the instances, by address."""
        self.port, self.names, self.faster = port, names, faster

    def firing(self):
        """{(alert, instance)}"""
        return {(each["labels"]["alertname"], self.names[each["labels"]["instance"]])
                for each in patiently(lambda: alerts(self.port)) if each["state"] == "firing"}

    def value(self, expression):
        """The value of the only row; 0 if there is none."""
        rows = patiently(lambda: instant(self.port, expression))
        return float(rows[0]["value"][1]) if rows else 0.0

    def is_up(self, name):
        (address,) = [at for at, each in self.names.items() if each == name]
        return self.value(f'up{{instance="{address}"}}') == 1

    def shortened(self, duration):
        return shortened(duration, self.faster)


def shortened(duration, faster):
    number, unit = int(duration[:-1]), duration[-1]
    return f"{number * (60 if unit == 'm' else 1) // faster}s"


def rules_for(shipped, faster, folder):
    if faster == 1:
        return shipped
    path = folder / "rules.yml"
    path.write_text(re.sub(r"(?<=[\[ ])\d+[sm](?=[\]\n])",
                           lambda found: shortened(found[0], faster), shipped.read_text()))
    return path


@dataclasses.dataclass
class Case:
    fault: object
    alerts: list  # (alert, instance)
    obstacle: str = ""  # why this machine cannot have the fault
    began_s: float = 0
    ended_s: float = None

    def __post_init__(self):
        self.alerts = [("Pinstrike" + alert, name) for alert, name in self.alerts]
        self.fired_s, self.resolved_s = {}, {}

    def begin(self, now_s):
        self.began_s = now_s
        self.fault.begin()

    def look(self, firing, watch, now_s):
        for each in self.alerts:
            if each in firing and each not in self.fired_s:
                self.fired_s[each] = now_s
                print(f"{now_s:6.0f} s  {each[0]} fires on {each[1]}", flush=True)
            elif each in firing:
                self.resolved_s.pop(each, None)
            elif self.ended_s and each not in self.resolved_s and watch.is_up(each[1]):
                self.resolved_s[each] = now_s
                print(f"{now_s:6.0f} s  {each[0]} resolves on {each[1]}", flush=True)
        if len(self.fired_s) == len(self.alerts) and self.ended_s is None:
            self.fault.end()
            self.ended_s = now_s

    def is_done(self):
        return len(self.resolved_s) == len(self.alerts)

    def missing(self, now_s):
        """Fails if a deadline has passed."""
        if self.ended_s is None and now_s - self.began_s > FIRES_WITHIN_S:
            return [f"{alert} does not fire on {name}" for alert, name in self.alerts
                    if (alert, name) not in self.fired_s]
        if self.ended_s is not None and now_s - self.ended_s > RESOLVES_WITHIN_S:
            return [f"{alert} does not resolve on {name}" for alert, name in self.alerts
                    if (alert, name) not in self.resolved_s]
        return []

    def rows(self):
        for alert, name in self.alerts:
            fires = self.fired_s[alert, name] - self.began_s
            resolves = self.resolved_s[alert, name] - self.ended_s
            yield f"{alert:25} {name:9} {fires:7.0f} {resolves:9.0f}   {self.fault.what}"


class Instances:
    """All instances, by name, running, and the exchange that sends to the wired ones."""

    def __init__(self, options, folder):
        self.here, self.options, self.folder = Here(), options, folder
        self.by_name = {}
        self.moved, self.order = folder / "moved", folder / "order"
        self.end_recovery = folder / "end_recovery"
        self.moved.write_bytes(bytes(8))
        self.order.write_bytes(bytes(3))
        self.end_recovery.write_bytes(bytes(3))
        secret = folder / "secret"
        secret.write_text("known to both of the pair, and to nobody else")
        secret.chmod(0o600)
        asks = ('recovery: {sources: [peer]}\npeer: {connect: ["127.0.0.1:9470"], '
                f"secret_file: {secret}}}")
        serves = ("history: {keep: 10s, memory: 16MiB}\npeer: "
                  f'{{listen: "127.0.0.1:9470", allow: [127.0.0.1], secret_file: {secret}}}')
        for name in ("well", "often", "held", "crowded"):
            self.simulate(name)
        self.simulate("busy", before=("nice", "-n", "19"))
        self.simulate("right", feed="pair", more=serves)
        self.simulate("left", feed="pair", more=asks)
        self.simulate("rogue", environment={
            "LD_PRELOAD": f"{options.moved_clock}:{options.misbehaving_thread}",
            "MOVED_CLOCK": self.moved, "MISBEHAVE": self.order})
        self.simulate("bereft", more="recovery: {sources: [retransmission]}", environment={
            "LD_PRELOAD": options.misbehaving_thread, "MISBEHAVE": self.end_recovery})
        self.simulate("source")
        self.disk = folder / "disk"
        self.disk.mkdir()
        live.run("mount", "-t", "tmpfs", "-o", "size=16m", "pinstrike", self.disk)
        live.at_the_end(lambda: live.run("umount", "--lazy", self.disk))
        record = "record: {{folder: {}, segment: 4MiB, memory: 4MiB, free: 0B}}"
        # Its own segments never fill the disk, so that the fault ends.
        self.simulate("filled", more=record.format(self.disk).replace("}", ", keep_bytes: 8MiB}"))
        self.simulate("slowly", more=record.format(folder / "slow.recording").replace("}", ", snapshot_interval: 2s}"))
        self.emptied = folder / "emptied.recording"  # PINSTRIKE_FOLDER has a link of the feed's name
        self.simulate("emptied", more=record.format(self.emptied).replace("}", ", snapshot_interval: 2s}"))
        self.packed = folder / "packed.recording"
        self.simulate("packed", more=record.format(self.packed).replace("}", ", compress: 1}"))
        for name in ("door", "gone"):
            self.serve(name, "well")
        self.serve("slow", "well", "queue: 1MiB")
        self.serve("gate", "source")
        self.serve("full", "source", "access_log: /dev/full\nconnections_max: 2")
        self.write("cluster", "well")
        self.write("writer", "well", self.by_name["cluster"])
        self.write("dumb", "source")
        self.write("unfed", "source")
        self.write("absent", "well")
        self.bridge("sends", "well")
        for name in ("lost", "joins"):
            self.bridge(name, "well", self["sends"])
        for name in ("heard", "lines", "cable"):
            self.wire(name)
        self.wire("missing", room="    kernel_buffer: 64KiB\n")
        # more descriptors than the driver first fills with buffers
        self.wire("starved", port="af_xdp", room="    descriptors_count: 8192\n")
        self.wire("crowd", port="af_xdp")
        wired = [each for each in self.by_name.values() if isinstance(each, Wired)]
        self.by_name["cable"].hear_over_a_switch()
        for each in self.by_name.values():
            each.start()
        self.exchange = Exchange(options.pinstrike, options.relay, wired)

    def simulate(self, name, **others):
        self.by_name[name] = Simulated(self.here, self.folder, self.options.pinstrike, name,
                                       len(self.by_name), **others)

    def serve(self, name, feed, more=""):
        self.by_name[name] = Served(self.here, self.folder, self.options.pinstrike, name, len(self.by_name), feed, more)

    def write(self, name, feed, brokers=None):
        self.by_name[name] = Written(self.here, self.folder, self.options.pinstrike, name, len(self.by_name), feed,
                                     brokers)

    def bridge(self, name, feed, serves=None):
        self.by_name[name] = Bridged(self.here, self.folder, self.options.pinstrike, name, len(self.by_name), feed,
                                     serves)

    def wire(self, name, **others):
        beside = next((each for each in self.by_name.values() if isinstance(each, Wired)), None)
        self.by_name[name] = Wired(self.here, self.folder, self.options.pinstrike, name, beside,
                                   **others)

    def __getitem__(self, name):
        return self.by_name[name]

    def names(self):
        return {each.address: name for name, each in self.by_name.items()}

    def addresses(self, *kinds):
        """Of all that are of exactly these kinds."""
        return [each.address for each in self.by_name.values() if type(each) in kinds]

    def put_before_others(self, *names):
        """With the exchange: the instances whose timing matters."""
        for process in (self.exchange.relay, self.exchange.generator,
                        *(self[name].process for name in names)):
            live.put_before_others(process)

    def expect_alive(self):
        for name, each in self.by_name.items():
            live.expect(each.process.poll() is None, f"{name} ended: {each.said()[-2000:]}")
        live.expect(self.exchange.relay.poll() is None, "the relay ended")
        live.expect(self.exchange.generator.poll() is None, "the generator ended")


def wire_cases(instances):
    cable, missing, starved = (instances[name] for name in ("cable", "missing", "starved"))
    # one line for each instance except the last
    faulty = faults.OnTheWire(instances["lines"], instances.exchange, "AB1/lose=0.12", "B2/delay",
                              "AB3/lose", "B4/lose", "A4/falsify=0.02")
    return [
        Case(faulty, [(alert, "lines") for alert in (
            "MessagesLost", "ManyGaps", "StreamLoses", "StreamsApart", "LineDown", "StreamSilent",
            "Undecodable")]),
        Case(faults.NoLink(cable), [("LinkDown", "cable"), ("FeedSilent", "cable")]),
        Case(faults.Held(missing, "poller0"), [("DeviceMisses", "missing")]),
        Case(faults.Held(starved, "poller0"), [("NoBuffers", "starved")]),
        Case(faults.Foreign(instances["crowd"]), [("ForeignTraffic", "crowd")]),
        Case(faults.SecondSource(instances["crowd"]), [("ResetsInferred", "crowd")])]


def simulated_cases(instances, watch):
    held, left, right = (instances[name] for name in ("held", "left", "right"))
    return [
        Case(faults.Dead(right), [("NotScraped", "right"), ("PeerGone", "left")]),
        Case(faults.KilledOften(instances["often"], watch, 15 / watch.faster),
             [("Restarts", "often")]),
        Case(faults.Held(held, "core0"),
             [("ThreadStalled", "held"), ("RingFull", "held")]),
        Case(faults.FullDisk(instances["filled"], instances.disk), [("RecordingFailed", "filled")]),
        Case(faults.Held(instances["slowly"], "recorder"), [("RecordingShort", "slowly"), ("SnapshotOld", "slowly")]),
        Case(faults.NoPackets(instances["emptied"], instances.emptied), [("StateUnrecovered", "emptied")]),
        Case(faults.Unpackable(instances["packed"], instances.packed), [("CompressionFailed", "packed")]),
        Case(faults.HeldInPulses(left, "core0"),
             [("LatencyHigh", "left"), ("RingNearlyFull", "left")]),
        Case(faults.Otherwise(instances["busy"], "more traffic than a thread can take",
                              rate="1e9"), [("ThreadBusy", "busy")]),
        Case(faults.RefusedReload(instances["rogue"]), [("ReloadRefused", "rogue")]),
        Case(faults.Otherwise(instances["crowded"], "a book too small for the day's series",
                              capacity=1000), [("BookFull", "crowded")])]


def gateway_cases(instances):
    return [
        Case(faults.Dead(instances["gone"]), [("GatewayDown", "gone")]),
        Case(faults.Dead(instances["source"]), [("GatewayFeedLost", "full"), ("KafkaFeedLost", "unfed")]),
        Case(faults.HeldForLong(instances["gate"], "gateway"), [("GatewayStalled", "gate"), ("GatewayMissed", "gate")]),
        Case(faults.NotReading(instances["slow"]), [("GatewayClientSkips", "slow"), ("GatewayClientBehind", "slow")]),
        Case(faults.Crowd(instances["full"]), [("GatewayUnlogged", "full"), ("GatewayRefuses", "full")])]


def kafka_cases(instances):
    return [
        Case(faults.Dead(instances["absent"]), [("KafkaDown", "absent")]),
        Case(faults.HeldForLong(instances["dumb"], "kafka"), [("KafkaStalled", "dumb"), ("KafkaMissed", "dumb")]),
        Case(faults.Stopped(instances["cluster"]), [("KafkaBrokersDown", "writer"), ("KafkaDrops", "writer"),
                                                    ("KafkaUnacknowledged", "writer")])]


def bridge_cases(instances):
    return [
        Case(faults.Dead(instances["sends"]), [("BridgeDown", "sends"), ("BridgeNotPublished", "lost")]),
        Case(faults.HeldForLong(instances["joins"], "bridge"), [("BridgeStalled", "joins"), ("BridgeMissed", "joins")])]


def rogue_cases(instances, watch):
    """Faults that a machine may be unable to cause."""
    no_counter = "" if watch.value('pinstrike_clock_tsc{feed="rogue"}') else (
        "no invariant time stamp counter here: the system's clock is the program's")
    no_filter = "no filter of system calls here" if (
        "calls_unfiltered" in instances["rogue"].said()) else ""
    return [
        Case(faults.ClockSetOften(instances.moved),
             [("ClockUncertain", "rogue"), ("ClockStepped", "rogue")], no_counter),
        Case(faults.Misbehaviour(instances.order, 0, "makes a system call that is on no list"),
             [("CallRefused", "rogue")], no_filter),
        Case(faults.Misbehaviour(instances.order, 1, "asks for heap memory"),
             [("HotAllocation", "rogue")]),
        Case(faults.RecoveryEnded(instances["bereft"], instances.end_recovery),
             [("RecoveryEnded", "bereft")])]


def cases_of(instances, watch):
    return (wire_cases(instances) + simulated_cases(instances, watch) + gateway_cases(instances)
            + kafka_cases(instances) + bridge_cases(instances) + rogue_cases(instances, watch))


def expect_all(cases, rules):
    """Each rule has a fault, and each fault a rule."""
    here = {alert for case in cases for alert, _ in case.alerts}
    there = set(re.findall(r"- alert: (\S+)", rules.read_text()))
    live.expect(here == there, f"alerts without a fault, or faults without: {here ^ there}")


def expect_quiet(watch, seconds):
    """Before the faults, for QUIET_BEFORE_S; on a busy machine an instance may start late."""
    begin_s = quiet_s = time.monotonic()
    while time.monotonic() - quiet_s < seconds:
        firing = {each for each in watch.firing() if each[0] not in BY_MACHINE}
        live.expect(time.monotonic() - begin_s < UP_WITHIN_S,
                    f"fires before any fault: {firing or 'off and on'}")
        quiet_s = time.monotonic() if firing else quiet_s
        time.sleep(2)


def drive(cases, watch, well):
    """Until all faults have ended; returns {(alert, instance)} of other alerts that fired."""
    beside = set()
    begin_s = time.monotonic()
    for case in cases:
        case.begin(time.monotonic() - begin_s)
    while True:
        now_s = time.monotonic() - begin_s
        firing = watch.firing()
        for case in cases:
            case.look(firing, watch, now_s)
        missing = [each for case in cases for each in case.missing(now_s)]
        live.expect(not missing, "; ".join(missing))
        wanted = {each for case in cases for each in case.alerts}
        for alert, name in sorted(firing - wanted - beside):
            print(f"{now_s:6.0f} s  beside: {alert} on {name}", flush=True)
        beside |= firing - wanted
        live.expect(not [each for each in beside if each[1] in well and each[0] not in BY_MACHINE],
                    f"fires without a fault: {beside}")
        over = {each for each in firing if each[0] not in BY_MACHINE} | (firing & wanted)
        if all(case.is_done() for case in cases) and not over:
            return beside
        live.expect(now_s < FIRES_WITHIN_S + RESOLVES_WITHIN_S, f"fires for ever: {firing}")
        time.sleep(2)


def expect_panels_filled(dashboards, port, begin_s):
    """Each query had data during the faults, also queries of counters that few drivers have."""
    end_s = time.time()
    span = f"{int(end_s - begin_s)}s"
    queries = [(f"{each['title']}, {panel['title']}", filled_in(target["expr"], PANEL_RATE, span))
               for each in dashboards for panel in each["panels"] for target in panel["targets"]]
    empty = [f"{where}: {query}" for where, query in queries if not has_data(port, query, begin_s, end_s)]
    live.expect(queries and not empty, "no data: " + "; ".join(empty))
    print(f"{len(queries)} queries of {sum(len(each['panels']) for each in dashboards)} panels, all with data")


def has_data(port, query, begin_s, end_s):
    rows = patiently(lambda: ranged(port, query, begin_s, end_s, PANEL_STEP_S))
    return any(value != "NaN" for row in rows for _, value in row["values"])


def tell(cases, skipped, beside, well):
    print(f"\n{'alert':25} {'instance':9} {'fires,s':>7} {'quiet,s':>9}   fault")
    for row in sorted(row for case in cases for row in case.rows()):
        print(row)
    for alert, name in sorted(beside):
        if name in well:
            print(f"not judged: {alert} on {name}, which the machine alone can bring")
    for case in skipped:
        for alert, _ in case.alerts:
            print(f"SKIP: {alert}: {case.obstacle}")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for word in ("pinstrike", "root", "relay", "moved_clock", "misbehaving_thread", "dashboards"):
        parser.add_argument(word, type=lambda text: Path(text).resolve())
    parser.add_argument("--faster", type=int, default=1)
    return parser.parse_args()


def main():
    options = parse_options()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup, SIGHUP is ignored
    if shutil.which("prometheus") is None:
        live.skip("prometheus is not installed")
    rules = options.root / "deploy/prometheus/pinstrike.rules.yml"
    dashboards = [json.loads(path.read_text()) for path in sorted(options.dashboards.glob("pinstrike-*.json"))]
    folder = live.folder()
    instances = Instances(options, folder)
    time.sleep(5)  # an instance that refuses its config ends at once
    instances.expect_alive()
    well = ("well", "heard")
    instances.put_before_others(*well, "left", "lines")
    loaded = rules_for(rules, options.faster, folder)
    interval = "5s" if options.faster == 1 else "1s"
    with prometheus(folder, instances.addresses(Simulated, Wired), loaded, interval, UP_WITHIN_S,
                    instances.addresses(Served), instances.addresses(Written), instances.addresses(Bridged)) as port:
        watch = Watch(port, instances.names(), options.faster)
        all_cases = cases_of(instances, watch)
        expect_all(all_cases, rules)
        print(f"{len(instances.by_name)} instances, {len(all_cases)} faults", flush=True)
        faults.Reading(instances["door"]).begin()
        expect_quiet(watch, QUIET_BEFORE_S / options.faster)
        cases = [case for case in all_cases if not case.obstacle]
        begin_s = time.time()
        beside = drive(cases, watch, well)
        instances.expect_alive()
        expect_panels_filled(dashboards, port, begin_s)
    tell(cases, [case for case in all_cases if case.obstacle], beside, well)
    fired = sum(len(case.alerts) for case in cases)
    print(f"{fired} alerts fired on their faults and resolved after them; nothing on {well}")


if __name__ == "__main__":
    sys.exit(main())
