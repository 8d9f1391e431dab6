"""Writes the topic files into a source file, so that a process needs no directory of them."""

import pathlib

PLACE = pathlib.Path("Sources/MillraceRecords/Topics/BuiltInTopics.swift")


def entries(root, folder):
    """The files of a folder as elements of a Swift array."""
    return "".join(
        f'    ("{file.relative_to(root)}", #"""\n'
        f'{file.read_text()}\n"""#),\n'
        for file in sorted((root / folder).glob("*.yaml"))
    )


def source(root):
    """The Swift source with every topic file."""
    return f"""// Generated from topics/ by `scripts/check docs --write`.
// swift-format-ignore-file

/// The topic files of this version, for processes without a directory of topic files.
enum BuiltInTopics {{
  /// The files of the shared topics.
  static let shared: [(file: String, text: String)] = [
{entries(root, "topics")}  ]

  /// The files of the topics that every worker has.
  static let workers: [(file: String, text: String)] = [
{entries(root, "topics/workers")}  ]
}}
"""


def problems(root, write):
    """A problem if the source file is out of date; `write` writes it."""
    place, text = root / PLACE, source(root)
    if place.exists() and place.read_text() == text:
        return []
    if not write:
        return [f"{PLACE} is out of date; run scripts/check docs --write"]
    place.write_text(text)
    print(f"wrote {PLACE}")
    return []
