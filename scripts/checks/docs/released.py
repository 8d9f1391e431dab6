"""Compares the names that other programs rely on with those of the last release.

The names: topics and whether they are keyed, headers of records and of HTTP workers, configuration keys and their types,
metrics and their labels, and the commands and options of millrace. Names are only added (docs/upgrade.md). The schemas of values have a test of their own,
SchemaEvolutionTests. `scripts/check docs --release` writes the names of a release into released.json.
"""
import json
import pathlib
import re
import subprocess

PLACE = pathlib.Path(__file__).with_name("released.json")
HEADER = re.compile(r'"(ce_[a-z]+|(?:millrace|webhook)-[a-z-]*[a-z]|traceparent|content-type)"')
# The places where names of headers are declared. A name that is not a header may be among them.
HEADER_SOURCES = ("Sources/MillraceRecords", "Sources/MillraceWorker", "Sources/HTTPWorkers")


def topics(root):
    """Each topic of topics/ with what a consumer's partitioning relies on."""
    found = {}
    for path in sorted([*(root / "topics").glob("*.yaml"), *(root / "topics/workers").glob("*.yaml")]):
        text = path.read_text()
        name = re.search(r"^name: (\S+)", text, re.MULTILINE)[1]
        keyed = re.search(r"^keyed: (\w+)", text, re.MULTILINE)[1]
        found[name] = "keyed" if keyed == "true" else "not keyed"
    return found


def headers(root):
    texts = [path.read_text() for source in HEADER_SOURCES for path in sorted((root / source).rglob("*.swift"))]
    return {name: "header" for text in texts for name in HEADER.findall(text)}


def configuration(root):
    """The type of each key in docs/configuration.md, which a test compares with the program."""
    text = (root / "docs/configuration.md").read_text()
    return {key: kind.strip() for key, kind in re.findall(r"^\| `([^`]+)` \| [^|]*\| ([^|]*)\|", text, re.MULTILINE)}


def metrics(root):
    """The kind and the labels of each metric on docs/metrics.md, which tests compare with the processes."""
    rows = re.findall(r"^\| `(millrace_[a-z_]+)` \| (\w+) \| ([^|]*)\|", (root / "docs/metrics.md").read_text(), re.MULTILINE)
    return {name: f"{kind} {labels.strip()}".strip() for name, kind, labels in rows}


def commands(binaries):
    """Each command of millrace and each of its options."""
    dump = subprocess.run(
        [binaries / "millrace", "--experimental-dump-help"], capture_output=True, text=True, timeout=60, check=True)
    found = {}

    def visit(command, path):
        path = [*path, command["commandName"]]
        found[" ".join(path)] = "command"
        for argument in command.get("arguments", []):
            for name in argument.get("names", []):
                dashes = "--" if name["kind"] == "long" else "-"
                found[f"{' '.join(path)} {dashes}{name['name']}"] = argument["kind"]
        for subcommand in command.get("subcommands", []):
            if subcommand["commandName"] != "help":
                visit(subcommand, path)

    visit(json.loads(dump.stdout)["command"], [])
    return found


def current(root, binaries):
    return {
        "topics": topics(root), "headers": headers(root), "configuration": configuration(root),
        "metrics": metrics(root), "commands": commands(binaries),
    }


def broken(released, now):
    """What a user of the last release would miss."""
    found = []
    for part, names in released.items():
        present = now.get(part, {})
        for name, kind in sorted(names.items()):
            if name not in present:
                found.append(f"released {part}: {name} is missing")
            elif present[name] != kind:
                found.append(f"released {part}: {name} was {kind} and is {present[name]}")
    return found


def problems(root, binaries):
    if not (binaries / "millrace").exists():
        return [f"no program {binaries}/millrace to compare with the last release"]
    # The comparison must not pass because it reads nothing.
    now = current(root, binaries)
    empty = [f"no {part} found to compare with the last release" for part, names in now.items() if not names]
    altered = {part: dict(list(names.items())[1:]) for part, names in now.items()}
    if len(broken(now, altered)) != len(now):
        empty.append("the comparison with the last release does not notice a removed name")
    return empty + broken(json.loads(PLACE.read_text()), now)


def write(root, binaries):
    PLACE.write_text(json.dumps(current(root, binaries), indent=1, sort_keys=True) + "\n")
