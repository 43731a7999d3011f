"""The whole path on two processors, with low and with high latency between them."""

import argparse
import statistics

import bars
import distance
import path
from parts.running import output_of, rows_of, span, table


def measure_distance(report, options):
    seen = distance.watch(options.build / "tests/bench/bench_distance", 60)
    near = sorted(ns for _, ns in seen["samples"] if ns < seen["near_to_ns"])
    far = sorted(ns for _, ns in seen["samples"] if ns >= seen["near_to_ns"])
    text = (f"near: {statistics.median(near):.0f} ns, {seen['near_share']:.0%} of the time; far: "
            f"{statistics.median(far):.0f} ns; {seen['changes']} changes between the two; the limit "
            f"of near is {seen['near_to_ns']:.0f} ns" if far else
            f"{statistics.median(near):.0f} ns (median; 2nd to 98th percentile "
            f"{near[len(near) // 50]:.0f} to {near[-len(near) // 50]:.0f} ns), which counts as near")
    report.section("How far the two processors lie from each other",
                   "`bench_distance`: the time of a cache line from one to the other and another "
                   f"back, sampled for a minute in which nothing else ran: {text}. A virtual machine "
                   "does not know where its processors are, and this time limits everything that two "
                   "threads exchange. So the figures of two threads below are of trials before and "
                   "after which the processors were near, unless another distance is named.",
                   report.plot("distance", bars.dots(
                       "Round trip of a cache line between processors 0 and 1", "ns",
                       seen["samples"], seen["near_to_ns"])))
    report.part["near_to_ns"] = seen["near_to_ns"]
    report.part["told"] = text
    report.part["moves"] = bool(far)


def path_options(report, options, far=False):
    """High latency is rare, so there are three runs with it; more would take over an hour."""
    return argparse.Namespace(pinstrike=options.pinstrike, seconds=0.5, far=far,
                              runs=min(options.runs, 3) if far else options.runs,
                              bench=options.build / "tests/bench/bench_path",
                              distance=span(report, far), memory=[])


def measure_path(report, options):
    cells = path.CELLS
    huge = path.enough_hugepages()
    how = path_options(report, options)
    figures = path.measure(how, cells, huge)
    held = {(shape, "a", "book"): path.held_for_ten_seconds(how, figures, (shape, "a", "book"), huge)
            for shape in path.SHAPES}
    report.section(
        "The whole path, on two cores",
        "`path.py` searches the highest offered rate at which no packet is missed and no message "
        "refused or lost, with one poller and one core. End *book*: the core keeps a book of 1.5 M "
        "series. *book-trusting*: the same without computing UDP checksums, as with a NIC that "
        "verifies them. *drain*: the core only empties its ring. With streams A and B each message "
        "counts once. *cycles* are those of the time stamp counter from one message to the next. "
        "*frames* is the length of the capture, which is looped. Full blocks without a "
        "book use 2,000 frames, which stay in the last-level cache, where a NIC puts received "
        "packets. " +
        figures.uncounted(), figures.table(), "A trial of a search takes half a second. The next "
        "table has the rates at which ten seconds of such trials lost nothing, tried downwards from "
        "the median in steps of a tenth of it. The worst half second of the ten seconds decides.",
        held_table(figures, held))
    for cell, goal in {("full", "a", "drain"): 150, ("full-mix", "a", "drain"): 120}.items():
        report.goal(" ".join(cell), goal, statistics.median(figures.messages[cell]),
                    "M messages/s")
    report.goal("ordinary a drain", 22,
                statistics.median(figures.packets["ordinary", "a", "drain"]), "M packets/s")
    for shape, goal, unit in (("full", 75, "M messages/s"), ("full-mix", 62, "M messages/s"),
                              ("ordinary", 14, "M packets/s")):
        cell = shape, "a", "book"
        of = figures.messages if unit == "M messages/s" else figures.packets
        report.goal(" ".join(cell), goal, statistics.median(of[cell]), unit)
        report.goal(" ".join(cell) + ", ten seconds", goal, held[cell] and held[cell] / 1e6 * (
            figures.messages_per_packet(cell) if unit == "M messages/s" else 1), unit)
    report.part["rates"] = {f"{shape}, {streams.upper()}": statistics.median(figures.messages[cell])
                            for cell in cells for shape, streams, end in [cell] if end == "book"}
    report.part["testpmd"] = ceilings(figures)
    report.part["packets"] = {" ".join(cell): statistics.median(rates)
                              for cell, rates in figures.packets.items()}


def held_table(figures, held):
    lines = ["| shape | M packets/s | M messages/s | of the median |", "|---|---|---|---|"]
    for cell, rate in held.items():
        packets = (rate or 0) / 1e6
        lines.append(f"| {cell[0]} | {packets:.2f} | {packets * figures.messages_per_packet(cell):.1f} "
                     f"| {packets / statistics.median(figures.packets[cell]):.2f} |" if rate else
                     f"| {cell[0]} | below half of the median | | |")
    return "\n".join(lines)


def ceilings(figures):
    """testpmd's M packets/s, by the names of captures in limits.py."""
    return {path.called(*kind): statistics.median(rates)
            for kind, rates in figures.ceilings.items() if rates}


def measure_both(report, options):
    """The poll path alone with both streams, needed only for the goals of the whole report."""
    cells = [(shape, "ab", "drain") for shape in ("full", "full-mix", "ordinary")]
    figures = path.measure(path_options(report, options), cells, path.enough_hugepages())
    report.section(
        "The poll path alone, both streams",
        "As above, without a book: the core only empties its ring. Each message counts once; the "
        "packets of both streams count. " + figures.uncounted(), figures.table())
    for shape, goal in {"full": 100, "full-mix": 85}.items():
        report.goal(f"{shape} ab drain", goal,
                    statistics.median(figures.messages[shape, "ab", "drain"]), "M messages/s")
    report.goal("ordinary ab drain, unique", 12,
                statistics.median(figures.packets["ordinary", "ab", "drain"]) / 2, "M packets/s")
    report.part["testpmd"] = ceilings(figures)


def measure_far(report, options):
    """The cost of a high latency between the processors."""
    title = "With the two processors far apart"
    if not report.needed("distance", "moves"):
        report.section(title, "Not measured, because the processors were never far apart.")
        return
    cells = [(shape, "a", end) for shape in ("full", "ordinary") for end in ("drain", "book")]
    close_by = report.needed("path", "packets")
    figures = path.measure(path_options(report, options, far=True), cells, path.enough_hugepages())
    lines = ["| shape | streams | end | M packets/s, far | near | far of near |", "|---|---|---|---|---|---|"]
    for cell in cells:
        close, rates = close_by[" ".join(cell)], figures.packets[cell]
        lines.append(f"| {cell[0]} | A | {cell[2]} | {path.spread(rates, 2)} | {close:.2f} | " +
                     (f"{statistics.median(rates) / close:.2f} |" if rates else "- |"))
    rings = output_of(options.build / "tests/bench/bench_ring", options.runs, span(report, far=True))
    report.section(title, "As in the whole path, while the round trip of a cache line was long: what a "
                   "poller and a core lose if they share no cache. -: the processors were not far "
                   "apart for long enough. " + (figures.uncounted() if figures.stood_still else ""),
                   "\n".join(lines), "`bench_ring`, while the processors were far apart: " +
                   ("not for long enough to be measured." if "given up" in rings else
                    "\n\n" + table(rows_of(rings))))
