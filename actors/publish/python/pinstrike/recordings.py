"""Recordings: what a feed wrote to disk, as tables."""

from __future__ import annotations

import datetime
import json
import struct
import subprocess
import tempfile
import zoneinfo
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from ._pinstrike import Error
from .filters import Prices, is_exact
from .tables import NONE, Table

Moment = str | datetime.datetime | np.datetime64

_NEW_YORK = zoneinfo.ZoneInfo("America/New_York")
_UNDEFINED_TIME = 2**64 - 1
_UNDEFINED_PRICE = 2**63 - 1
_EXACT = 10  # DBN's prices have nine decimals, PRICE_UNIT has eight
_SERIES: list[tuple[str, str]] = [("symbol", "U21"), ("root", "U6"), ("expiration", "M8[D]"), ("right", "U1")]


class Recording:
    """A recording, read by the program's command `record export`."""

    def __init__(self, folder: str | Path, program: str | Path = "pinstrike") -> None:
        self._folder, self._program = Path(folder), str(program)

    def __repr__(self) -> str:
        return f"<pinstrike.Recording {str(self._folder)!r}>"

    def query(
        self,
        underlyings: str | Iterable[str] | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        schema: str = "cmbp-1",
        *,
        prices: Prices = "float",
        rows_max: int = 65536,
    ) -> Iterator[Table]:
        """The records of a schema, in tables of at most rows_max rows, by the times of the records.

            for table in pinstrike.recording("record").query(["SPY"], schema="trades"):
                table["price"], table["symbol"]

            tables = map(pyarrow.table, query)                # or pandas.DataFrame.from_arrow

        underlyings   OPRA's roots ("SPX", "SPXW"); None: all
        start, end    the first moment, and the one behind the last: "2026-11-25T14:30" in New York time,
                      with Z behind it or as numpy.datetime64 in UTC, or a datetime with a time zone
        schema        cmbp-1, cbbo-1s, cbbo-1m, tcbbo, trades, mbp-1, tbbo, ohlcv-1s, ohlcv-1m, ohlcv-1h,
                      definition or statistics; its fields are those of DBN, and the series
        prices        "float": dollars, NaN: none; "exact": units of PRICE_UNIT dollars, NONE: none

        The program begins with the last snapshot before the start, except for cbbo and definition, which
        need the recording from its beginning, and keeps the records in a temporary file until the first
        table. Raises pinstrike.Error if it fails, behind the last table if a part of the
        recording is damaged, and ValueError for a wrong argument.
        """
        exact = is_exact(prices)
        layout = json.loads(self._run("--schema", schema, "--columns"))
        roots = [underlyings] if isinstance(underlyings, str) else list(underlyings or [])
        options = ["--underlyings", ",".join(roots)] if roots else []
        for option, moment in (("--from", start), ("--to", end)):
            if moment is not None:
                options += [option, _text_of(_ns_of(moment))]
        return self._tables(["--schema", schema, "--out", "-", *options], layout, exact, rows_max)

    def _command(self, *options: str) -> list[str]:
        return [self._program, "record", "export", str(self._folder), *options]

    def _run(self, *options: str) -> str:
        try:
            done = subprocess.run(self._command(*options), capture_output=True, text=True, check=False)
        except OSError as failure:
            raise Error(f"{self._program}: {failure.strerror}") from failure
        if done.returncode == 2:
            raise ValueError(done.stderr.strip())
        if done.returncode != 0:
            raise Error(done.stderr.strip())
        return done.stdout

    def _tables(self, options: list[str], layout: dict[str, Any], exact: bool, rows_max: int) -> Iterator[Table]:
        columns = layout["columns"]
        source = np.dtype({"names": [column["name"] for column in columns],
                           "formats": [_source_format(column) for column in columns],
                           "offsets": [column["offset"] for column in columns], "itemsize": layout["bytes"]})
        with tempfile.TemporaryFile() as said, subprocess.Popen(
                self._command(*options), stdout=subprocess.PIPE, stderr=said) as process:
            try:
                output = cast(IO[bytes], process.stdout)
                series = _series_of(_metadata(output), exact)
                while data := output.read(rows_max * source.itemsize):
                    records = np.frombuffer(data[:len(data) // source.itemsize * source.itemsize], source)
                    if records.size:
                        yield _table(records, columns, series, exact)
                if process.wait() != 0:
                    said.seek(0)
                    raise Error(said.read().decode(errors="replace").strip() or "record export failed")
            finally:
                process.kill()


def recording(folder: str | Path, program: str | Path = "pinstrike") -> Recording:
    """A recording by its folder. `program`: the command pinstrike, by default that of the PATH."""
    return Recording(folder, program)


def _text_of(ns: int) -> str:
    """A moment as the program takes it."""
    return f"{np.datetime64(ns, 'ns')}Z"


def _ns_of(moment: Moment) -> int:
    """Nanoseconds since 1970 in UTC."""
    if isinstance(moment, datetime.datetime):
        if moment.tzinfo is None:
            raise ValueError(f"{moment!r}: expected a time zone")
        since = moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
        return (since.days * 86400 + since.seconds) * 10**9 + since.microseconds * 1000
    local = isinstance(moment, str) and not moment.endswith("Z")
    try:
        value = np.datetime64(moment.removesuffix("Z")) if isinstance(moment, str) else moment
        ns = int(value.astype("M8[ns]").astype(np.int64))
    except ValueError as failure:
        raise ValueError(f"{moment!r}: expected a moment such as 2026-11-25T14:30") from failure
    if not local:
        return ns
    wall = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=ns // 10**9)
    offset = wall.replace(tzinfo=_NEW_YORK).utcoffset() or datetime.timedelta()
    return ns - int(offset.total_seconds()) * 10**9


def _source_format(column: dict[str, Any]) -> str:
    """The format of a field as it lies in a record."""
    kind, size = column["kind"], column["bytes"]
    if kind in ("letter", "text"):
        return f"S{size}"
    signed = kind in ("price", "difference", "difference_or_none")
    return f"<{'i' if signed else 'u'}{size}"


def _table_format(column: dict[str, Any], exact: bool) -> str:
    kind, size = column["kind"], column["bytes"]
    if kind in ("letter", "text"):
        return f"U{size}"
    if kind == "number":
        return "<u8" if size == 8 else "<u4"
    return {"time": "M8[ns]", "price": "<i8" if exact else "<f8"}.get(kind, "<i8")


def _metadata(output: IO[bytes]) -> bytes:
    """The metadata of DBN; nothing if the program wrote none."""
    head = output.read(8)
    if len(head) < 8 or head[:4] != b"DBN\3":
        return b""
    return head + output.read(struct.unpack_from("<I", head, 4)[0])


def _series_of(metadata: bytes, exact: bool) -> NDArray[np.void]:
    """The series of each instrument id."""
    fields = [*_SERIES, ("strike", "<i8" if exact else "<f8")]
    symbols = dict(_symbols_of(metadata)) if metadata else {}
    table = np.zeros(max(symbols, default=0) + 1, fields)
    for number, symbol in symbols.items():  # an OSI symbol: root, yymmdd, right, thousandths of dollars
        thousandths = int(symbol[13:21])
        strike = thousandths * 10**5 if exact else thousandths / 1000
        date = f"20{symbol[6:8]}-{symbol[8:10]}-{symbol[10:12]}"
        table[number] = (symbol, symbol[:6].rstrip(), date, symbol[12], strike)
    return table


def _symbols_of(metadata: bytes) -> Iterator[tuple[int, str]]:
    size = struct.unpack_from("<H", metadata, 53)[0]
    at = 108

    def number() -> int:
        nonlocal at
        at += 4
        return int(struct.unpack_from("<I", metadata, at - 4)[0])

    def text() -> str:
        nonlocal at
        at += size
        return metadata[at - size:at].split(b"\0")[0].decode()

    for item_bytes in (1, size, size, size):  # the schema definition; symbols, those found in part or not
        count = number()
        at += count * item_bytes
    for _ in range(number()):
        symbol = text()
        for _ in range(number()):
            at += 8  # the days
            yield int(text()), symbol


def _table(records: NDArray[np.void], columns: list[dict[str, Any]], series: NDArray[np.void], exact: bool) -> Table:
    of_records = series[records["instrument_id"]]
    own = {column["name"] for column in columns}  # definition has an expiration of its own
    formats = [(name, series.dtype[name]) for name in series.dtype.names or () if name not in own]
    table = np.empty(records.size, formats + [(column["name"], np.dtype(_table_format(column, exact)))
                                              for column in columns])
    for name, _ in formats:
        table[name] = of_records[name]
    for column in columns:
        table[column["name"]] = _values(records[column["name"]], column, exact)
    return cast(Table, table.view(Table))


def _values(values: NDArray[Any], column: dict[str, Any], exact: bool) -> NDArray[Any]:
    kind = column["kind"]
    if kind == "time":
        return np.where(values == _UNDEFINED_TIME, np.uint64(2**63), values).view("M8[ns]")  # 2**63: NaT
    if kind == "price":
        absent = values == _UNDEFINED_PRICE
        return np.where(absent, NONE, values // _EXACT) if exact else np.where(absent, np.nan, values / 1e9)
    if kind in ("letter", "text"):
        return np.char.rstrip(values.astype(f"U{column['bytes']}"))
    if kind.endswith("_or_none"):
        highest = 2 ** (8 * column["bytes"] - (kind == "difference_or_none")) - 1
        return np.where(values == highest, NONE, values.astype(np.int64))
    return values
