"""Renders the chart with Helm's library, without the helm program or a cluster."""

import functools
import json
import sys

# Not `import helm`, which could find the project's folder helm/.
import helm_python as helm
import yaml
from helm_python import _native

from places import CHART, NEWEST


class Refused(Exception):
    """Helm's error for invalid values, with the message that a user sees."""


@functools.cache
def loaded():
    return helm.Chart.load(CHART)


def merged(*layers):
    """Merges values as `helm --values a --values b` does."""
    result = {}
    for layer in layers:
        for key, value in layer.items():
            if isinstance(value, dict) and isinstance(result.get(key), dict):
                result[key] = merged(result[key], value)
            else:
                result[key] = value
    return result


def ci(name):
    """The values of ci/<name>-values.yaml."""
    return yaml.safe_load((CHART / "ci" / f"{name}-values.yaml").read_text())


def ci_names():
    return sorted(path.name.removesuffix("-values.yaml") for path in (CHART / "ci").glob("*-values.yaml"))


@functools.cache
def rendered(values, options):
    """The rendered templates, as JSON. Cached, because many tests use the same values."""
    chart = loaded()
    try:
        chart.validate_schema(json.loads(values))
        return json.loads(_native.call_string("helm_render", chart._raw(), values, options))
    except helm.HelmError as error:
        raise Refused(str(error)) from error


def sources(values, kubernetes=NEWEST, name="shop", namespace="appstore"):
    """The output of each template that is not empty, by its path in the chart."""
    options = {"name": name, "namespace": namespace, "is_install": True, "kube_version": f"v{kubernetes}"}
    found = rendered(json.dumps(values), json.dumps(options))
    return {path.removeprefix("millrace/"): text for path, text in sorted(found.items()) if text.strip()}


def manifests(values, kubernetes=NEWEST, **options):
    """The rendered objects."""
    found = []
    for path, text in sources(values, kubernetes, **options).items():
        if path.endswith(".yaml"):
            found += [document for document in yaml.safe_load_all(text) if document]
    return found


def notes(values):
    return sources(values)["templates/NOTES.txt"]


if __name__ == "__main__":
    for path, text in sources(ci(sys.argv[1])).items():
        print(f"# {path}\n{text}")
