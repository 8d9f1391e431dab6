"""What holds for every pod, whatever the values."""

import re

import pytest
import yaml

from chart import ci, ci_names, manifests, merged, notes
from places import TOPICS

DOCUMENTS = {name: manifests(ci(name)) for name in ci_names()}
WORKLOADS = ("Deployment", "StatefulSet", "Job")


def each(*kinds):
    """(values, object) of every object of these kinds, as parameters."""
    return pytest.mark.parametrize(
        ("name", "document"),
        [
            pytest.param(name, document, id=f"{name}-{document['kind']}-{document['metadata']['name']}")
            for name, documents in DOCUMENTS.items()
            for document in documents
            if document["kind"] in kinds
        ],
    )


def of(name, kind, suffix=None):
    """The objects of a kind, or the one whose name ends so."""
    found = [document for document in DOCUMENTS[name] if document["kind"] == kind]
    if suffix is None:
        return found
    return next(document for document in found if document["metadata"]["name"].endswith(suffix))


def pod(document):
    return document["spec"]["template"]["spec"]


def container(document):
    (only,) = pod(document)["containers"]
    return only


def secrets(document):
    return {
        volume["secret"]["secretName"]: [item["key"] for item in volume["secret"]["items"]]
        for volume in pod(document)["volumes"]
        if "secret" in volume
    }


def config(name, process):
    data = next(
        document["data"]
        for document in DOCUMENTS[name]
        if document["kind"] == "ConfigMap" and f"{process}.yaml" in document["data"]
    )
    return yaml.safe_load(data[f"{process}.yaml"])


