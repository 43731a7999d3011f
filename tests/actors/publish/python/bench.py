#!/usr/bin/env python3
"""Measures the package beside the C reader: bench.py PINSTRIKE LIBPINSTRIKE [--picture FILE] [--json]

A feed publishes simulated traffic. For each figure it runs until it has published many messages and is then stopped
(SIGSTOP), and a reader takes them. A rate is messages of the whole market by the CPU time of the reader's thread, the
median of several turns. Chains are read while the feed runs. The picture needs matplotlib.
"""

import argparse
import ctypes
import json
import signal
import statistics
import sys
import time

import numpy as np
import pinstrike
from publishing import Publisher, eventually

CONFIG = """\
name: bench
lines: 1-4
ports: [{name: simulator, kind: sim}]
pollers: [{name: poller0, wait: park}]
cores: [{name: core0, wait: park}]
publish: {memory: shm, stream: on, stream_records: 1048576}
book: {series_capacity: 100000}
traffic: {shape: full, lines_count: 4, roots_count: 20, series_count: 40000, rate_messages_per_second: 2000000}
"""
TURN_SECONDS = 0.3
TURNS = 5
BATCHES = (16, 64, 256, 1024, 4096, 16384, 65536)
CHAIN_SERIES = 5000
RECORD_BYTES = 512  # more than a record or a value has


class CFilter(ctypes.Structure):
    """The first fields of pinstrike_filter."""

    _fields_ = [("roots", ctypes.POINTER(ctypes.c_char_p)), ("roots_count", ctypes.c_size_t),
                ("others", ctypes.c_char * 256)]


