#!/usr/bin/env python3
"""The repository checks itself: layout, include direction, hot files, sizes, borders, documents.

Rules that a compiler does not know; those about documents are in readmes.py, those about names in
names.py, and sizes.py measures functions and classes. Prints each finding as file:line: rule: what;
exits 1 if any.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "mutants"))
sys.dont_write_bytecode = True
import mutants  # noqa: E402
import names  # noqa: E402
import readmes  # noqa: E402
import sizes  # noqa: E402
PARTS = ["config", "nic", "feed", "actors"]  # include direction: a part sees those before it
# Inside them: a module sees those of the rows before its own.
MODULES = {
    "nic": [{"packet"}, {"multicast"}, {"capture", "sim", "uring", "dpdk"}],
    "feed": [{"event", "dbn"}, {"arbitration", "lines"}, {"recovery", "traffic", "recording"}, {"opra"}],
    "actors": [{"threads"}, {"runtime"}, {"publish"}, {"core"}, {"recovery"}, {"poller"}, {"book"},
               {"peer", "recorder"}, {"snapshot"}, {"market"}, {"gateway", "kafka"}, {"bridge"}, {"export"},
               {"topology"}, {"host"}, {"appliance"}, {"telemetry"}, {"control"}, {"bench"}, {"command"}],
}
# Files beside the modules, without what follows the first dot, and their place among those rows: 0.5 is
# between the first and the second row. The files of one place see each other.
LOOSE_FILES = {
    "nic": {0.5: {"clock", "file_descriptor", "port", "port_config", "port_keys", "port_kind", "port_kind_rows",
                  "port_kinds", "port_needs", "port_rules"},
            2.5: {"frame_sender", "open_port"}},
    "feed": {-0.5: {"venue"}, 2.5: {"venue_services"}, 3.5: {"venue_codecs"}},
    "actors": {},
}
# A folder without a row counts as a new kind of port, venue or actor: this is its row.
UNKNOWN_MODULES = {"nic": (2, "a kind of port"), "feed": (3, "a venue"), "actors": (6.5, "an actor")}
TOP = set(PARTS) | {"deploy", "tests"}
PYTHON_FOLDERS = ("tests/", "deploy/", "actors/publish/python/", "actors/publish/examples/", "actors/kafka/examples/")

# Which module may name which library.
LIBRARIES = {
    r"yaml\.h": ["config/"],
    r"rte_|ethdev": ["nic/dpdk/", "tests/bench/", "tests/nic/"],
    r"liburing": ["nic/uring/", "actors/gateway/", "actors/recorder/"],
    r"isa-l": ["nic/capture/"],
    r"zstd": ["nic/capture/", "actors/gateway/", "actors/export/"],
    r"prometheus/|boost/asio|boost/beast": ["actors/telemetry/metrics/"],
    r"hwloc": ["actors/", "nic/"],
    r"CLI/": ["actors/command/"],
    r"jemalloc": ["actors/"],
    r"archive\.h|archive_entry\.h": ["actors/command/support/", "nic/capture/", "tests/nic/"],
    r"openssl/evp\.h": ["actors/peer/", "actors/gateway/", "actors/bench/sample_work.h"],
    r"openssl/crypto\.h": ["actors/peer/", "actors/gateway/"],
    r"openssl/(?!evp\.h|crypto\.h)": ["actors/peer/"],
    r"librdkafka": ["actors/kafka/", "tests/"],
    r"seccomp\.h": ["actors/threads/", "actors/host/confine/"],
}

# The names of venues and of kinds of ports, as the build has them.
VENUES = names.listed(ROOT, "feed/meson.build", "venues")
PORT_KINDS = names.listed(ROOT, "nic/meson.build", "port_kinds")
ONE_VENUE, ONE_KIND = "|".join(VENUES), "|".join(PORT_KINDS)
VENUE_FOLDERS = [f"{parent}/{venue}/" for venue in VENUES for parent in ("feed", "actors/command")]
PORT_FOLDERS = [f"nic/{kind}/" for kind in PORT_KINDS]

# What stays behind a border: its includes and its names, its folders, and who else may use it and why.
# A file that is named here must use it.
BORDERS = {
    "a venue": (rf'#include "feed/({ONE_VENUE})/|\b({ONE_VENUE})::', VENUE_FOLDERS, {
        "actors/command/main.cpp": "registers the traffic generator",
    }),
    # Names of instances in examples are in small letters.
    "a venue by name": (rf'\bVenue::({ONE_VENUE})\b|(?i:"({ONE_VENUE})[".])|"[^"]*\b({ONE_VENUE.upper()})\b',
                        VENUE_FOLDERS, {
        "actors/publish/python/rows.cpp": "events of every venue have OPRA's letters (feed/event/README.md)",
        "feed/dbn/values.h": "the names that Databento's protocol gives to the feed",
        "feed/event/event.h": "events that tests and benchmarks make are of the first venue",
        "actors/topology/feed_config.h": "a config without `kind` is OPRA's, as it was published",
    }),
    # Commands read and write captures, and generators make frames. What a NIC's driver needs of the host
    # (memory, rights, devices, its log) is not behind the border.
    "a driver": (rf'#include "nic/(?!capture/|sim/frame_source|dpdk/(eal|host|log|memory_need|vdev))'
                 rf'({ONE_KIND})/|(?<!\w)uring::', PORT_FOLDERS, {}),
    # What differs between kinds of ports is a property of their rows (nic/port_kind.h).
    "a kind of port": (rf"\bPortKind::({ONE_KIND})\b", PORT_FOLDERS, {
        "actors/command/replay_config.cpp": "`replay` reads captures",
        "nic/port_config.h": "a port without `kind` generates traffic, as it was published",
    }),
    # Everything that shows figures renders a snapshot of the counters.
    "the appliance": (r'#include "actors/appliance/appliance.h"',
                      ["actors/appliance/", "actors/control/"], {
        "actors/telemetry/counter_snapshot.cpp": "reads the counters",
        "actors/telemetry/admin/packet_request.h": "taps packets",
    }),
}

HOT_WORDS = {
    r"\bnew\b(?!\s*\()": "allocation",
    r"\bmake_unique\b|\bmake_shared\b|\bshared_ptr\b": "allocation",
    r"\bmalloc\b|\bfree\(": "allocation",
    r"\bthrow\b|\btry\s*\{": "exception",
    r"\.push_back\(|\.emplace_back\(|\.resize\(|\.reserve\(": "container growth",
    r"\bstd::function\b": "type erasure",
    r"\bstd::mutex\b|\block_guard\b|\bunique_lock\b": "lock",
    r"\bstd::cout\b|\bstd::cerr\b|\bprintf\(|\bfmt::|\bstd::format\b": "formatting",
    r"\bclock_gettime\b|_clock::now\b|\b__rdtsc\b": "clock read",
    r"\bstd::to_string\b|\bstd::ostringstream\b": "formatting",
}

# Words that only this project used, and the field's word. They are looked for in texts and inside
# names. The published names that have one of them stay.
RETIRED_WORDS = {
    "road": "ring or queue", "roads": "rings or queues",
    "debt": "pending event", "debts": "pending events",
    "owe": "pending", "owed": "pending", "owes": "pending", "owing": "pending",
    "sight": "snapshot of counters", "desk": "handler", "seat": "slot", "dealer": "shard assignment",
    "suspicion": "reset candidate", "suspect": "candidate", "suspected": "inferred", "refute": "reject",
    "witness": "what corroborates, or the class's role", "sought": "lookup", "knot": "point",
    "mend": "fix, repair or correct", "mends": "fixes", "mended": "fixed", "mending": "fixing",
    "spoil": "damage", "spoilt": "damaged or malformed", "spoiled": "damaged or malformed",
    "astray": "displaced", "disturbed": "preempted", "untold": "not reported",
    "heed": "follow", "heeds": "follows", "heeded": "followed",
    "straight": "fast path", "narrow": "AVX2 or short",
}
PUBLISHED_NAMES = re.compile(
    r"gap_mended|latency_disturbed\w*|(ring_)?untold_repairs(_total)?")

# More of them, which are looked for in documents, comments, and all of scripts and Python. Names in C++
# may have these words.
RETIRED_IN_PROSE = {
    "news": "events",
    "believe": "trust or assume", "believes": "trusts", "believed": "trusted",
    "doubt": "say what is uncertain", "doubts": "say what is uncertain",
    "handed": "passed or given", "told": "reported, listed or distinguished",
}
RETIRED_PHRASES = {
    r"stops? of the machine|machine's stops?": "preemption",
    r"\bspec \([a-e]\)": "the specification",
    r"\bspoil(s|ed)?\b": "invalidates, or makes unreadable",
}
# Recorded names: metrics, options and names of tests, keys of the report.
RECORDED_NAMES = re.compile(r'port_handed_packets_total|["\']told["\']')

LINE_COLUMNS = 100
PYTHON_COLUMNS = 120
FUNCTION_LINES = 70
FILE_LINES = 700
CLASS_METHODS = 30
CLASS_MEMBERS = 15

# Classes beyond these limits: how many methods and data members each has. The list only shrinks: a
# class that becomes smaller lowers its row, and one that is within the limits leaves the list.
LARGE_CLASSES = {
    ("actors/peer/client.cpp", "Client"): (19, 18),  # a connection with its timers and limits
    ("actors/poller/poller.h", "Poller"): (46, 21),  # all that one packet needs, in one object
    ("actors/runtime/mailbox_actor.h", "MailboxActor"): (29, 19),  # mailboxes, timers and counters of an actor
    ("actors/runtime/lane.h", "LaneBase"): (28, 32),  # both sides' indices, on lines of their own
    ("feed/opra/traffic/market.h", "Market"): (32, 9),  # one method for each kind of message
    ("feed/opra/traffic/traffic_session.h", "TrafficSession"): (30, 21),  # one day, phase by phase
    ("feed/recovery/history.h", "History"): (21, 16),  # one ring of records and its index
    ("feed/recovery/recovery.h", "Recovery"): (31, 14),  # requests of all lines share one budget
    ("nic/dpdk/device.h", "Device"): (28, 17),  # a device and what it gives back at its end
    ("nic/dpdk/dpdk_port.h", "DpdkPort"): (15, 19),  # a queue's state beside its burst
}

findings = []


def found(path, line, rule, what):
    findings.append(f"{path.relative_to(ROOT)}:{line}: {rule}: {what}")


def tracked():
    out = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
        check=False)
    if out.returncode == 0:
        names = out.stdout.splitlines()
    else:  # an unpacked archive without git
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()]
    return [ROOT / n for n in names if (ROOT / n).is_file()]


def part_of(path):
    return path.relative_to(ROOT).parts[0]


def check_layout(files):
    for path in files:
        parts = path.relative_to(ROOT).parts
        if len(parts) > 1 and parts[0] not in TOP and not parts[0].startswith("."):
            found(path, 1, "layout", f"no top-level folder {parts[0]}")
        if path.suffix == ".py" and not str(path.relative_to(ROOT)).startswith(PYTHON_FOLDERS):
            found(path, 1, "layout", f"Python is only in {', '.join(PYTHON_FOLDERS)}")
        if len(parts) == 2 and parts[0] in LOOSE_FILES and path.suffix in names.CODE and \
                module_of("/".join(parts)) is None:
            found(path, 1, "module", "has no place in LOOSE_FILES of tests/tidy/tidy.py")


def module_of(name):
    """(part, row of MODULES, module, what it counts as without a row) of a path below the root; the
    module of a loose file is "*". None for what has no row."""
    parts = Path(name).parts
    if len(parts) < 2 or parts[0] not in MODULES:
        return None
    if len(parts) == 2:
        return next(((parts[0], place, "*", None) for place, files in LOOSE_FILES[parts[0]].items()
                     if parts[1].split(".")[0] in files), None)
    for row, modules in enumerate(MODULES[parts[0]]):
        if parts[1] in modules:
            return parts[0], row, parts[1], None
    return parts[0], UNKNOWN_MODULES[parts[0]][0], parts[1], UNKNOWN_MODULES[parts[0]][1]


def check_modules(path, number, name):
    here, seen = module_of(path.relative_to(ROOT)), module_of(name)
    if here and seen and here[0] == seen[0] and here[1:3] != seen[1:3] and seen[1] >= here[1]:
        without_row = "".join(
            f"; {part}/{module} has no row in MODULES of tests/tidy/tidy.py, so it counts as {kind}"
            for part, _, module, kind in (here, seen) if kind)
        found(path, number, "module", f"{here[0]}/{here[2]} must not include {name}{without_row}")


def check_includes(path, lines):
    part = part_of(path)
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not match:
            continue
        name = match.group(1)
        check_modules(path, number, name)
        if part in PARTS:
            seen = name.split("/")[0]
            if seen in PARTS and PARTS.index(seen) > PARTS.index(part):
                found(path, number, "direction", f"{part} must not include {name}")
            if seen == "tests":
                found(path, number, "direction", f"nobody includes tests: {name}")
        for pattern, places in LIBRARIES.items():
            here = str(path.relative_to(ROOT))
            if re.match(pattern, name) and not here.startswith("tests/") and \
                    not any(here.startswith(place) for place in places):
                found(path, number, "library", f"{name} is private to {', '.join(places)}")


def check_borders(path, lines):
    here = str(path.relative_to(ROOT))
    if part_of(path) not in PARTS:
        return
    for border, (pattern, folders, reasons) in BORDERS.items():
        if any(here.startswith(folder) for folder in folders):
            continue
        uses = [number for number, line in enumerate(lines, 1) if re.search(pattern, line.split("//")[0])]
        if here in reasons and not uses:
            found(path, 1, "border", f"does not name {border}: take it out of BORDERS")
        for number in [] if here in reasons else uses:
            found(path, number, "border", f"must not name {border}: {lines[number - 1].strip()[:60]}")


def check_hot(path, lines):
    """The first line says which text is hot. In a mixed file, marks begin the sections, and the text
    before the first mark is of the other kind."""
    kind = re.match(r"// path: (hot|cold|mixed, (?:hot|cold): \S.*)$", lines[0] if lines else "")
    if not kind and part_of(path) != "tests" and "examples" not in path.parts:  # users begin with those
        found(path, 1, "path", "begins with none of '// path: hot', '// path: cold', '// path: mixed, hot: '"
              " or '// path: mixed, cold: ' and names")
    marks = {number: mark.group(1) == "hot" for number, line in enumerate(lines, 1)
             if (mark := re.match(r"// --- (hot|cold)\b", line))}
    if kind and bool(marks) != kind.group(1).startswith("mixed"):
        found(path, 1, "path", "marks of hot and cold sections belong in a mixed file, which needs one")
    hot = not next(iter(marks.values())) if marks else bool(kind) and kind.group(1) == "hot"
    for number, line in enumerate(lines, 1):
        hot = marks.get(number, hot)
        if hot and number not in marks and "tidy: allowed" not in line:
            for pattern, what in HOT_WORDS.items():
                if re.search(pattern, sizes.strip_comment(line)):
                    found(path, number, "hot", f"{what} in hot text: {line.strip()[:60]}")


def check_casts(path, lines):
    """Bytes become types in one file; on any other line with such a cast, a comment gives the reason."""
    for number, line in enumerate(lines, 1):
        if "reinterpret_cast" in sizes.strip_comment(line) and "tidy:" not in line and \
                path.name != "cursor.h" and part_of(path) in ("feed", "actors"):
            found(path, number, "cast", "reinterpret_cast outside feed/event/cursor.h without a reason")


def check_columns(path, lines, most):
    for number, line in enumerate(lines, 1):
        if len(line) > most:
            found(path, number, "columns", f"{len(line)} columns, at most {most}")


def check_sizes(path, lines):
    if len(lines) > FILE_LINES:
        found(path, len(lines), "size", f"{len(lines)} lines: has this file one subject?")
    for number, size in sizes.function_sizes(lines):
        if size > FUNCTION_LINES:
            found(path, number, "size", f"a function of {size} lines, at most {FUNCTION_LINES}")


def check_classes(path, lines):
    for number, name, methods, members in sizes.class_sizes(lines):
        key = (str(path.relative_to(ROOT)), name)
        most_methods, most_members = LARGE_CLASSES.get(key, (CLASS_METHODS, CLASS_MEMBERS))
        if methods > most_methods or members > most_members:
            found(path, number, "class", f"{name} has {methods} methods, {members} data members; "
                  f"at most {most_methods} and {most_members}")
        elif key in LARGE_CLASSES and methods <= CLASS_METHODS and members <= CLASS_MEMBERS:
            found(path, number, "class", f"{name} is within the limits: take it out of LARGE_CLASSES")
        elif key in LARGE_CLASSES and (methods, members) != LARGE_CLASSES[key]:
            found(path, number, "class", f"lower the row of {name} in LARGE_CLASSES to {methods}, {members}")


def has_words(path):
    """Whether people write and read the file; a record or an input keeps its words."""
    where = path.relative_to(ROOT)
    return path.suffix not in (".pcap", ".pcapng", ".png", ".svg", ".json", ".csv") and \
        not str(where).startswith("tests/fuzz/corpus/") and where != Path(readmes.WRITTEN_BY_PROGRAM) and \
        path != Path(__file__).resolve()


def prose_of(path, line):
    """A line without what may have the words of RETIRED_IN_PROSE. Rows of planted.py quote the program,
    and their names are keys of a run's record."""
    if path.name == "planted.py":
        return ""
    if path.suffix in (".h", ".cpp"):  # its comment and its texts
        comment = re.search(r'(?:^|[^:"])//(.*)', line)
        texts = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
        line = " ".join(texts + ([comment.group(1)] if comment else []))
    return RECORDED_NAMES.sub("", line)


