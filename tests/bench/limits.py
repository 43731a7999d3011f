"""Explains the bound of each goal that is missed, by figures of the same report.

Each goal has a row in EXPLAINED: the beginning of its name, and the function that explains it by the
figures of the parts. The report fails if a goal is missed and has no explanation.
"""

import json
from pathlib import Path

import path

POLLER_STAGES = ["receive", "parse", "find line", "check", "arbitrate", "decode", "route", "push"]
CORE_STAGES = ["pop", "book"]
INSTRUCTIONS = Path(__file__).parent / "instructions.json"
WITHIN = 1.3  # of the larger of the work alone and the sender alone


def instructions_of(shape, stages):
    """Instructions per packet, by callgrind."""
    counts = json.loads(INSTRUCTIONS.read_text())["cases"][shape]["instructions_per_packet"]
    return sum(counts.get(stage, 0) for stage in stages)


def side(parts, shape, stages):
    """Nanoseconds per packet of these stages, and the most expensive ones as text."""
    ns = parts["stages"]["stages"][shape]["ns"]
    largest = sorted((stage for stage in stages if stage in ns), key=ns.get, reverse=True)[:3]
    total = sum(ns.get(stage, 0) for stage in stages)
    return total, ", ".join(f"{stage} {ns[stage]:.0f}" for stage in largest if ns[stage] > 0)


def path_goal(parts, name, goal, unit, ratio):
    shape, streams, end = name.replace(",", "").split()[:3]
    instructed, shape = shape, path.called(shape, streams, path.frames(shape, end))
    messages = parts["stages"]["stages"][shape]["messages"]
    poller, poller_words = side(parts, shape, POLLER_STAGES)
    core, core_words = side(parts, shape, CORE_STAGES)
    of_core = end == "book" and core > poller
    allowed = 1e3 / goal * (messages if unit.startswith("M messages") else 1)
    total, words, stages = ((core, core_words, CORE_STAGES) if of_core else
                            (poller, poller_words, POLLER_STAGES))
    testpmd = {**parts["path"]["testpmd"], **parts.get("both", {}).get("testpmd", {})}.get(shape)
    counted = "" if streams == "ab" else f", {instructions_of(instructed, stages):.0f} instructions"
    allowed /= 2 if name.endswith("unique") else 1
    receiving = ("" if of_core or not testpmd else
                 f" Receiving alone, by testpmd, takes {1e3 / testpmd:.0f} ns.")
    return (f"the {'core' if of_core else 'poller'}: its stages take {total:.0f} ns for a packet of "
            f"{messages:.1f} messages ({words}){counted}. The goal allows {allowed:.0f} ns; at the rate "
            f"that was found a packet had {allowed / ratio:.0f} ns.{receiving}")


def stops_goal(parts, name):
    stops = [stop for stop in parts["latency"].get("stops", []) if f"at {stop['share']}," in name]
    if not stops:
        return "preemption, also of threads at work; its histogram is not measured yet"
    text = "; ".join(f"{stop['thread']} {stop['per_second']:.0f} a second, {stop['percent']:.2f} % of "
                     f"its time, longest {stop['longest_us']:.0f} us" if stop["per_second"] else
                     f"{stop['thread']} was never idle, so no preemption is detected" for stop in stops)
    return (f"preemption: {text}. Preemption of a thread at work is not detected, and stays in these "
            "figures")


def median_latency_goal(parts, name):
    poller, _ = side(parts, "ordinary, A", POLLER_STAGES)
    pop = parts["stages"]["stages"]["ordinary, A"]["ns"]["pop"]
    hop = row_of(parts, "ring", "64 B, round trip: pinstrike") / 2
    burst = "" if "10%" in name else (
        ". The rest is waiting for earlier packets, which grows without bound if the machine is slower "
        "than when the capacity was measured")
    return (f"the path alone: poller {poller:.0f} ns, from core to core {hop:.0f} ns (half the ring's "
            f"round trip), the core's loop {pop:.0f} ns, in all {poller + hop + pop:.0f} ns{burst}")


def row_of(parts, bench, start):
    return next((middle for name, _, middle, _, _ in parts["rows"]["rows"][bench]
                 if name.startswith(start)), None)


def bounce(parts):
    return row_of(parts, "ring", "limit: two lines, there")


def between_cores(parts):
    return ("The round trip between the two processors, a cache line each way: "
            f"{parts['distance']['told']}.")


def round_trip_goal(parts, *_):
    with_data = row_of(parts, "ring", "limit: two lines and their counts")
    return (f"a record and the index that publishes it are in a cache line each. Two cache lines there "
            f"and two back, without any other work, take {with_data:.0f} ns here; one each way takes "
            f"{bounce(parts):.0f} ns, which only a queue with its state in the slots could approach")


