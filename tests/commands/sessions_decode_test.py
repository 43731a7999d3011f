#!/usr/bin/env python3
"""Compares `decode --json` with the independent decoder, object by object.

    sessions_decode_test.py PINSTRIKE

Over captures from the generator: every category, both streams, damaged packets. The words of an
error are free; that and where it stands are not. Where nothing is lost or damaged, both streams
show the same messages.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "independent"))
import opra  # noqa: E402

SMALL = ["--messages", "30000", "--series", "3000", "--roots", "100", "--rate", "30000"]
SESSIONS = {
    "regular": SMALL + ["--lines", "1-6,220"],
    "gth": SMALL + ["--lines", "3,202,204,220"],
    "day": ["--messages", "30000", "--series", "3000", "--roots", "50", "--lines", "1-4,201-204,220",
            "--maps", "200", "--test-symbols", "0.01"],
    "damaged": ["--messages", "20000", "--series", "3000", "--roots", "50", "--lines", "1-4",
                "--corrupt-a", "0.05", "--corrupt-b", "0.05", "--loss-a", "0.02",
                "--reorder-b", "0.02", "--duplicate-a", "0.02"],
    "restarts": ["--messages", "20000", "--series", "2000", "--roots", "50", "--lines", "1-2",
                 "--restarts", "2", "--disaster", "--shape", "full"],
    "wrap": ["--messages", "20000", "--series", "2000", "--roots", "50", "--lines", "1-2",
             "--no-session", "--first-sequence", "4294967000"],
}


def without_words(row):
    return {**row, "error": ""} if "error" in row else row


def compare(pinstrike, capture):
    done = subprocess.run([pinstrike, "decode", capture, "--json"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: decode {capture} ended with {done.returncode}: {done.stderr}")
    mine = [json.loads(line) for line in done.stdout.splitlines()]
    theirs = list(opra.decode(capture))
    for number, (a, b) in enumerate(zip(mine, theirs), 1):
        if without_words(a) != without_words(b):
            sys.exit(f"FAILED: {capture}, object {number}:\n  decode:      {a}\n  independent: {b}")
    if len(mine) != len(theirs):
        sys.exit(f"FAILED: {capture}: {len(mine)} objects, the independent decoder has {len(theirs)}")
    return mine


def shown(rows, stream):
    """The messages of a stream, by line and time."""
    return sorted(({**row, "stream": "?"} for row in rows if row["stream"] == stream),
                  key=lambda row: (row["line"], row["ts_ns"]))


def main():
    pinstrike = sys.argv[1]
    seen = set()
    with tempfile.TemporaryDirectory(prefix="pinstrike-decode-") as folder:
        for name, options in SESSIONS.items():
            capture = str(Path(folder, name + ".pcap"))
            subprocess.run([pinstrike, "generate", "--out", capture, "--seed", "7", *options],
                           check=True, stdout=subprocess.DEVNULL)
            rows = compare(pinstrike, capture)
            errors = sum("error" in row for row in rows)
            seen |= {row.get("category") for row in rows}
            print(f"{name}: {len(rows)} objects, {errors} errors")
            if name == "damaged":
                if errors == 0:
                    sys.exit("FAILED: no damaged block among the damaged capture")
            elif not rows or shown(rows, "A") != shown(rows, "B"):
                sys.exit(f"FAILED: {name}: the streams show different messages")
    missing = set("adfkqCHRY") - seen
    if missing:
        sys.exit(f"FAILED: no message of category {sorted(missing)} was compared")


if __name__ == "__main__":
    main()
