"""The actor runtime compared with others: the classic workloads, pairs, and ten thousand actors."""

import itertools

import limits
from parts.running import objects_of


def ratio_spread(ours, alone):
    low, high = (ours[f"seconds_{end}"] / alone["seconds"] for end in ("min", "max"))
    return f"{ours['ratio']:.2f} ({low:.2f} to {high:.2f})"


def measure_workloads(report, options):
    """Each cell: one sender, T actors, work for each message; ours, other libraries, the work alone."""
    cells = {}
    for cell in itertools.product(("sum100", "sum1000", "sha512"), (1, 15, 20, 30, 100), (0, 100)):
        work, actors, bound = cell  # one at a time: other libraries take minutes for a cell of 100 actors
        for row in objects_of(options, "workloads", "--work", work, "--actors", actors, "--bound", bound):
            cells.setdefault(cell, {})[row["who"]] = row
    peers = [who for who in next(iter(cells.values()))
             if who not in ("work alone", "sender alone", "pinstrike")]
    lines = ["| work | actors | bound | alone, s | sender alone | **pinstrike** | " +
             " | ".join(peers) + " | allocations | parks | refusals |",
             "|---" * (9 + len(peers)) + "|"]
    behind, fewer, kept = [], [], {}
    for (work, actors, bound), row in cells.items():
        ours = row["pinstrike"]
        behind += [f"{work}, {actors} actors, {f'bounded to {bound}' if bound else 'unbounded'}: {who}"
                   for who in peers if who in row and row[who]["ratio"] < ours["ratio"]]
        kept[f"{work}, {actors}, {bound or 'unbounded'}"] = {
            "actors": actors, "alone_s": row["work alone"]["seconds"],
            "sender": row["sender alone"]["ratio"], "ours": ours["ratio"]}
        ratios = [f"{row[who]['ratio']:.2f}" if who in row else "-" for who in ["sender alone", *peers]]
        ratios.insert(1, ratio_spread(ours, row["work alone"]))
        fewer += [row[who]["runs"] < ours["runs"] for who in peers if who in row]
        lines.append(f"| {work} | {actors} | {bound or '-'} | {row['work alone']['seconds']:.4f} | " +
                     " | ".join(ratios) +
                     f" | {ours['allocations']} | {ours['parks']} | {ours['refusals']} |")
    report.section(
        "The classic workloads",
        "`bench_workloads`: one sender sends 100,000 messages to each actor. Times are multiples of "
        "the work alone. Brackets: the fastest and the slowest run of Pinstrike, as multiples of the "
        "median of the work alone. The last three columns are of Pinstrike (parks: how often a thread "
        f"gave up its processor). {sum(fewer)} of {len(fewer)} figures of peers (other libraries) are "
        f"of fewer than {options.runs} runs, because each peer had 5 s for a cell, or one run.",
        "\n".join(lines), "Peers ahead of Pinstrike: " + ("; ".join(behind) or "none") + ". The work "
        "alone assigns actors to two cores; of 15 actors one core gets 8. A scheduler that moves "
        "threads between cores can therefore reach 0.94 of it. The actors of Pinstrike are placed so "
        "that both cores have equal work, computed from the times of the work and of the sender alone "
        "in the same run: the user of the runtime decides where an actor runs. The threads of a peer "
        "run where its scheduler or the operating system puts them.")
    goal_of_workloads(report, kept)
    report.part["cells"] = kept


def goal_of_workloads(report, cells):
    """No runtime is faster than its work, or than one thread that sends all messages."""
    report.goal("the worst workload, of the larger of the work alone and the sender alone", limits.WITHIN,
                max(map(limits.beyond_bound, cells.values())), "times", lower=True)


def measure_actors(report, options):
    pairs = {row["who"]: row for row in objects_of(options, "pairs")}  # 40 M pings a pair
    many = {row["who"]: row for row in objects_of(options, "many_actors")}
    lines = ["| | seconds for all | ms for a million messages |", "|---|---|---|"]
    lines += [f"| {who} | {row['seconds']:.2f} ({row['seconds_min']:.2f} to {row['seconds_max']:.2f}) | "
              f"{1e3 * row['seconds_per_million']:.1f} |" for who, row in pairs.items()]
    each = pairs["pinstrike"]["messages_each"] / 1e6
    more = ["| | M messages/s | allocations while it runs |", "|---|---|---|"]
    more += [f"| {who} | {row['millions_per_second']:.1f} ({row['millions_per_second_min']:.1f} to "
             f"{row['millions_per_second_max']:.1f}) | {row['run_allocations']} |"
             for who, row in many.items()]
    report.section("Pairs of actors, and ten thousand",
                   f"Four pairs of actors, {each:.0f} M ordered pings in each; a \"more\" requests "
                   "every 1000 pings (`bench_pairs`):",
                   "\n".join(lines), "10,000 actors on two cores pass "
                   "messages in a ring (`bench_many_actors`; across: each message goes to the other "
                   "core):",
                   "\n".join(more))
    report.goal("four pairs, a more every 1000", 10,
                1e3 * pairs["pinstrike"]["seconds_per_million"], "ms per M messages", lower=True)
