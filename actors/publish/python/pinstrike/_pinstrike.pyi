"""The part of the package pinstrike that reads published memory."""

import datetime
from collections.abc import Callable, Sequence
from typing import Final, final

# Name of one message, attribute of a batch, class, meaning, bytes of a row, and for each field its
# name, dtype, offset in bytes and meaning.
Layout = tuple[str, str, str, str, int, list[str], list[str], list[int], list[str]]

# With prices as float64, and exact.
message_layouts: list[list[Layout]]
series_layouts: list[Layout]

class Error(RuntimeError): ...

@final
class Block:
    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Batch:
    @property
    def messages(self) -> int: ...
    def block(self, place: int) -> Block: ...
    def take_snapshot(self) -> Block | None: ...

@final
class Filter:
    def __init__(self, roots: list[str], ids: list[int], expiration_from: int, expiration_to: int,
                 strike_from_e8: int, strike_to_e8: int, right: str, session: str) -> None: ...

@final
class Feed:
    def __init__(self, name: str) -> None: ...
    def start_ns(self) -> int: ...
    def trade_date(self) -> int: ...
    def state(self) -> str: ...
    def chain(self, filter: Filter, exact: bool) -> Block: ...

@final
class Stream:
    def __init__(self, name: str, filter: Filter, exact: bool, wanted: int) -> None: ...
    def wait(self, seconds: float) -> int: ...
    def poll(self, max: int) -> Batch: ...
    def snapshot(self) -> Block: ...
    def state(self) -> str: ...
    def start_ns(self) -> int: ...
    def dispatch(self, callbacks: list[Callable[..., object] | None]) -> int: ...

def feed_names() -> list[str]: ...
def arrow_stream(
    rows: int, columns: Sequence[tuple[str, str, int, Sequence[bytes | None]]]
) -> object: ...

# The objects of callbacks. Classes whose names begin with _ exist here only. A price is an integer if the
# stream was asked for exact prices.

class _OfCore:
    core: Final[int]

class _Message(_OfCore):
    exchange_time: Final[int]
    receive_time: Final[int]
    line: Final[int]
    sequence: Final[int]
    participant: Final[str]
    type: Final[str]
    indicator: Final[str]
    late: Final[bool]

class _OfSeries(_Message):
    id: Final[int]
    root: Final[str]
    expiration: Final[datetime.date | None]
    strike: Final[float]
    right: Final[str]
    session: Final[str]

@final
class Quote(_OfSeries):
    bid: Final[float]
    bid_size: Final[int]
    offer: Final[float]
    offer_size: Final[int]
    best_bid: Final[float]
    best_bid_size: Final[int]
    best_bid_participant: Final[str]
    best_bid_known: Final[bool]
    best_bid_stale: Final[bool]
    best_offer: Final[float]
    best_offer_size: Final[int]
    best_offer_participant: Final[str]
    best_offer_known: Final[bool]
    best_offer_stale: Final[bool]

@final
class Trade(_OfSeries):
    price: Final[float]
    size: Final[int]
    reference: Final[int]

@final
class OpenInterest(_OfSeries):
    open_interest: Final[int]

@final
class EndOfDay(_OfSeries):
    volume: Final[int]
    open_interest: Final[int]
    open: Final[float]
    high: Final[float]
    low: Final[float]
    last: Final[float]
    net_change: Final[float]
    bid: Final[float]
    offer: Final[float]
    underlying: Final[float]

@final
class Underlying(_Message):
    symbol: Final[str]
    value: Final[float]
    bid: Final[float]
    offer: Final[float]

@final
class Text(_Message):
    text: Final[str]

@final
class Control(_Message):
    forgets: Final[str]
    ends_day: Final[bool]

@final
class Gap(_Message):
    first: Final[int]
    last: Final[int]
    messages: Final[int]
    cause: Final[str]

@final
class LineState(_Message):
    state: Final[str]
    stream: Final[str]

class _OfPart(_OfCore):
    more: Final[bool]

@final
class Renewed(_OfPart): ...

@final
class Missed(_OfPart):
    first: Final[int]
    last: Final[int]

@final
class StatePart(_OfPart): ...

@final
class Restarted(_OfCore): ...
