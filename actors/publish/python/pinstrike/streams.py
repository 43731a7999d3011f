"""Streams of messages: in batches, or by callbacks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypedDict, cast

import numpy as np

from . import _pinstrike
from .tables import MESSAGE_DTYPES, SERIES_DTYPES, Table, fields_text, table_of

_LAYOUTS, _EXACT_LAYOUTS = _pinstrike.message_layouts
_PLACES = {layout[0]: place for place, layout in enumerate(_LAYOUTS)}
Callback = Callable[..., object]
_MESSAGES, _TIMEOUT, _OVER = range(3)
_RESTART_WAIT_SECONDS = {"dead": 10.0, "ended": 0.0}


class Callbacks(TypedDict, total=False):
    """The functions that a stream calls."""

    on_quote: Callable[[_pinstrike.Quote], object]
    on_trade: Callable[[_pinstrike.Trade], object]
    on_open_interest: Callable[[_pinstrike.OpenInterest], object]
    on_end_of_day: Callable[[_pinstrike.EndOfDay], object]
    on_underlying: Callable[[_pinstrike.Underlying], object]
    on_text: Callable[[_pinstrike.Text], object]
    on_control: Callable[[_pinstrike.Control], object]
    on_gap: Callable[[_pinstrike.Gap], object]
    on_line_state: Callable[[_pinstrike.LineState], object]
    on_renewed: Callable[[_pinstrike.Renewed], object]
    on_missed: Callable[[_pinstrike.Missed], object]
    on_state_part: Callable[[_pinstrike.StatePart], object]
    on_restarted: Callable[[_pinstrike.Restarted], object]


def places_of(callbacks: Mapping[str, object]) -> dict[int, Callback | None]:
    """The places of the kinds that are asked for; without callbacks all."""
    if not callbacks:
        return dict.fromkeys(range(len(_PLACES)))
    places: dict[int, Callback | None] = {}
    for name, callback in callbacks.items():
        place = _PLACES.get(name.removeprefix("on_")) if name.startswith("on_") else None
        if place is None:
            raise TypeError(f"stream() has no argument {name!r}; kinds are {', '.join(_PLACES)}")
        places[place] = cast(Callback, callback)
    return places


class _Rows:
    """An attribute of a batch: the rows of one kind, which become an array when it is read."""

    def __init__(self, place: int) -> None:
        layout = _LAYOUTS[place]
        self._place = place
        self._name = layout[1]
        self.__doc__ = layout[3] + fields_text(layout, _EXACT_LAYOUTS[place])

    def __get__(self, batch: Batch | None, owner: type | None = None) -> Any:
        if batch is None:
            return self
        table = table_of(batch._batch.block(self._place),
                         MESSAGE_DTYPES[batch._exact][self._place])
        batch.__dict__[self._name] = table  # found before this attribute from now on
        return table


class Batch:
    """Messages that arrived together, as one structured array for each kind.

    Rows of one line are in its order; the field `order` has the order over all kinds. The arrays are
    read-only and may be kept.
    """

    quotes: Table
    trades: Table
    open_interest: Table
    end_of_day: Table
    underlyings: Table
    texts: Table
    controls: Table
    gaps: Table
    line_states: Table
    renewed: Table
    missed: Table
    state_parts: Table
    restarted: Table

    def __init__(self, batch: _pinstrike.Batch, exact: bool) -> None:
        self._batch = batch
        self._exact = exact
        block = batch.take_snapshot()
        self._snapshot = None if block is None else table_of(block, SERIES_DTYPES[exact])

    @property
    def snapshot(self) -> Table | None:
        """The state that was read again after all messages of this batch, as of Feed.chain().

        None: it was not. After `missed` and `renewed` it has the series of their cores, after
        `restarted` all series. A series that is not in it has no state any more. The state of a core
        with thousands of series comes in parts: while the field `more` of the last such row is true,
        another part follows with a row in `state_parts` of a later batch.
        """
        return self._snapshot

    def __len__(self) -> int:
        """Messages of all kinds."""
        return self._batch.messages

    def __repr__(self) -> str:
        return f"<pinstrike.Batch of {len(self)} messages>"


for _place, _layout in enumerate(_LAYOUTS):
    setattr(Batch, _layout[1], _Rows(_place))


class _Stream:
    """What streams of both kinds are made of."""

    def __init__(self, reader: _pinstrike.Stream, exact: bool, restart_wait: float | None) -> None:
        self._reader: _pinstrike.Stream | None = reader
        self._exact = exact
        #: As of Feed.stream(). It may be changed at any time.
        self.restart_wait = restart_wait
        self._over_since: float | None = None

    @property
    def start_time(self) -> np.datetime64:
        """The start of the feed that the stream reads, in UTC. It tells restarts apart."""
        return np.datetime64(self._opened().start_ns(), "ns")

    def close(self) -> None:
        """Ends the stream, and gives back the memory of its reader. It gets no more messages."""
        self._reader = None

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._reader is None

    def _opened(self) -> _pinstrike.Stream:
        reader = self._reader
        if reader is None:
            raise ValueError("the stream is closed")
        return reader

    def _wait(self, seconds: float) -> int:
        """Waits for messages. A feed that is over may start again for a while."""
        end = time.monotonic() + seconds
        while True:
            reader = self._reader
            if reader is None:
                return _OVER
            result = reader.wait(end - time.monotonic())
            if result != _OVER:
                self._over_since = None
                return result
            now = time.monotonic()
            if self._over_since is None:
                self._over_since = now
            wait = self.restart_wait
            if wait is None:
                wait = _RESTART_WAIT_SECONDS.get(reader.state(), 10.0)
            if now - self._over_since >= wait:
                return _OVER
            if now >= end:
                return _TIMEOUT
            time.sleep(0.02)


class BatchStream(_Stream):
    """Messages in batches. One thread at a time may use it.

    Iterating waits for messages, with Python's lock released, and ends when the feed has ended.
    Ctrl-C ends the wait.
    """

    def __init__(self, reader: _pinstrike.Stream, exact: bool, restart_wait: float | None,
                 messages_max: int) -> None:
        super().__init__(reader, exact, restart_wait)
        #: The state of the series at the start of the stream, as of Feed.chain().
        self.snapshot: Table = table_of(reader.snapshot(), SERIES_DTYPES[exact])
        if messages_max < 1:
            raise ValueError("messages_max is 1 or more")
        self._messages_max = messages_max

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        while self._wait(1e6) != _OVER:  # also of a closed stream
            batch = self.poll()
            if len(batch) > 0:
                return batch
        raise StopIteration

    def poll(self, timeout: float = 0.0) -> Batch:
        """What has arrived, after at most `timeout` seconds; a batch may have no messages."""
        if timeout > 0:
            self._wait(timeout)
        return Batch(self._opened().poll(self._messages_max), self._exact)


class CallbackStream(_Stream):
    """Calls a function for each message, by its kind.

    Either the caller's thread calls poll() or run(), or start() makes a thread that does.
    """

    def __init__(self, reader: _pinstrike.Stream, exact: bool, restart_wait: float | None,
                 callbacks: dict[int, Callback | None],
                 forget: Callable[[CallbackStream], object]) -> None:
        super().__init__(reader, exact, restart_wait)
        self._forget = forget
        self._runs = False
        self._callbacks = [callbacks.get(place) for place in range(len(_PLACES))]
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def snapshot(self) -> Table:
        """The state of the series at the start of the stream, as of Feed.chain(). In a callback of
        on_missed, on_renewed, on_state_part and on_restarted it is the state that was read again, see
        Batch.snapshot."""
        return table_of(self._opened().snapshot(), SERIES_DTYPES[self._exact])

    def poll(self, timeout: float = 0.0) -> bool:
        """Calls the callbacks for some of the messages that have arrived, at most 128.

        Waits for messages for at most `timeout` seconds. Returns whether there may be more now:
        False after a timeout or when the feed is over. A callback's exception ends the call, and the
        next call continues with the next message.
        """
        return self._wait(timeout) == _MESSAGES and self._dispatch() > 0

    def _dispatch(self) -> int:
        reader = self._reader  # another thread may close the stream
        return 0 if reader is None else reader.dispatch(self._callbacks)

    def run(self) -> None:
        """Calls the callbacks until the feed has ended, stop() is called, or a callback raises."""
        self._runs = True
        try:
            while not self._stop.is_set():
                while self._dispatch() > 0 and not self._stop.is_set():
                    pass
                if self._wait(0.1) == _OVER:
                    return
        finally:
            self._runs = False

    def start(self) -> threading.Thread:
        """Starts a thread that does run(). An exception of a callback ends it, and is reported by
        threading.excepthook."""
        if self.started:
            raise RuntimeError("the thread of this stream runs already")
        self._stop.clear()
        self._thread = threading.Thread(target=self.run, name="pinstrike stream", daemon=True)
        self._thread.start()
        return self._thread

    @property
    def started(self) -> bool:
        """Whether a thread that start() made calls the callbacks."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def running(self) -> bool:
        """Whether run() calls the callbacks, on a thread of start() or of the caller."""
        return self._runs or self.started

    def stop(self) -> None:
        """Ends run(), and waits for the thread that start() made."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def close(self) -> None:
        """Ends run(), and gives back the memory of the stream's reader. The feed polls it no more."""
        self.stop()
        super().close()
        self._forget(self)
