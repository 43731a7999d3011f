#!/usr/bin/env python3
"""Other libraries take the package's tables, the examples run, and the type stubs are right.

    libraries_test.py PROGRAM EXAMPLES      by a Python that has the package and the libraries
"""

import ast
import os
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path

import duckdb
import matplotlib.colors
import matplotlib.image
import numpy as np
import pandas
import pinstrike
import polars
import pyarrow
from publishing import Publisher, eventually

# What a user's program may write, with the types that he expects.
PROGRAM = """
import numpy as np
import pinstrike

def on_quote(quote: pinstrike.Quote) -> None:
    print(quote.root, quote.bid + 1.0, quote.bid_size + 1)

feed: pinstrike.Feed = pinstrike.open("demo")
chain: pinstrike.Table = feed.chain("SPY", "QQQ", expiration="2026-12-18", strikes=(1, 2.5), prices="exact")
for batch in feed.stream(underlyings=["SPY"], right="C"):
    print(batch.quotes["bid"], len(batch.gaps), batch.snapshot is None)
calls: pinstrike.CallbackStream = feed.stream("SPY", on_quote=on_quote, restart_wait=1.0)
calls.start().join()
state: pinstrike.State = feed.state
"""
publisher: Publisher
examples: Path


def annotation_of(dtype):
    """The type of an attribute of a message whose field in an array has this dtype."""
    kinds = {"b": "bool", "u": "int", "f": "float", "U": "str", "M": "int"}
    return f"Final[{'datetime.date | None' if dtype.str == '<M8[D]' else kinds[dtype.kind]}]"


def example(name, *arguments):
    done = subprocess.run([sys.executable, examples / name, *arguments], capture_output=True, text=True,
                          timeout=600, cwd=publisher.folder, check=False,
                          env={**os.environ, "MPLBACKEND": "agg"})
    assert done.returncode == 0, done.stderr
    return done.stdout


class Demo(unittest.TestCase):
    """As a newcomer runs the examples: while the demonstration runs."""

    def test_each_example_shows_the_demonstration(self):
        feed = publisher.demo()
        eventually(lambda: len(pinstrike.open("demo").chain("SPY")) > 100, 600)
        example("smile.py", "demo", "SPY", "demo.png")
        self.assertGreater((publisher.folder / "demo.png").stat().st_size, 10000)
        self.assertEqual(len([row for row in example("widest_spreads.py", "demo").splitlines() if "│ 20" in row]), 10)
        output = publisher.folder / "printed"
        with output.open("w") as to:
            chain = subprocess.Popen([sys.executable, "-u", examples / "chain.py", "demo", "SPY"], stdout=to,
                                     stderr=subprocess.PIPE, text=True)
        self.addCleanup(chain.kill)
        eventually(lambda: "\ntrade of " in output.read_text(), 600)
        feed.terminate()
        feed.communicate(timeout=300)
        _, errors = chain.communicate(timeout=300)
        self.assertEqual((chain.returncode, errors), (0, ""))
        printed = output.read_text().splitlines()
        self.assertGreater(sum(line.startswith("SPY 20") for line in printed), 100)
        self.assertEqual(printed[-1], "demo has ended")


