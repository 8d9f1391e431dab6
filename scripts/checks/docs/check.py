"""Checks parts of the documentation that are derived from other files.

usage: check.py BIN            checks; BIN contains the built programs
       check.py --write        writes the derived parts into the pages
       check.py --release BIN  writes the names of a release

- docs/events.md lists every schema of topics/schemas with a valid sample (events.py);
- Sources/MillraceRecords/Topics/BuiltInTopics.swift has the files of topics/ (topics.py);
- the tables of docs/sizing.md follow from docs/performance.md and the topic files (sizing.py);
- docs/README.md links to every page, and every link to a heading has a target;
- every subcommand and option in a command on a page exists (commands.py);
- every topic, header, configuration key, metric, command and option of the last release exists (released.py);
- CONTRIBUTING.md lists every script of scripts/check and scripts/scenario, and pages name no others.
"""
import difflib
import pathlib
import re
import sys

import commands
import events
import released
import sizing
import topics

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = ROOT / "docs"


def replaced(text, name, content):
    """The page with `content` between the marks of this name."""
    marks = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
    if len(marks.findall(text)) != 1:
        raise SystemExit(f"the page needs exactly one pair of marks <!-- {name}:begin --> and <!-- {name}:end -->")
    return marks.sub(lambda match: match.group(1) + content + match.group(2), text)


def derived(page, parts, write):
    """Problems of a page with derived `parts`, by the name of their marks."""
    path = PAGES / page
    old = path.read_text()
    new = old
    for name, content in parts.items():
        new = replaced(new, name, content)
    if new == old:
        return []
    if write:
        path.write_text(new)
        print(f"wrote docs/{page}")
        return []
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), f"docs/{page}", "expected", "", "", 1, "")
    return [f"docs/{page} is out of date; run scripts/check docs --write:\n" + "\n".join(lines)]


def unlisted():
    """Pages that the index does not link to."""
    index = (PAGES / "README.md").read_text()
    return [
        f"docs/README.md does not link to docs/{page.name}"
        for page in sorted(PAGES.glob("*.md"))
        if page.name != "README.md" and f"]({page.name})" not in index
    ]


def anchors(page):
    """The anchors that GitHub generates for a page's headings."""
    found, inside = {}, False
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            inside = not inside
        if inside or not re.match(r"#+ ", line):
            continue
        title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
        anchor = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
        count = found[anchor] = found.get(anchor, -1) + 1
        if count:
            found[f"{anchor}-{count}"] = 0
    return set(found)


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(PAGES.rglob("*.md"))]


def lost_anchors():
    """Links to headings that do not exist. scripts/check docs checks links to files."""
    problems = []
    for page in pages():
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
            other = (page.parent / target).resolve() if target else page
            if other.suffix == ".md" and other.exists() and anchor not in anchors(other):
                problems.append(f"{page.relative_to(ROOT)}: {target} has no heading #{anchor}")
    return problems


def script_names():
    """Scripts that CONTRIBUTING.md does not list, and names on pages that are no scripts."""
    folders = {"check": "checks", "scenario": "scenarios"}
    scripts = {
        (command, path.stem) for command, folder in folders.items() for path in (ROOT / "scripts" / folder).glob("*.sh")
    }
    problems, listed = [], set()
    for page in pages():
        named = set(re.findall(r"`scripts/(check|scenario) ([a-z][a-z-]*)", page.read_text()))
        if page.name == "CONTRIBUTING.md":
            listed = named
        problems += [f"{page.relative_to(ROOT)}: no scripts/{' '.join(name)}" for name in sorted(named - scripts)]
    return problems + [f"CONTRIBUTING.md does not list scripts/{' '.join(name)}" for name in sorted(scripts - listed)]


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--release"] and len(arguments) == 2:
        return released.write(ROOT, pathlib.Path(arguments[1]))
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    write = arguments == ["--write"]
    problems = derived("events.md", {"events": events.reference(ROOT)}, write)
    tables = {f"sizing-{name}": content for name, content in sizing.tables(ROOT).items()}
    problems += derived("sizing.md", tables, write)
    problems += topics.problems(ROOT, write)
    if not write:
        problems += unlisted() + lost_anchors() + script_names()
        problems += released.problems(ROOT, pathlib.Path(arguments[0]))
        for page in pages():
            problems += commands.problems(page, pathlib.Path(arguments[0]))
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
