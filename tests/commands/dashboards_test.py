#!/usr/bin/env python3
"""Grafana's dashboards are complete, each alert links to them, and each query has data.

    dashboards_test.py PINSTRIKE SOURCE_ROOT FOLDER

FOLDER has the dashboards that the build wrote. The test sends each query to a real Prometheus that
scrapes two running instances, a gateway, a bridge and a Kafka producer: one instance has traffic and losses, the other
one of everything.
tests/dashboards draws the dashboards with Grafana's components.
"""

import json
import re
import sys
import tempfile
import time
from pathlib import Path

from endpoint import fail
from scraped import BY_DRIVER, DEADLINE_S, RECORDED, TRAFFIC, filled_in, instant, wait_for, watched

NAMES = ["pinstrike-overview", "pinstrike-lines", "pinstrike-latency", "pinstrike-cores",
         "pinstrike-nic", "pinstrike-gateway", "pinstrike-kafka", "pinstrike-bridge"]
PUBLISHED = "publish: {{memory: shm, stream: on}}\n"
A_COUNTER = r"pinstrike_\w+_(?:total|bucket|sum|count)\b(?:\{[^}]*\})?"


def check_whole(dashboard):
    """Faults that Grafana accepts silently and a reader would notice."""
    uid = dashboard["uid"]
    if dashboard["editable"] or not dashboard["title"] or not dashboard["description"]:
        fail(f"{uid}: editable, or without title or description")
    if "datasource" not in [one["name"] for one in dashboard["templating"]["list"]]:
        fail(f"{uid} has no variable for its data source")
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(set(ids)) != len(ids):
        fail(f"{uid}: two panels of one id")
    for panel in dashboard["panels"]:
        where = f"{uid}, {panel['title']}"
        if not panel["title"] or not panel["description"] or not panel["targets"]:
            fail(f"{where}: no title, description or query")
        if not panel["fieldConfig"]["defaults"]["unit"]:
            fail(f"{where}: no unit")
        for target in panel["targets"]:
            check_query(where, target["expr"])


def check_query(where, expr):
    if "$feed" not in expr or "$instance" not in expr:
        fail(f"{where}: does not use the variables: {expr}")
    bare = re.sub(r"(?:rate|increase)\(" + A_COUNTER + r"\[\$__(?:rate_interval|range)\]\)", "",
                  expr)
    if re.search(A_COUNTER, bare):
        fail(f"{where}: a counter that is not under rate: {expr}")


def check_overlaps(dashboard):
    taken = {}
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                if x >= 24 or taken.setdefault((x, y), panel["id"]) != panel["id"]:
                    fail(f"{dashboard['uid']}: {panel['title']} lies over another, or outside")


def check_alerts(dashboards, rules):
    """Each alert names its first panel, and that panel links to the alert's section of the runbook."""
    named = dict(re.findall(r"runbook: RUNBOOK\.md#(\w+)\n +panel: (\S+)", rules))
    linked = {}
    for dashboard in dashboards:
        for panel in dashboard["panels"]:
            for link in panel["links"]:
                section = link["url"].removeprefix("${runbook}#")
                linked[section] = f"/d/{dashboard['uid']}?viewPanel={panel['id']}"
    if len(named) != rules.count("- alert: ") or named != linked:
        fail(f"alerts and panels do not lead to each other: {set(named.items()) ^ set(linked.items())}")


def answer(port, expr):
    return [row for row in instant(port, filled_in(expr)) if row["value"][1] != "NaN"]


def check_queries(dashboards, port):
    """Each query has data within some seconds; histograms need a sample first."""
    queries = [(f"{dashboard['uid']}, {panel['title']}", target["expr"])
               for dashboard in dashboards for panel in dashboard["panels"]
               for target in panel["targets"]
               if not any(name in target["expr"] for name in BY_DRIVER)]
    deadline = time.monotonic() + DEADLINE_S
    waiting = queries
    while waiting and time.monotonic() < deadline:
        waiting = [one for one in waiting if not answer(port, one[1])]
        time.sleep(0.5)
    if waiting:
        fail("no data: " + "; ".join(f"{where}: {expr}" for where, expr in waiting))
    return len(queries)


def check_variables(dashboards, port):
    """Each variable has values: its metric exists and has its label."""
    for dashboard in dashboards:
        for one in dashboard["templating"]["list"]:
            if one["type"] != "query":
                continue
            metric, label = re.fullmatch(r"label_values\((.+), (\w+)\)", one["definition"]).groups()
            wait_for(f"value to choose for {one['name']}: {dashboard['uid']}, {one['definition']}", DEADLINE_S,
                     lambda metric=metric, label=label: any(row["metric"].get(label)
                                                            for row in instant(port, filled_in(metric))))


def main():
    pinstrike, root, built = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    dashboards = [json.loads((built / f"{name}.json").read_text()) for name in NAMES]
    for dashboard in dashboards:
        check_whole(dashboard)
        check_overlaps(dashboard)
    check_alerts(dashboards, (root / "deploy/prometheus/pinstrike.rules.yml").read_text())
    with tempfile.TemporaryDirectory() as name:
        with watched(pinstrike, Path(name), [TRAFFIC + PUBLISHED + RECORDED], "traffic") as server:
            asked = check_queries(dashboards, server)
            check_variables(dashboards, server)
    panels = sum(len(dashboard["panels"]) for dashboard in dashboards)
    print(f"{len(dashboards)} dashboards, {panels} panels, {asked} queries with data")


if __name__ == "__main__":
    main()
