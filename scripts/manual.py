"""Writes a manual page from the description that a program of swift-argument-parser prints.

usage: PROGRAM --experimental-dump-help | manual.py VERSION EPOCH

VERSION is Millrace's, EPOCH the page's date in seconds since 1970. The page has a section for each command, with every option
that `--help` shows.
"""

import datetime
import json
import sys


def escaped(text):
    """Text for roff: backslashes, dashes that stay dashes, paragraphs, and no line that begins with a control character."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    return "\n".join(".PP" if not line else "\\&" + line if line[0] in ".'" else line for line in lines)


def name(each):
    return {"long": "--", "short": "-", "longWithSingleDash": "-"}[each["kind"]] + each["name"]


def argument(each):
    value = each.get("valueName") or "value"
    if each["kind"] == "positional":
        return f"\\fI{escaped(value)}\\fP" + ("..." if each.get("isRepeating") else "")
    names = ", ".join(f"\\fB{escaped(name(one))}\\fP" for one in each["names"])
    return names + (f" \\fI{escaped(value)}\\fP" if each["kind"] == "option" else "")


def description(each):
    words = [each.get("abstract", "")]
    if each.get("allValues"):
        words.append("Values: " + ", ".join(each["allValues"]) + ".")
    if each.get("defaultValue"):
        words.append(f"Default: {each['defaultValue']}.")
    return escaped(" ".join(filter(None, words)) or "No description.")


def shown(items):
    return [each for each in items or [] if each.get("shouldDisplay", True)]


def arguments(command):
    lines = []
    for each in shown(command.get("arguments")):
        lines += [".TP", argument(each), description(each)]
        if each.get("discussion"):
            lines += [".IP", escaped(each["discussion"])]
    return lines


def text(command):
    lines = []
    for key in ["abstract", "discussion"]:
        if command.get(key):
            lines += [".PP", escaped(command[key])]
    return lines


def commands(command, names):
    lines = []
    for each in shown(command.get("subcommands")):
        if each["commandName"] == "help":
            continue
        path = [*names, each["commandName"]]
        lines += [f'.SS "{escaped(" ".join(path))}"', *text(each), *arguments(each), *commands(each, path)]
    return lines


def main():
    version, epoch = sys.argv[1], int(sys.argv[2])
    command = json.load(sys.stdin)["command"]
    date = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).date().isoformat()
    title = command["commandName"]
    options = arguments(command)
    below = commands(command, [title])
    lines = [
        f'.TH "{escaped(title.upper())}" 1 "{date}" "Millrace {version}" "Millrace"', ".nh", ".ad l",
        ".SH NAME", f"{escaped(title)} \\- {escaped(command.get('abstract', '').rstrip('.'))}",
        ".SH SYNOPSIS", f"\\fB{escaped(title)}\\fP " + ("\\fIcommand\\fP " if below else "") + "[\\fIoptions\\fP]",
    ]
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", escaped(command["discussion"])]
    if options:
        lines += [".SH OPTIONS", *options]
    if below:
        lines += [".SH COMMANDS", *below]
    lines += [".SH SEE ALSO", "https://github.com/millrace/millrace"]
    print("\n".join(lines))


main()
