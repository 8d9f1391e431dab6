"""The chart and the programs agree on files, names and defaults."""

import filecmp
import os
import pathlib
import re
import subprocess

import pytest
import yaml

from chart import Refused, ci, ci_names, manifests, merged
from places import CHART, CONFIGURATION_PAGE, ROOT, TOPICS

BIN = pathlib.Path(os.environ.get("MILLRACE_BIN", ROOT / ".build" / "debug"))


def files(name):
    """(file name, text) of each rendered configuration file."""
    for document in manifests(ci(name)):
        if document["kind"] == "ConfigMap":
            for key, text in document["data"].items():
                if key.endswith(".yaml"):
                    yield key, text


@pytest.mark.parametrize("name", ci_names())
def test_the_programs_accept_every_file(name, tmp_path):
    found = list(files(name))
    assert found
    for key, text in found:
        path = tmp_path / key
        path.write_text(text)
        result = subprocess.run(
            [BIN / "millrace", "config", "--config", path], capture_output=True, text=True, env={}, cwd=tmp_path
        )
        assert result.returncode == 0, f"{key}: {result.stderr}"


def test_the_programs_reject_an_unknown_key(tmp_path):
    path = tmp_path / "millrace.yaml"
    path.write_text(dict(files("minimal"))["ingress.yaml"] + "\ningres: {port: 1}\n")
    result = subprocess.run([BIN / "millrace", "config", "--config", path], capture_output=True, text=True, env={})
    assert result.returncode == 78
    assert "ingres" in result.stderr


# Properties that must be secret, and similar ones that need not: each word and name of SecretFile.isSecretProperty. Librdkafka
# has not all of them, and the programs refuse those.
PROPERTIES = [
    *("ssl.key.pem", "sasl.oauthbearer.config", "sasl.jaas.config", "SSL.Key.Pem", "sasl.password", "ssl.key.password"),
    *("sasl.oauthbearer.client.secret", "a.token", "a.passphrase", "ssl.keystore.private", "a.Private.key"),
    *("sasl.oauthbearer.token.endpoint.url", "ssl.key.location", "a.secret.location", "a.password.url"),
    *("ssl.ca.pem", "ssl.certificate.pem", "sasl.username", "sasl.mechanism", "security.protocol", "client.rack"),
]


def test_the_chart_and_the_programs_agree_on_secret_properties(tmp_path):
    code = swift("MillraceCore/Configuration/SecretFile.swift").split("func isSecretProperty")[1]
    words = set(re.findall(r'"([a-z.]+)"', code))
    assert {word for word in words if not any(word in name.lower() for name in PROPERTIES)} == set()
    path = tmp_path / "millrace.yaml"

    def config(names):
        path.write_text(
            yaml.safe_dump({"kafka": {"bootstrapServers": "k:9092", "properties": dict.fromkeys(names, "v")}})
        )
        return subprocess.run([BIN / "millrace", "config", "--config", path], capture_output=True, text=True, env={})

    absent = set(re.findall(r"librdkafka has no property `([^`]+)`", config(PROPERTIES).stderr))
    assert absent < set(PROPERTIES)
    known = [name for name in PROPERTIES if name not in absent]
    shown = config(known)
    assert shown.returncode == 0, shown.stderr
    properties = yaml.safe_load(shown.stdout)["kafka"]["properties"]
    assert set(properties) == set(known)
    masked = {name for name, value in properties.items() if value != "v"}
    refused = set()
    for name in PROPERTIES:
        try:
            manifests(merged(ci("minimal"), {"config": {"kafka": {"properties": {name: "v"}}}}))
        except Refused as error:
            assert f"config.kafka.properties.{name} would be stored in plain text in a ConfigMap" in str(error)
            refused.add(name)
    assert refused == set(PROPERTIES[:11])
    assert masked == refused - absent


def test_a_process_has_the_name_of_its_pod(tmp_path):
    text = dict(files("production"))["refunds.yaml"]
    (tmp_path / "millrace.yaml").write_text(text)
    result = subprocess.run(
        [BIN / "millrace", "config", "--config", tmp_path / "millrace.yaml"],
        capture_output=True,
        text=True,
        env={"MILLRACE_KAFKA_INSTANCE": "pod-7"},
    )
    assert result.returncode == 0, result.stderr
    assert re.search(r"instance: pod-7", result.stdout)


def test_the_chart_has_the_topic_files_of_the_project():
    """A chart cannot read files outside its folder, so scripts/check chart --update copies them."""
    for folder in ("", "workers"):
        ours = {path.name for path in (TOPICS / folder).glob("*.yaml")}
        theirs = {path.name for path in (CHART / "files" / "topics" / folder).glob("*.yaml")}
        assert ours == theirs
        _, differing, errors = filecmp.cmpfiles(
            TOPICS / folder, CHART / "files" / "topics" / folder, ours, shallow=False
        )
        assert (differing, errors) == ([], [])