def single_goal(parts, *_):
    best = max(middle for name, _, middle, _, _ in parts["rows"]["rows"]["ring"]
               if name.startswith("64 B, single, capacity 8192") and "pinstrike" not in name)
    return (f"one cache line for each record goes from core to core: {1e3 / (bounce(parts) / 2):.0f} M "
            f"records/s if no two overlapped; the best peer reaches {best:.0f} M")


def small_batches_goal(parts, *_):
    small = row_of(parts, "ring", "8 B, batches, capacity 8192: pinstrike")
    large = row_of(parts, "ring", "64 B, batches, capacity 8192: pinstrike")
    return (f"the cost of a record beside its cache line: {small / 8:.0f} M cache lines a second with "
            f"eight records each, while records of 64 B reach {large:.0f} M cache lines")


def book_goal(parts, *_):
    limit = row_of(parts, "book", "limit")
    rate = row_of(parts, "book", "skewed, plain quotes, pre")
    alone = row_of(parts, "book", "skewed, plain quotes, one")
    text = ("" if limit is None else
            f" Reading as many records and touching a cache line of an equally large table for each, "
            f"without any other work, reaches {limit:.0f} M a second here: {1e3 / limit:.0f} of the "
            f"{1e3 / rate:.0f} ns that a quote takes.")
    cached = row_of(parts, "book", "20,000 series, which caches hold, pre")
    close = row_of(parts, "machine", "8,000 lines side")
    apart = row_of(parts, "machine", "8,000 lines in")
    work = ("" if cached is None or apart is None else
            f" With 20,000 series, whose entries the caches hold, a quote takes {1e3 / cached:.1f} ns, the "
            f"time of its instructions. The rest is waiting for cache lines and address translation: a "
            f"line in the second-level cache takes {close:.1f} ns if the lines are adjacent, and "
            f"{apart:.1f} ns if they are scattered over a table.")
    return (f"the entry of a quote is a cache line of a table that no cache holds: without the prefetch "
            f"a quote takes {1e3 / alone:.0f} ns.{text}{work}")


def bounded_goal(parts, *_):
    alone = row_of(parts, "runtime", "bounded to 100, 100,000 sums of 1000: the work")
    ours = row_of(parts, "runtime", "bounded to 100, 100,000 sums of 1000")
    return (f"the work alone takes one core {alone:.1f} ms. The other {10 * (ours - alone):.0f} ns of a "
            "message are the exchange between the cores: by calculation, a count there and one back "
            f"({bounce(parts):.0f} ns) for every twelve messages, and two cache lines of messages")


def beyond_bound(cell):
    """The time of a cell, of the larger of the work alone and the sender alone."""
    return cell["ours"] / max(1.0, cell["sender"])


def workload_goal(parts, *_):
    """The cells above the goal, beside the least time in which two cores share sending and work."""
    cells = parts["workloads"]["cells"]
    above = {name: cell for name, cell in cells.items() if beyond_bound(cell) > WITHIN}
    worst = max(cells, key=lambda name: beyond_bound(cells[name]))
    work_ns = 1e9 * cells[worst]["alone_s"] / (1e5 * cells[worst]["actors"])
    return (f"{len(cells) - len(above)} of {len(cells)} cells are within it. The others, each with the least time in "
            "which two cores can share sending and work, by the same measure: " +
            "; ".join(f"{name} ({beyond_bound(cell):.2f}, {least(cell) / max(1.0, cell['sender']):.2f})"
                      for name, cell in above.items()) +
            f". In the worst cell ({worst}) the work of a message takes {work_ns:.0f} ns; a cache line of eight "
            f"messages takes {bounce(parts):.0f} ns to the other core and back, by the figures of the rings, which is "
            f"{bounce(parts) / 8:.0f} ns for each message")


def least(cell):
    """The least time of sender and work, relative to the work alone: in parallel if there is one actor,
    shared by two cores if there are more."""
    return max(1.0, cell["sender"]) if cell["actors"] == 1 else 1 + cell["sender"] / 2


def published_row(parts, start):
    return next((middle for name, _, middle, _, _ in parts["published"]["rows"] if name.startswith(start)), None)


def stream_goal(parts, *_):
    alone = published_row(parts, "stream: the writer, no reader")
    return (f"the writer alone reaches {alone:.0f} M records/s: a record is a cache line. With a reader each "
            "line goes to the other core too")


def chain_goal(parts, *_):
    still = published_row(parts, "state: chain of 5,000 series, no updates")
    return f"{still:.2f} ms without any update, so it is the time of reading the series, which lie at scattered places"


