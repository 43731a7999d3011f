#!/usr/bin/env python3
"""The day's list of series (series_map) as an operator uses it: generated, checked, replayed, refused.

    series_map_test.py PINSTRIKE

Announced series must not change the output of a replay, with any number of cores.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LINES = "1-4,201-204,220"
CONFIG = """\
name: mapped
lines: {lines}
ports: [{{name: capture, kind: pcap, files: [{capture}]}}]
pollers: [{{name: poll0}}]
cores: [{cores}]
when_full: wait
sharding: {sharding}
book: {{series_capacity: {capacity}}}
series_map: {series_map}
"""


def fail(what):
    sys.exit(f"FAILED: {what}")


def expect(condition, what):
    if not condition:
        fail(what)


class Scene:
    def __init__(self, pinstrike, folder):
        self.pinstrike, self.folder = pinstrike, folder
        self.capture, self.map = folder / "day.pcap", folder / "series.csv"
        self.run(0, "generate", "--out", self.capture, "--series-map", self.map, "--messages",
                 "60000", "--series", "6000", "--roots", "80", "--lines", LINES, "--restarts", "1",
                 "--loss-a", "0.02", "--loss-b", "0.02", "--test-symbols", "0.01", "--maps", "200")
        self.rows = self.map.read_text().splitlines()[1:]

    def run(self, status, *arguments):
        done = subprocess.run([self.pinstrike, *map(str, arguments)], capture_output=True,
                              text=True, timeout=120, check=False)
        expect(done.returncode == status,
               f"{arguments} ended with {done.returncode}, not {status}: {done.stderr}")
        return done

    def config(self, series_map, cores=1, capacity=20000, sharding="series"):
        path = self.folder / "feed.yaml"
        names = ", ".join(f"{{name: core{i}, wait: park}}" for i in range(cores))
        path.write_text(CONFIG.format(lines=LINES, capture=self.capture, cores=names,
                                      capacity=capacity, sharding=sharding, series_map=series_map))
        return path

    def replay(self, *how, **more):
        book, account = self.folder / "book.json", self.folder / "account.json"
        done = self.run(0, "replay", self.capture, "--config", self.config(*how, **more), "--book",
                        book, "--account", account)
        series = sum(core["series"] for core in json.loads(account.read_text())["cores"])
        return book.read_bytes(), series, done.stderr


def says_the_same(scene):
    plain, series, _ = scene.replay("none")
    expect(series > 1000, f"only {series} series were heard")
    for cores, sharding in ((1, "series"), (3, "series"), (2, "underlying")):
        book, mapped, text = scene.replay(scene.map, cores=cores, sharding=sharding)
        expect(book == plain, f"{cores} cores by {sharding}: another book with the series known")
        expect(mapped == series, f"{cores} cores: {mapped} series in the account, not {series}")
        announced = re.search(r"series .*: (\d+) announced, capacity 20000", text)
        expect(announced and int(announced[1]) > series, f"what was announced is not reported: {text}")
        each = [int(count) for count in re.findall(r"series core\d +(\d+) announced", text)]
        expect(len(each) == cores and sum(each) == int(announced[1]), f"cores: {text}")
    gth = sum(1 for row in scene.rows if row.split(",")[4] >= "201")
    expect(gth > 100 and len(scene.rows) > 6000, f"{gth} GTH rows of {len(scene.rows)}")


def malformed_rows(scene):
    """Malformed rows: the first ones are reported with their place, and no other row is lost."""
    good = scene.run(0, "check", scene.config(scene.map)).stdout
    malformed = scene.folder / "malformed.csv"
    malformed.write_text("".join(f"{row}\nSPY;A1626;;100\n" for row in scene.rows))
    plain, _, _ = scene.replay("none")
    book, _, text = scene.replay(malformed)
    expect(book == plain, "malformed rows: another book")
    expect(f"{malformed}:2: found 1 fields, expected 6" in text, f"malformed rows are not reported: {text}")
    remarks = sum("fields, expected 6" in line for line in text.splitlines())
    expect(remarks < 40, f"{remarks} remarks")
    expect(f"{len(scene.rows)} rows, not readable" in text, f"malformed rows uncounted: {text}")
    counts = r"(\d+) announced, capacity"
    checked = scene.run(0, "check", scene.config(malformed)).stdout
    expect(re.findall(counts, checked) == re.findall(counts, good), "malformed rows cost others")


def refused(scene):
    """`check` and the start refuse it alike, at the key's place; `check --config-only` does not."""
    empty = scene.folder / "empty.csv"
    empty.write_text("Symbol,Expiration\n")
    for series_map, capacity, what in ((scene.map, 5000, r"found \d+ series in .*, expected at most "
                                        r"5000: book.series_capacity"),
                                       (empty, 20000, "found no series in"),
                                       (scene.folder / "absent.csv", 20000, "cannot be read")):
        config = scene.config(series_map, capacity=capacity)
        wanted = f"{re.escape(str(config))}:9:13: series_map: .*{what}"
        for command in ("check", "run"):
            text = scene.run(78, command, config).stderr
            expect(re.search(wanted, text), f"{command}: not reported: {what}: {text}")
        text = scene.run(78, "replay", scene.capture, "--config", config).stderr
        expect(re.search(wanted, text), f"replay: not reported: {what}: {text}")
        scene.run(0, "check", "--config-only", config)


def newest_of_a_folder(scene):
    folder = scene.folder / "maps"
    folder.mkdir()
    (folder / "OPRASymbolMapping_20260315_230000.csv").write_text("nothing good\n")
    newest = folder / "OPRASymbolMapping_20260315_233000.csv"
    newest.write_bytes(scene.map.read_bytes())
    text = scene.run(0, "check", scene.config(folder)).stdout
    expect(f"# series {newest}: " in text, f"not the newest file: {text}")


def alone(scene):
    """`generate` writes the list without any packets."""
    again = scene.folder / "again.csv"
    scene.run(0, "generate", "--series-map", again, "--series", "500", "--roots", "20", "--lines",
              "1-2")
    rows = again.read_text().splitlines()
    expect(len(rows) > 500 and all(row.split(",")[4] in "12" for row in rows[1:]), "no list alone")
    scene.run(1, "generate", "--series-map", scene.folder / "nowhere" / "x.csv", "--series", "10")
    scene.run(2, "generate", "--series", "10")


def main():
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(sys.argv[1], Path(folder))
        for check in (says_the_same, malformed_rows, refused, newest_of_a_folder, alone):
            check(scene)
            print(f"{check.__name__}: right")


main()
