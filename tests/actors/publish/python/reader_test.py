#!/usr/bin/env python3
"""The package pinstrike reads what the program publishes.

    reader_test.py PROGRAM [SEED]      by a Python that has the package
"""

import copy
import functools
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import unittest
import weakref
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pinstrike
from publishing import Publisher, book_rows, eventually

HERE = Path(__file__).resolve().parent
NOT_COUNTED = ("A", "C", "E", "G")  # cancels
PATIENCE_SECONDS = 300  # longer than any step takes on a busy machine
LOSSY = ("--messages", "60000", "--rate", "20000", "--loss-a", "0.02", "--loss-b", "0.02", "--restarts", "1",
         "--disaster", "--seed", "5")
publisher: Publisher


def decimal(units):
    return None if units == pinstrike.NONE else Decimal(int(units)).scaleb(-8)


@functools.cache
def strike_text(units):
    return format(decimal(units).normalize(), "f")


def key_of(row):
    return (str(row["root"]), str(row["expiration"]), str(row["right"]),
            strike_text(int(row["strike"])))


def side_of(row, side):
    if not row[f"{side}_participant"]:
        return None
    return {"participant": row[f"{side}_participant"], "price": decimal(row[side]),
            "size": int(row[f"{side}_size"])}


def side_state(row, side):
    return "stale" if row[f"{side}_stale"] else "fresh" if row[f"{side}_known"] else "unknown"


def priced(side):
    return side and {"participant": side["participant"], "price": Decimal(side["price"]),
                     "size": side["size"]}


class Follower:
    """Counts the messages of a stream's series on a thread, from its snapshot on."""

    def __init__(self, name, **options):
        self.feed = pinstrike.open(name)
        self.stream = self.feed.stream(prices="exact", messages_max=random.choice([16, 512, 8192]), **options)
        self.state = {}  # of each series: core, quotes, trades, and the sides of the best that a quote made
        self.missed = self.gaps = self.timed_gaps = self.restarts = 0
        self.take(self.stream.snapshot)
        self.thread = threading.Thread(target=self.follow)
        self.thread.start()

    def take(self, snapshot):
        for row in snapshot:
            self.state[key_of(row)] = {"core": int(row["core"]), "quotes": int(row["quotes"]),
                                       "trades": int(row["trades"]), "best": {}}

    def follow(self):
        for batch in self.stream:
            self.missed += len(batch.missed)
            self.gaps += len(batch.gaps)
            self.timed_gaps += int(np.count_nonzero(~np.isnat(batch.gaps["exchange_time"])))
            self.restarts += len(batch.restarted)
            for row in batch.quotes:
                state = self.series(row)
                state["quotes"] += 1
                state["best"] = {side: side_of(row, f"best_{side}") for side in ("bid", "offer")}
            for row in batch.trades[~np.isin(batch.trades["type"], NOT_COUNTED)]:
                self.series(row)["trades"] += 1
            if batch.snapshot is not None:
                cores = {*batch.missed["core"], *batch.renewed["core"]}
                self.state = {key: state for key, state in self.state.items()
                              if not len(batch.restarted) and state["core"] not in cores}
                self.take(batch.snapshot)

    def series(self, row):
        return self.state.setdefault(key_of(row), {"core": int(row["core"]), "quotes": 0, "trades": 0, "best": {}})

    def counts(self, name):
        return Counter({key: state[name] for key, state in self.state.items()})


def messages_of(table):
    """Quotes and trades (but for cancels) of the series of a chain or a snapshot."""
    return np.array([table["quotes"].sum(), table["trades"].sum()], int)


