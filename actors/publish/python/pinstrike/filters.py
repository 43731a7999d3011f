"""Which series a call is about."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Decimal
from typing import Literal

import numpy as np

from . import _pinstrike

Date = str | datetime.date | np.datetime64
Strike = int | float | Decimal
Prices = Literal["float", "exact"]

_NO_ID = 0xFFFFFFFF


def _date_number(date: Date) -> int:
    """A date as 20261218."""
    day = np.asarray(date, "M8[D]").item()
    if not isinstance(day, datetime.date):
        raise ValueError(f"{date!r} is not a date")
    return day.year * 10_000 + day.month * 100 + day.day


def _letter(value: str | None, letters: str, what: str) -> str:
    """The upper-case first letter of a word such as "call"; \\0: no condition."""
    if value is None:
        return "\0"
    letter = value[:1].upper()
    if not letter or letter not in letters:
        raise ValueError(f"{what} is {' or '.join(letters)}, not {value!r}")
    return letter


def _strike_e8(strike: Strike) -> int:
    return round(Decimal(str(strike)) * 10**8)


def filter_of(
    underlyings: str | Iterable[str] | None,
    expiration: Date | tuple[Date, Date] | None,
    strikes: tuple[Strike, Strike] | None,
    right: str | None,
    session: str | None,
    ids: Iterable[int] | None,
) -> _pinstrike.Filter:
    """A filter from the arguments of Feed.chain() and Feed.stream()."""
    dates = expiration if isinstance(expiration, tuple) else (expiration, expiration)
    first, last = (0 if date is None else _date_number(date) for date in dates)
    lowest, highest = (0, 0) if strikes is None else map(_strike_e8, strikes)
    return _pinstrike.Filter(
        [underlyings] if isinstance(underlyings, str) else list(underlyings or ()),
        [] if ids is None else [int(number) for number in ids] or [_NO_ID],
        first, last, lowest, highest, _letter(right, "CP", "right"), _letter(session, "RG", "session"))


def is_exact(prices: str) -> bool:
    """Whether prices are integers."""
    if prices not in ("float", "exact"):
        raise ValueError(f"prices is 'float' or 'exact', not {prices!r}")
    return prices == "exact"
