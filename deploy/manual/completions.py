#!/usr/bin/env python3
"""Writes the shell completions, from the program's own help.

    completions.py PINSTRIKE bash|zsh
"""

import sys

import commands

BASH = """# Completion of pinstrike for bash. Made from the program's help.
_pinstrike() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} path="" word
    COMPREPLY=()
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$path $word" in
{paths}
        esac
    done
    case "$path $before" in
    " explain explain")
        if [[ $current != -* ]]; then
            word=$(pinstrike explain 2>/dev/null | sed -n \
                's/^  \\([^ ]*\\) .* (\\(pinstrike_[a-z_]*\\))$/\\1 \\2/p; t; s/^  \\([^ ]*\\) .*/\\1/p')
            COMPREPLY=($(compgen -W "$word" -- "$current"))
            return
        fi ;;&
{choices}
    esac
    case "$path" in
{words}
    esac
    [[ $current == -* || -n $word ]] || return
    COMPREPLY=($(compgen -W "$word" -- "$current"))
}}
# Where nothing of the program's fits, files do.
complete -o default -F _pinstrike pinstrike
"""

ZSH = """#compdef pinstrike
# Completion of pinstrike for zsh: bash's, which zsh can take.
autoload -U +X bashcompinit && bashcompinit
source @datadir@/bash-completion/completions/pinstrike
"""


def bash(program):
    paths, choices, words = [], [], []
    for command in commands.read_command(program).walk():
        key = "".join(f" {word}" for word in command.path)
        for child in command.children:
            paths.append(f'        "{key} {child.path[-1]}") path="{key} {child.path[-1]}" ;;')
        options = [name for entry in command.options for name in entry.names]
        subcommands = [child.path[-1] for child in command.children]
        words.append(f'    "{key}") word="{" ".join(subcommands)}"\n'
                     f'        [[ $current == -* ]] && word="{" ".join(options)}" ;;')
        for entry in command.options:
            if entry.choices:
                patterns = "|".join(f'"{key} {name}"' for name in entry.names)
                listed = " ".join(entry.choices)
                choices.append(f'    {patterns}) COMPREPLY=($(compgen -W "{listed}" -- "$current"));'
                               " return ;;")
    return BASH.format(paths="\n".join(paths), choices="\n".join(choices), words="\n".join(words))


if __name__ == "__main__":
    print(bash(sys.argv[1]) if sys.argv[2] == "bash" else
          ZSH.replace("@datadir@", sys.argv[3]), end="")
