"""The commands of the program, read from their own help: what pages and completions are made of."""

import dataclasses
import re
import subprocess


@dataclasses.dataclass
class Entry:
    """A positional, an option or a subcommand."""
    names: list   # "-h", "--help"; of an option whose negation has a name, both
    value: str    # what follows the name: "TEXT", "UINT in [1 - 64]=1"; empty: nothing
    sentence: str

    @property
    def choices(self):
        """The words that the value may be; none: any."""
        mapped = re.findall(r"([\w-]+)->", self.value)
        listed = re.search(r"\{([\w,-]+)\}", self.value)
        return mapped or (listed.group(1).split(",") if listed else [])


@dataclasses.dataclass
class Command:
    path: list     # ["bench", "actor"]; empty: the program
    sentence: str
    usage: str
    groups: dict   # heading: entries
    footer: str
    children: list = dataclasses.field(default_factory=list)

    @property
    def options(self):
        return [entry for heading, entries in self.groups.items()
                if heading not in ("Positionals", "Subcommands") for entry in entries]

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()


def ask(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True,
                          timeout=60).stdout


def parse_entry(name, sentence):
    """"-f,--for TEXT Needs: --out" and what it does."""
    names, _, value = name.partition(" ")
    value = re.sub(r"^(\w+):(?:\1 in )", r"\1 in ", value)
    names = [re.sub(r"\{\w+\}$", "", word) for word in names.split(",")]
    return Entry(names, value.strip(), sentence)


def parse_entries(lines):
    found = []
    for line in lines:
        if line.startswith(" " * 10):
            found[-1][1].append(line.strip())
        else:
            name, *rest = re.split(r" {2,}", line.strip(), maxsplit=1)
            found.append((name, rest))
    return [parse_entry(name, " ".join(words)) for name, words in found]


def is_group(block):
    first = block[1] if len(block) > 1 else ""
    return block[0] in ("Positionals:", "Subcommands:") or \
        (block[0].endswith(":") and first.startswith("  -"))


def parse_help(path, text):
    above, usage, below = re.match(r"(.*?)Usage: (.*?)\n(.*)", text, re.DOTALL).groups()
    blocks = [block.splitlines() for block in re.split(r"\n{2,}", below.strip("\n"))]
    groups = {}
    while blocks and is_group(blocks[0]):
        heading, *lines = blocks.pop(0)
        groups[heading.rstrip(":")] = parse_entries(lines)
    footer = "\n\n".join("\n".join(block) for block in blocks)
    return Command(path, " ".join(above.split()), usage, groups, footer)


def read_command(program, path=(), words=()):
    """`words` ask for it: its path, with a word for whatever stands before a subcommand (INSTANCE)."""
    command = parse_help(list(path), ask(program, *words, "--help"))
    before = [entry.names[0] for entry in command.groups.get("Positionals", [])]
    for entry in command.groups.get("Subcommands", []):
        name = entry.names[0]
        command.children.append(read_command(program, [*path, name], [*words, *before, name]))
    return command


def version_of(program):
    return ask(program, "--version").split()[-1]
