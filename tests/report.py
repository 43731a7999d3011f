#!/usr/bin/env python3
"""Counts the tests that `meson test` ran in build folders: a last line with totals, after the reasons.

Test programs made with GoogleTest are counted by case, all others as one test. A build folder
without a log counts as a failure: a run that tested nothing must not pass.
"""

import json
import re
import sys
from pathlib import Path

SHOWN_LINES = 30  # of the output of a failed test

passed = failed = skipped = 0


def say(kind, where, reason=""):
    print(f"{kind}: {where}" + (f": {reason}" if reason else ""))


def count_cases(folder, name, text):
    """Cases of a GoogleTest program: (passed, failed, skipped); None if it is none."""
    if "[==========]" not in text:
        return None
    ok = len(re.findall(r"^\[       OK \]", text, re.M))
    bad = sorted(set(re.findall(r"^\[  FAILED  \] ([\w/.]+)", text, re.M)))
    for case in bad:
        say("FAILED", f"{folder} {name} {case}")
    skips = 0
    for match in re.finditer(r"^\[ RUN      \] (\S+)\n((?:(?!\[ RUN ).*\n)*?)\[  SKIPPED \] \1", text,
                             re.M):
        skips += 1
        reason = " ".join(line.strip() for line in match.group(2).splitlines()
                          if line.strip() and not re.match(r".*\.(cpp|h):\d+: Skipped$", line))
        say("SKIPPED", f"{folder} {name} {match.group(1)}", reason or "no reason given")
    return ok, len(bad), skips


def count(folder, row):
    global passed, failed, skipped
    name, result = row["name"], row["result"]
    text = (row.get("stdout") or "") + "\n" + (row.get("stderr") or "")
    if result == "SKIP":
        reason = next((line for line in text.splitlines() if "SKIP" in line), "no reason given")
        say("SKIPPED", f"{folder} {name}", reason)
        skipped += 1
        return
    cases = count_cases(folder, name, text)
    if result in ("OK", "EXPECTEDFAIL"):
        ok, bad, skips = cases or (1, 0, 0)
        passed, failed, skipped = passed + ok, failed + bad, skipped + skips
        return
    ok, bad, skips = cases or (0, 1, 0)
    say("FAILED", f"{folder} {name}", result)
    lines = text.strip().splitlines()
    begin = next((i for i, line in enumerate(lines) if re.match(r"(FAIL|ERROR): ", line)), None)  # of unittest
    for line in lines[-SHOWN_LINES:] if begin is None else lines[begin:begin + SHOWN_LINES]:
        print("    " + line)
    passed, failed, skipped = passed + ok, failed + max(bad, 1), skipped + skips


def main():
    global failed
    for folder in sys.argv[1:]:
        logs = sorted(Path(folder, "meson-logs").glob("testlog*.json"))
        rows = [json.loads(line) for log in logs for line in log.read_text().splitlines() if line]
        if not rows:
            say("FAILED", folder, "no test ran")
            failed += 1
        for row in rows:
            count(Path(folder).name, row)
    print()
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
