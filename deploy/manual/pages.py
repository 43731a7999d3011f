#!/usr/bin/env python3
"""Writes the sources (scdoc) of the manual pages, from the program's own help and its table of keys.

    pages.py PINSTRIKE pinstrike.1|pinstrike.yaml.5 >PAGE.scd
"""

import json
import re
import sys

import commands

FILES = """# FILES

_/etc/pinstrike/NAME.yaml_
	The config of the feed that the service *pinstrike@NAME* runs: *pinstrike.yaml*(5).

_/etc/pinstrike-gateway/NAME.yaml_
	The config of the gateway that the service *pinstrike-gateway@NAME* runs.

_/etc/pinstrike-kafka/NAME.yaml_
	The config of the Kafka producer that the service *pinstrike-kafka@NAME* runs.

_/usr/share/doc/pinstrike/examples_, _/usr/share/doc/pinstrike-gateway/examples_,
_/usr/share/doc/pinstrike-kafka/examples_
	Commented example configs.

_/usr/share/pinstrike/rights_
	Rights that an instance needs beyond its unit, by the kind of its ports.

_/usr/share/doc/pinstrike/RUNBOOK.md_
	What each alert means, where to look, and what to do.

_/usr/share/doc/pinstrike/TUNING.md_, _CAPACITY.md_
	Hardware and host; how many pollers and cores.

# EXIT STATUS

*0*
	Success.

*1*
	Failure that a retry may fix: an address in use or not there yet, too little memory free now. The service
	tries again.

*2*
	Wrong use.

*78*
	The config or the host is wrong. A restart does not fix that, so the service does not restart.

# SEE ALSO

*pinstrike.yaml*(5), *systemctl*(1), *journalctl*(1), *driverctl*(8)
"""


def escaped(text):
    """Words in which nothing is markup."""
    text = re.sub(r"([\\*_`\[\]|#])", r"\\\1", text)
    return re.sub(r"^([-.+])", r"\\\1", text)


def mixed(text):
    """Paragraphs stay, indented lines are literal."""
    out = []
    literal = False
    for line in text.splitlines():
        indented = line.startswith("  ")
        if indented != literal:
            out += ["```"] if literal else ["", "```"]
            if literal:
                out.append("")
        literal = indented
        out.append(line if indented else escaped(line))
    return "\n".join(out + (["```"] if literal else []))


def entry_text(entry):
    names = ", ".join(f"*{escaped(name)}*" for name in entry.names)
    value = "|".join(entry.choices) or entry.value
    return f"{names}{' ' + escaped(value) if value else ''}\n\t{escaped(entry.sentence)}\n"


def command_text(command):
    parts = [f"## {' '.join(command.path)}", escaped(command.sentence) + ".",
             f"*{escaped(command.usage)}*"]
    for heading, entries in command.groups.items():
        shown = [entry_text(entry) for entry in entries if "--help" not in entry.names]
        if not shown:
            continue
        if heading not in ("Positionals", "Options"):
            parts.append(escaped(heading) + ":")
        parts += shown
    parts.append(mixed(command.footer))
    return "\n\n".join(part for part in parts if part)


def program_page(program):
    root = commands.read_command(program)
    listed = "\n".join(entry_text(entry) for entry in root.groups["Subcommands"])
    details = "\n\n".join(command_text(each) for each in root.walk() if each.path)
    options = "\n".join(entry_text(entry) for entry in root.options)
    return (f"pinstrike(1) \"Pinstrike {commands.version_of(program)}\" \"Pinstrike\"\n\n# NAME\n\n"
            "pinstrike - kernel-bypass handler for US options market data\n\n# SYNOPSIS\n\n"
            "*pinstrike* _COMMAND_ [OPTIONS]\n\n# DESCRIPTION\n\n"
            f"{escaped(root.sentence)}\n\n{listed}\n\n{options}\n\n"
            "As a service: *systemctl enable --now pinstrike@NAME* runs the config "
            "_/etc/pinstrike/NAME.yaml_.\n\n"
            f"# COMMANDS\n\n{details}\n\n{FILES}")


def key_text(key):
    """A paragraph of one key, as `explain --json` has it."""
    facts = "; ".join(f"{word}: {text}" for word, text in key["facts"].items())
    text = [f"*{escaped(key['name'])}*", "\t" + escaped(key["sentence"]), "",
            "\t" + escaped(facts) + "."]
    for choice in key.get("choices", []):
        text += ["", f"\t*{escaped(choice['word'])}*: {escaped(choice['sentence'])}"]
    return "\n".join(text) + "\n"


def config_page(program):
    keys = [one for one in json.loads(commands.ask(program, "explain", "--json"))
            if one["kind"] == "key"]
    sections = {}
    for key in keys:
        sections.setdefault(key["name"].split(".")[0], []).append(key_text(key))
    keys_text = "\n\n".join(f"## {escaped(name)}\n\n" + "\n".join(texts)
                            for name, texts in sections.items())
    return (f"pinstrike.yaml(5) \"Pinstrike {commands.version_of(program)}\" \"Pinstrike\"\n\n"
            "# NAME\n\npinstrike.yaml - the config of a feed\n\n# SYNOPSIS\n\n"
            "_/etc/pinstrike/NAME.yaml_\n\n# DESCRIPTION\n\n"
            "A YAML file for each feed. *pinstrike check FILE* reports every error in it, by "
            "line and column, or prints every key with the value in force; *pinstrike check "
            "--schema* prints a JSON Schema for editors. Commented examples: "
            "_/usr/share/doc/pinstrike/examples_. A gateway has files of its own, config and keys, "
            "whose keys are in the sections gateway and gateway_keys; the config of a Kafka producer has "
            "the keys of the section kafka.\n\n"
            f"# KEYS\n\n{keys_text}\n\n# SEE ALSO\n\n*pinstrike*(1)\n")


PAGES = {"pinstrike.1": program_page, "pinstrike.yaml.5": config_page}

if __name__ == "__main__":
    print(PAGES[sys.argv[2]](sys.argv[1]), end="")