@each(*WORKLOADS)
def test_every_pod_is_restricted(name, document):
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted, and a root nobody writes to."""
    assert pod(document)["securityContext"]["runAsNonRoot"] is True
    assert pod(document)["securityContext"]["runAsUser"] > 0
    assert pod(document)["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(document)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod(document))
    assert all(set(volume) - {"name"} <= {"configMap", "secret"} for volume in pod(document)["volumes"])


@each(*WORKLOADS)
def test_no_pod_has_a_token_of_kubernetes(name, document):
    assert pod(document)["automountServiceAccountToken"] is False
    assert pod(document)["enableServiceLinks"] is False


@each(*WORKLOADS)
def test_every_secret_is_a_file_by_reference(name, document):
    for variable in container(document)["env"]:
        assert "secretKeyRef" not in str(variable.get("valueFrom"))
        assert not re.search("(?i)password|secret|token", variable["name"] + str(variable.get("value")))
    for volume in pod(document)["volumes"]:
        if "secret" in volume:
            assert volume["secret"]["items"], "only the keys that are named"
            assert volume["secret"]["defaultMode"] == 0o440


@pytest.mark.parametrize("name", ci_names())
def test_the_chart_makes_no_secret(name):
    assert of(name, "Secret") == []


@each(*WORKLOADS)
def test_every_mount_has_its_volume_and_is_read_only(name, document):
    mounts = container(document)["volumeMounts"]
    assert {mount["name"] for mount in mounts} == {volume["name"] for volume in pod(document)["volumes"]}
    assert all(mount["readOnly"] for mount in mounts)
    assert len({mount["mountPath"] for mount in mounts}) == len(mounts)


@each(*WORKLOADS)
def test_no_mount_hides_the_topics_of_the_image(name, document):
    assert not any(
        mount["mountPath"] in ("/etc", "/etc/millrace", "/etc/millrace/topics")
        for mount in container(document)["volumeMounts"]
    )


@each("Deployment", "StatefulSet")
def test_every_path_in_a_file_is_mounted_there(name, document):
    process = container(document)["name"]
    paths = re.findall(r"/etc/millrace/(?:secrets|configmaps)/[^/\s]+/\S+", yaml.safe_dump(config(name, process)))
    mounts = [mount["mountPath"] for mount in container(document)["volumeMounts"]]
    keys = {
        f"{mount}/{key}"
        for mount, volume in zip(mounts, pod(document)["volumes"], strict=True)
        for key in [item["path"] for item in volume.get("secret", volume.get("configMap"))["items"]]
    }
    assert set(paths) <= keys
    assert len(keys - {"/etc/millrace/config/millrace.yaml"}) == len(set(paths)), "nothing is mounted that is not named"


@each("Deployment", "StatefulSet")
def test_every_process_is_asked_on_its_admin_port(name, document):
    probes = {
        probe: container(document)[probe]["httpGet"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    assert probes == {
        "startupProbe": {"path": "/livez", "port": "admin"},
        "livenessProbe": {"path": "/livez", "port": "admin"},
        "readinessProbe": {"path": "/readyz", "port": "admin"},
    }
    assert {"name": "admin", "containerPort": 9090} in container(document)["ports"]


@each("Deployment", "StatefulSet")
def test_a_slow_start_is_given_two_minutes(name, document):
    probe = container(document)["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 120


@each("Deployment", "StatefulSet")
def test_a_pod_may_leave_for_longer_than_its_process_takes(name, document):
    grace = config(name, container(document)["name"]).get("shutdown", {}).get("grace", "25s")
    before = container(document).get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    assert pod(document)["terminationGracePeriodSeconds"] == before + int(grace.removesuffix("s")) + 15


def test_the_ingress_goes_on_answering_while_load_balancers_learn():
    assert container(of("minimal", "Deployment", "-ingress"))["lifecycle"] == {"preStop": {"sleep": {"seconds": 10}}}


@each("StatefulSet")
def test_replicas_of_a_worker_do_not_wait_for_each_other(name, document):
    assert document["spec"]["podManagementPolicy"] == "Parallel"
    service = next(one for one in of(name, "Service") if one["metadata"]["name"] == document["spec"]["serviceName"])
    assert service["spec"]["clusterIP"] == "None"


@each("Deployment", "StatefulSet")
def test_who_is_scaled_states_no_replicas(name, document):
    scaled = {
        one["spec"]["scaleTargetRef"]["name"] for one in of(name, "ScaledObject") + of(name, "HorizontalPodAutoscaler")
    }
    assert ("replicas" in document["spec"]) == (document["metadata"]["name"] not in scaled)


@each("ScaledObject")
def test_a_worker_is_never_scaled_to_none_nor_beyond_its_lanes(name, document):
    assert document["spec"]["minReplicaCount"] >= 1
    lanes = ci(name)["config"].get("topics", {}).get("lanes", 12)
    assert document["spec"]["maxReplicaCount"] <= lanes


@each("ScaledObject")
def test_a_worker_is_scaled_by_the_lag_of_what_it_reads(name, document):
    prefix = ci(name)["config"].get("topics", {}).get("prefix", "")
    for trigger in document["spec"]["triggers"]:
        assert trigger["type"] == "kafka"
        topic = trigger["metadata"]["topic"].removeprefix(prefix)
        assert (TOPICS / f"{topic}.yaml").exists(), topic
        assert trigger["metadata"]["consumerGroup"].startswith(f"{prefix}millrace.")
        assert trigger["metadata"]["bootstrapServers"] == ci(name)["config"]["kafka"]["bootstrapServers"]


def test_keda_logs_in_as_the_workers_do():
    (auth,) = of("keda", "TriggerAuthentication")
    assert [(one["parameter"], one["name"], one["key"]) for one in auth["spec"]["secretTargetRef"]] == [
        ("username", "kafka", "username"),
        ("password", "kafka", "password"),
    ]
    assert [one["parameter"] for one in auth["spec"]["configMapTargetRef"]] == ["ca"]
    metadata = of("keda", "ScaledObject")[0]["spec"]["triggers"][0]["metadata"]
    assert (metadata["sasl"], metadata["tls"]) == ("plaintext", "enable")


def test_who_waits_for_apple_is_not_scaled_unless_told():
    assert of("production", "ScaledObject") == []


@each("Deployment", "StatefulSet")
def test_one_pod_leaves_at_a_time(name, document):
    budget = next(
        one for one in of(name, "PodDisruptionBudget") if one["metadata"]["name"] == document["metadata"]["name"]
    )
    assert budget["spec"]["maxUnavailable"] == 1
    assert budget["spec"]["selector"]["matchLabels"] == document["spec"]["selector"]["matchLabels"]


@each("Deployment", "StatefulSet")
def test_pods_are_spread_over_zones_and_nodes(name, document):
    constraints = pod(document)["topologySpreadConstraints"]
    assert [one["topologyKey"] for one in constraints] == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
    for constraint in constraints:
        assert constraint["labelSelector"]["matchLabels"] == document["spec"]["selector"]["matchLabels"]


@each("Deployment", "StatefulSet")
def test_memory_is_asked_for_and_bounded_and_cpu_is_not_cut(name, document):
    resources = container(document)["resources"]
    assert {"cpu", "memory"} <= set(resources["requests"])
    assert "memory" in resources["limits"]
    assert "cpu" not in resources["limits"]


@each("Deployment", "StatefulSet", "Job")
def test_every_pod_has_its_policy(name, document):
    labels = document["spec"]["template"]["metadata"]["labels"]
    policies = [
        one for one in of(name, "NetworkPolicy") if one["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    ]
    assert len(policies) == 1
    assert policies[0]["spec"]["policyTypes"] == ["Ingress", "Egress"]


def egress(name, process):
    """The ports a process may reach, DNS left out."""
    rules = of(name, "NetworkPolicy", f"-{process}")["spec"]["egress"]
    return {port["port"] for rule in rules for port in rule["ports"]} - {53}


@pytest.mark.parametrize(
    ("name", "process", "ports"),
    [
        ("minimal", "ingress", {9092}),
        ("minimal", "topics", {9092}),
        ("production", "ingress", {9092, 80}),
        ("production", "topics", {9092}),
        ("production", "refunds", {9092, 80, 443}),
        ("production", "forward", {9092, 80, 443, 8443}),
        ("production", "console", {9092}),
        ("production", "backfill", {9092, 80, 443}),
        ("tls-sasl", "ingress", {9093, 9094}),
        ("consumers", "consumer-winback", {9092, 4317}),
        ("consumers", "consumer-loyalty", {9092, 443}),
    ],
)
def test_a_process_reaches_what_it_asks_and_nothing_else(name, process, ports):
    assert egress(name, process) == ports


def test_only_who_serves_is_reached_besides_metrics():
    for policy in of("production", "NetworkPolicy"):
        ports = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
        process = policy["metadata"]["labels"]["app.kubernetes.io/component"]
        assert ports == {"topics": set(), "ingress": {"http", "admin"}, "console": {"http", "admin"}}.get(
            process, {"admin"}
        )


@pytest.mark.parametrize(
    ("process", "expected"),
    [
        ("-ingress", {"app-store": ["shared-secret", "shared-secret-before"]}),
        ("-refunds", {"app-store": ["apple.p8", "other.p8"]}),
        ("-forward", {"app-store": ["shared-secret", "shared-secret-before"], "old-receiver": ["token"]}),
        ("-console", {}),
        ("-backfill", {"app-store": ["apple.p8", "other.p8"]}),
    ],
)
def test_a_process_gets_the_credentials_it_needs_and_no_others(process, expected):
    kind = "Deployment" if process in ("-ingress", "-console", "-backfill") else "StatefulSet"
    assert secrets(of("production", kind, process)) == expected


def test_the_topics_job_gets_kafkas_credentials_only():
    assert secrets(of("tls-sasl", "Job", "-topics")) == {"kafka.millrace": ["password", "username"]}
    assert secrets(of("production", "Job", "-topics")) == {}


def test_a_static_member_is_named_after_its_pod():
    env = container(of("production", "StatefulSet", "-refunds"))["env"]
    assert {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}} in env
    assert {"name": "MILLRACE_WORKERS_0_STATIC_MEMBER", "value": "$(POD_NAME)"} in env
    assert config("production", "refunds")["workers"][0]["name"] == "refunds"
    assert "STATIC_MEMBER" not in str(container(of("production", "StatefulSet", "-forward")))


def test_every_worker_that_runs_is_named_so_that_its_topics_are_made():
    names = {
        entry["name"]
        for entry in yaml.safe_load(of("production", "ConfigMap", "-topics")["data"]["millrace.yaml"])["workers"]
    }
    assert names == {"refunds", "renewal-extensions", "consumption", "forward-old", "forward-finance"}


def checksums(values):
    return {
        document["metadata"]["name"]: document["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        for document in manifests(values)
        if document["kind"] in ("Deployment", "StatefulSet")
    }


def test_a_changed_configuration_restarts_who_reads_it():
    before = checksums(ci("production"))
    everybody = checksums(merged(ci("production"), {"config": {"logging": {"level": "debug"}}}))
    assert all(before[name] != everybody[name] for name in before)


def test_another_workers_settings_restart_nobody_else():
    values = ci("production")
    before = checksums(values)
    values["config"]["workers"].append({"name": "refunds", "parallelism": 4})
    after = checksums(values)
    assert {name for name in before if before[name] != after[name]} == {"shop-millrace-refunds"}


@each("Service")
def test_every_service_finds_its_pods(name, document):
    selector = document["spec"]["selector"].items()
    found = [
        one
        for one in DOCUMENTS[name]
        if one["kind"] in ("Deployment", "StatefulSet")
        and selector <= one["spec"]["template"]["metadata"]["labels"].items()
    ]
    assert len(found) == 1
    ports = {port["name"] for port in container(found[0])["ports"]}
    assert {port["targetPort"] for port in document["spec"]["ports"]} <= ports


@pytest.mark.parametrize("name", ci_names())
def test_what_other_operators_bring_is_made_only_when_asked_for(name):
    kinds = {document["apiVersion"].split("/")[0] for document in DOCUMENTS[name]}
    foreign = kinds - {"v1", "apps", "batch", "policy", "autoscaling", "networking.k8s.io"}
    assert foreign == {
        "keda": {"keda.sh"},
        "consumers": {"keda.sh"},
        "strimzi": {"kafka.strimzi.io"},
        "production": {"monitoring.coreos.com", "gateway.networking.k8s.io"},
    }.get(name, set())


def test_the_service_monitor_finds_every_admin_port_once():
    (monitor,) = of("production", "ServiceMonitor")
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    found = [one for one in of("production", "Service") if wanted <= one["metadata"]["labels"].items()]
    pods = [one for one in DOCUMENTS["production"] if one["kind"] in ("Deployment", "StatefulSet")]
    assert len(found) == len(pods)
    assert all([port["name"] for port in one["spec"]["ports"]] == ["admin"] for one in found)


@pytest.mark.parametrize("name", ["production", "strimzi"])
def test_from_outside_only_the_two_endpoints_are_reached(name):
    kind = {"production": "HTTPRoute", "strimzi": "Ingress"}[name]
    (route,) = of(name, kind)
    text = str(route["spec"])
    assert "'/v1'" in text and "'/v2'" in text and "Exact" in text
    assert "Prefix" not in text and "9090" not in text and "admin" not in text


def test_the_backfill_runs_once():
    deployment = of("production", "Deployment", "-backfill")
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}


def test_the_topics_job_runs_before_anything_else_and_fails_the_release():
    job = of("minimal", "Job", "-topics")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert container(job)["command"] == ["millrace", "topics", "apply", "--yes"]
    for document in (of("minimal", "ConfigMap", "-topics"), of("minimal", "NetworkPolicy", "-topics")):
        assert int(document["metadata"]["annotations"]["helm.sh/hook-weight"]) < int(
            job["metadata"]["annotations"]["helm.sh/hook-weight"]
        )


def test_topics_outlive_the_release():
    for topic in of("strimzi", "KafkaTopic"):
        assert topic["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
        assert topic["metadata"]["labels"]["strimzi.io/cluster"] == "main"


def test_a_digest_beats_a_tag():
    assert container(of("production", "Deployment", "-ingress"))["image"].startswith(
        "ghcr.io/millrace/millrace@sha256:"
    )
    assert container(of("minimal", "Deployment", "-ingress"))["image"] == "ghcr.io/millrace/millrace:0.1.0"
    assert container(of("consumers", "StatefulSet", "-winback"))["image"] == "registry.example.com/winback:1.4.0"


def test_what_is_not_enabled_is_not_there():
    assert not [one for one in DOCUMENTS["consumers"] if "parked" in str(one)]
    assert {one["metadata"]["name"] for one in of("minimal", "StatefulSet")} == set()


def test_the_notes_name_three_commands():
    text = notes(ci("production"))
    commands = [line.strip() for line in text.splitlines() if line.strip().startswith("kubectl ")]
    assert len(commands) == 3
    assert commands[-1].endswith("-- millrace api test-notification --environment Sandbox")
    assert "https://appstore.example.com/v2" in text
    assert "No process here has an App Store Server API key" in notes(ci("minimal"))


def test_the_notes_tell_of_consumers_what_is_so():
    text = notes(ci("consumers"))
    assert "exec" not in text
    assert "no pod here has the program millrace" in text
    assert "The key of the App Store Server API is here with loyalty only" in text
    assert "'jsonpath={.data.consumer-loyalty\\.yaml}'" in text
    assert "consumer-loyalty.yaml" in of("consumers", "ConfigMap", "shop-millrace")["data"]


@pytest.mark.parametrize("more", ["", "ingress", "backfill"])
@pytest.mark.parametrize("name", ci_names())
def test_a_command_of_the_notes_is_in_the_pod_that_they_name(name, more):
    """The program in its image, and for what asks Apple the key and the way."""
    values = merged(ci(name), {more: {"enabled": True}} if more and ci(name)["config"]["apps"][0].get("api") else {})
    documents = manifests(values)
    targets = re.findall(r"exec (\w+)/(\S+) -- (millrace [a-z]+)", notes(values))
    assert targets or (name, more) == ("consumers", "")
    for kind, target, command in targets:
        found = next(one for one in documents if (one["kind"].lower(), one["metadata"]["name"]) == (kind, target))
        assert container(found)["image"].startswith("ghcr.io/millrace/millrace")
        if command == "millrace api":
            assert "app-store" in secrets(found)
            (policy,) = [
                one for one in documents if one["kind"] == "NetworkPolicy" and one["metadata"]["name"] == target
            ]
            assert 443 in [port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]]
