#!/usr/bin/env python3
"""Checks the files of the package without installing it: units, manual pages, completions.

    units_test.py units|pages|completions|zsh BUILD_FOLDER_OF_DEPLOY PINSTRIKE

Each part is skipped (77), with its reason, where its tool is missing.
"""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# The highest exposure that `systemd-analyze security` may find, times ten.
UNITS = {"pinstrike@.service": 35, "pinstrike-hugepages.service": 35, "pinstrike-gateway@.service": 30,
         "pinstrike-kafka@.service": 30, "pinstrike-bridge@.service": 30, "pinstrike-bridge-join@.service": 30}


def expect(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


def need(tool):
    if shutil.which(tool) is None:
        print(f"SKIP: {tool} is not installed")
        sys.exit(77)


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, timeout=60, **options)


def check_units(built, pinstrike):
    need("systemd-analyze")
    with tempfile.TemporaryDirectory() as name:
        shutil.copy(built / "hugepages", name)
        (Path(name) / "hugepages").chmod(0o755)
        for unit in UNITS:
            text = (built / unit).read_text()
            expect("@bindir@" not in text and "@libexecdir@" not in text, f"{unit} has paths")
            # As installed, except the programs, which do not exist yet.
            text = re.sub(r"=\S*/bin/pinstrike ", f"={pinstrike} ", text)
            text = re.sub(r"=\S*/pinstrike/hugepages ", f"={name}/hugepages ", text)
            (Path(name) / unit).write_text(text)
        for unit, highest in UNITS.items():
            path = Path(name) / unit.replace("@.", "@feed.")
            if not path.exists():
                path.symlink_to(unit)
            done = run("systemd-analyze", "verify", "--man=no", path)
            expect(done.returncode == 0 and unit not in done.stderr, done.stderr)
            done = run("systemd-analyze", "security", "--offline=yes", "--no-pager",
                       f"--threshold={highest}", Path(name) / unit)
            print(done.stdout.splitlines()[-1])
            expect(done.returncode == 0, f"{unit}: {done.stdout}{done.stderr}")


def check_pages(built, pinstrike):
    need("man")
    need("scdoc")
    for page, words in (("pinstrike.1", ["generate", "--config-only", "EXIT STATUS"]),
                        ("pinstrike.yaml.5", ["ports.burst_packets", "dpdk", "default: 64"])):
        done = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", built / page,
                   env={**os.environ, "MANROFFSEQ": "", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        expect(done.returncode == 0 and done.stderr == "", f"{page}: {done.stderr}")
        text = re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout)
        for word in words:
            expect(word in text, f"{page} does not say {word}")
    # Every command once, also subcommands (ctl INSTANCE capture).
    titles = re.findall(r"^## (.*)", (built / "pinstrike.1.scd").read_text().replace("\\", ""), re.MULTILINE)
    expect("ctl capture" in titles and "bench stages" in titles, f"sections: {titles}")
    for title in titles:
        words = title.split()
        expect(titles.count(title) == 1 and len(set(words)) == len(words), f"there is no command {title}")
    # Every key of the table has a paragraph.
    keys = [one["name"] for one in json.loads(run(pinstrike, "explain", "--json").stdout)
            if one["kind"] == "key"]
    source = (built / "pinstrike.yaml.5.scd").read_text().replace("\\", "")
    expect(len(keys) > 60, f"the table has {len(keys)} keys")
    for key in keys:
        expect(f"*{key}*\n" in source, f"no paragraph of {key}")


def completed(built, pinstrike, *words):
    script = ('source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pinstrike; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    path = f"{pinstrike.parent}:{os.environ['PATH']}"
    done = run("bash", "-c", script, built / "pinstrike", *words,
               env={**os.environ, "PATH": path})
    expect(done.returncode == 0 and done.stderr == "", done.stderr)
    return done.stdout.split()


def check_completions(built, pinstrike):
    for words, wanted in ((["pinstrike", "ch"], ["chain", "check"]),
                          (["pinstrike", "bench", ""], ["actor", "stages", "state", "stream"]),
                          (["pinstrike", "check", "--hu"], ["--hugepages"]),
                          (["pinstrike", "generate", "--shape", ""], ["blend", "full", "ordinary"]),
                          (["pinstrike", "ctl", "opra", "capture", "--o"], ["--out"]),
                          (["pinstrike", "explain", "ports.pc"], ["ports.pci"]),
                          (["pinstrike", "explain", "PinstrikeRingN"], ["PinstrikeRingNearlyFull"]),
                          (["pinstrike", "explain", "gap_d"], ["gap_declared"]),
                          (["pinstrike", "explain", "--j"], ["--json"]),
                          (["pinstrike", "run", "/et"], [])):
        got = completed(built, pinstrike, *words)
        expect(got == wanted, f"{words} is completed to {got}, not {wanted}")
    # The completions are exactly the options that each command's help lists.
    commands = completed(built, pinstrike, "pinstrike", "")
    printed = run(pinstrike, "--help").stdout.split("Subcommands:\n")[1].split("\n\n")[0]
    expect(commands == [line.split()[0] for line in printed.splitlines()], f"commands: {commands}")
    for command in commands:
        printed = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", run(pinstrike, command, "--help").stdout,
                              re.MULTILINE))
        offered = completed(built, pinstrike, "pinstrike", command, "--")
        expect("--help" in printed and printed <= set(offered),
               f"{command}: {sorted(printed - set(offered))} are not offered")


def check_in_zsh(built, pinstrike):
    """An interactive zsh completes, at the first key and at later ones."""
    need("zsh")
    with tempfile.TemporaryDirectory() as name, ZshSession(Path(name), built, pinstrike) as zsh:
        for typed, completed_to in (("pinstrike supp", "support-bundle "),
                                    ("pinstrike ctl opra capture --o", "--out "),
                                    ("pinstrike explain PinstrikeRingN", "PinstrikeRingNearlyFull ")):
            zsh.type(typed + "\t")
            zsh.wait_for(completed_to)
            zsh.type("\x15")  # clears the line


class ZshSession:
    def __init__(self, folder, built, pinstrike):
        # As installed, except bash's folder.
        text = (built / "_pinstrike").read_text()
        text = re.sub(r"source \S+/pinstrike", f"source {built / 'pinstrike'}", text)
        (folder / "_pinstrike").write_text(text)
        (folder / ".zshrc").write_text(f"PS1='ready> '; PATH={pinstrike.parent}:$PATH; fpath=({folder} $fpath);"
                                       " autoload -U compinit; compinit -u -D\n")
        self.folder, self.seen = folder, ""

    def __enter__(self):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execvpe("zsh", ["zsh", "-i"], {**os.environ, "ZDOTDIR": str(self.folder), "TERM": "dumb"})
        self.wait_for("ready> ")
        return self

    def __exit__(self, *_):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def wait_for(self, text):
        """Seen from here on: what was typed is echoed as well, and is never all of it."""
        end = time.monotonic() + 60
        while text not in self.seen:
            ready = select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]
            expect(ready, f"zsh never says {text!r}: {self.seen!r}")
            self.seen += os.read(self.terminal, 65536).decode(errors="replace")
        self.seen = ""


PARTS = {"units": check_units, "pages": check_pages, "completions": check_completions,
         "zsh": check_in_zsh}

if __name__ == "__main__":
    PARTS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]).resolve())
