"""Writes the Swift types of Apple's JSON objects from the tables in Sources/AppStore/Fields.

`ErrorCodes.md` is a table of error codes, and `Enumerations.md` has a table for each. Each other page has a section for each object: its name (with the protocols that it conforms to, if they are others than
AppStoreObject), what it is, and a table of its fields in Apple's order. A field without a type is one of a protocol.
The introduction of a page says whether Apple sends the objects.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "Sources/AppStore"
WIDTH = 120


class Problem(Exception):
    """A mistake in a page, with its line."""


def comment(text, indent=""):
    """Returns a documentation comment."""
    lines = textwrap.wrap(text, WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{indent}/// {line}\n" for line in lines)


class Field:
    """A row of a table: the name, the type if the property is this object's own, its meaning, and the rules."""

    def __init__(self, cells, has_rules):
        self.name, kind, self.meaning = cells[:3]
        self.type = kind.strip("`")
        rules = cells[3] if has_rules else ""
        constant = re.search(r"always `(.*?)`", rules)
        self.constant = constant and constant[1]
        self.rules = re.findall(r"\w+(?:\(.*?\))?", rules.split("always")[0])

    @property
    def declaration(self):
        if not self.type:
            return ""
        return (
            f"\n{comment(self.meaning, '  ')}  public var {self.name}: {self.type}? {{\n"
            f'    get {{ self["{self.name}"] }}\n    set {{ self["{self.name}"] = newValue }}\n  }}\n'
        )

    @property
    def entry(self):
        parts = [f'"{self.name}"', f"\\.{self.name}"]
        if self.rules:
            parts.append(f"[{', '.join('.' + rule for rule in self.rules)}]")
        if self.constant:
            parts.append(f'constant: "{self.constant}"')
        return f"    DocumentedField({', '.join(parts)})"


def swift(name, protocols, about, fields, is_sent):
    """Returns the Swift type of an object."""
    json = "The JSON to send, in this order." if is_sent else "The object as received, including unknown fields."
    entries = ",\n".join(field.entry for field in fields) + ("," if len(fields) > 1 else "")
    return (
        f"{comment(about)}public struct {name}: {protocols} {{\n"
        f"  /// {json}\n  public var json: JSONObject\n\n"
        "  /// Creates a view of a JSON object.\n  public init(json: JSONObject) { self.json = json }\n"
        f"{''.join(field.declaration for field in fields)}\n"
        "  /// The fields that Apple documents.\n"
        f"  public static let documentedFields: [DocumentedField<Self>] = [\n{entries}\n  ]\n}}\n"
    )


def section(text, is_sent, place):
    """Returns the Swift type of a section."""
    heading, _, rest = text.partition("\n")
    name, _, protocols = heading.partition(": ")
    paragraphs = [part for part in rest.split("\n\n") if part.strip()]
    if len(paragraphs) != 2 or not paragraphs[1].startswith("| field | type | meaning |"):
        raise Problem(f"{place}: {name} needs a paragraph and then a table `| field | type | meaning |`")
    head, _, *rows = paragraphs[1].strip().split("\n")
    has_rules = head.endswith("| rules |")
    fields = []
    for row in rows:
        cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
        if len(cells) != head.count("|") - 1:
            raise Problem(f"{place}: {name} has a row with {len(cells)} cells: {row}")
        fields.append(Field(cells, has_rules))
    return swift(name, protocols or "AppStoreObject", " ".join(paragraphs[0].split()), fields, is_sent)


def page(path):
    """Returns the Swift file of a page."""
    place = path.relative_to(ROOT)
    introduction, *sections = re.split(r"^## ", path.read_text(), flags=re.M)
    is_sent = "Apple sends them." not in introduction
    head = f"// Written from {place} by `scripts/check types --write`.\n"
    return head + "".join("\n" + section(text, is_sent, place) for text in sections)


def enumeration(text):
    """Returns the Swift type of an enumeration."""
    heading, about, table = [part.strip() for part in text.split("\n\n") if part.strip()]
    name, raw = heading.split(": ")
    constants, names = "", []
    for row in table.split("\n")[2:]:
        value, constant, meaning = [cell.strip() for cell in row.strip().strip("|").split("|")]
        literal = f'"{value}"' if raw == "String" else value
        line = f"  public static let {constant} = {name}(rawValue: {literal})\n"
        if len(line) > WIDTH + 1:
            line = line.replace(" = ", " =\n    ")
        constants += comment(meaning, "  ") + line
        names.append(f".{constant}")
    known = textwrap.fill(", ".join(names) + ",", WIDTH, initial_indent="    ", subsequent_indent="    ")
    return (
        f"{comment(' '.join(about.split()))}public struct {name}: OpenEnum {{\n"
        f"  /// The value as Apple writes it.\n  public let rawValue: {raw}\n\n"
        "  /// Creates a value, known or unknown.\n"
        f"  public init(rawValue: {raw}) {{ self.rawValue = rawValue }}\n\n{constants}\n"
        f"  /// The values that Apple documents.\n  public static let allKnown: [{name}] = [\n{known}\n  ]\n}}\n"
    )


def enumerations(path):
    """Returns the Swift file of the enumerations."""
    sections = re.split(r"^## ", path.read_text(), flags=re.M)[1:]
    head = f"// Written from {path.relative_to(ROOT)} by `scripts/check types --write`.\n"
    return head + "".join("\n" + enumeration(text) for text in sections)


def error_codes(path):
    """Returns the Swift file of the error codes."""
    rows = re.findall(r"^\| (\d+) \| (\w+) \| (\w+) \| (\w+) \| (.*) \|$", path.read_text(), flags=re.M)
    head = f"// Written from {path.relative_to(ROOT)} by `scripts/check types --write`.\n\nextension APIErrorCode {{\n"
    constants = "".join(
        f"{comment(f'`{name}`: {meaning}.', '  ')}  public static let {constant} = APIErrorCode(rawValue: {code})\n"
        for code, name, constant, _, meaning in rows
    )
    facts = "".join(
        f'    Facts(\n      .{constant}, "{name}", .{kind},\n      "{meaning}"),\n' for _, name, constant, kind, meaning in rows
    )
    return f"{head}{constants}\n  /// The name, class and meaning of each code.\n  static let facts: [Facts] = [\n{facts}  ]\n}}\n"


def main():
    is_writing = sys.argv[1:] == ["--write"]
    status = 0
    writers = {"Enumerations": enumerations, "ErrorCodes": error_codes}
    wanted = {
        FOLDER / f"Generated/{path.stem}.swift": writers.get(path.stem, page)(path)
        for path in sorted(FOLDER.glob("Fields/*.md"))
    }
    for path in sorted(set(FOLDER.glob("Generated/*.swift")) - set(wanted)):
        print(f"{path.relative_to(ROOT)}: no page describes it; delete it", file=sys.stderr)
        status = 1
    for path, text in wanted.items():
        if path.exists() and path.read_text() == text:
            continue
        if is_writing:
            path.write_text(text)
        else:
            print(f"{path.relative_to(ROOT)}: not as its page says; run scripts/check types --write", file=sys.stderr)
            status = 1
    return status


try:
    sys.exit(main())
except Problem as problem:
    sys.exit(str(problem))