class Truth(unittest.TestCase):
    """Against the book that the program writes, of a day with losses, resets and a restart of its source."""

    @classmethod
    def setUpClass(cls):
        cls.capture = publisher.generate("day", *LOSSY)
        process, book, give_others = publisher.replay_later(cls.capture, "day", "--pace", "real")
        cls.feed = eventually(lambda: pinstrike.open("day"))
        eventually(lambda: cls.feed.state != "starting")
        cls.followers = [Follower("day")]  # before the day begins, so it gets all gaps and quotes
        giver = threading.Thread(target=give_others)
        giver.start()
        for _ in range(3):
            time.sleep(random.uniform(0.0, 0.8))
            cls.followers.append(Follower("day"))
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        giver.join()
        assert process.returncode == 0, errors
        cls.book = book_rows(book)
        for follower in cls.followers:
            follower.thread.join(PATIENCE_SECONDS)

    def counts(self, name):
        return Counter({key: row[name] for key, row in self.book.items()})

    def test_chain_is_the_book(self):
        for follower in self.followers:
            self.assertEqual(follower.feed.state, "ended")
            self.expect_book(follower.feed.chain(prices="exact"))

    def expect_book(self, chain):
        self.assertGreater(len(chain), 500)
        self.assertEqual(sorted(map(key_of, chain)), sorted(self.book))
        for row in chain:
            truth = self.book[key_of(row)]
            for side in ("bid", "offer"):
                self.assertEqual(side_of(row, side), priced(truth[f"best_{side}"]), truth)
                self.assertEqual(side_state(row, side), truth[f"{side}_state"], truth)
            for name in ("open", "high", "low"):
                self.assertEqual(decimal(row[name]), truth[name] and Decimal(truth[name]), truth)
            last = truth["last"] and Decimal(truth["last"]["price"])
            self.assertEqual(decimal(row["last"]), last, truth)
            for name in ("volume", "trades", "quotes", "line"):
                self.assertEqual(int(row[name]), truth[name], truth)
            interest = int(row["open_interest"])
            self.assertEqual(None if interest == pinstrike.NONE else interest,
                             truth["open_interest"], truth)
            self.assertTrue(row["old"])

    def test_snapshot_and_stream_have_each_message_once(self):
        for follower in self.followers:
            self.assertFalse(follower.thread.is_alive(), "the iteration does not end with the feed")
            self.assertEqual(follower.missed, 0)  # the stream's ring holds the whole day
            for name in ("trades", "quotes"):
                self.assertEqual(+follower.counts(name), +self.counts(name), name)
        self.assertGreater(self.followers[0].gaps, 0)
        self.assertEqual(self.followers[0].timed_gaps, 0, "a gap is of no block")

    def test_a_stream_continues_with_the_next_start_of_a_feed_that_died(self):
        process, _ = publisher.replay(self.capture, "again", "--pace", "real")
        feed = eventually(lambda: pinstrike.open("again"))
        eventually(lambda: len(feed.chain()) > 100)
        followers = [Follower("again", restart_wait=PATIENCE_SECONDS) for _ in range(2)]
        time.sleep(random.uniform(0.1, 0.6))
        process.kill()
        process.wait()
        process, book = publisher.replay(self.capture, "again", "--pace", "x2")
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 0, errors)
        for follower in followers:
            eventually(lambda of=follower: of.restarts)
            follower.stream.restart_wait = 0.0
            follower.thread.join(PATIENCE_SECONDS)
            self.assertFalse(follower.thread.is_alive())
            self.assertEqual(follower.restarts, 1)
            self.expect_book(follower.feed.chain(prices="exact"))
            for name in ("trades", "quotes"):
                self.assertEqual(+follower.counts(name), +self.counts(name), name)

    def test_best_follows_from_quotes(self):
        compared = 0
        for key, state in self.followers[0].state.items():
            for side, quoted in state["best"].items():
                if self.book[key][f"{side}_state"] == "fresh":
                    self.assertEqual(quoted, priced(self.book[key][f"best_{side}"]), key)
                    compared += 1
        self.assertGreater(compared, 100)

    def test_filters_choose_the_same_series_as_numpy(self):
        chain = self.feed.chain()
        roots = np.unique(chain["root"])[:2]
        middle = float(np.median(chain["strike"]))
        date = chain["expiration"][len(chain) // 2]
        chosen = (np.isin(chain["root"], roots) & (chain["right"] == "C")
                  & (chain["session"] == "R") & (chain["strike"] <= middle))
        some = self.feed.chain(*roots, right="call", session="R", strikes=(0, middle))
        np.testing.assert_array_equal(some["id"], chain[chosen]["id"])
        self.assertGreater(len(some), 0)
        self.assertEqual(len(self.feed.chain(expiration=date)), (chain["expiration"] == date).sum())
        ids = [int(number) for number in chain["id"][:3]]
        self.assertEqual(sorted(self.feed.chain(ids=ids)["id"]), sorted(ids))
        self.assertEqual(len(self.feed.chain(ids=[])), 0)
        self.assertRaises(ValueError, self.feed.chain, right="X")
        self.assertRaises(pinstrike.Error, self.feed.chain, "TOOLONG")

    def test_prices_are_dollars_or_exact_units(self):
        number, exact = self.feed.chain(), self.feed.chain(prices="exact")
        present = exact["bid"] != pinstrike.NONE
        np.testing.assert_array_equal(np.isnan(number["bid"]), ~present)
        np.testing.assert_allclose(number["bid"][present],
                                   exact["bid"][present] * pinstrike.PRICE_UNIT)
        self.assertEqual(number["changed"].dtype, np.dtype("M8[ns]"))

    def test_a_table_has_the_arrow_interface_and_columns_do_not(self):
        chain = self.feed.chain()
        for table in (chain, chain[::3], chain[["strike", "bid"]], chain[:0]):
            capsule = table.__arrow_c_stream__()
            self.assertEqual(type(capsule).__name__, "PyCapsule")
        self.assertFalse(hasattr(chain["bid"], "__arrow_c_stream__"))
        self.assertRaises(ValueError, chain["bid"].__setitem__, 0, 1.0)

    def test_help_lists_fields_with_units(self):
        for text in (pinstrike.Feed.chain.__doc__, pinstrike.Batch.quotes.__doc__):
            self.assertRegex(text, r"bid_size +uint32 +.*contracts")
        self.assertIn("dollars", pinstrike.Trade.price.__doc__)


class Running(unittest.TestCase):
    """With a feed that runs, ends, dies and starts again."""

    def setUp(self):
        self.process = publisher.run()
        self.feed = eventually(lambda: pinstrike.open("running"))
        # chain() leaves the start of the test before, which was killed.
        eventually(lambda: len(self.feed.chain()) > 100 and self.feed.state == "live")

    def tearDown(self):
        self.process.kill()
        self.process.wait()

    def restart(self, **options):
        self.tearDown()
        self.process = publisher.run(**options)
        eventually(lambda: len(self.feed.chain()) > 100 and self.feed.state == "live")

    def wait_for_messages(self, count):
        """Until the feed has published so many more messages than now."""
        begin = messages_of(self.feed.chain()).sum()
        eventually(lambda: messages_of(self.feed.chain()).sum() > begin + count)

    def test_states_and_restart(self):
        stream = self.feed.stream(restart_wait=PATIENCE_SECONDS)
        self.process.send_signal(signal.SIGSTOP)
        eventually(lambda: self.feed.state == "stuck")
        self.process.send_signal(signal.SIGCONT)
        eventually(lambda: self.feed.state == "live")
        self.process.kill()
        self.process.wait()
        eventually(lambda: self.feed.state == "dead")
        chain = self.feed.chain()
        self.assertTrue(len(chain) > 100 and chain["old"].all())
        start = self.feed.start_time
        self.process = publisher.run()
        restarted = next(batch for batch in stream if len(batch.restarted))
        self.assertIsNotNone(restarted.snapshot)
        self.assertGreater(stream.start_time, start)
        eventually(lambda: len(self.feed.chain()) and not self.feed.chain()["old"].any())
        self.assertGreater(self.feed.start_time, start)

    def test_iteration_ends_when_the_feed_ends(self):
        stream = self.feed.stream()
        self.assertGreater(len(next(stream)), 0)
        self.process.terminate()
        threading.Thread(target=self.process.communicate).start()
        end = time.monotonic() + PATIENCE_SECONDS
        for _ in stream:
            self.assertLess(time.monotonic(), end)
        self.assertEqual(self.feed.state, "ended")
        self.assertGreater(len(self.feed.chain()), 100)

    def test_ctrl_c_ends_a_wait(self):
        script = ("import pinstrike, signal\n"  # a background job of a shell ignores SIGINT
                  "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                  "stream = pinstrike.open('running').stream('NONE', on_trade=print)\n"
                  f"print('waiting', flush=True)\nwhile True: stream.poll(timeout={PATIENCE_SECONDS})\n")
        child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "waiting\n")
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=PATIENCE_SECONDS / 2)
        self.assertIn("KeyboardInterrupt", errors)

    def test_other_threads_run_during_a_wait(self):
        stream = self.feed.stream("NONE", on_trade=print, restart_wait=0.0)
        waiting = threading.Thread(target=stream.poll, args=(PATIENCE_SECONDS / 5,))
        waiting.start()
        for _ in range(20):
            time.sleep(0.01)  # if the wait held Python's lock, the thread would end before this loop
        self.assertTrue(waiting.is_alive())
        self.process.kill()
        waiting.join()

    def test_callbacks_get_what_batches_have(self):
        self.restart(rate=2000)  # the ring holds 29 s, so that no reader misses anything
        seen = {"quote": 0, "trade": 0, "sizes": 0}

        def on_quote(quote):
            seen["quote"] += 1
            seen["sizes"] += quote.bid_size

        def on_trade(trade):
            seen["trade"] += trade.type not in NOT_COUNTED

        batches = self.feed.stream()
        calls = self.feed.stream(on_quote=on_quote, on_trade=on_trade)
        between = messages_of(calls.snapshot) - messages_of(batches.snapshot)
        thread = calls.start()
        self.assertRaises(RuntimeError, calls.start)
        eventually(lambda: seen["quote"] > 500)
        self.process.terminate()
        quotes = trades = sizes = 0
        for batch in batches:
            quotes += len(batch.quotes)
            trades += int((~np.isin(batch.trades["type"], NOT_COUNTED)).sum())
            sizes += int(batch.quotes["bid_size"].sum())
            self.assertEqual(len(batch.missed), 0)
        thread.join(PATIENCE_SECONDS)
        self.assertFalse(thread.is_alive())
        self.assertEqual([quotes - seen["quote"], trades - seen["trade"]], list(between))
        self.assertTrue(0 < seen["sizes"] <= sizes)

    def test_a_callback_that_raises_loses_no_other_message(self):
        numbers = []

        def on_quote(quote):
            numbers.append((quote.line, quote.sequence))
            if len(numbers) % 10 == 0:
                raise ZeroDivisionError

        stream = self.feed.stream(on_quote=on_quote, prices="exact")
        raised = 0
        while len(numbers) < 500:
            try:
                stream.poll(timeout=5)
            except ZeroDivisionError:
                raised += 1
        self.assertEqual(raised, len(numbers) // 10)
        self.assertEqual(len(set(numbers)), len(numbers))

    def test_a_stream_is_for_one_thread_at_a_time(self):
        stream = self.feed.stream("NONE", on_trade=print)
        refused = threading.Event()

        def use():
            while not refused.is_set():
                try:
                    stream.poll(timeout=0.1)
                except pinstrike.Error:
                    refused.set()

        threads = [threading.Thread(target=use) for _ in range(2)]
        for thread in threads:
            thread.start()
        found = refused.wait(PATIENCE_SECONDS / 5)
        refused.set()
        for thread in threads:
            thread.join()
        self.assertTrue(found)

    def test_the_feed_polls_its_streams(self):
        quotes, trades, own = [], [], []
        self.assertFalse(self.feed.poll())
        streams = [self.feed.stream(on_quote=quotes.append), self.feed.stream(on_trade=trades.append)]
        started = self.feed.stream(on_quote=own.append)
        started.start()
        eventually(lambda: self.feed.poll(timeout=0.1) and len(quotes) > 100 and len(trades) > 10 and own)
        self.assertEqual({type(quotes[0]), type(trades[0])}, {pinstrike.Quote, pinstrike.Trade})
        started.stop()
        self.assertFalse(started.started)
        self.assertGreater(len(streams[0].snapshot), 100)
        self.process.terminate()
        eventually(lambda: not self.feed.poll(timeout=0.1) and self.feed.state == "ended")

    def test_the_feed_leaves_a_stream_that_runs_to_its_thread(self):
        quotes = []
        stream = self.feed.stream(on_quote=quotes.append)
        thread = threading.Thread(target=stream.run)
        thread.start()
        eventually(lambda: len(quotes) > 100)
        self.assertTrue(stream.running)
        self.assertFalse(stream.started)
        for _ in range(100):
            self.assertFalse(self.feed.poll())  # raises if it uses the stream of the other thread
        stream.close()
        thread.join(PATIENCE_SECONDS)
        self.assertFalse(thread.is_alive())
        self.assertFalse(stream.running)

    def test_a_closed_stream_gets_no_more(self):
        quotes = []
        stream = self.feed.stream(on_quote=quotes.append)
        eventually(lambda: self.feed.poll(timeout=0.1) and len(quotes) > 10)
        stream.close()
        stream.close()
        self.assertTrue(stream.closed)
        count = len(quotes)
        self.assertFalse(self.feed.poll(timeout=0.1) or stream.poll())
        stream.run()
        self.assertEqual(len(quotes), count)
        with self.assertRaises(ValueError):
            _ = stream.snapshot
        gone = weakref.ref(stream)
        del stream
        gc.collect()
        self.assertIsNone(gone(), "the feed keeps no closed stream")
        batches = self.feed.stream()
        next(batches)
        batches.close()
        self.assertEqual(list(batches), [])
        self.assertRaises(ValueError, batches.poll)

    def test_an_array_of_a_batch_can_be_taken_again(self):
        for batch in self.feed.stream():
            copied = copy.copy(batch)
            if len(batch.quotes):
                self.assertEqual(copied.quotes.tobytes(), batch.quotes.tobytes())
                return

    def test_wrong_arguments(self):
        self.assertRaises(TypeError, self.feed.stream, on_nothing=print)
        self.assertRaises(ValueError, self.feed.stream, messages_max=0)
        self.assertRaises(ValueError, self.feed.chain, prices="cents")
        self.assertRaises(pinstrike.Error, pinstrike.open, "nobody")
        self.assertIn("running", pinstrike.feeds())

    def test_a_slow_reader_learns_what_it_missed(self):
        self.restart(stream_records=1024)
        stream = self.feed.stream()
        next(stream)
        self.wait_for_messages(2048)
        batch = eventually(lambda: next((batch for batch in [stream.poll()] if len(batch.missed)), None))
        self.assertGreater(int(batch.missed["last"][0]), int(batch.missed["first"][0]))
        self.assertGreater(len(batch.snapshot), 100)

    def test_the_state_of_many_series_comes_in_parts(self):
        self.restart(stream_records=32768, series=40000, rate=100000)
        eventually(lambda: len(self.feed.chain()) > 12000)
        stream = self.feed.stream()
        self.wait_for_messages(65536)
        batch = eventually(lambda: next((batch for batch in [stream.poll()] if len(batch.missed)), None))
        self.assertTrue(batch.missed["more"][-1])
        first = len(batch.snapshot)
        rest = 0
        for batch in stream:
            self.assertEqual(len(batch.state_parts) + len(batch.missed), 0 if batch.snapshot is None else 1)
            if len(batch.missed):  # too slow again: the parts begin anew
                first, rest = len(batch.snapshot), 0
            elif len(batch.state_parts):
                rest += len(batch.snapshot)
                if not batch.state_parts["more"][-1]:
                    break
        self.assertGreater(min(first, rest), 0)
        self.assertGreater(first + rest, 12000)


class Damage(unittest.TestCase):
    def test_a_damaged_file_ends_in_an_error_or_in_values(self):
        process, _ = publisher.replay(publisher.generate("short", "--messages", "3000"), "whole")
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 0, errors)
        done = subprocess.run([sys.executable, HERE / "damage.py", publisher.memory / "whole"],
                              capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        refused, read = map(int, done.stdout.split())
        self.assertGreater(refused, 20)
        self.assertGreater(read, 20)


if __name__ == "__main__":
    publisher = Publisher(sys.argv.pop(1))
    os.environ["PYTHONFAULTHANDLER"] = "1"
    seed = int(sys.argv.pop(1)) if sys.argv[1:2] and sys.argv[1].isdigit() else random.SystemRandom().getrandbits(32)
    print(f"seed {seed}", flush=True)
    random.seed(seed)  # of the moments at which readers attach
    try:
        unittest.main(verbosity=2)
    finally:
        publisher.close()
