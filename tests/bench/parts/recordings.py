"""Recording: what it costs the poll thread, what the disk takes, and what reading costs."""

import capturing
import recording
import restoring
from parts.running import median_of, rows_of, table

GOALS = [("recorder's copy, full mix, of a memcpy of its bytes", "full-mix: copy, times a memcpy of its", 1.3, "times",
          True),
         ("recorder's copy, ordinary mix, of a memcpy of its bytes", "ordinary-mix: copy, times a memcpy of its", 1.3,
          "times", True),
         ("full mix drained and recorded", "full-mix: messages, with a", 75, "M messages/s", False),
         ("ordinary mix drained and recorded", "ordinary-mix: packets, with a", 12, "M packets/s", False)]
READING = [("replay of a recording, of the poll path from memory", "uncompressed, of the poll path", 0.95, "times",
            False),
           ("replay of a compressed recording, level 1", "compressed recording, level 1", 25, "M messages/s", False),
           ("replay of a compressed recording, level -1", "compressed recording, level -1", 25, "M messages/s", False),
           ("seek to a moment of a day of 103 GB", "seek to a moment", 50, "ms", True),
           ("whole books from a snapshot of more than a million series", "whole books of", 2, "s", True)]


def measure_recording(report, options):
    programs = (options.build / "tests/bench" / name for name in ("bench_recording", "bench_replaying"))
    text, disk = recording.measure(options.pinstrike, *programs, options.runs, 60)
    text += restoring.row_of(*restoring.measure(options.pinstrike, 2_600_000, options.runs))
    rows = rows_of(text)
    report.section("Recording", "`recording.py`: processor time of one thread, which also empties the poller's ring "
                   "and gives filled chunks back, so no disk is part of the rows. Replays of full blocks of the mix "
                   "are from /dev/shm: time of the poll thread, beside a second thread that reads and decompresses. "
                   "Below the rows the whole recorder writes full blocks at 10 Gb/s to a disk, in segments of which "
                   "20 GB are kept.", table(rows), disk)
    for what, start, goal, unit, lower in GOALS:
        report.goal(what, goal, median_of(rows, f"recording, {start}"), unit, lower)
    for what, start, goal, unit, lower in READING:
        report.goal(what, goal, median_of(rows, f"replay: {start}"), unit, lower)
    report.part["rows"] = rows


def measure_capturing(report, options):
    sender = options.build / "tests/live/soak_sender"
    figures, absent = capturing.measure(options.pinstrike, sender, options.runs)
    report.section("Recording beside dumpcap and tcpdump", " ".join(capturing.__doc__.split("\n\n")[2].split()),
                   "```\n" + capturing.text_of(figures, absent) + "```")
    report.part["figures"] = figures
