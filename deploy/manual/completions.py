#!/usr/bin/env python3
"""Writes the shell completions, from the program's own help.

    completions.py PINSTRIKE bash|zsh
"""

import sys

import commands

# In words that zsh understands as well: no ;;& there, and `path` is another name for PATH.
BASH = """# Completion of pinstrike for bash, and for zsh by its bashcompinit. Made from the program's help.
_pinstrike() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command="" word
    COMPREPLY=()
    for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD - 1))}}"; do
        case "$command $word" in
{commands}
        esac
    done
    if [[ "$command $before" == " explain explain" && $current != -* ]]; then
        word=$(pinstrike explain 2>/dev/null | sed -n \
            's/^  \\([^ ]*\\) .* (\\(pinstrike_[a-z_]*\\))$/\\1 \\2/p; t; s/^  \\([^ ]*\\) .*/\\1/p')
        COMPREPLY=($(compgen -W "$word" -- "$current"))
        return
    fi
    case "$command $before" in
{choices}
    esac
    case "$command" in
{words}
    esac
    [[ $current == -* || -n $word ]] || return
    COMPREPLY=($(compgen -W "$word" -- "$current"))
}}
# Files complete where no word of the program does.
complete -o default -F _pinstrike pinstrike
"""

# The last line answers the first question; later ones go to what `complete` has named.
ZSH = """#compdef pinstrike
# Completion of pinstrike for zsh: that of bash, which zsh can load.
autoload -U +X bashcompinit && bashcompinit
source @datadir@/bash-completion/completions/pinstrike
_bash_complete -o default -F _pinstrike
"""


def bash(program):
    paths, choices, words = [], [], []
    for command in commands.read_command(program).walk():
        key = "".join(f" {word}" for word in command.path)
        for child in command.children:
            paths.append(f'        "{key} {child.path[-1]}") command="{key} {child.path[-1]}" ;;')
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
    return BASH.format(commands="\n".join(paths), choices="\n".join(choices), words="\n".join(words))


if __name__ == "__main__":
    print(bash(sys.argv[1]) if sys.argv[2] == "bash" else
          ZSH.replace("@datadir@", sys.argv[3]), end="")