class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        capture = publisher.generate("day", "--messages", "30000", "--seed", "5")
        process, _ = publisher.replay(capture, "demo")
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors
        cls.chain = pinstrike.open("demo").chain()
        cls.offered = int((~np.isnan(cls.chain["offer"])).sum())

    def test_pandas(self):
        frame = pandas.DataFrame.from_arrow(self.chain)
        self.assertEqual(list(frame["root"]), list(self.chain["root"]))
        self.assertEqual(int(frame["offer"].notna().sum()), self.offered)
        self.assertEqual(str(frame["changed"].dtype), "datetime64[ns, UTC]")

    def test_polars(self):
        frame = polars.DataFrame(self.chain.arrow)
        self.assertEqual(frame["right"].to_list(), list(self.chain["right"]))
        self.assertEqual(frame.height - frame["offer"].null_count(), self.offered)
        self.assertEqual(frame["expiration"].to_list(), list(self.chain["expiration"].astype(object)))

    def test_duckdb(self):
        chain = self.chain.arrow
        count, offered, last = duckdb.sql(
            "select count(*), count(offer), max(expiration) from chain").fetchall()[0]
        self.assertEqual((count, offered), (len(self.chain), self.offered))
        self.assertEqual(last, self.chain["expiration"].max().astype(object))

    def test_pyarrow_finds_no_mistake_in_the_columns(self):
        for table in (self.chain, self.chain[::7], self.chain[:0], self.chain[["old", "strike"]]):
            arrow = pyarrow.table(table)
            arrow.validate(full=True)
            self.assertEqual(arrow.num_rows, len(table))
            self.assertEqual(arrow["strike"].to_pylist(), list(table["strike"]))

    def test_chain_example(self):
        root = str(self.chain["root"][0])
        printed = example("chain.py", "demo", root).splitlines()
        self.assertEqual(sum(line.startswith(f"{root} 20") for line in printed), (self.chain["root"] == root).sum())
        self.assertEqual(printed[-1], "demo has ended")

    def test_smile_example(self):
        roots, counts = np.unique(self.chain["root"], return_counts=True)
        example("smile.py", "demo", str(roots[counts.argmax()]), "smile.png")
        picture = matplotlib.image.imread(publisher.folder / "smile.png")
        for colour in ("tab:blue", "tab:orange"):
            far = np.abs(picture[..., :3] - matplotlib.colors.to_rgb(colour)).max(axis=-1)
            self.assertGreater(int((far < 0.02).sum()), 100, f"no line of {colour}")

    def test_widest_spreads_example(self):
        fresh = self.chain[~self.chain["bid_stale"] & ~self.chain["offer_stale"]]
        spreads = np.sort((fresh["offer"] - fresh["bid"])[~np.isnan(fresh["offer"] - fresh["bid"])])[:-11:-1]
        rows = [row.split("│")[1:-1] for row in example("widest_spreads.py", "demo").splitlines() if "20" in row]
        self.assertEqual([f"{float(row[-1]):.2f}" for row in rows], [f"{spread:.2f}" for spread in spreads])

    def test_the_code_in_the_readme(self):
        root = str(self.chain["root"][0])
        blocks = (examples.parents[2] / "README.md").read_text().split("```python\n")[1:]
        code = next(block.split("```")[0] for block in blocks if "pinstrike.open" in block)
        names = {"pinstrike": pinstrike, "pandas": pandas}
        exec(textwrap.dedent(code).replace("SPY", root), names)
        self.assertEqual(len(names["frame"]), int(((self.chain["root"] == root) & (self.chain["right"] == "C")).sum()))

    def test_mypy_accepts_the_package_and_a_program(self):
        program = publisher.folder / "program.py"
        program.write_text(PROGRAM)
        for what in (["-p", "pinstrike"], [program]):
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", *what],
                                  capture_output=True, text=True, cwd=publisher.folder, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_stub_agrees_with_the_module(self):
        stub = ast.parse((Path(pinstrike.__file__).parent / "_pinstrike.pyi").read_text())
        classes = {entry.name: entry for entry in stub.body if isinstance(entry, ast.ClassDef)}

        def stated(name):
            """{attribute of a class and its bases: annotation}"""
            found = {}
            for base in classes[name].bases:
                found |= stated(base.id) if base.id in classes else {}
            for part in classes[name].body:
                if isinstance(part, ast.AnnAssign):
                    found[part.target.id] = ast.unparse(part.annotation)
                elif isinstance(part, ast.FunctionDef):
                    found[part.name] = "method"
            return {attribute: what for attribute, what in found.items() if not attribute.startswith("_")}

        module = vars(pinstrike._pinstrike)
        self.assertEqual({name for name in classes if not name.startswith("_")},
                         {name for name, value in module.items() if isinstance(value, type)})
        for name in classes:
            if not name.startswith("_"):
                there = {attribute for attribute in vars(module[name]) if not attribute.startswith("_")}
                if name != "Error":
                    self.assertEqual(set(stated(name)), there, name)
        for _, _, name, _, _, fields, dtypes, _, _ in pinstrike._pinstrike.message_layouts[0]:
            types = {field: annotation_of(np.dtype(dtype)) for field, dtype in zip(fields, dtypes, strict=True)
                     if field != "order"}
            self.assertEqual(stated(name), types, name)


if __name__ == "__main__":
    publisher = Publisher(sys.argv.pop(1))
    examples = Path(sys.argv.pop(1)).resolve()
    try:
        unittest.main(verbosity=2)
    finally:
        publisher.close()
