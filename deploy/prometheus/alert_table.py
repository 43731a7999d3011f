#!/usr/bin/env python3
"""Writes what `pinstrike explain` says of alerts and recorded series, as C++.

    alert_table.py RULES RUNBOOK >alert_table.cpp

Fails where an alert has no section in the runbook, or a section no alert, no meaning, or nothing to
look at and to do.
"""

import re
import sys
from pathlib import Path

import yaml

HEAD = """// path: cold
// Made by deploy/prometheus/alert_table.py from the rules and the runbook.
#include "actors/telemetry/explain/explanations.h"

namespace pinstrike::actors {

std::vector<Explanation> alert_explanations() {
    return {
"""
TAIL = """    };
}

}  // namespace pinstrike::actors
"""


def fail(what):
    sys.exit(f"alert_table.py: {what}")


def sections(runbook):
    """{alert: [(word, text)]}: "meaning", "look", "do", as the runbook has them."""
    found = {}
    for name, text in re.findall(r"^## (\S+)\n(.*?)(?=^#|\Z)", runbook, re.M | re.S):
        parts = re.findall(r"^\*\*(.+?)\.\*\* +(.*?)(?=^\*\*|\Z)", text, re.M | re.S)
        found[name] = [(word.lower(), " ".join(body.split())) for word, body in parts]
        words = ", ".join(word for word, _ in found[name])
        if words != "meaning, look, do":
            fail(f"section {name} of the runbook has {words or 'nothing'}, "
                 "not **Meaning.** **Look.** **Do.**")
    return found


def plain(summary):
    """The annotation without its template: "line <line> of <feed>"."""
    summary = re.sub(r"\{\{ *\$labels\.(\w+) *\}\}", r"<\1>", summary)
    return re.sub(r"\{\{ *\$value\b.*?\}\}", "<value>", summary)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def entry(kind, name, sentence, facts):
    pairs = ",\n          ".join(f"{{{quoted(word)}, {quoted(text)}}}" for word, text in facts)
    return (f"        {{{quoted(kind)}, {quoted(name)}, {quoted(sentence)},\n"
            f"         {{{pairs}}}, {{}}, \"\"}},\n")


def alert(rule, pages):
    name, notes = rule["alert"], rule["annotations"]
    if name not in pages:
        fail(f"the runbook has no section ## {name}")
    facts = [("severity", rule["labels"]["severity"]), *pages.pop(name), ("fires", rule["expr"])]
    if "for" in rule:
        facts.append(("for", rule["for"]))
    return entry("alert", name, plain(notes["summary"]), [*facts, ("runbook", notes["runbook"])])


def main():
    rules = yaml.safe_load(Path(sys.argv[1]).read_text(encoding="utf-8"))
    pages = sections(Path(sys.argv[2]).read_text(encoding="utf-8"))
    every = [rule for group in rules["groups"] for rule in group["rules"]]
    out = [alert(rule, pages) for rule in every if "alert" in rule]
    if pages:
        fail(f"no alert is called {', '.join(pages)}")
    out += [entry("recorded series", rule["record"], "recorded by Prometheus with the rules",
                  [("expression", rule["expr"])]) for rule in every if "record" in rule]
    print(HEAD + "".join(out) + TAIL, end="")


if __name__ == "__main__":
    main()
