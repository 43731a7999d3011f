#!/usr/bin/env python3
"""A reload adds lines to a running appliance under load: nothing is lost on the earlier lines.

    lines_added_test.py PINSTRIKE uring|af_xdp

Four lines are sent from the start. The config has two of them, then all four. The appliance runs as an
ordinary user and has dropped its rights by then.
"""

import json
import os
import subprocess
import sys

import live
from instance import METRICS, Instance, config, finish, wait_for
from wire_test import RIGHTS

# Fifteen seconds: the lines are added within two, on a busy machine within some more.
TRAFFIC = ["--lines", "1-4", "--messages", "300000", "--rate", "20000", "--series", "20000",
           "--roots", "200"]
FEW, ALL = "lines: 1-2\n", "lines: 1-4\n"


def ask(appliance, pinstrike, *words, status=0):
    done = subprocess.run([pinstrike, "ctl", appliance.here / "admin.sock", *words],
                          capture_output=True, text=True, check=False, timeout=300)
    live.expect(done.returncode == status,
                f"ctl {' '.join(words)} ended with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout + done.stderr


def delivered(account):
    return {line["line"]: line["delivered"] for line in account["lines"]}


def rows_by_series(path):
    keys = ("symbol", "expiration", "right", "strike")
    with open(path, encoding="utf-8") as rows:
        return {tuple(row[key] for key in keys): row for row in map(json.loads, rows)}


def compare_books(mine, truth):
    """The book is complete on the first two lines. On the others, each side that has changed since is right."""
    mine, truth = rows_by_series(mine), rows_by_series(truth)
    sides = 0
    for series, row in truth.items():
        here = mine.get(series)
        if row["line"] <= 2:
            live.expect(here == row, f"book differs: {here} against {row}")
            continue
        for side in ("bid", "offer"):
            if here and here[f"{side}_state"] == "fresh":
                live.expect(here[f"best_{side}"] == row[f"best_{side}"], f"stale: {here}, {row}")
                sides += 1
    live.expect(sides > 1000, f"only {sides} sides of series were stated on lines that were added")


def compare(account, truth):
    """The first two lines are complete; the others have all messages since they were joined."""
    old = {"lines": [line for line in truth["lines"] if line["line"] <= 2]}
    live.compare_account(account, old)
    mine = {line["line"]: line for line in account["lines"]}
    for line in truth["lines"]:
        if line["line"] <= 2:
            continue
        here = mine[line["line"]]
        live.expect(here["lost"] == 0 and not here["gaps"] and here["highest"] == here["delivered"],
                    f"lost on a line that was added: {here}")
        share = here["delivered"] / line["delivered"]
        live.shows(0 < share < 1, f"the line was not added in the middle: {here}, {line}")


def main():
    pinstrike, kind = sys.argv[1:3]
    appliance = Instance("a", live.folder(), pinstrike)
    text = config(kind).replace(ALL, FEW) + METRICS
    appliance.run(text, program=live.as_user(appliance.here, pinstrike, RIGHTS[kind]),
                  lines=range(1, 3), environment={**os.environ, "RUNTIME_DIRECTORY": str(appliance.here)})
    wait_for(lambda: " running " in appliance.said(), appliance.tail)
    live.expect(not set(live.groups_of([3, 4])) & appliance.listener.groups, "joined before its time")
    live.put_before_others(appliance.process)
    generator = appliance.generate(traffic=TRAFFIC)
    wait_for(lambda: sum(appliance.values("stream_packets_total")) > 1000, appliance.tail)
    appliance.file("yaml").write_text(text.replace(FEW, "lines: 2-4\n"))
    refused = ask(appliance, pinstrike, "reload", status=1)
    live.expect("lines: needs a restart to change" in refused, f"a line taken away: {refused}")
    appliance.file("yaml").write_text(text.replace(FEW, ALL))
    ask(appliance, pinstrike, "reload")
    missing = appliance.listener.wait_for(live.groups_of([3, 4]))
    live.expect(not missing, f"no IGMP report for {missing}")
    live.expect("nothing differs" in ask(appliance, pinstrike, "reload"), "the second reload")
    live.shows(generator.poll() is None, "the traffic ended before the lines were added")
    finish(generator)
    appliance.wait_for_the_days_end(appliance.truth(), joined=(3, 4))
    shown = ask(appliance, pinstrike, "lines")
    live.expect(len(shown.splitlines()) == 5, f"not a row a line: {shown}")
    appliance.stop()
    said = appliance.said()
    for code in ("hot_allocation", "call_refused"):
        live.expect(code not in said, f"{code}: {said}")
    account = appliance.account()
    compare(account, appliance.truth())
    compare_books(appliance.file("book.json"), appliance.file("truth.book.json"))
    wait_for(lambda: set(live.groups_of([3, 4])) <= appliance.listener.left or kind == "uring",
             lambda: f"not left: {appliance.listener.left}")
    print(f"{kind}: lines 3 and 4 added under load: delivered {delivered(account)}")


if __name__ == "__main__":
    main()
