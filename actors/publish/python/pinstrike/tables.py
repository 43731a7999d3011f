"""Structured arrays that other libraries take as Arrow."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _pinstrike

#: The lowest 64-bit integer: an exact price or an open interest that does not exist.
NONE = -(2**63)

#: Dollars of one unit of an exact price.
PRICE_UNIT = 1e-8

_ARROW_FORMATS = {"<f8": "g", "<i8": "l", "<u8": "L", "<u4": "I", "<u2": "S", "<M8[ns]": "tsn:UTC",
                  "<M8[D]": "tdD"}


class Arrow:
    """The Arrow interface of a table and nothing else, for libraries that look for arrays first."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """As Table.__arrow_c_stream__()."""
        return self._table.__arrow_c_stream__(requested_schema)


class Table(np.ndarray[Any, np.dtype[np.void]]):
    """A numpy structured array with the Arrow interface, one row for each series or message.

    table["bid"] is a plain array of numpy. Rows and several fields (table[table["right"] == "C"],
    table[["strike", "bid"]]) are a Table again. In Arrow, NaN, NaT and NONE are null.
    """

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, Table) and found.dtype.names is None:
            return found.view(np.ndarray)
        return found

    @property
    def arrow(self) -> Arrow:
        """The same rows for polars and DuckDB, which take a Table itself for an array of numpy."""
        return Arrow(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule with a copy of the rows, for pandas, polars, pyarrow, DuckDB and others."""
        if self.dtype.names is None:
            raise TypeError("an array without fields has no columns for Arrow")
        rows = self.reshape(-1)
        return _pinstrike.arrow_stream(rows.size, [(name, *_arrow_column(rows[name])) for name in self.dtype.names])


def _arrow_column(values: NDArray[Any]) -> tuple[str, int, list[bytes | None]]:
    """Arrow's format of a column, the number of nulls, and its buffers."""
    dtype = values.dtype.str
    if values.dtype.kind == "U":  # UTF-8 with 64-bit offsets; all text is ASCII
        letters = np.ascontiguousarray(values).view(np.uint32).reshape(values.size, values.itemsize // 4)
        used = letters != 0
        offsets = np.zeros(values.size + 1, np.int64)
        used.sum(axis=1).cumsum(out=offsets[1:])
        return "U", 0, [None, offsets.tobytes(), letters[used].astype(np.uint8).tobytes()]
    if dtype == "|b1":
        return "b", 0, [None, _bits(values)]
    format_ = _ARROW_FORMATS[dtype]
    valid = values != NONE if dtype == "<i8" else values == values  # NaN and NaT are not equal to themselves
    nulls = values.size - int(np.count_nonzero(valid))
    if format_ == "tdD":
        values = values.astype(np.int64).astype(np.int32)
    return format_, nulls, [_bits(valid) if nulls else None, values.tobytes()]


def _bits(flags: NDArray[np.bool]) -> bytes:
    return np.packbits(flags, bitorder="little").tobytes()


def dtype_of(layout: _pinstrike.Layout) -> np.dtype[np.void]:
    """The dtype of a layout's rows."""
    return np.dtype({"names": layout[5], "formats": layout[6], "offsets": layout[7], "itemsize": layout[4]})


def table_of(block: _pinstrike.Block, dtype: np.dtype[np.void]) -> Table:
    """The rows of a block, which lives as long as the table."""
    rows = np.frombuffer(cast(memoryview, block), dtype) if len(block) else np.empty(0, dtype)
    return cast(Table, rows.view(Table))


def fields_text(layout: _pinstrike.Layout, exact: _pinstrike.Layout) -> str:
    """A line for each field of a layout, with its type and meaning."""
    lines = ["\n\nFields:"]
    for name, dtype, of_exact, doc in zip(layout[5], layout[6], exact[6], layout[8], strict=True):
        kind = "price" if dtype != of_exact else "text" if "U" in dtype else np.dtype(dtype).name
        lines.append(f"    {name:24}{kind:16}{doc}")
    return "\n".join(lines)


SERIES_DTYPES = [dtype_of(layout) for layout in _pinstrike.series_layouts]
MESSAGE_DTYPES = [[dtype_of(layout) for layout in layouts] for layouts in _pinstrike.message_layouts]
