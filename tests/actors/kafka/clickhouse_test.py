#!/usr/bin/env python3
"""The statements of the example for ClickHouse, by ClickHouse itself as a library (chdb, by pip).

    clickhouse_test.py PINSTRIKE FOLDER

A table with the columns and virtual columns of the Kafka engine takes the place of it, and gets records that the
program exports, as messages with headers. FOLDER keeps the virtual environment. Skipped (77) without a package index.
"""

import csv
import re
import struct
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

CHDB = "chdb==4.4.0"
EXAMPLE = Path(__file__).resolve().parents[3] / "actors/kafka/examples/clickhouse.md"
CONFIG = """
name: clickhouse
lines: 1-2
ports: [{{name: simulator, kind: sim}}]
pollers: [{{name: poller0, wait: park}}]
cores: [{{name: core0, wait: park}}]
record: {{folder: {folder}, segment: 16MiB, free: 0B, snapshot_interval: none}}
book: {{series_capacity: 20000}}
traffic: {{lines_count: 2, roots_count: 20, series_count: 2000, rate_messages_per_second: 5000}}
"""
NAMES = ("instrument_id", "publisher_id", "action", "side", "size", "flags", "ts_in_delta", "sequence")
UNDEFINED_PRICE = 2**63 - 1
RECORDS = {"trades": (48, 0x00), "cmbp-1": (80, 0xB1), "tcbbo": (80, 0xC2)}  # bytes and type of a record


def in_environment(folder):
    """This test again, by a Python that has ClickHouse."""
    python = folder / "bin" / "python"
    if subprocess.run([sys.executable, "-m", "venv", folder], check=False).returncode != 0:
        sys.exit("FAILED: no virtual environment (Debian's package python3-venv)")
    installed = subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-compile", CHDB], check=False)
    if installed.returncode != 0:
        print(f"SKIP: pip cannot install {CHDB}")
        sys.exit(77)
    sys.exit(subprocess.run([python, __file__, *sys.argv[1:2]], check=False).returncode)


def export(pinstrike, recording, schema, form):
    out = recording.parent / f"{schema}.{form}"
    subprocess.run([pinstrike, "record", "export", recording, "--schema", schema, "--format", form, "--out", out],
                   check=True, capture_output=True)
    return out


def packed(file, size, rtype):
    """The records of a DBN file as messages of a topic have them: without metadata."""
    content = file.read_bytes()
    at = 8 + struct.unpack_from("<I", content, 4)[0]
    records = b""
    while at < len(content):
        length = content[at] * 4
        if length == size and content[at + 1] == rtype:
            records += content[at:at + length]
        at += length
    out = file.with_suffix(".bin")
    out.write_bytes(records)
    return out


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"FAILED: {what}: {found}, expected {wanted}")


def rows_of(session, statement):
    return list(csv.reader(str(session.query(statement, "CSV")).splitlines()))


def check_layouts(session, recording, pinstrike, columns):
    """Each layout reads each record at its place."""
    for schema, (size, rtype) in RECORDS.items():
        file = packed(export(pinstrike, recording, schema, "dbn"), size, rtype)
        with open(export(pinstrike, recording, schema, "csv"), encoding="utf-8") as out:
            rows = list(csv.DictReader(out))
        names = [name for name in NAMES if name in rows[0]]
        found = rows_of(session, f"SELECT {', '.join(names)}, price FROM file('{file}', 'RowBinary', "
                        f"'{columns[size]}')")
        wanted = [[row[name] for name in names] +
                  [str(int(Decimal(row["price"]).scaleb(9)) if row["price"] else UNDEFINED_PRICE)] for row in rows]
        expect(len(wanted) > 50, True, f"{len(wanted)} records of {schema}")
        expect([pair for pair in zip(found, wanted) if pair[0] != pair[1]][:3], [], f"rows of {schema}")
        expect(len(found), len(wanted), f"number of rows of {schema}")


def main(pinstrike):
    from chdb import session as chdb_session
    example = EXAMPLE.read_text(encoding="utf-8")
    blocks = re.findall(r"```sql\n(.*?)```", example, re.S)
    statements = [text.strip() for block in blocks[:2] for text in block.split(";") if text.strip()]
    columns = {48: re.search(r"\((.*?)\)\nENGINE = Kafka", statements[0], re.S)[1].strip(), 80: blocks[2].strip()}
    with tempfile.TemporaryDirectory(prefix="pinstrike-clickhouse-") as name:
        here = Path(name)
        recording = here / "recording"
        (here / "feed.yaml").write_text(CONFIG.format(folder=recording))
        subprocess.run([pinstrike, "run", here / "feed.yaml", "--for", "3s", "--no-view"], check=True,
                       capture_output=True)
        session = chdb_session.Session()
        session.query("CREATE DATABASE example ENGINE = Atomic")
        session.query("USE example")
        check_layouts(session, recording, pinstrike, columns)
        session.query(f"CREATE TABLE trades_queue ({columns[48]}, _key String, `_headers.name` Array(String), "
                      "`_headers.value` Array(String)) ENGINE = Null")
        for statement in statements[1:-1]:
            session.query(statement)
        # Messages of SPY, the last one behind 7 records that were lost, and of QQQ.
        for key, first, count, lost in (("SPY", 0, 30, 0), ("SPY", 30, 20, 0), ("SPY", 57, 25, 7), ("QQQ", 0, 10, 0)):
            session.query("INSERT INTO trades_queue SELECT *, "
                          f"'{key}', ['position', 'lost', 'missed'], ['a {first} {count}', '{lost}', '0'] FROM "
                          f"file('{here / 'trades.bin'}', 'RowBinary', '{columns[48]}') LIMIT {count}")
        expect(rows_of(session, "SELECT underlying, count() FROM trades GROUP BY underlying ORDER BY underlying"),
               [["QQQ", "10"], ["SPY", "75"]], "trades")
        expect(rows_of(session, statements[-1]), [["SPY", "7"]], "missing records")
    print("ClickHouse reads each layout, and finds the records that are missing")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        in_environment(Path(sys.argv[2]))
    main(sys.argv[1])
