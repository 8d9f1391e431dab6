"""Generates the event reference from topics/schemas and the samples on other pages.

The name of a schema is that of a topic with its own file (appstore.entitlements), of a worker's event
(refunds.entitlement.revoked), or, without a dot, of something that is not a record. Sources contains the names of events,
so a schema without an event is an error, and so is an event without a schema.

The sample of an event is the first block of JSON after a heading or line on the worker's page that begins with the event's
name. The sample of a topic is a valid block on any page. If there is none, the sample is generated from the schema.
"""
import json
import pathlib
import re
import textwrap

EVENT_NAME = re.compile(r'static let eventName = "([^"]+)"')
# Paths of code whose events no released worker publishes.
ELSEWHERE = ("crash", "demo", "newconsumer")


class Documented:
    """A schema with its topic, worker and event."""

    def __init__(self, path, root, declared, literals):
        self.schema = json.loads(path.read_text())
        self.file = path.name
        self.id = path.name.removesuffix(".schema.json")
        self.topic = self.id if (root / f"topics/{self.id}.yaml").exists() else None
        self.worker = self.event = None
        if self.topic or "." not in self.id:
            return
        self.worker, rest = self.id.split(".", 1)
        names = [name for known in (declared, literals) for name in (rest, self.id) if name in known]
        if rest + "." in literals:
            # One schema for all events whose names begin alike.
            names = [f"{rest}.<event>"]
        if not names:
            raise SystemExit(f"topics/schemas/{self.file}: Sources contains no event of this name")
        self.event = names[0]


def schemas(root):
    """All schemas. Fails if an event has none."""
    texts = {path: path.read_text() for path in sorted((root / "Sources").rglob("*.swift"))}
    # Events that a type declares. The names of an enum's events are among the string literals.
    declared = {
        name: path for path, text in texts.items() for name in EVENT_NAME.findall(text)
        if not any(word in str(path.relative_to(root)).lower() for word in ELSEWHERE)
    }
    literals = {name for text in texts.values() for name in re.findall(r'"([a-z][a-z.\-]+)"', text)}
    paths = sorted((root / "topics/schemas").glob("*.schema.json"))
    found = [Documented(path, root, declared, literals) for path in paths if path.name != "topic.schema.json"]
    for name in sorted(set(declared) - {schema.event for schema in found}):
        raise SystemExit(f"{declared[name].relative_to(root)}: the event {name} has no schema in topics/schemas")
    return found


# Samples


