#!/usr/bin/env python3
"""Grafana's dashboards, type-checked and drawn with Grafana's components, as pictures to look at.

    draw.py PINSTRIKE SOURCE_ROOT DASHBOARDS OUT [--seconds 180] [--again]

Runs three instances and a real Prometheus for so many seconds, sends every query of every panel for
that time, and writes OUT/NAME.png for each dashboard in DASHBOARDS. Fails if the JSON does not fit the
types of @grafana/schema, if a panel is not drawn or is empty, or if the page reports an error.
`--again` draws the last answers again. Needs chromium, node and npm, and a registry or a cache with the
packages of package-lock.json; exits 77 without them.
"""

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from typed import KINDS, typed

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "commands"))
from endpoint import fail  # noqa: E402
from scraped import BY_DRIVER, filled_in, ranged, watched  # noqa: E402

SCRAPE_S = 0.5
LEAST_STEP_S = 2
SOURCES = ["package.json", "package-lock.json", "page.jsx", "cells.jsx", "frames.js", "shoot.js",
           "plain.ts"]

# All lines: some loss on both streams, B later than A, damaged and reordered packets.
OPRA = """
name: opra
kind: opra
lines: 1-96
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park, actors: [book]}}, {{name: core1, wait: park, actors: [book]}}]
book: {{series_capacity: 100000}}
publish: {{memory: shm, stream: on}}
traffic: {{lines_count: 96, roots_count: 1000, series_count: 50000,
  rate_messages_per_second: 60000,
  a: {{loss: 0.004, reorder: 0.0005, corrupt: 0.0001}}, b: {{loss: 0.003, skew: 400us}}}}
metrics_address: 127.0.0.1:{port}
"""

# The overnight lines, which one network does not carry.
GTH = """
name: gth
kind: opra
lines: 201-204
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park, actors: [book]}}]
book: {{series_capacity: 20000}}
publish: {{memory: shm, stream: on}}
traffic: {{lines_count: 4, series_count: 10000, rate_messages_per_second: 3000,
  a: {{loss: 1}}, b: {{loss: 0.0005}}}}
record: {{folder: {folder}/recorded, segment: 4MiB, memory: 4MiB, free: 0B, snapshot_interval: 5s}}
metrics_address: 127.0.0.1:{port}
"""


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


