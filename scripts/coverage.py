"""Prints the covered regions of the files in a folder, from the summary that `llvm-cov export --summary-only` writes."""

import collections
import json
import pathlib
import sys


def main():
    summary, folder = json.loads(pathlib.Path(sys.argv[1]).read_text()), sys.argv[2]
    files, folders = {}, collections.defaultdict(lambda: [0, 0])
    for file in summary["data"][0]["files"]:
        parts = pathlib.Path(file["filename"]).parts
        if folder not in parts:
            continue
        start = parts.index(folder) + 1
        regions = file["summary"]["regions"]
        name = "/".join(parts[start:])
        files[name] = (regions["covered"], regions["count"])
        for key in (parts[start], ""):
            folders[key][0] += regions["covered"]
            folders[key][1] += regions["count"]
    if not files:
        sys.exit(f"coverage: no file of {folder} in {sys.argv[1]}")
    width = max(map(len, files))
    for name, (covered, count) in sorted(files.items()):
        print(f"  {name:{width}}  {covered:5} of {count:5} regions  {share(covered, count)}")
    for name, (covered, count) in sorted(folders.items()):
        print(f"  {name or 'all':{width}}  {covered:5} of {count:5} regions  {share(covered, count)}")


def share(covered, count):
    return f"{100 * covered / count:5.1f} %" if count else "    -"


main()
