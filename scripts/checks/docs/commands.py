"""Checks that the subcommands and options of all commands on pages exist.

It checks blocks of sh and inline code. A placeholder (`…`, `[A]`, `a|b`) ends a command.
"""
import functools
import re
import shlex
import subprocess

PROGRAMS = re.compile(r"(?:millrace|appstore-simulator)[a-z-]*")
# Programs that are not checked.
OTHERS = {"millrace-scenarios"}
BLOCK = re.compile(r"^ *```sh[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
HERE = re.compile(r"<<'?(\w+)'?.*?^\1$", re.MULTILINE | re.DOTALL)


@functools.cache
def help_of(binaries, words):
    result = subprocess.run([binaries / words[0], *words[1:], "--help"], capture_output=True, text=True, timeout=60)
    return result.stdout + result.stderr


@functools.cache
def subcommands(binaries, words):
    _, _, rest = help_of(binaries, words).partition("SUBCOMMANDS:")
    return set(re.findall(r"^  ([a-z][a-z-]*)", rest, re.MULTILINE))


def standard(binaries, words):
    """The default subcommand as a tuple; empty if there is none."""
    _, _, rest = help_of(binaries, words).partition("SUBCOMMANDS:")
    return tuple(re.findall(r"^  ([a-z][a-z-]*) \(default\)", rest, re.MULTILINE))


def commands(text):
    """The commands in a page's blocks and inline code, each as a list of words."""
    blocks = [HERE.sub("", block).replace("\\\n", " ") for block in BLOCK.findall(text)]
    lines = [line for block in blocks for line in re.split(r"\n|\||&&|;", block)]
    plain = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for line in lines + [code.replace("\n", " ") for code in INLINE.findall(plain)]:
        try:
            words = shlex.split(line.strip().removeprefix("$ "), comments=True)
        except ValueError:
            continue
        while words and re.fullmatch(r"\w+=.*", words[0]):
            words = words[1:]
        if words and PROGRAMS.fullmatch(words[0]):
            yield words


def problem(words, binaries):
    """Describes an unknown subcommand or option; None if there is none, or if the program is not available."""
    if words[0] in OTHERS or not (binaries / words[0]).exists():
        return None
    path = (words[0],)
    rest = words[1:]
    while rest and subcommands(binaries, path) and not rest[0].startswith("-"):
        if rest[0] not in subcommands(binaries, path):
            is_word = re.fullmatch(r"[a-z][a-z-]*", rest[0]) and rest[0] != "help"
            return f"{' '.join(path)} has no {rest[0]}" if is_word else None
        path, rest = (*path, rest[0]), rest[1:]
    path += standard(binaries, path)
    for word in rest:
        option = re.match(r"--[a-z][a-z0-9-]*", word)
        if option and not re.search(rf"{option[0]}(?![a-z0-9-])", help_of(binaries, path)):
            return f"{' '.join(path)} has no {option[0]}"
    return None


def problems(page, binaries):
    found = {problem(words, binaries) for words in commands(page.read_text())} - {None}
    return [f"{page.name}: {what}" for what in sorted(found)]
