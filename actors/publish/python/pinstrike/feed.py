"""A feed that is published on this host."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterable
from typing import Literal, TypedDict, Unpack, cast, overload

import numpy as np

from . import _pinstrike
from .filters import Date, Prices, Strike, filter_of, is_exact
from .streams import BatchStream, Callbacks, CallbackStream, places_of
from .tables import SERIES_DTYPES, Table, fields_text, table_of

State = Literal["live", "starting", "stuck", "dead", "ended"]

_MESSAGES_MAX = 2048


class Series(TypedDict, total=False):
    """The arguments that choose series, and the form of their prices."""

    expiration: Date | tuple[Date, Date] | None
    strikes: tuple[Strike, Strike] | None
    right: str | None
    session: str | None
    ids: Iterable[int] | None
    prices: Prices


class SeriesAndCallbacks(Series, Callbacks, total=False):
    """The arguments of a stream with callbacks."""



class Feed:
    """A feed, attached by its name. Any thread may use it.

    Raises pinstrike.Error if no feed has this name, if this user may not read it, or if its memory
    is damaged or has another layout.
    """

    def __init__(self, name: str) -> None:
        self._feed = _pinstrike.Feed(name)
        self._name = name
        self._streams: list[CallbackStream] = []

    def __repr__(self) -> str:
        return f"<pinstrike.Feed {self.name!r}, {self.state}>"

    @property
    def name(self) -> str:
        """The name by which the feed is published."""
        return self._name

    @property
    def state(self) -> State:
        """What can be said of the feed now.

        live      values are current
        starting  the feed does not yet read the market
        stuck     a core gave no sign of life for a second
        dead      the program is gone without an end
        ended     the feed was stopped

        Values stay readable in each of them. A call of chain() attaches to another start of a feed
        that is dead or has ended.
        """
        return cast(State, self._feed.state())

    @property
    def start_time(self) -> np.datetime64:
        """The start of the feed that this object is attached to, in UTC. It tells restarts apart."""
        return np.datetime64(self._feed.start_ns(), "ns")

    @property
    def trade_date(self) -> np.datetime64 | None:
        """The date of the feed's trade day; None: a replay, because captures do not state it."""
        date = str(self._feed.trade_date())
        return np.datetime64(f"{date[:4]}-{date[4:6]}-{date[6:]}", "D") if len(date) == 8 else None

    def chain(
        self,
        *underlyings: str,
        expiration: Date | tuple[Date, Date] | None = None,
        strikes: tuple[Strike, Strike] | None = None,
        right: str | None = None,
        session: str | None = None,
        ids: Iterable[int] | None = None,
        prices: Prices = "float",
    ) -> Table:
        """The state of series now, one row each, by root, expiration, strike, right and session.

        Listed are the series with a message since the start of day. Without a condition: all.

        underlyings   OPRA's roots ("SPX", "SPXW")
        expiration    a date ("2026-12-18", datetime.date), or first and last date
        strikes       lowest and highest strike price in dollars, inclusive
        right         "C" or "P"
        session       "R": regular, "G": overnight (GTH)
        ids           places in the day's list of series (field `id`)
        prices        "float": dollars, NaN: none; "exact": units of PRICE_UNIT dollars, NONE: none

        Raises pinstrike.Error if the memory is damaged, ValueError for a wrong argument.
        """
        exact = is_exact(prices)
        chosen = filter_of(underlyings, expiration, strikes, right, session, ids)
        return table_of(self._feed.chain(chosen, exact), SERIES_DTYPES[exact])

    @overload
    def stream(
        self,
        underlyings: str | Iterable[str] | None = None,
        *,
        messages_max: int = _MESSAGES_MAX,
        restart_wait: float | None = None,
        **series: Unpack[Series],
    ) -> BatchStream: ...

    @overload
    def stream(
        self,
        underlyings: str | Iterable[str] | None = None,
        *,
        restart_wait: float | None = None,
        **options: Unpack[SeriesAndCallbacks],
    ) -> CallbackStream: ...

    def stream(
        self,
        underlyings: str | Iterable[str] | None = None,
        *,
        expiration: Date | tuple[Date, Date] | None = None,
        strikes: tuple[Strike, Strike] | None = None,
        right: str | None = None,
        session: str | None = None,
        ids: Iterable[int] | None = None,
        prices: Prices = "float",
        messages_max: int = _MESSAGES_MAX,
        restart_wait: float | None = None,
        **callbacks: Unpack[Callbacks],
    ) -> BatchStream | CallbackStream:
        """The state of series, and then each later message of them, each once.

        The series are chosen as by chain(). Messages of lines (gaps, controls) come too, each once.

            for batch in feed.stream("SPY"): ...          # arrays, see Batch

            feed.stream("SPY", on_quote=f, on_gap=g)      # calls f(Quote) and g(Gap)
            while feed.state not in ("ended", "dead"):
                feed.poll(timeout=1)                      # on this thread,
            stream.start()                                # or on one of the stream's own

        A stream with callbacks lives as long as this object, or until its close().

        messages_max  most messages of a batch; arrays of a few hundred KiB stay in the cache
        restart_wait  seconds to wait for another start when the feed is over, before the stream
                      ends; None: 0 if it ended, 10 if it died
        on_KIND       called with a message: on_quote, on_trade, on_open_interest, on_end_of_day,
                      on_underlying, on_text, on_control, on_gap, on_line_state, on_renewed,
                      on_missed, on_state_part, on_restarted

        Raises pinstrike.Error if the feed publishes no stream, ValueError for a wrong argument.
        """
        exact = is_exact(prices)
        chosen = filter_of(underlyings, expiration, strikes, right, session, ids)
        places = places_of(callbacks)
        reader = _pinstrike.Stream(self.name, chosen, exact, sum(1 << place for place in places))
        if not callbacks:
            return BatchStream(reader, exact, restart_wait, messages_max)
        stream = CallbackStream(reader, exact, restart_wait, places, self._forget)
        self._streams.append(stream)
        return stream

    def _forget(self, stream: CallbackStream) -> None:
        with contextlib.suppress(ValueError):  # it was closed before
            self._streams.remove(stream)

    def poll(self, timeout: float = 0.0) -> bool:
        """Calls the callbacks of the streams of this object that do not run, as CallbackStream.poll().

        Waits for messages for at most `timeout` seconds. Returns whether there may be more: False
        after a timeout, or when the feed is over (see `state`).
        """
        more = False
        streams = [stream for stream in self._streams if not stream.running]
        for stream in streams:
            more = stream.poll(0 if more else timeout / len(streams)) or more
        return more


def open(name: str) -> Feed:
    """Attaches to a feed by its name. Raises pinstrike.Error."""
    return Feed(name)


def feeds() -> list[str]:
    """The names of the feeds that are published on this host, also of those that have ended."""
    return _pinstrike.feed_names()



Feed.chain.__doc__ = inspect.cleandoc(Feed.chain.__doc__ or "") + fields_text(*_pinstrike.series_layouts)
