"""Kafka: acknowledged records a second, beside a producer of librdkafka without this program."""

import sys
from pathlib import Path

from parts.running import median_of, output_of, rows_of, table


def measure_kafka(report, options):
    rows = rows_of(output_of(sys.executable, Path(__file__).parents[1] / "kafka.py",
                             options.build / "tests/bench/bench_kafka",
                             options.build / "tests/commands/kafka/broker", options.runs))
    report.section("Kafka", "`kafka.py`: a broker (KRaft, one node) on the same machine, and three producers in turns "
                   "with the same properties. The bare one sends messages that were made before; the second is this "
                   "program's producer with the same messages; the third also makes and packs the records.",
                   table(rows) if rows else "Not measured: there is no Java or no Maven.")
    report.goal("acknowledged records, of the bare producer", 0.9,
                median_of(rows, "kafka: events made into records, packed and sent, of bare"), "times")
    report.part["rows"] = rows