def plain(sentence):
    return lambda *_: sentence


EXPLAINED = [
    ("full", path_goal), ("ordinary", path_goal),
    ("poll path with all metrics", plain("counters that share cache lines with data that is written anyway")),
    ("receive to actor", lambda parts, name, *_: (
        median_latency_goal(parts, name) if ", p50," in name else stops_goal(parts, name))),
    ("ready with", plain("the kernel allocates and zeroes the pages of rings and books")),
    ("ring, 64 B, single", single_goal),
    ("ring, 8 B, batches", small_batches_goal),
    ("ring, 64 B, batches", plain("memory between the cores: see the rows of the other capacities")),
    ("ring, 64 B, round trip", round_trip_goal), ("ring, 8 B, round trip", round_trip_goal),
    ("book", book_goal),
    ("actor: empty handler", plain("the ring of a lane: see the single rows of 8 B")),
    ("bounded to 100", bounded_goal),
    ("counter", plain("a load and a store of one cache line")),
    ("histogram", plain("three loads and stores, and the bucket")),
    ("four pairs", plain("a lane of 8 B: see the single rows")),
    ("the worst workload", workload_goal),
    ("stream, 64 B, a writer", stream_goal),
    ("chain of 5,000 series", chain_goal),
    ("Python, messages in batches", plain("the C reader, which the table has too, takes most of the time; then each "
                                          "message becomes a row of 160 bytes")),
    ("records for", plain("each record goes to another client than the one before: see the row for one client of all "
                          "series")),
    ("the same records", plain("the copy of the bytes into the socket and out of it")),
    ("whole path", plain("the spread of the runs with private memory, which the table has beside it")),
    ("the stream's writer beside", plain("the spread of the writer alone: it reads nothing that a reader writes, and "
                                         "its instructions are the same")),
    ("time of the book beside", plain("the spread of the book alone")),
    ("rate of a client beside", plain("the spread of the client alone")),
    ("export of", plain("one thread makes the records, and another one copies them into the pages of the file, or "
                        "writes them as text; with the poller they share two processors")),
    ("recorder's copy", plain("each packet is a call, a check of the chunk's end, and a header")),
    ("full mix drained and recorded", plain("one thread does the work of poller and core here")),
    ("ordinary mix drained and", plain("one thread does the work of poller and core here")),
    ("replay of a recording", plain("each packet is read from the page cache, checked as a part of its chunk, and "
                                    "copied into the buffer of a burst; the loop from memory does none of this")),
    ("replay of a compressed", plain("one thread decompresses and polls")),
    ("seek to a moment", plain("the index of each segment is read to find the times of the day")),
    ("publication to", plain("a batch of records is made before it is written")),
]


def missed(parts):
    """Name, goal, unit and ratio of each goal that was measured and missed."""
    for part in parts.values():
        for row in part["goals"]:
            name, goal, _, ratio = (cell.strip() for cell in row.strip("|").split("|"))
            if ratio and float(ratio) < 1:
                number, _, unit = goal.partition(" ")
                yield name, float(number), unit, ratio


def machine(parts):
    """The machine's limits, as text."""
    chain = row_of(parts, "machine", "additions, one") / 1e3
    beside = row_of(parts, "machine", "additions, four") / 1e3
    line = row_of(parts, "machine", "a line of memory")
    ahead = row_of(parts, "machine", "lines of memory")
    close = row_of(parts, "machine", "8,000 lines side")
    apart = row_of(parts, "machine", "8,000 lines in")
    pages = ("" if close is None or apart is None else
             f" Of 8,000 cache lines (half a MiB), one takes {close:.1f} ns if they are adjacent, and "
             f"{apart:.1f} ns if they are scattered over 250 MiB of huge pages; the difference is address "
             "translation.")
    return (f"A thread executes {chain:.1f} G additions a second if each depends on the one before, and "
            f"{beside:.1f} G in four independent chains. A core with four adders would reach "
            f"{4 * chain:.0f} G, so a thread gets {beside / (4 * chain):.0%} of a core. A cache line takes "
            f"{line:.0f} ns from memory; {ahead:.0f} M a second arrive if 32 are requested "
            f"ahead.{pages} {between_cores(parts)}")


def table(parts):
    lines = ["| goal | reached | what bounds it |", "|---|---|---|"]
    for name, goal, unit, ratio in missed(parts):
        who = next(who for start, who in EXPLAINED if name.startswith(start))
        lines.append(f"| {name}: {goal:g} {unit} | {ratio} | "
                     f"{who(parts, name, goal, unit, float(ratio))} |")
    return "\n".join(lines)
