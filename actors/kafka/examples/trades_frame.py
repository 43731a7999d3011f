"""Reads a topic of trades into a DataFrame, with the symbols of its series: trades_frame.py BROKERS [FEED [PREFIX]]

Reads what the topics have at its start, and needs confluent-kafka and pandas.
"""

import sys

import numpy as np
import pandas as pd
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

HEADER = [("length", "u1"), ("rtype", "u1"), ("publisher_id", "<u2"), ("instrument_id", "<u4"), ("ts_event", "<u8")]
TRADE = np.dtype([*HEADER, ("price", "<i8"), ("size", "<u4"), ("action", "S1"), ("side", "S1"), ("flags", "u1"),
                  ("depth", "u1"), ("ts_recv", "<u8"), ("ts_in_delta", "<i4"), ("sequence", "<u4")])
DEFINITION = np.dtype({"names": ["instrument_id", "ts_recv", "raw_symbol"], "formats": ["<u4", "<u8", "S71"],
                       "offsets": [4, 16, 238], "itemsize": 520})


def messages(brokers, topic):
    """The messages of all partitions of a topic, from the first to those that are the last now; and whether the
    partition still has its first message."""
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "trades_frame", "enable.auto.commit": False})
    partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
    ends, whole = {}, {}
    for partition in partitions:
        first, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)
        whole[partition] = first == 0
        if end > first:
            ends[partition] = end
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in ends])
    while ends:
        message = consumer.poll(10)
        if message is None:
            sys.exit(f"the brokers do not send the rest of {topic}")
        if message.error():
            sys.exit(str(message.error()))
        yield message, whole[message.partition()]
        if message.offset() + 1 >= ends.get(message.partition(), sys.maxsize):
            del ends[message.partition()]
    consumer.close()


def records(brokers, topic, layout):
    """All records of a topic as one array, and how many of them are missing: the position of a message says how many
    records of its key were made before it in the life of the producer. Those that the brokers have deleted by now are
    not missing, and a message that is in the topic twice counts once."""
    parts, following, missing = [], {}, 0
    for message, whole in messages(brokers, topic):
        headers = {name: value.decode() for name, value in message.headers()}
        life, first, count = headers["position"].split()
        key, first, count = (life, message.key()), int(first), int(count)
        expected = following.get(key, 0 if whole else first)
        if first < expected:
            continue
        missing += first - expected
        following[key] = first + count
        parts.append(np.frombuffer(message.value() or b"", layout))
    return np.concatenate(parts) if parts else np.empty(0, layout), missing


def trade_days(records):
    """A feed's ids are those of a trade date, which begins at 23:20 UTC."""
    return (records["ts_recv"].astype("i8") + 2400 * 10**9) // (86400 * 10**9)


brokers, feed, prefix = [*sys.argv[1:], *["127.0.0.1:9092", "demo", "pinstrike"][len(sys.argv) - 1:]]
trades, missing = records(brokers, f"{prefix}.{feed}.trades", TRADE)
definitions, _ = records(brokers, f"{prefix}.{feed}.definition", DEFINITION)
symbols = pd.DataFrame({"day": trade_days(definitions), "instrument_id": definitions["instrument_id"],
                        "symbol": np.char.decode(definitions["raw_symbol"])}).drop_duplicates(["day", "instrument_id"])
frame = pd.DataFrame(trades).assign(day=trade_days(trades)).merge(symbols, "left", ["day", "instrument_id"])
frame["price"] = frame["price"] / 1e9
frame["ts_event"] = pd.to_datetime(frame["ts_event"], utc=True)
frame = frame.set_index("ts_event").sort_index()
print(frame[["symbol", "publisher_id", "price", "size", "sequence"]])
print(f"{len(frame)} trades of {frame['symbol'].nunique()} series; {missing} records are missing")
