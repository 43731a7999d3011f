#!/usr/bin/env python3
"""`pinstrike explain` explains everything that has a name, and this test finds a missing explanation.

    explain_test.py PINSTRIKE SOURCE_ROOT

The names come from the sources (tables of counters, reasons, metrics and log codes; alerts) and from
running instances that have one of everything. The test adds a row to each table, and must find it missing.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from endpoint import free_port
from scraped import BY_PORT, TRAFFIC, bridge, everything, fetch, gateway, instance, kafka, metric_names

PINSTRIKE, ROOT = sys.argv[1], Path(sys.argv[2])
MODULES = ("config", "nic", "feed", "actors")
# Only builds with -Dhooks=true have these.
NOT_SHOWN = {"PINSTRIKE_MISTAKES"}


def run(*arguments):
    return subprocess.run([PINSTRIKE, "explain", *arguments], capture_output=True, text=True,
                          timeout=600, check=False)


def explanations():
    return json.loads(run("--json").stdout)


def rows_of(text, macro):
    """Names of the rows of a table that a macro lists."""
    body = re.search(rf"#define {macro}\(ROW\)((?:.*\\\n)*.*)", text)
    return re.findall(r"\bROW\((\w+),", body.group(1)) if body else []


def tables(root):
    """{macro: names} of every table in the sources."""
    texts = [path.read_text() for module in MODULES for path in sorted((root / module).rglob("*.h"))]
    found = {}
    for text in texts:
        macros = re.findall(r"^PINSTRIKE_ROWS\(\w+, (\w+)\)", text, re.M)
        macros += [name for name in ("PINSTRIKE_METRICS", "PINSTRIKE_LOG_CODES")
                   if f"#define {name}(ROW)" in text]
        for macro in macros:
            found[macro] = rows_of(text, macro)
    return found


def alerts(root):
    rules = (root / "deploy/prometheus/pinstrike.rules.yml").read_text()
    return re.findall(r"- (?:alert|record): (\S+)", rules)


def unexplained(root, known):
    """The names in the sources that have no explanation: {(table, name)}."""
    names = {}
    for one in known:
        names.setdefault(one["kind"], set()).add(one["name"])
    counted = names["counter"] | names["reason"]
    found = set()
    for macro, rows in tables(root).items():
        among = {"PINSTRIKE_METRICS": {name.removeprefix("pinstrike_") for name in names["metric"]},
                 "PINSTRIKE_LOG_CODES": names["log code"]}.get(macro, counted)
        found |= {(macro, row) for row in rows if macro not in NOT_SHOWN and row not in among}
    shown = names["alert"] | names["recorded series"]
    return found | {("rules", name) for name in alerts(root) if name not in shown}


def plant(root):
    """Adds a row to each table, and an alert to the rules."""
    for module in MODULES:
        for path in (root / module).rglob("*.h"):
            text = path.read_text()
            for macro in tables(root):
                text = re.sub(rf"(#define {macro}\(ROW\))", r'\1 ROW(planted, a, "b") ', text)
            path.write_text(text)
    rules = root / "deploy/prometheus/pinstrike.rules.yml"
    rules.write_text(rules.read_text() + "      - alert: PinstrikePlanted\n        expr: vector(1)\n")


class Explain(unittest.TestCase):
    def test_nothing_in_the_sources_is_unexplained(self):
        known = explanations()
        found = tables(ROOT)
        self.assertGreater(len(found), 18)
        for macro, rows in found.items():
            self.assertTrue(rows, f"no rows seen in {macro}")
        self.assertGreater(len(alerts(ROOT)), 25)
        self.assertEqual(unexplained(ROOT, known), set())
        for one in known:
            self.assertTrue(one["sentence"], one["name"])

    def test_what_is_planted_is_found(self):
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name)
            for folder in (*MODULES, "deploy/prometheus"):
                shutil.copytree(ROOT / folder, copy / folder)
            plant(copy)
            expected = {(macro, "planted") for macro in tables(ROOT) if macro not in NOT_SHOWN}
            self.assertEqual(unexplained(copy, explanations()),
                             expected | {("rules", "PinstrikePlanted")})

    def test_every_metric_of_running_instances(self):
        known = {one["metric"] for one in explanations() if "metric" in one}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with (everything(PINSTRIKE, folder, 3600) as url, gateway(PINSTRIKE, folder, 3600) as served,
                  kafka(PINSTRIKE, folder, 3600) as written, bridge(PINSTRIKE, folder, 3600) as sides):
                seen = set().union(*map(metric_names, (url, served, written, *sides)))
            port = free_port()
            config = folder / "traffic.yaml"
            series_map = folder / "series.csv"
            series_map.write_text("symbol,expiration,,strike,line,\nAAPL,A1929,,150.0,1,\n")
            config.write_text(TRAFFIC.format(port=port) + f"series_map: {series_map}\n")
            with instance(PINSTRIKE, config, port, 3600) as url:
                seen |= metric_names(url)
                self.assertIn("# HELP pinstrike_line_lost_messages numbers declared lost",
                              fetch(url))
        own = {name for name in seen if name.startswith("pinstrike_")}
        self.assertGreater(len(own), 120)
        self.assertEqual(own - known, set())
        # Each is exported or documented as absent; otherwise `explain` would explain a removed metric.
        self.assertEqual(known - own, {f"pinstrike_{name}" for name in BY_PORT})

    def test_each_kind_says_what_it_should(self):
        for name, words in (
                ("ports.burst_packets", ["default: 64", "unit:    packets"]),
                ("checksum_bad", ["counts:  blocks", "pinstrike_line_rejected_blocks_total"]),
                ("holds_cut_short", ["of:      a line"]),
                ("pinstrike_line_lost_messages", ["type:    gauge", "counts:  messages"]),
                ("pinstrike_latency_seconds_bucket", ["type:    histogram"]),
                ("pinstrike_port_dropped_packets_total", ["reasons:", "unknown_group"]),
                ("gap_declared", ["level:   error"]),
                ("PinstrikeRingFull", ["severity: page", "meaning:", "look:", "do:", "fires:"]),
                ("pinstrike:loop_busy:ratio1m", ["expression: rate("])):
            result = run(name)
            self.assertEqual((result.returncode, result.stderr), (0, ""), name)
            for word in words:
                self.assertIn(word, result.stdout, name)
            self.assertTrue(json.loads(run(name, "--json").stdout), name)
        self.assertEqual(run("duplicate").stdout.count("\n  of: "), 1)

    def test_every_name_explains_and_is_listed(self):
        listed = run().stdout
        for kind in ("key", "metric", "counter", "reason", "log code", "alert"):
            self.assertRegex(listed, rf"(?m)^{kind}:$")
        for one in explanations():
            self.assertRegex(listed, rf"(?m)^  {re.escape(one['name'])} ")
        for name in ("lines", "peer.secret_file", "history", "lost", "stopping"):
            self.assertTrue(run(name).stdout.startswith(name + "\n"), name)

    def test_mistyped_names(self):
        for name, near in (("burst_pakets", "ports.burst_packets"),
                           ("checksum_bda", "checksum_bad"), ("gap_delcared", "gap_declared"),
                           ("pinstrikeringfull", "PinstrikeRingFull"),
                           ("pinstrike_line_lost_message", "pinstrike_line_lost_messages")):
            for options in ((), ("--json",)):
                result = run(name, *options)
                self.assertEqual((result.returncode, result.stdout), (2, ""), name)
                self.assertIn(f"did you mean {near}?", result.stderr)
        self.assertIn("is called \"x\\u001b", run("x\x1b").stderr)

    def test_words_that_are_no_names(self):
        result = run("uring")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, r"mentioned in the explanation of .*\bports\.kind\b")
        self.assertNotIn("mentioned in the explanation of", run("nowhere-at-all").stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
