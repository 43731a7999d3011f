#!/usr/bin/env python3
"""The commands that README and `generate --help` show do what they say.

    readme_test.py PINSTRIKE SOURCE_ROOT

Each runs as it stands there, one after another in one folder, where `my.yaml` is the
demonstration's config; a run that would go on until a signal gets a time.
"""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = ("run", "replay", "decode", "generate", "check", "doctor", "plan")


def shown(text, indent):
    """Command lines of an indented block, without what a comment adds."""
    for line in text.splitlines():
        words = shlex.split(line, comments=True) if line.startswith(indent + "pinstrike ") else []
        if len(words) > 1 and words[1] in COMMANDS:
            yield words


def perform(pinstrike, folder, words):
    options = ["--for", "1s"] if words[1] == "run" and "--for" not in words else []
    done = subprocess.run([pinstrike, *words[1:], *options], cwd=folder, capture_output=True,
                          text=True, check=False, timeout=240)
    print(shlex.join(words), "->", done.returncode)
    # doctor ends with 1 where the host is not as it should be; the table stands there all the same.
    judged = words[1] == "doctor" and done.returncode == 1 and "cannot be judged" in done.stdout
    if done.returncode != 0 and not judged:
        sys.exit(f"FAILED: {shlex.join(words)} ended with {done.returncode}: {done.stderr[-2000:]}")


def main():
    pinstrike, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    readme = list(shown((root / "README.md").read_text(), "    "))
    manual = subprocess.run([pinstrike, "generate", "--help"], capture_output=True, text=True,
                            check=True).stdout
    # What sends needs an interface of its own: the live tests do that.
    helped = [words for words in shown(manual, "  ") if "--out" in words]
    for name in ("run", "check", "doctor", "generate", "plan", "replay"):
        if name not in {words[1] for words in readme}:
            sys.exit(f"FAILED: README shows no `pinstrike {name}`")
    if len(helped) < 3:
        sys.exit(f"FAILED: generate --help shows {len(helped)} captures")
    with tempfile.TemporaryDirectory(prefix="pinstrike-readme-") as folder:
        demo = (root / "config" / "demo.yaml").read_text()
        Path(folder, "my.yaml").write_text(  # whoever listens there already may be a demonstration
            demo.replace("metrics_address: 127.0.0.1:9464", "metrics_address: none"))
        for words in readme + helped:
            perform(pinstrike, folder, words)


main()