def check_words(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        prose = prose_of(path, line)
        for words, place in ((RETIRED_WORDS, PUBLISHED_NAMES.sub("", line)), (RETIRED_IN_PROSE, prose)):
            for word in re.findall(r"[A-Z]?[a-z]+", place):
                if word.lower() in words:
                    found(path, number, "word", f"\"{word}\": {words[word.lower()]}")
        for phrase, instead in RETIRED_PHRASES.items():
            if re.search(phrase, prose):
                found(path, number, "word", f"\"{phrase}\": {instead}")


def check_mutants():
    """The original code of each bug occurs once in the program, and each bug has a name of its own."""
    table = ROOT / "tests" / "mutants" / "planted.py"
    files = mutants.program_files(ROOT)
    names = set()
    for bug in mutants.PLANTED:
        count = len(mutants.places(bug, files))
        if count != 1:
            found(table, 1, "mutants", f"the original code of \"{bug.name}\" occurs {count} times in the "
                  f"program, expected once: {' '.join(bug.right.split())[:60]}")
        if bug.name in names:
            found(table, 1, "mutants", f"there are two bugs \"{bug.name}\"")
        names.add(bug.name)


def main():
    files = tracked()
    check_layout(files)
    check_mutants()
    for finding in (*readmes.check(ROOT, files),
                    *names.check_comments(files, [path for path in files if path.suffix in names.CODE
                                                  and part_of(path) in PARTS])):
        found(*finding)
    for path in files:
        if has_words(path):
            check_words(path)
        if path.suffix == ".py":
            check_columns(path, path.read_text(encoding="utf-8").splitlines(), PYTHON_COLUMNS)
        if path.suffix in (".h", ".cpp"):
            lines = path.read_text(encoding="utf-8").splitlines()
            check_columns(path, lines, LINE_COLUMNS)
            check_includes(path, lines)
            check_sizes(path, lines)
            check_casts(path, lines)
            check_borders(path, lines)
            check_hot(path, lines)
            if part_of(path) != "tests":
                check_classes(path, lines)
    print("\n".join(findings) if findings else "tidy: nothing found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
