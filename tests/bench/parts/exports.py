"""Exports: captures as files of records."""

import export
from parts.running import median_of, rows_of, table

GOALS = [("export of cmbp-1 to DBN", "export: cmbp-1 to dbn", 10),
         ("export of cmbp-1 to CSV", "export: cmbp-1 to csv", 2)]


def measure_export(report, options):
    rows = rows_of(export.measure(options.pinstrike, options.runs))
    report.section("Export", f"`export.py`: a capture of full blocks of quotes of {export.SERIES:,} series, in the "
                   "page cache, to files in /dev/shm. The rate is that of the whole command, from its start to the "
                   "file under its name; the outputs take turns.", table(rows))
    for what, start, goal in GOALS:
        report.goal(what, goal, median_of(rows, start), "M records/s")
    report.part["rows"] = rows