def run(what, command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{what}:\n{(done.stdout + done.stderr)[-6000:]}")
    return done.stdout


def prepare(out):
    """Grafana's packages and our page, bundled, in `out`; the path of the browser."""
    for tool in ["chromium", "node", "npm", "prometheus"]:
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    out.mkdir(parents=True, exist_ok=True)
    lock = (HERE / "package-lock.json").read_text()
    installed = out / "node_modules/.pinstrike-lock"
    for name in SOURCES:
        shutil.copy(HERE / name, out)
    if not installed.exists() or installed.read_text() != lock:
        done = subprocess.run(["npm", "ci", "--legacy-peer-deps", "--ignore-scripts", "--no-audit",
                               "--no-fund"], cwd=out, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            skip(f"npm cannot install the packages of {HERE / 'package-lock.json'}: "
                 + done.stderr[-600:])
        installed.write_text(lock)
    run("esbuild", ["node_modules/.bin/esbuild", "page.jsx", "--bundle", "--format=esm",
                    "--outfile=page.js", "--jsx=automatic", "--loader:.ttf=dataurl",
                    '--define:process.env.NODE_ENV="production"', "--log-level=error"], out)
    return shutil.which("chromium")


def check_types(dashboards, out):
    for dashboard in dashboards:
        for panel in dashboard["panels"]:
            if panel["type"] not in KINDS:
                fail(f"{dashboard['uid']}, {panel['title']}: page.jsx draws no {panel['type']}")
        (out / f"{dashboard['uid']}.ts").write_text(typed(dashboard))
    run("not of @grafana/schema's types",
        ["node_modules/.bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "esnext",
         "--moduleResolution", "bundler", *(f"{dashboard['uid']}.ts" for dashboard in dashboards)],
        out)


def ask(dashboard, port, start, end):
    """Grafana's queries for these panels over this time, and the answers."""
    answers = {}
    for panel in dashboard["panels"]:
        seconds = end - start
        step = max(LEAST_STEP_S, math.ceil(seconds / panel.get("maxDataPoints", 600)))
        interval = f"{max(step + SCRAPE_S, 4 * SCRAPE_S)}".replace(".", "s", 1) + "00ms"
        rows = {target["refId"]: ranged(port, filled_in(target["expr"], interval, f"{seconds}s"),
                                        start, end, step) for target in panel["targets"]}
        answers[panel["id"]] = {"step": step, "rows": rows}
    return {"answers": answers, "start": start, "end": end}


def watch(pinstrike, root, dashboards, seconds, out):
    with tempfile.TemporaryDirectory() as name:
        rules = (root / "deploy/prometheus/pinstrike.rules.yml").resolve()
        with watched(pinstrike, Path(name), [OPRA, GTH], "opra", rules, seconds + 120) as port:
            print(f"running for {seconds} s", flush=True)
            time.sleep(seconds)
            end = math.floor(time.time())
            for dashboard in dashboards:
                (out / f"{dashboard['uid']}.answers.json").write_text(
                    json.dumps(ask(dashboard, port, end - seconds, end)))


def draw(browser, dashboards, out):
    """What the page shows of each dashboard, by name."""
    for dashboard in dashboards:
        answers = json.loads((out / f"{dashboard['uid']}.answers.json").read_text())
        (out / f"{dashboard['uid']}.json").write_text(
            json.dumps({"dashboard": dashboard, **answers}))
    return json.loads(run("drawing", ["node", "shoot.js", browser]
                          + [dashboard["uid"] for dashboard in dashboards], out))


def check_drawn(dashboard, drawn):
    """The faults of a dashboard's picture, one per line."""
    uid = dashboard["uid"]
    wrong = [f"{uid}: the page's console says: {said[:600]}" for said in drawn["complaints"]]
    for panel in dashboard["panels"]:
        where = f"{uid}, {panel['title']}"
        got = drawn["panels"].get(str(panel["id"]))
        by_driver = all(any(name in target["expr"] for name in BY_DRIVER)
                        for target in panel["targets"])
        if got is None:
            wrong.append(f"{where}: not drawn")
        elif panel["title"] not in got["text"]:
            wrong.append(f"{where}: drawn without its title")
        elif got["empty"] != by_driver:
            wrong.append(f"{where}: " + ("data of a driver that counts none" if by_driver
                                         else "empty"))
        elif not by_driver and panel["type"] != "stat" and got["coloured"] < 20:
            wrong.append(f"{where}: nothing in colour")
        elif panel["type"] == "stat" and got["text"].strip() == panel["title"]:
            wrong.append(f"{where}: no value")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pinstrike")
    parser.add_argument("root", type=Path)
    parser.add_argument("dashboards", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--again", action="store_true")
    chosen = parser.parse_args()
    dashboards = [json.loads(path.read_text())
                  for path in sorted(chosen.dashboards.glob("pinstrike-*.json"))]
    browser = prepare(chosen.out)
    check_types(dashboards, chosen.out)
    if not chosen.again:
        watch(chosen.pinstrike, chosen.root, dashboards, chosen.seconds, chosen.out)
    drawn = draw(browser, dashboards, chosen.out)
    wrong = [one for dashboard in dashboards
             for one in check_drawn(dashboard, drawn[dashboard["uid"]])]
    if wrong:
        fail("\n".join(wrong))
    panels = sum(len(dashboard["panels"]) for dashboard in dashboards)
    print(f"{len(dashboards)} dashboards, {panels} panels drawn; the pictures: {chosen.out}")


if __name__ == "__main__":
    main()
