"""values.schema.json is strict, fully described, and agrees with the programs' configuration."""

import json
import re
import subprocess
import sys

import pytest
import yaml

import schema
from chart import Refused, ci, loaded, merged, sources
from places import CHART

FILE = CHART / "values.schema.json"
VALUES = CHART / "values.yaml"


def described(node, path="values"):
    """(path, schema) of every property."""
    for key, value in node.get("properties", {}).items():
        yield f"{path}.{key}", value
        yield from described(value, f"{path}.{key}")
    for part in ("items", "additionalProperties"):
        if isinstance(node.get(part), dict):
            yield from described(node[part], f"{path}[]")


def objects(node):
    if isinstance(node, dict):
        if "properties" in node and node.get("type") == "object":
            yield node
        for value in node.values():
            yield from objects(value)
    elif isinstance(node, list):
        for value in node:
            yield from objects(value)


def test_the_file_is_up_to_date():
    assert FILE.read_text() == schema.rendered(), "scripts/check chart --update writes it"


def test_it_is_a_valid_schema():
    result = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--check-metaschema", str(FILE)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_value_is_described():
    whole = json.loads(FILE.read_text())
    places = list(described(whole)) + list(described({"properties": whole["definitions"]}))
    assert len(places) > 200
    assert [path for path, value in places if len(value.get("description", "")) < 4] == []


def test_no_object_accepts_unknown_keys():
    assert [
        node for node in objects(json.loads(FILE.read_text())) if node.get("additionalProperties") is not False
    ] == []


def test_every_value_is_in_values_yaml():
    """As a key, or in a comment if it has no default. docs/configuration.md covers `config`."""
    text = VALUES.read_text()
    missing = []
    for path, _ in described(json.loads(FILE.read_text())):
        name = path.split(".")[-1]
        if path.startswith(("values.config.", "values.global")) or not name.isidentifier():
            continue
        if not re.search(rf"(^|[ {{#,]){name}\b[:,]", text, re.MULTILINE) and f" {name}" not in text:
            missing.append(path)
    assert missing == []


def test_the_defaults_are_valid():
    loaded().validate_schema(merged(yaml.safe_load(VALUES.read_text()), ci("minimal")))


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"ingres": {"enabled": True}}, "ingres"),
        ({"ingress": {"replica": 2}}, "replica"),
        ({"ingress": {"replicas": "2"}}, "replicas"),
        ({"ingress": {"replicas": 0}}, "replicas"),
        ({"ingress": {"autoscaling": {"minReplicas": 0}}}, "minReplicas"),
        ({"workers": {"refunds": {"autoscaling": {"minReplicas": 0}}}}, "minReplicas"),
        ({"workers": {"refund": {"enabled": True}}}, "refund"),
        ({"backfill": {"replicas": 2}}, "replicas"),
        ({"config": {"kafka": {"bootstrapServer": "kafka:9092"}}}, "bootstrapServer"),
        ({"config": {"kafka": {"propertyFiles": {"sasl.password": "secret"}}}}, "sasl.password"),
        ({"config": {"apps": [{"bundleId": "a", "sharedSecretFiles": ["/run/secret"]}]}}, "sharedSecretFiles"),
        ({"config": {"apps": [{"bundleId": "a", "sharedSecretFiles": [{"configMap": "a", "key": "b"}]}]}}, "secret"),
        ({"config": {"apps": [{"appAppleId": 1}]}}, "bundleId"),
        ({"config": {"apps": [{"bundleId": "a", "environments": ["production"]}]}}, "environments"),
        ({"config": {"ingress": {"tls": {"key": "/tls.key"}}}}, "key"),
        ({"config": {"ingress": {"deadline": "10"}}}, "deadline"),
        ({"config": {"ingress": {"maxBodyBytes": {"v2": "1MB"}}}}, "v2"),
        ({"config": {"topics": {"directory": "/topics"}}}, "directory"),
        ({"config": {"workers": {"refunds": {"staticMember": "a"}}}}, "staticMember"),
        ({"config": {"workers": {"Refunds": {}}}}, "Refunds"),
        ({"config": {"logging": {"level": "loud"}}}, "level"),
        ({"consumers": {"Winback": {"enabled": True, "image": {"repository": "a"}, "replicas": 1}}}, "Winback"),
        ({"consumers": {"winback": {"enabled": True, "replicas": 1}}}, "image"),
        ({"topics": {"manage": "always"}}, "manage"),
        ({"ingress": {"exposure": {"kind": "loadbalancer"}}}, "kind"),
        ({"image": {"digest": "latest"}}, "digest"),
        ({"monitoring": {"prometheusRule": {"thresholds": {"lag": 1}}}}, "lag"),
        ({"monitoring": {"prometheusRule": {"thresholds": {"budgetShare": 1.5}}}}, "budgetShare"),
    ],
)
def test_an_invalid_value_is_rejected_with_its_name(values, word):
    with pytest.raises(Refused, match=re.escape(word)):
        sources(merged(ci("minimal"), values))


@pytest.mark.parametrize(
    "values",
    [
        {"config": {"kafka": {"properties": {"socket.keepalive.enable": True, "linger.ms": 5}}}},
        {
            "config": {
                "trust": {"roots": [{"configMap": "root", "key": "root.pem"}, {"secret": "root", "key": "b.der"}]}
            }
        },
        {"config": {"ingress": {"maxBodyBytes": {"v1": 1048576, "v2": "512KiB"}}}},
        {"config": {"workers": {"winback": {"retryDelays": ["10s", "8d"], "bytesInFlight": "8MiB"}}}},
        {"ingress": {"resources": {"requests": {"cpu": 2}}, "tolerations": [{"key": "a", "operator": "Exists"}]}},
        {"global": {"anything": 1}},
    ],
)
def test_a_valid_value_is_accepted(values):
    sources(merged(ci("minimal"), values))
