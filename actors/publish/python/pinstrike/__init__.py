"""Market data that a Pinstrike feed publishes on this host: state now, and every message.

    import pinstrike

    feed = pinstrike.open("demo")
    chain = feed.chain("SPY", right="C")        # a numpy structured array
    mid = (chain["bid"] + chain["offer"]) / 2   # NaN: a side has no quote

    pandas.DataFrame.from_arrow(chain)          # takes it in one line
    rows = chain.arrow                          # for libraries that look for arrays of numbers first
    polars.DataFrame(rows), duckdb.sql("from rows")

    for batch in feed.stream("SPY"):            # ends when the feed ends
        print(batch.quotes["best_bid"], len(batch.trades), batch.gaps)

    for table in pinstrike.recording("record").query("SPY", schema="trades"):   # from disk
        print(table["price"], table["symbol"])

Prices are float64 in dollars, or with prices="exact" integers in units of PRICE_UNIT dollars. A price
that does not exist is NaN, or NONE. Times are datetime64[ns] in UTC, from OPRA or from the clock of
the feed's host. help(pinstrike.Feed.chain) and help(pinstrike.Quote) list the fields with their units.

Nothing here slows the feed down. A program that is too slow misses messages and learns which
(batch.missed).
"""

from ._pinstrike import (
    Control,
    EndOfDay,
    Error,
    Gap,
    LineState,
    Missed,
    OpenInterest,
    Quote,
    Renewed,
    Restarted,
    StatePart,
    Text,
    Trade,
    Underlying,
)
from .feed import Feed, State, feeds, open
from .recordings import Recording, recording
from .streams import Batch, BatchStream, CallbackStream
from .tables import NONE, PRICE_UNIT, Table

__all__ = [
    "NONE",
    "PRICE_UNIT",
    "Batch",
    "BatchStream",
    "CallbackStream",
    "Control",
    "EndOfDay",
    "Error",
    "Feed",
    "Gap",
    "LineState",
    "Missed",
    "OpenInterest",
    "Quote",
    "Recording",
    "Renewed",
    "Restarted",
    "State",
    "StatePart",
    "Table",
    "Text",
    "Trade",
    "Underlying",
    "feeds",
    "open",
    "recording",
]
