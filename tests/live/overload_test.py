#!/usr/bin/env python3
"""Threads that are too slow: the reports, and the losses of each core.

    overload_test.py PINSTRIKE core|poller

ptrace stops one thread of a running appliance until this has an effect. core: the ring of that core refuses
messages, which are a gap for this core only; log and metrics name the core and its actor. poller: the
kernel's buffer is full, which is reported; the lost messages are declared.
"""

import re
import sys

import live
from hold import hold_while, thread_of
from instance import METRICS, Instance, config, finish, packets_of, wait_for

TRAFFIC = ["--lines", "1-4", "--messages", "80000", "--rate", "30000", "--shape", "ordinary",
           "--series", "20000", "--roots", "200"]
# Each core gets some 40,000 records: one that does not get a processor for a quarter of a second refuses none.
TWO_CORES = """  - name: core1
    wait: park
ring_slots: 8192
"""
REFUSED_MIN = 1000
MISSED_MIN = 1000


def metric(text, name, label):
    found = re.search(rf"^pinstrike_{name}{{[^}}]*{label}[^}}]*}} (\S+)$", text, re.M)
    live.expect(found, f"no metric {name} of {label}")
    return float(found[1])


def play(appliance, thread, has_effect):
    """Holds the thread from the first packets on, until has_effect() says so."""
    live.put_before_others(appliance.process)  # the other threads must not be too slow as well
    held = thread_of(appliance.process, thread)
    generator = appliance.generate(traffic=TRAFFIC)
    wait_for(lambda: sum(appliance.values("stream_packets_total")) > 0, appliance.tail)
    hold_while(held, lambda: not has_effect() and generator.poll() is None)
    finish(generator)
    appliance.wait_for_packets(packets_of(appliance.truth()))
    metrics = appliance.metrics()
    appliance.stop()
    return metrics


def core(appliance):
    appliance.run(config().replace("arbitration:", TWO_CORES + "arbitration:") + METRICS)
    metrics = play(appliance, "core1",
                   lambda: sum(appliance.values("ring_refused_messages_total")) >= REFUSED_MIN)
    account, truth = appliance.account(), appliance.truth()
    live.expect(account["balanced"] is True, "the account does not balance")
    for line, there in zip(account["lines"], truth["lines"]):
        live.expect(line["delivered"] == there["delivered"] and line["lost"] == 0,
                    f"line {line['line']}: {line['delivered']} delivered, {line['lost']} lost")
    refused = [ring["refused"] for ring in account["rings"]]
    gaps = [each["gap_events"] for each in account["cores"]]
    live.shows(refused[0] == 0, f"core0 was too slow as well: refused, by core: {refused}")
    live.expect(refused[1] > 0, f"refused, by core: {refused}")
    live.expect(gaps[0] == 0 and gaps[1] > 0, f"gap events, by core: {gaps}")

    slow = re.findall(r"core_slow ([^:]+): (.*)", appliance.said())
    live.expect({subject for subject, _ in slow} == {"core core1"}, f"slow, it says: {slow}")
    live.expect(f"{refused[1]} since the start" in slow[-1][1] and "in book" in slow[-1][1],
                f"not reported: {slow}")
    for name, count in zip(("core0", "core1"), refused):
        seen = metric(metrics, "ring_refused_messages_total", f'ring="poller0:{name}"')
        live.expect(seen == count, f"{name}: {seen} refused by the metrics, {count} by the account")
    # The actor of the core that takes the time.
    calls = metric(metrics, "actor_service_seconds_count", 'core="core1",actor="book"')
    live.expect(calls > 0, "the metrics do not say how long core1's actor takes")
    return f"{refused[1]} messages refused by core1, {gaps[1]} gap events for it and none for core0"


def poller(appliance):
    appliance.run(config(room="    kernel_buffer: 64KiB\n") + METRICS)
    metrics = play(appliance, "poller0", lambda: appliance.drops() >= MISSED_MIN)
    account = appliance.account()
    missed, lost = account["ports"][0]["missed"], sum(each["lost"] for each in account["lines"])
    live.expect(missed > 0 and lost > 0, f"{missed} missed: the test shows nothing")
    live.expect(account["balanced"] is True, "the account does not balance")
    for line, there in zip(account["lines"], appliance.truth()["lines"]):
        live.expect(line["delivered"] + line["lost"] == there["highest"],
                    f"line {line['line']}: {line} against {there['highest']}")
    live.expect(metric(metrics, "device_missed_packets_total", 'port="wire0"') == missed,
                "the metrics do not say what was missed")
    rows = re.findall(r"device_missed port wire0: (.*)", appliance.said())
    live.expect(rows and "poller0 reads too slowly" in rows[0], f"not reported: {appliance.tail()}")
    return f"{missed} packets missed by the kernel, {lost} messages declared lost"


def main():
    pinstrike, which = sys.argv[1:3]
    appliance = Instance("a", live.folder(), pinstrike)
    print(f"{which}: {core(appliance) if which == 'core' else poller(appliance)}")


if __name__ == "__main__":
    main()