def blocks(text):
    """The JSON blocks of a page, each with the text before it."""
    for match in re.finditer(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text[: match.start()], match.group(1)


def sample(documented, root):
    pages = sorted(path for path in (root / "docs").glob("*.md") if path.name != "events.md")
    if documented.event:
        page = root / f"docs/{documented.worker}.md"
        name = re.compile(rf"^(#+ )?`{re.escape(documented.event)}`", re.MULTILINE)
        start = name.search(page.read_text()) if page.exists() else None
        if start:
            rest = page.read_text()[start.start() :]
            end = rest.find("\n#", 1)
            found = next(blocks(rest if end < 0 else rest[:end]), None)
            if found:
                return checked(json.loads(found[1]), documented, page.name)
    if documented.topic:
        for page in pages:
            for _, text in blocks(page.read_text()):
                try:
                    value = json.loads(text)
                except ValueError:
                    continue
                if not problems(value, documented.schema):
                    return value
    return checked(made(documented.schema), documented, "the generated sample")


def checked(value, documented, place):
    found = problems(value, documented.schema)
    if found:
        raise SystemExit(f"{place}: the sample of {documented.id} violates its schema: {'; '.join(found)}")
    return value


VALUES = {
    "bundleId": "com.example.app", "environment": "Production", "productId": "com.example.app.monthly",
    "transactionId": "2000000123456789", "originalTransactionId": "2000000123450000",
}


def made(schema, name=""):
    """A valid value for a schema, with all properties."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {key: made(inner, key) for key, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [made(schema.get("items", {}), name)]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0) or min(1, schema.get("maximum", 1))
    if kind == "boolean":
        return True
    if name in VALUES:
        return VALUES[name]
    pattern = schema.get("pattern", "")
    if schema.get("format") == "date-time" or "T[0-9]" in pattern:
        return "2026-01-11T09:30:00.000Z"
    if "UUID" in name or pattern.startswith("^[0-9a-f]{8}-"):
        return "1f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11"
    return "…"


# The part of JSON Schema draft 2020-12 that the schemas use. An unknown keyword is a problem.

SILENT = {"$schema", "$id", "title", "description", "format", "then", "else"}
TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
    "number": (int, float),
}


def is_of(value, kind):
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def problems(value, schema, place="$"):
    found = []
    for keyword, wanted in schema.items():
        if keyword in SILENT:
            continue
        elif keyword == "type":
            kinds = wanted if isinstance(wanted, list) else [wanted]
            ok = any(is_of(value, kind) for kind in kinds)
        elif keyword == "const":
            ok = value == wanted
        elif keyword == "enum":
            ok = value in wanted
        elif keyword == "pattern":
            ok = not isinstance(value, str) or re.search(wanted, value)
        elif keyword == "minLength":
            ok = not isinstance(value, str) or len(value) >= wanted
        elif keyword == "maxLength":
            ok = not isinstance(value, str) or len(value) <= wanted
        elif keyword == "minimum":
            ok = not is_of(value, "number") or value >= wanted
        elif keyword == "maximum":
            ok = not is_of(value, "number") or value <= wanted
        elif keyword == "required":
            missing = [name for name in wanted if isinstance(value, dict) and name not in value]
            found += [f"{place} lacks {name}" for name in missing]
            continue
        elif keyword == "properties":
            if isinstance(value, dict):
                for name, inner in wanted.items():
                    if name in value:
                        found += problems(value[name], inner, f"{place}.{name}")
            continue
        elif keyword == "additionalProperties" and wanted is False:
            extra = set(value) - set(schema.get("properties", {})) if isinstance(value, dict) else ()
            found += [f"{place}.{name} is not declared" for name in sorted(extra)]
            continue
        elif keyword == "items":
            for index, item in enumerate(value if isinstance(value, list) else []):
                found += problems(item, wanted, f"{place}[{index}]")
            continue
        elif keyword == "allOf":
            for inner in wanted:
                found += problems(value, inner, place)
            continue
        elif keyword == "not":
            ok = bool(problems(value, wanted, place))
        elif keyword == "if":
            branch = schema.get("else" if problems(value, wanted, place) else "then", {})
            found += problems(value, branch, place)
            continue
        else:
            ok = False
            keyword = f"the unknown keyword {keyword}"
        if not ok:
            found.append(f"{place} violates {keyword}")
    return found


# The page


def kind(schema):
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    name = schema.get("type", "any")
    if isinstance(name, list):
        name = " or ".join(name)
    if schema.get("format") == "date-time" or "T[0-9]" in schema.get("pattern", ""):
        return "date-time"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{name}, {low} to {high}"
    if low is not None:
        return f"{name}, from {low}"
    if "maxLength" in schema:
        return f"{name}, at most {schema['maxLength']} characters"
    return name


def rows(schema, prefix="", always=True):
    required = schema.get("required", [])
    for name, inner in schema.get("properties", {}).items():
        is_always = always and name in required
        text = " ".join(inner.get("description", "").split()).replace("|", "\\|")
        yield f"| `{prefix}{name}` | {kind(inner)} | {'yes' if is_always else ''} | {text} |"
        if inner.get("type") == "object":
            yield from rows(inner, f"{prefix}{name}.", is_always)


def section(documented, root):
    lines = [f"### `{documented.event or documented.id}`", ""]
    description = " ".join(documented.schema.get("description", "").split())
    lines += [textwrap.fill(description, 118, break_on_hyphens=False), "", f"Schema: [`{documented.file}`](../topics/schemas/{documented.file})", ""]
    lines += ["| field | | always | |", "|---|---|---|---|", *rows(documented.schema), ""]
    lines += ["```json", json.dumps(sample(documented, root), indent=2, ensure_ascii=False), "```", ""]
    return lines


def reference(root):
    """The generated part of docs/events.md."""
    found = schemas(root)
    lines = [""]
    for worker in sorted({documented.worker for documented in found if documented.worker}):
        lines += [f"## `appstore.events.{worker}`", ""]
        own = [documented for documented in found if documented.worker == worker]
        page = f"[{worker}.md]({worker}.md)" if (root / f"docs/{worker}.md").exists() else None
        if page:
            lines += [f"{page} explains when the worker publishes them and what to do.", ""]
        for documented in own:
            lines += section(documented, root)
    for title, group in (
        ("Other topics with a schema", [documented for documented in found if documented.topic]),
        ("Not on a topic", [documented for documented in found if not documented.topic and not documented.worker]),
    ):
        if group:
            lines += [f"## {title}", ""]
            for documented in group:
                lines += section(documented, root)
    return "\n".join(lines)
