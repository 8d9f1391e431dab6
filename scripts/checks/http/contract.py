"""The published contract of HTTP workers: docs/http-workers, loaded, and its schemas as validators."""

import copy
import functools
import json
import pathlib

import jsonschema
import yaml

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "docs" / "http-workers"
SAMPLES = FOLDER / "samples"
OPENAPI = FOLDER / "openapi.yaml"
MARK = "    # Everything below is written by `scripts/check http-schemas --write`"


def schema(name):
    return json.loads((FOLDER / f"{name}.schema.json").read_text())


@functools.cache
def validator(name):
    """A validator of `request` or `outcome`, with formats."""
    draft = jsonschema.Draft202012Validator
    return draft(schema(name), format_checker=draft.FORMAT_CHECKER)


def problems(name, value):
    """The places where a value differs from a schema, as text."""
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(value)]


def sample(name):
    return json.loads((SAMPLES / f"{name}.json").read_text())


def document():
    return yaml.safe_load(OPENAPI.read_text())


def components():
    """The schemas of the two files as components of an OpenAPI document: each definition is a component of its own."""
    schemas = {}
    for name in ["request", "outcome"]:
        title = name.capitalize()

        def moved(value, title=title):
            if isinstance(value, dict):
                return {
                    key: f"#/components/schemas/{title}_{item.rsplit('/', 1)[1]}" if key == "$ref" else moved(item)
                    for key, item in value.items()
                }
            return [moved(item) for item in value] if isinstance(value, list) else value

        whole = moved(copy.deepcopy(schema(name)))
        definitions = whole.pop("$defs")
        for key in ["$schema", "$id"]:
            del whole[key]
        schemas[title] = whole
        schemas |= {f"{title}_{key}": value for key, value in definitions.items()}
    return schemas


def rendered():
    """openapi.yaml with its generated part."""

    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data):
            return True

    kept = OPENAPI.read_text().split(MARK)[0]
    text = yaml.dump(components(), Dumper=Plain, sort_keys=False, allow_unicode=True, width=110)
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    return f"{kept}{MARK} from\n    # request.schema.json and outcome.schema.json.\n{indented}"
