"""Every set of values in ci/ renders to valid objects for the oldest and the newest Kubernetes."""

import copy
import difflib
import os

import helm_python as helm
import kubernetes_validate
import pytest
import yaml

from chart import ci, ci_names, manifests, sources
from crds import validator
from places import CHART, GOLDEN, NEWEST, OLDEST

VERSIONS = [OLDEST, NEWEST]


def complaints(document, kubernetes):
    """The errors of strict validation. Unknown fields and unknown kinds are errors."""
    crd = validator(document["apiVersion"], document["kind"])
    if crd:
        return [error.message for error in crd.iter_errors(document)]
    try:
        kubernetes_validate.validate(document, kubernetes, strict=True)
    except kubernetes_validate.SchemaNotFoundError as error:
        return [error.message]
    except kubernetes_validate.ValidationError as error:
        return [error.message]
    return []


def test_there_is_an_example_for_each_kind_of_deployment():
    assert ci_names() == ["consumers", "keda", "minimal", "oauth", "production", "strimzi", "tls-sasl"]


@pytest.mark.parametrize("kubernetes", VERSIONS)
@pytest.mark.parametrize("name", ci_names())
def test_kubernetes_accepts_every_object(name, kubernetes):
    documents = manifests(ci(name), kubernetes)
    assert len(documents) > 5
    wrong = [
        f"{document['kind']} {document['metadata']['name']}: {complaint}"
        for document in documents
        for complaint in complaints(document, kubernetes)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", ci_names())
def test_the_output_equals_the_golden_file(name):
    """The diff of a golden file shows the effect of a change to the chart."""
    rendered = "".join(f"# {path}\n{text.strip()}\n\n" for path, text in sources(ci(name)).items())
    golden = GOLDEN / f"{name}.yaml"
    if os.environ.get("MILLRACE_UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(rendered)
    difference = list(
        difflib.unified_diff(
            golden.read_text().splitlines() if golden.exists() else [], rendered.splitlines(), lineterm="", n=1
        )
    )
    assert difference == [], "run scripts/check chart --update"


@pytest.mark.parametrize("name", ci_names())
def test_helm_lint_reports_nothing(name):
    messages = helm.lint(CHART, ci(name), strict=True, kube_version=f"v{NEWEST}")["messages"]
    assert [message for message in messages if message["severity"] >= 2] == []


def test_the_oldest_kubernetes_is_the_charts_minimum():
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["kubeVersion"] == f">={OLDEST}-0"


def test_the_checks_reject_invalid_objects():
    """An unknown field, an unknown kind, a removed version."""
    deployment = next(one for one in manifests(ci("minimal")) if one["kind"] == "Deployment")
    wrong = copy.deepcopy(deployment)
    wrong["spec"]["template"]["spec"]["securityContext"]["runAsNonroot"] = True
    assert complaints(wrong, NEWEST)
    assert complaints({**deployment, "kind": "Deploymint"}, NEWEST)
    assert complaints({**deployment, "apiVersion": "extensions/v1beta1"}, NEWEST)
    scaled = next(one for one in manifests(ci("keda")) if one["kind"] == "ScaledObject")
    assert complaints(scaled, NEWEST) == []
    wrong = copy.deepcopy(scaled)
    wrong["spec"]["minReplicas"] = 1
    assert complaints(wrong, NEWEST)
    topic = next(one for one in manifests(ci("strimzi")) if one["kind"] == "KafkaTopic")
    wrong = copy.deepcopy(topic)
    wrong["spec"]["partitions"] = "12"
    assert complaints(wrong, NEWEST)


@pytest.mark.parametrize("name", ci_names())
def test_no_two_objects_have_the_same_name(name):
    keys = [
        (document["kind"], document["metadata"]["namespace"], document["metadata"]["name"])
        for document in manifests(ci(name))
    ]
    assert len(keys) == len(set(keys))


def test_a_long_release_name_results_in_valid_names():
    for document in manifests(ci("production"), name="a" * 53):
        assert len(document["metadata"]["name"]) <= 63, document["metadata"]["name"]


@pytest.mark.parametrize("name", ci_names())
def test_the_output_is_yaml_without_duplicate_keys(name):
    class Strict(yaml.SafeLoader):
        pass

    def mapping(loader, node):
        keys = [loader.construct_object(key) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"duplicate key: {keys}"
        return loader.construct_mapping(node, deep=True)

    Strict.add_constructor("tag:yaml.org,2002:map", mapping)
    for path, text in sources(ci(name)).items():
        if path.endswith(".yaml"):
            list(yaml.load_all(text, Strict))  # noqa: S506
