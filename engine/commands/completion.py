"""The command that writes what a shell needs to complete words: ``custos completion bash``."""

from __future__ import annotations

import argparse
from typing import Any

from engine.commands.command import Answer, Commands

SHELLS = ("bash", "zsh", "fish")
NAME = "custos"
Words = dict[tuple[str, ...], list[str]]
_BASH = """\
_{name}() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" words
    case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}} " in
{cases}
        *) words="{commands}" ;;
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then words="{commands}"; fi
    COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
}}
complete -o filenames -F _{name} {name}
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def add_commands(add: Commands) -> None:
    """Add ``completion``."""
    completion = add("completion", completion_command, lambda answer, language: answer["script"].splitlines())
    completion.add_argument("shell", choices=SHELLS)


def completion_command(options: argparse.Namespace) -> Answer:
    """Return the script for a shell, made from the commands that there are."""
    from engine.methods.listing import listed

    words = words_of(options.root, tuple(one.id for one in listed()))
    return {"script": _fish(words) if options.shell == "fish" else _bash(words, options.shell)}, 0


def words_of(parser: argparse.ArgumentParser, ids: tuple[str, ...] = ()) -> Words:
    """Return what can follow each command: further commands, options, ids of methods where one is asked."""
    found: Words = {}

    def walk(one: argparse.ArgumentParser, path: tuple[str, ...]) -> None:
        options = [word for action in one._actions for word in action.option_strings if word.startswith("--")]
        choices = [str(word) for action in one._actions for word in _choices(action)]
        asks = any(
            action.dest == "method" or (path, action.dest) == (("methods",), "id") for action in one._actions
        )
        found[path] = [*choices, *options, *(ids if asks else ())]
        for action in one._actions:
            if isinstance(action, argparse._SubParsersAction):
                for name, further in action.choices.items():
                    walk(further, (*path, name))

    walk(parser, ())
    return found


def _choices(action: argparse.Action) -> list[Any]:
    return [] if action.option_strings or action.choices is None else list(action.choices)


def _bash(words: Words, shell: str) -> str:
    longest_first = sorted((path for path in words if path), key=len, reverse=True)
    cases = "\n".join(
        f'        "{" ".join(path)} "*) words="{" ".join(words[path])}" ;;' for path in longest_first
    )
    script = _BASH.format(name=NAME, cases=cases, commands=" ".join(words[()]))
    return (_ZSH if shell == "zsh" else "") + script


def _fish(words: Words) -> str:
    lines = [f'complete -c {NAME} -n __fish_use_subcommand -f -a "{" ".join(words[()])}"']
    for path, following in words.items():
        if path:
            seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in path)
            lines.append(f'complete -c {NAME} -n "{seen}" -a "{" ".join(following)}"')
    return "\n".join(lines) + "\n"
