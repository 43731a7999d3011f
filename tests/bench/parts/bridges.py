"""The bridge: how many events a second it carries to another host, and that both sides end."""

from parts.running import median_of, output_of, rows_of, table


def measure_bridge(report, options):
    rows = rows_of(output_of(options.build / "tests/bench/bench_bridge", options.runs))
    report.section("Bridge", "`bench_bridge`: two threads connect over loopback with TLS 1.3; one million quotes of "
                   "100,000 series are published on the serving side, carried, checked, applied and published again "
                   "on the joining side; then both sides end as agreed. A run in which an event is missing, or a side "
                   "does not end, has the rate 0. The last row is the time in which the feed publishes four million "
                   "quotes beside a joining side that takes nothing any more, as a ratio to its time without a bridge.",
                   table(rows))
    report.goal("events carried by a bridge on loopback", 10, median_of(rows, "bridge: carried"), "M events/s")
    report.goal("the feed's time to publish beside a joining side that has stopped", 1.05,
                median_of(rows, "bridge: feed beside"), "of its time without a bridge", lower=True)
    report.part["rows"] = rows
