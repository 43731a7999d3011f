"""The cost of each stage of the path, the cost of counting, and the expected scaling."""

import itertools
import json
import statistics
import tempfile
from pathlib import Path

import bars
import path
import scaling
from limits import CORE_STAGES, POLLER_STAGES
from parts.running import median_of, near, output_of


def stages_of(program, *which):
    """One run of one shape: messages per packet, and nanoseconds per packet by stage."""
    huge = ["--hugepages"] if path.enough_hugepages() else []
    [shape] = json.loads(output_of(program, "bench", "stages", "--json", "--runs", 1, *huge,
                                   *which))["shapes"]
    return (shape["messages_per_packet"],
            {stage["stage"]: stage["ns_per_packet"]["median"] for stage in shape["stages"]})


def shape_figures(taker, options, *which):
    """Messages per packet, nanoseconds per packet by stage, and the sums of poller and core in each run
    that the taker accepts."""
    runs = [taker.take(lambda: stages_of(options.pinstrike, *which)) for _ in range(options.runs)]
    ns = {name: statistics.median(stages[name] for _, stages in runs) for name in runs[0][1]}
    sums = [[sum(stages.get(stage, 0) for stage in of) for _, stages in runs]
            for of in (POLLER_STAGES, CORE_STAGES)]
    return runs[0][0], ns, sums


def looped_stages(taker, options):
    """For the captures of full blocks on which the poll path alone is measured."""
    shapes = []
    with tempfile.TemporaryDirectory(prefix="pinstrike-bench-") as folder:
        for shape, streams in itertools.product(("full", "full-mix"), ("a", "ab")):
            count = path.frames(shape, "drain")
            capture = Path(folder) / f"{shape}-{streams}.pcap"
            path.capture(options.pinstrike, capture, shape, streams, count)
            shapes.append((path.called(shape, streams, count),
                           *shape_figures(taker, options, "--capture", capture)))
    return shapes


def measure_stages(report, options):
    """Keeps nanoseconds per message of poller and core, by shape and streams."""
    taker = near(report, options)
    shapes = [(f"{shape}, {streams}",
               *shape_figures(taker, options, "--shape", shape, "--streams", streams))
              for streams in ("A", "AB") for shape in path.SHAPES]
    costs = {name: [statistics.median(runs) / messages for runs in sums]
             for name, messages, _, sums in shapes}
    shapes.append(("full-mix, A, to 2 cores",
                   *shape_figures(taker, options, "--shape", "full-mix", "--cores", 2)))
    shapes += looped_stages(taker, options)
    names = [stage for stage in POLLER_STAGES + CORE_STAGES if any(stage in ns for _, _, ns, _ in shapes)]
    lines = ["| ns a packet | " + " | ".join(names) + " | poller | core |",
             "|---" * (len(names) + 3) + "|"]
    for name, messages, ns, sums in shapes:
        lines.append(f"| {name} ({messages:.1f} messages) | " +
                     " | ".join([*("-" if stage not in ns else f"{ns[stage]:.1f}" for stage in names),
                                 *(path.spread(runs, 1) for runs in sums)]) + " |")
    picture = bars.stacked("Nanoseconds a packet, by stage", "ns", names,
                           [(name, ns) for name, _, ns, _ in shapes])
    report.section("Cost by stage", "`pinstrike bench stages`. Poller and core are the sums of the "
                   "stages of a run (median, lowest, highest); the core's stages are pop and book. A "
                   "stage is the difference of two paths, so it has the noise of both. " +
                   taker.note(),
                   "\n".join(lines), report.plot("stages", picture))
    report.part["costs"] = costs
    report.part["stages"] = {name: {"messages": messages, "ns": ns} for name, messages, ns, _ in shapes}


def measure_counting(report, options):
    """The same program with counters and without, in alternating runs."""
    uncounted = options.build / "tests/bench/bench_uncounted"
    ratios = {shape: [] for shape in path.SHAPES}
    taker = near(report, options)
    for _, shape in itertools.product(range(options.runs), path.SHAPES):
        pair = [taker.take(lambda program=program: stages_of(program, "--shape", shape)[1])
                for program in (options.pinstrike, uncounted)]
        counted, bare = (sum(ns.get(stage, 0) for stage in POLLER_STAGES) for ns in pair)
        ratios[shape].append(counted / bare)
    lines = ["| shape | with counters, of without |", "|---|---|"]
    lines += [f"| {shape} | {path.spread(values, 3)} |" for shape, values in ratios.items()]
    report.section("What counting costs the poll path",
                   "All counters and histograms on, relative to a build in which they do nothing. " +
                   taker.note(),
                   "\n".join(lines))
    worst = max(statistics.median(values) for values in ratios.values())
    report.goal("poll path with all metrics, of without", 1.03, worst, "times", lower=True)


def measure_scaling(report, options):
    """Scaling by the cost of the stages. One thread is measured here, the rest by earlier parts."""
    one_thread = scaling.measure_one_thread(options.pinstrike,
                                            options.build / "tests/bench/bench_one_thread",
                                            options.runs, path.enough_hugepages())
    ring = median_of(report.needed("rows", "rows")["ring"],
                     "64 B, batches, capacity 65536: pinstrike")
    report.section("Scaling, by a model",
                   *scaling.section(report.needed("stages", "costs"),
                                    report.needed("stages", "stages"), one_thread,
                                    report.needed("path", "rates"), ring))
