#!/usr/bin/env python3
"""Alert rules: each fires and resolves, uses existing metrics, and has a section in the runbook.

    alerts_test.py PINSTRIKE SOURCE_ROOT

The existing metrics are those of a running instance that has one of everything, and of the processes beside it.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from endpoint import fail
from scraped import BY_DRIVER, bridge, everything, gateway, kafka, metric_names

SUFFIXES = r"_(bucket|sum|count)$"
DOCUMENTS = ("README.md", "DESIGN.md", *(f"deploy/{name}.md" for name in ("README", "RUNBOOK", "TUNING", "CAPACITY")))

def promtool(*words):
    done = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        fail(f"promtool {' '.join(map(str, words))}:\n{done.stdout}{done.stderr}")


def exposed(pinstrike):
    """The names of the metrics of an instance that has one of everything, and of the processes beside it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with everything(pinstrike, folder) as url, gateway(pinstrike, folder) as served, \
                kafka(pinstrike, folder) as written, bridge(pinstrike, folder) as sides:
            return set().union(*map(metric_names, (url, served, written, *sides)))


def sections(runbook):
    return dict(re.findall(r"^## (\S+)\n(.*?)(?=^#|\Z)", runbook, re.M | re.S))


def main():
    pinstrike, root = sys.argv[1], Path(sys.argv[2])
    rules_file = root / "deploy/prometheus/pinstrike.rules.yml"
    tests_file = root / "deploy/prometheus/pinstrike.rules.test.yml"
    promtool("check", "rules", rules_file)
    promtool("test", "rules", tests_file)

    rules, tests = rules_file.read_text(), tests_file.read_text()
    runbook = (root / "deploy/RUNBOOK.md").read_text()
    alerts = re.findall(r"- alert: (\S+)", rules)
    pages = sections(runbook)
    if len(alerts) < 20 or set(alerts) != set(pages):
        fail(f"alerts and sections of the runbook differ: {set(alerts) ^ set(pages)}")
    for alert in alerts:
        if f"runbook: RUNBOOK.md#{alert.lower()}" not in rules:
            fail(f"{alert} does not name its section of the runbook")
        if f"- alertname: {alert}\n" not in tests:
            fail(f"{alert} is never seen to fire")
        if "**Meaning.**" not in pages[alert]:
            fail(f"the runbook does not say what {alert} means")

    known = exposed(pinstrike)
    table = (root / "actors/telemetry/metrics/metric_rows.h").read_text()
    known |= {f"pinstrike_{name}" for name in BY_DRIVER if f"ROW({name}, counter" in table}
    recorded = set(re.findall(r"- record: (\S+)", rules))
    used = rules + "".join((root / name).read_text() for name in DOCUMENTS)
    for name in set(re.findall(r"\bpinstrike_[a-z]\w+", used)) - {"pinstrike_alerts"}:
        if name not in known and re.sub(SUFFIXES, "", name) not in known:
            fail(f"no instance has a metric {name}")
    for name in set(re.findall(r"\bpinstrike:\w+:\w+", used)):
        if name not in recorded:
            fail(f"no rule records {name}")
    print(f"{len(alerts)} alerts, {len(recorded)} recorded series, {len(known)} metrics")


if __name__ == "__main__":
    main()