class CReader:
    """The C library, called through ctypes."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.pinstrike_open.restype = self.library.pinstrike_subscribe.restype = ctypes.c_void_p
        self.library.pinstrike_poll.restype = self.library.pinstrike_chain.restype = ctypes.c_ssize_t
        self.feed = ctypes.c_void_p(self.library.pinstrike_open(b"bench"))

    def stream(self, batch):
        stream = ctypes.c_void_p(self.library.pinstrike_subscribe(self.feed, ctypes.byref(CFilter())))
        memory = ctypes.create_string_buffer(batch * RECORD_BYTES)
        return lambda: self.library.pinstrike_poll(stream, memory, ctypes.c_size_t(batch))

    def chain(self, roots):
        names = (ctypes.c_char_p * len(roots))(*[root.encode() for root in roots])
        count = 2 * CHAIN_SERIES
        memory, only = ctypes.create_string_buffer(count * RECORD_BYTES), CFilter(names, len(roots))
        return lambda: self.library.pinstrike_chain(self.feed, ctypes.byref(only), memory, ctypes.c_size_t(count))


def in_batches(stream, use=len):
    def read():
        batch = stream.poll()
        use(batch)
        return len(batch)
    return read


def spreads(batch):
    return (batch.quotes["offer"] - batch.quotes["bid"]).sum()


class Bench:
    def __init__(self, process, feed):
        self.process, self.feed = process, feed

    def published(self):
        chain = self.feed.chain()
        return int(chain["quotes"].sum()) + int(chain["trades"].sum())

    def rate(self, make):
        """Messages a second that a reader takes from a stream. make() returns a function that takes some of them, and
        returns 0 if it took none."""
        rates = []
        for _ in range(TURNS):
            read = make()
            while read():
                pass
            before = self.published()
            self.process.send_signal(signal.SIGCONT)
            time.sleep(TURN_SECONDS)
            self.process.send_signal(signal.SIGSTOP)
            time.sleep(0.02)
            messages, begin = self.published() - before, time.thread_time()
            while read():
                pass
            rates.append(messages / (time.thread_time() - begin))
        return statistics.median(rates)

    def curve(self, make):
        return [self.rate(lambda: make(batch)) for batch in BATCHES]  # noqa: B023

    def chain_ms(self, read):
        """The CPU time of one chain while the feed runs."""
        self.process.send_signal(signal.SIGCONT)
        times = []
        for _ in range(300):
            begin = time.thread_time()
            read()
            times.append((time.thread_time() - begin) * 1e3)
        return statistics.median(times)


def measure(bench, c_reader):
    stream = bench.feed.stream
    curves = {
        "C reader": bench.curve(c_reader.stream),
        "batches, exact prices": bench.curve(lambda batch: in_batches(stream(messages_max=batch, prices="exact"))),
        "batches, float64": bench.curve(lambda batch: in_batches(stream(messages_max=batch))),
        "batches, a spread of each quote": bench.curve(lambda batch: in_batches(stream(messages_max=batch), spreads)),
    }
    lines = {
        "callback for trades alone": bench.rate(lambda: stream(on_trade=lambda trade: None).poll),
        "callback for quotes": bench.rate(lambda: stream(on_quote=lambda quote: None).poll),
        "callback for quotes, reads two prices": bench.rate(
            lambda: stream(on_quote=lambda quote: quote.offer - quote.bid).poll),
    }
    return curves, lines


def print_figures(curves, lines):
    print(f"{'million messages a second; batches of':40}", *(f"{batch:6}" for batch in BATCHES), "  most, of C")
    best = max(curves["C reader"])
    for label, rates in curves.items():
        print(f"{label:40}", *(f"{rate / 1e6:6.1f}" for rate in rates), f"{max(rates) / best:10.2f}")
    for label, rate in lines.items():
        print(f"{label:40} {rate / 1e6:6.2f} {rate / best:10.2f}")


def draw(curves, lines, path):
    import matplotlib
    matplotlib.use("agg")
    from matplotlib import pyplot
    for label, rates in curves.items():
        pyplot.plot(BATCHES, [rate / 1e6 for rate in rates], "o-", label=label)
    for (label, rate), style in zip(lines.items(), ("-.", "--", ":"), strict=True):
        pyplot.axhline(rate / 1e6, color="black", linestyle=style, label=label)
    pyplot.xscale("log", base=2)
    pyplot.xlabel("messages of a batch, at most")
    pyplot.ylabel("million messages a second")
    pyplot.ylim(bottom=0)
    pyplot.title("Messages that one thread takes from a stream")
    pyplot.legend(fontsize="small")
    pyplot.grid(alpha=0.3)
    pyplot.savefig(path, dpi=120)


def chain_figures(feed, bench, c_reader):
    names, counts = np.unique(feed.chain()["root"], return_counts=True)
    roots = [str(name) for name in names[:int(np.searchsorted(counts.cumsum(), CHAIN_SERIES)) + 1]]
    return {"series": len(feed.chain(*roots)), "c_ms": bench.chain_ms(c_reader.chain(roots)),
            "python_ms": bench.chain_ms(lambda: feed.chain(*roots))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pinstrike")
    parser.add_argument("library")
    parser.add_argument("--picture", metavar="FILE", help="rate by batch, .png or .svg")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    publisher = Publisher(options.pinstrike)
    try:
        config = publisher.folder / "bench.yaml"
        config.write_text(CONFIG)
        process = publisher.start("run", config)
        feed = eventually(lambda: pinstrike.open("bench"))
        eventually(lambda: len(feed.chain()) > 4 * CHAIN_SERIES, 60)
        bench, c_reader = Bench(process, feed), CReader(options.library)
        curves, lines = measure(bench, c_reader)
        chain = chain_figures(feed, bench, c_reader)
    finally:
        publisher.close()
    if options.json:
        print(json.dumps({"batches": BATCHES, "curves": curves, "callbacks": lines, "chain": chain}))
    else:
        print_figures(curves, lines)
        print(f"a chain of {chain['series']} series: {chain['python_ms']:.2f} ms, in C {chain['c_ms']:.2f} ms")
    if options.picture:
        draw(curves, lines, options.picture)


if __name__ == "__main__":
    main()
