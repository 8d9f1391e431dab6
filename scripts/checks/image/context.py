"""Checks that the Dockerfile copies the folder of every target. SwiftPM refuses a package in which one is missing.

usage: swift package dump-package | context.py
"""

import json
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[3]
copied = re.findall(r"^COPY (?!--)(\S+) ", (root / "Dockerfile").read_text(), re.MULTILINE)
kept = [line[1:] for line in (root / ".dockerignore").read_text().split() if line.startswith("!")]
defaults = {"test": "Tests", "plugin": "Plugins"}
missing = []
for target in json.load(sys.stdin)["targets"]:
    path = target.get("path") or f"{defaults.get(target['type'], 'Sources')}/{target['name']}"
    for where, folders in (("COPY in Dockerfile", copied), (".dockerignore", kept)):
        if not any(path == folder or path.startswith(f"{folder}/") for folder in folders):
            missing.append(f"{target['name']}: {where} leaves out {path}")
if missing:
    sys.exit("\n".join(missing))
