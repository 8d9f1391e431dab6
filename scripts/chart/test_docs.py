"""Values that the documentation shows, and those that `millrace new consumer` writes, are values of the chart."""

import re

import pytest
import yaml

from chart import ci, loaded, manifests, merged
from places import ROOT


def values_blocks(page):
    """Values that a page shows: blocks of YAML that the chart would be given."""
    text = (ROOT / "docs" / page).read_text()
    for block in re.findall(r"```(?:yaml|sh)\n(.*?)```", text, re.DOTALL):
        inner = re.search(r"cat > values.yaml <<'YAML'\n(.*?)YAML", block, re.DOTALL)
        text = inner[1] if inner else block
        if text.startswith("config:"):
            yield yaml.safe_load(text)


@pytest.mark.parametrize("page", ["deploying.md"])
def test_values_in_the_documentation_render(page):
    blocks = list(values_blocks(page))
    assert blocks
    for values in blocks:
        assert manifests(merged(ci("minimal"), values))


def test_the_values_that_new_consumer_writes_render():
    """examples/winback is what the command writes: another test says so."""
    values = yaml.safe_load((ROOT / "examples" / "winback" / "chart-values.yaml").read_text())
    documents = manifests(merged(ci("minimal"), values))
    assert any(
        one["metadata"]["name"].endswith("-consumer-winback") and one["kind"] == "StatefulSet" for one in documents
    )


def test_the_chart_has_its_readme():
    assert any(file["name"] == "README.md" for file in loaded().files)
