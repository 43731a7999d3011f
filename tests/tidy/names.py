"""Names that the sources must agree on: lists of the build, and names that comments mention."""

import re

CODE = (".h", ".cpp", ".in")
# A name that a comment marks as code: in backticks, or followed by (). Calls with a section of the
# manual, such as syslog(3), are of other programs.
MARKED = re.compile(r"`([^`]+)`|([A-Za-z_]\w*)\(\)")


def listed(root, file, name):
    """The words of a list in a meson.build."""
    words = re.search(rf"^{name} = \[(.*?)\]", (root / file).read_text(encoding="utf-8"), re.M | re.S)
    return re.findall(r"'(\w+)'", words.group(1))


def without_comments(text):
    return "\n".join(line.split("//")[0] for line in text.splitlines())


def known_names(files):
    """Every identifier of the code and of all other texts but documents."""
    known = set()
    for path in files:
        if path.suffix in (".md", ".pcap", ".pcapng", ".png", ".svg"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        known.update(re.findall(r"[A-Za-z_]\w*", without_comments(text) if path.suffix in CODE else text))
    return known


def check_comments(files, program):
    """Yields (path, line, rule, what) for names in the program's comments that nothing in the tree
    has. NAME is a placeholder."""
    known = known_names(files)
    for path in program:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            comment = re.search(r'(?:^|[^:"])//(.*)', line)
            for quoted, called in MARKED.findall(comment.group(1)) if comment else ():
                for name in re.findall(r"[A-Za-z_]\w*", quoted or called):
                    if name not in known and "NAME" not in name:
                        yield path, number, "comment", f"names {name}, which does not exist"
