"""Commands in the project's documents: the place of each, and whether the text says that no test can run it.

A command is a line of an indented or fenced block, or a piece of inline code, that begins with a program. All lines
of a block are commands if its first is. The mark of what no test can run is a sentence with "needs hardware that no
test has" (or "needs a real host that no test has"): in the same paragraph, item or table row, in a paragraph beside
the block, or, with the words "this section", as the first paragraph below the heading.
"""

import dataclasses
import re
from pathlib import Path

MARK = re.compile(r"needs? (hardware|a real host) that no test has", re.I)
# Programs that these documents may name. A word that begins with a path is a program as well.
PROGRAMS = set("""
    apt apt-get awk bash bpftool c++ cat cc chmod chown chronyc chrt cp cpupower curl cyclictest dmesg dmidecode docker
    dpdk-devbind.py dpkg driverctl echo ethtool export git grep grubby head htop install ip iptables irqbalance
    journalctl kill lscpu lspci lsmod lstopo ln ls make man meson mkdir mlxconfig modprobe mount mstconfig mv
    netstat nft ninja nsenter nstat numactl openssl perf phc2sys pinstrike ping pip pmc pngquant prometheus promtool
    ptp4l python3 rdmsr rm rtla scp sed sh sleep socat ss ssh sudo swapoff sysctl systemctl systemd-analyze
    systemd-run tail tar taskset tc tcpdump tee testpmd top touch truncate tshark tuned-adm turbostat ulimit umask
    update-grub watch wget wrmsr xdp-loader zcat
""".split())
SHELLS = ("sh", "bash", "console", "shell")


@dataclasses.dataclass
class Command:
    document: str
    line: int
    text: str
    marked: bool

    def __str__(self):
        return f"{self.document}:{self.line}: {self.text}"


@dataclasses.dataclass
class Paragraph:
    line: int
    lines: list
    kind: str        # "text", "block", "heading"
    language: str = ""


def paragraphs(text):
    """The document's parts. Each item of a list and each row of a table is a part."""
    found, fence = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if fence is not None:
            if line.strip().startswith("```"):
                fence = None
            else:
                fence.lines.append(line)
            continue
        if line.strip().startswith("```"):
            fence = Paragraph(number + 1, [], "block", line.strip()[3:].strip() or "text")
            found.append(fence)
            continue
        kind = "heading" if line.startswith("#") else "block" if line.startswith("    ") else "text"
        last = found[-1] if found else None
        item = re.match(r" *([-*|]|\d+\.) ?", line)
        joins = last and last.lines and line.strip() and last.kind == kind == "text" and not item
        if not line.strip():
            found.append(Paragraph(number, [], "text"))
        elif joins or (last and last.lines and last.kind == kind == "block" and not last.language):
            last.lines.append(line)
        else:
            found.append(Paragraph(number, [line], kind))
    return [one for one in found if one.lines]


def without_comment(line):
    return re.sub(r"(^|\s)#(\s.*)?$", "", line).strip().removeprefix("$ ")


def program_of(text):
    """The first word that is neither an assignment nor sudo or exec."""
    words = re.sub(r"^[(\s]+", "", text).split()
    while words and (re.match(r"[A-Z_]+=", words[0]) or words[0] in ("sudo", "exec")):
        words.pop(0)
    return words[0] if words else ""


def is_command(text, root, subcommands):
    program = program_of(text)
    words = text.split()
    if program in PROGRAMS:
        return len(words) > 1
    if re.match(r"(\./)?[\w.-]+(/[\w.*-]+)+$", program):
        inside = root / program
        return (inside.is_file() and (len(words) > 1 or inside.stat().st_mode & 0o100 != 0)) or \
            (program.startswith("build") and len(words) > 1)
    if program.startswith(("/usr/bin/", "/usr/sbin/", "/usr/lib/")):
        return len(words) > 1
    return len(words) > 1 and program in subcommands  # `check --schema`, as in tables


def of_block(part, root, subcommands, not_commands):
    """The lines of a block; a line that ends with a backslash is joined with the next."""
    lines = [without_comment(line) for line in "\n".join(part.lines).replace("\\\n", " ").splitlines()]
    if not lines or (lines[0] in not_commands and part.language not in SHELLS):
        return
    if part.language in SHELLS or is_command(lines[0], root, ()):
        for offset, line in enumerate(lines):
            if line:
                yield part.line + offset, line


def of_text(part, root, subcommands):
    text = "\n".join(part.lines)
    for match in re.finditer(r"`([^`]+)`", text):
        code = " ".join(match.group(1).split()).replace("\\|", "|")
        if is_command(code, root, subcommands):
            yield part.line + text[:match.start()].count("\n"), code


def section_marks(parts):
    """For each part: does the first paragraph of its section mark all of it?"""
    marked, fresh, out = False, False, []
    for part in parts:
        if part.kind == "heading":
            marked, fresh = False, True
        elif fresh and part.kind == "text":
            text = " ".join(part.lines)
            marked = bool(MARK.search(text)) and "this section" in text
            fresh = False
        out.append(marked)
    return out


def commands_of(path, root, subcommands, not_commands=()):
    """All commands of a document (a path below `root`)."""
    parts = paragraphs((root / path).read_text(encoding="utf-8"))
    sections = section_marks(parts)
    for i, part in enumerate(parts):
        beside = parts[max(0, i - 1):i + 2] if part.kind == "block" else [part]
        marked = sections[i] or any(MARK.search(" ".join(" ".join(one.lines).split()))
                                    for one in beside if one.kind != "heading")
        lines = (of_block(part, root, subcommands, not_commands) if part.kind == "block" else
                 of_text(part, root, subcommands))
        for line, text in lines:
            yield Command(str(path), line, text, marked)


def documents(root):
    """Every document except the changelog, which describes the past."""
    root = Path(root)
    # Builds are left out, because tests that run at the same time create and remove folders there.
    tops = [top for top in root.iterdir() if not top.name.startswith((".", "build"))]
    found = [path for top in tops for path in ([top] if top.suffix == ".md" else top.rglob("*.md"))]
    return [path.relative_to(root) for path in sorted(found)
            if path.name != "CHANGELOG.md" and "node_modules" not in path.parts]
