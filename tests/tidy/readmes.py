"""Rules for documents: READMEs name every file and folder, decisions are complete, and the folders of
tests mirror those of the program. Each check yields (path, line, rule, what)."""

import re
from fnmatch import fnmatchcase

import names

PARTS = ("config", "nic", "feed", "actors")
# The build's lists of what may grow: each word has a folder beside the list.
KINDS = {"feed/meson.build": "venues", "nic/meson.build": "port_kinds", "actors/meson.build": "actor_kinds"}
NOT_NAMED = ("README.md", "meson.build")
COLUMNS = 120
WRITTEN_BY_PROGRAM = "tests/bench/report.md"
DECISION = ("Question", "Choice", "Reason", "Price")

# Folders of tests that test no single folder of the program.
TESTS_OF_ALL = {
    "alerts": "alerts, on running instances", "appliance": "the package, on whole machines",
    "bench": "benchmarks", "captures": "inputs", "commands": "the program as a user runs it",
    "dashboards": "Grafana's dashboards", "fuzz": "parsers of all modules", "growth": "additions to a copy",
    "independent": "a second implementation of OPRA", "live": "the program between network namespaces",
    "mutants": "bugs in all modules", "sim": "the whole appliance in one thread", "tidy": "the sources",
}


def tree(root, files):
    """{folder: names of its files}, folders relative to the root."""
    folders = {}
    for path in files:
        where = path.relative_to(root)
        folders.setdefault(str(where.parent), set()).add(where.name)
    return folders


def is_module(folder):
    return folder.split("/")[0] in PARTS or folder == "tests/sim"


def tokens(text):
    """The words in backticks, such as names of files, also with * in them."""
    return {word for quoted in re.findall(r"`([^`\n]+)`", text) for word in re.split(r"[,\s]+", quoted)}


def first_column(text):
    """(line, word) of the words in backticks in the first column of tables of files."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        inside = line.startswith("|") and (inside or re.match(r"\| file \|", line) is not None)
        if inside:
            for word in re.findall(r"`([^`]+)`", line.split("|")[1]):
                yield number, word


def check_files(root, folders):
    """Each module has a README, which names each of its files and only files that exist."""
    for folder in sorted(filter(is_module, folders)):
        readme = root / folder / "README.md"
        if not readme.is_file():
            yield root / folder / sorted(folders[folder])[0], 1, "readme", f"{folder} has no README.md"
            continue
        text = readme.read_text(encoding="utf-8")
        if not re.match(r"# \S", text):
            yield readme, 1, "readme", "does not begin with a heading"
        named = tokens(text)
        for name in sorted(folders[folder].difference(NOT_NAMED)):
            if not any(fnmatchcase(name, word) for word in named):
                yield readme, 1, "readme", f"does not name {name}"
        for number, word in first_column(text):
            if not word.endswith("/") and not any(fnmatchcase(name, word) for name in folders[folder]):
                yield readme, number, "readme", f"names {word}, which does not exist"


def check_folders(root, folders):
    """The README of a module is linked from the nearest README above it."""
    for folder in sorted(filter(is_module, folders)):
        if "/" not in folder or folder.startswith("tests/"):
            continue
        above = folder.rsplit("/", 1)[0]
        while above not in folders or "README.md" not in folders[above]:
            above = above.rsplit("/", 1)[0]
        link = f"({folder.removeprefix(above + '/')}/README.md)"
        readme = root / above / "README.md"
        if link not in readme.read_text(encoding="utf-8"):
            yield readme, 1, "readme", f"has no link {link}"


def check_kinds(root, folders):
    """Each venue, kind of port and kind of actor has a folder (whose README the rules above demand) and
    is in the changelog."""
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8").lower()
    for file, name in KINDS.items():
        for kind in names.listed(root, file, name):
            if f"{file.split('/', maxsplit=1)[0]}/{kind}" not in folders:
                yield root / file, 1, "readme", f"{kind} of {name} has no folder"
            if kind not in text:
                yield changelog, 1, "readme", f"does not name {kind}, of {name} in {file}"


def check_decisions(files):
    """Each decision has a question, a choice, a reason and a price, in this order."""
    for path in files:
        if path.suffix != ".md":
            continue
        title, parts, inside = None, [], False
        for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), "# end"], 1):
            if line.startswith("#"):
                if title and tuple(parts) != DECISION:
                    yield path, title, "decision", f"has {', '.join(parts)}; expected {', '.join(DECISION)}"
                inside = line.startswith("## Decisions") or (inside and line.startswith("### "))
                title, parts = number if inside and line.startswith("### ") else None, []
            elif title:
                parts += re.findall(r"^\*\*(\w+)\.\*\*", line)


def check_columns(root, files):
    """Lines of prose have a limited length. Tables, code and the targets of links have not."""
    for path in files:
        if path.suffix != ".md" or path == root / WRITTEN_BY_PROGRAM:
            continue
        code = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            code = code != line.startswith("```")
            length = len(re.sub(r"https?://\S+|\]\([^)]*\)", "", line))
            if not code and not re.match(r" *\||    ", line) and length > COLUMNS:
                yield path, number, "columns", f"{length} columns, at most {COLUMNS}"


def check_tests(root, folders):
    """A folder of tests has the path of the folder that it tests."""
    for folder in sorted(folders):
        parts = folder.split("/")
        if parts[0] == "tests" and len(parts) > 1 and parts[1] not in TESTS_OF_ALL and \
                "/".join(parts[1:]) not in folders:
            yield root / folder / sorted(folders[folder])[0], 1, "tests", \
                f"there is no folder {'/'.join(parts[1:])} for {folder} to test"
    for name in sorted(TESTS_OF_ALL):
        if not any(folder.startswith(f"tests/{name}") for folder in folders):
            yield root / "tests" / "README.md", 1, "tests", f"there is no folder tests/{name}: take it out of the list"


def check(root, files):
    folders = tree(root, files)
    yield from check_files(root, folders)
    yield from check_folders(root, folders)
    yield from check_kinds(root, folders)
    yield from check_decisions(files)
    yield from check_columns(root, files)
    yield from check_tests(root, folders)
