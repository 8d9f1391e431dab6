"""The values in the documentation, and those that `millrace new consumer` writes, are valid for the chart."""

import re

import pytest
import yaml

from chart import ci, loaded, manifests, merged
from places import CHART, ROOT


def values_blocks(page):
    """The YAML blocks of a page that are values of the chart."""
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
    """Another test checks that the command writes examples/winback."""
    values = yaml.safe_load((ROOT / "examples" / "winback" / "chart-values.yaml").read_text())
    documents = manifests(merged(ci("minimal"), values))
    assert any(
        one["metadata"]["name"].endswith("-consumer-winback") and one["kind"] == "StatefulSet" for one in documents
    )


def test_the_chart_contains_its_readme():
    assert any(file["name"] == "README.md" for file in loaded().files)


def test_the_runbook_names_pods_that_can_run_its_commands():
    """Commands that call Apple need an API key and port 443, the others only the program."""
    text = (ROOT / "docs" / "runbook.md").read_text()
    table = text.split("| commands | where |")[1].split("\n\n")[0]
    apple, *_, others = re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.MULTILINE)
    commands = ROOT / "Sources" / "Commands" / "millrace"
    asking = {
        re.search(
            r'commandName: "([a-z-]+)"', (commands / f"{path.name.split('Command')[0]}Command.swift").read_text()
        )[1]
        for path in commands.glob("*Command*.swift")
        if re.search(r"APIAccess|APIApp|BackfillOperation|\bDoctor\(", path.read_text())
    }
    assert set(re.findall(r"`([a-z]+)`", apple[0])) == asking
    values = merged(ci("production"), {"workers": {"consumption": {"enabled": True}}})
    documents = manifests(values, name="millrace")
    for row, asks in ((apple, True), (others, False)):
        targets = re.findall(r"(deployment|statefulset)/(millrace-[a-z-]+)", row[1])
        assert targets
        for kind, name in targets:
            found = [one for one in documents if one["metadata"]["name"] == name]
            (workload,) = [one for one in found if one["kind"].lower() == kind]
            (container,) = workload["spec"]["template"]["spec"]["containers"]
            assert container["image"].startswith(values_image())
            file = next(
                one["data"][f"{container['name']}.yaml"]
                for one in documents
                if one["kind"] == "ConfigMap" and f"{container['name']}.yaml" in one["data"]
            )
            has_key = any("api" in app for app in yaml.safe_load(file)["apps"])
            (policy,) = [one for one in found if one["kind"] == "NetworkPolicy"]
            reaches = 443 in [port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]]
            assert (has_key, reaches) == (asks, asks), name


def values_image():
    return yaml.safe_load((CHART / "values.yaml").read_text())["image"]["repository"]