def test_strimzi_topics_agree_with_the_topic_files(tmp_path):
    resources = {
        one["spec"]["topicName"]: one["spec"] for one in manifests(ci("strimzi")) if one["kind"] == "KafkaTopic"
    }
    expected = {}
    config = yaml.safe_load(dict(files("strimzi"))["ingress.yaml"])
    for path in sorted(TOPICS.glob("*.yaml")):
        topic = yaml.safe_load(path.read_text())
        expected["store_" + topic["name"]] = topic
    for name, worker in config["workers"].items():
        for path in sorted((TOPICS / "workers").glob("*.yaml")):
            text = path.read_text().replace("{worker}", name)
            for delay in worker.get("retryDelays", ["10s", "1m", "10m", "1h", "6h"]) if "{delay}" in text else [""]:
                topic = yaml.safe_load(text.replace("{delay}", delay))
                expected["store_" + topic["name"]] = topic
    assert set(resources) == set(expected)
    for name, topic in expected.items():
        assert resources[name]["config"] == topic["settings"], name
        assert resources[name]["replicas"] == topic["replication"]
        assert resources[name]["partitions"] == topic.get("lanes", 4)


def swift(path):
    return (ROOT / "Sources" / path).read_text()


def test_the_families_of_workers_agree_with_the_code():
    """KEDA measures the lag of their topics."""
    helper = (CHART / "templates" / "_processes.tpl").read_text()
    for path in (ROOT / "Sources").glob("*/*Worker.swift"):
        name = re.search(r'static let name = "([a-z-]+)"', path.read_text())
        families = re.search(r"static let families: Set<NotificationFamily> = \[(.+?)\]", path.read_text())
        if not name or not families:
            continue
        kebab = [
            re.sub("([A-Z])", lambda m: "-" + m[1].lower(), one.strip().lstrip(".")) for one in families[1].split(",")
        ]
        stated = re.search(rf'"families" \(dict "{name[1]}" \(list (.+?)\)\)', helper)
        assert stated, name[1]
        assert re.findall(r'"([a-z-]+)"', stated[1]) == kebab


def test_keda_uses_the_consumer_group_of_the_worker():
    assert 'group = "\\(prefix)millrace.\\(worker)"' in swift("MillraceRecords/Topics/WorkerTopics.swift")


def default(key):
    return re.search(
        rf"^\| `{re.escape(key)}` \| [^|]+\| [^|]+\| `([^`]*)`", CONFIGURATION_PAGE.read_text(), re.MULTILINE
    )[1]


def test_defaults_in_templates_agree_with_the_programs():
    text = "".join(path.read_text() for path in (CHART / "templates").iterdir())
    for expression, key in {
        r'dig "ingress" "port" (\d+)': "ingress.port",
        r'dig "admin" "port" (\d+)': "admin.port",
        r'dig "admin" "checkTimeout" "(\w+)"': "admin.checkTimeout",
        r'dig "topics" "lanes" (\d+)': "topics.lanes",
        r'dig "shutdown" "grace" "(\w+)"': "shutdown.grace",
        # Only if the page has the key.
        **(
            {r'dig "console" "port" (\d+)': "console.port"}
            if "`console.port`" in CONFIGURATION_PAGE.read_text()
            else {}
        ),
    }.items():
        assert set(re.findall(expression, text)) == {default(key)}, key
    delays = re.search(r'default \(list ((?:"\w+" ?)+)\) \$entry.retryDelays', text)[1]
    policy = swift("MillraceCore/Configuration/WorkerPolicy.swift")
    seconds = [
        int(number)
        for number in re.findall(
            r"\.seconds\(([\d_]+)\)", re.search(r"retryDelays.*?=\s*\[(.+?)\]", policy, re.DOTALL)[1].replace("_", "")
        )
    ]
    drain = re.search(r'default "(\d+)s" \$entry.drainTimeout', text)[1]
    assert re.search(r"drainTimeout = Duration\.seconds\((\d+)\)", policy)[1] == drain
    units = {"s": 1, "m": 60, "h": 3600}
    assert [int(one[:-1]) * units[one[-1]] for one in re.findall(r'"(\w+)"', delays)] == seconds


def test_the_time_to_stop_agrees_with_the_code():
    assert "limit: grace + .seconds(5)" in swift("MillraceCore/Lifecycle/ProcessRunner.swift")


def test_the_chart_and_the_code_have_the_version_of_the_project():
    version = (ROOT / "VERSION").read_text().strip()
    assert f'current = "{version}"' in swift("MillraceCore/Support/MillraceVersion.swift")
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (version, version)
