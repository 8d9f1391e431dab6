"""Rules that hold for all values."""

import re

import pytest
import yaml

from chart import ci, ci_names, manifests, merged, notes
from places import TOPICS

DOCUMENTS = {name: manifests(ci(name)) for name in ci_names()}
WORKLOADS = ("Deployment", "StatefulSet", "Job")


def each(*kinds):
    """Parametrizes a test with every object of these kinds."""
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
    """The objects of a kind, or the one whose name has this suffix."""
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
def test_every_pod_meets_the_restricted_standard(name, document):
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted, and a read-only root file system."""
    assert pod(document)["securityContext"]["runAsNonRoot"] is True
    assert pod(document)["securityContext"]["runAsUser"] > 0
    assert pod(document)["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(document)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod(document))
    assert all(set(volume) - {"name"} <= {"configMap", "secret", "projected"} for volume in pod(document)["volumes"])


@each(*WORKLOADS)
def test_no_pod_has_a_service_account_token(name, document):
    assert pod(document)["automountServiceAccountToken"] is False
    assert pod(document)["enableServiceLinks"] is False


@each(*WORKLOADS)
def test_every_secret_is_a_file_by_reference(name, document):
    for variable in container(document)["env"]:
        assert "secretKeyRef" not in str(variable.get("valueFrom"))
        assert not re.search("(?i)password|secret|token", variable["name"] + str(variable.get("value")))
    for volume in pod(document)["volumes"]:
        if "secret" in volume:
            assert volume["secret"]["items"], "mounts only the named keys"
            assert volume["secret"]["defaultMode"] == 0o440


@pytest.mark.parametrize("name", ci_names())
def test_the_chart_creates_no_secret(name):
    assert of(name, "Secret") == []


@each(*WORKLOADS)
def test_every_mount_has_its_volume_and_is_read_only(name, document):
    mounts = container(document)["volumeMounts"]
    assert {mount["name"] for mount in mounts} == {volume["name"] for volume in pod(document)["volumes"]}
    assert all(mount["readOnly"] for mount in mounts)
    assert len({mount["mountPath"] for mount in mounts}) == len(mounts)


def files_of(volume):
    """The names of the files in a volume. A projected volume may only have tokens of the ServiceAccount."""
    if projected := volume.get("projected"):
        return [source["serviceAccountToken"]["path"] for source in projected["sources"]]
    return [item["path"] for item in volume.get("secret", volume.get("configMap"))["items"]]


@each("Deployment", "StatefulSet")
def test_every_path_in_a_file_is_mounted_there(name, document):
    process = container(document)["name"]
    paths = re.findall(
        r"/etc/millrace/(?:(?:secrets|configmaps)/[^/\s]+|token)/\S+", yaml.safe_dump(config(name, process))
    )
    mounts = [mount["mountPath"] for mount in container(document)["volumeMounts"]]
    keys = {
        f"{mount}/{key}"
        for mount, volume in zip(mounts, pod(document)["volumes"], strict=True)
        for key in files_of(volume)
    }
    assert set(paths) <= keys
    assert len(keys - {"/etc/millrace/config/millrace.yaml"}) == len(set(paths)), "mounts only the named files"


@each("Deployment", "StatefulSet")
def test_probes_use_the_admin_port(name, document):
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
def test_a_slow_start_may_take_two_minutes(name, document):
    probe = container(document)["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 120


@each("Deployment", "StatefulSet")
def test_a_pods_grace_period_exceeds_that_of_its_process(name, document):
    grace = config(name, container(document)["name"]).get("shutdown", {}).get("grace", "25s")
    before = container(document).get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    assert pod(document)["terminationGracePeriodSeconds"] == before + int(grace.removesuffix("s")) + 15


def test_the_ingress_keeps_serving_while_load_balancers_remove_it():
    assert container(of("minimal", "Deployment", "-ingress"))["lifecycle"] == {"preStop": {"sleep": {"seconds": 10}}}


@each("StatefulSet")
def test_replicas_of_a_worker_do_not_wait_for_each_other(name, document):
    assert document["spec"]["podManagementPolicy"] == "Parallel"
    service = next(one for one in of(name, "Service") if one["metadata"]["name"] == document["spec"]["serviceName"])
    assert service["spec"]["clusterIP"] == "None"


@each("Deployment", "StatefulSet")
def test_an_autoscaled_process_has_no_fixed_replicas(name, document):
    scaled = {
        one["spec"]["scaleTargetRef"]["name"] for one in of(name, "ScaledObject") + of(name, "HorizontalPodAutoscaler")
    }
    assert ("replicas" in document["spec"]) == (document["metadata"]["name"] not in scaled)


@each("ScaledObject")
def test_a_worker_scales_between_one_replica_and_its_lanes(name, document):
    assert document["spec"]["minReplicaCount"] >= 1
    lanes = ci(name)["config"].get("topics", {}).get("lanes", 4)
    assert document["spec"]["maxReplicaCount"] <= lanes


@each("ScaledObject")
def test_a_worker_scales_by_the_lag_of_its_topics(name, document):
    prefix = ci(name)["config"].get("topics", {}).get("prefix", "")
    for trigger in document["spec"]["triggers"]:
        assert trigger["type"] == "kafka"
        topic = trigger["metadata"]["topic"].removeprefix(prefix)
        assert (TOPICS / f"{topic}.yaml").exists(), topic
        assert trigger["metadata"]["consumerGroup"].startswith(f"{prefix}millrace.")
        assert trigger["metadata"]["bootstrapServers"] == ci(name)["config"]["kafka"]["bootstrapServers"]


def test_keda_uses_the_credentials_of_the_workers():
    (auth,) = of("keda", "TriggerAuthentication")
    assert [(one["parameter"], one["name"], one["key"]) for one in auth["spec"]["secretTargetRef"]] == [
        ("username", "kafka", "username"),
        ("password", "kafka", "password"),
    ]
    assert [one["parameter"] for one in auth["spec"]["configMapTargetRef"]] == ["ca"]
    metadata = of("keda", "ScaledObject")[0]["spec"]["triggers"][0]["metadata"]
    assert (metadata["sasl"], metadata["tls"]) == ("plaintext", "enable")


def test_workers_that_wait_for_apple_do_not_scale_by_default():
    assert of("production", "ScaledObject") == []


@each("Deployment", "StatefulSet")
def test_at_most_one_pod_is_evicted_at_a_time(name, document):
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
def test_memory_has_a_request_and_a_limit_and_cpu_only_a_request(name, document):
    resources = container(document)["resources"]
    assert {"cpu", "memory"} <= set(resources["requests"])
    assert "memory" in resources["limits"]
    assert "cpu" not in resources["limits"]


@each("Deployment", "StatefulSet", "Job")
def test_every_pod_has_one_network_policy(name, document):
    labels = document["spec"]["template"]["metadata"]["labels"]
    policies = [
        one for one in of(name, "NetworkPolicy") if one["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    ]
    assert len(policies) == 1
    assert policies[0]["spec"]["policyTypes"] == ["Ingress", "Egress"]


def egress(name, process):
    """The ports that a process may reach, without DNS."""
    rules = of(name, "NetworkPolicy", f"-{process}")["spec"]["egress"]
    return {port["port"] for rule in rules for port in rule["ports"]} - {53}


@pytest.mark.parametrize(
    ("name", "process", "ports"),
    [
        ("minimal", "ingress", {9092}),
        ("minimal", "topics", {9092}),
        ("production", "ingress", {9092, 80, 4318}),
        ("production", "topics", {9092}),
        ("production", "refunds", {9092, 80, 443, 4318}),
        ("production", "forward", {9092, 80, 443, 4318, 8443}),
        ("production", "worker", {9092, 80, 443, 4318, 7443, 9443}),
        ("production", "console", {9092, 443}),
        ("production", "backfill", {9092, 80, 443}),
        ("production", "postgres", {9092, 5432}),
        ("production", "decoder", {9092, 80, 4318, 8081}),
        ("tls-sasl", "ingress", {9093, 9094}),
        ("oauth", "ingress", {9093}),
        ("consumers", "consumer-winback", {9092, 4317}),
        ("consumers", "consumer-loyalty", {9092, 443}),
    ],
)
def test_a_process_reaches_only_the_ports_it_needs(name, process, ports):
    assert egress(name, process) == ports


def test_only_servers_accept_connections_besides_metrics():
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
        ("-refunds", {"app-store": ["apple.p8", "other.p8"], "erasure": ["key"]}),
        (
            "-forward",
            {"app-store": ["shared-secret", "shared-secret-before"], "old-receiver": ["token"], "erasure": ["key"]},
        ),
        (
            "-worker",
            {
                "app-store": ["apple.p8", "other.p8"],
                "crm-webhook": ["signing"],
                "winback": ["ca.crt", "signing"],
                "erasure": ["key"],
            },
        ),
        ("-console", {"alerts": ["signing", "url"]}),
        ("-backfill", {"app-store": ["apple.p8", "other.p8"], "erasure": ["key"]}),
        ("-postgres", {"database": ["ca.crt", "password"]}),
        ("-decoder", {"registry": ["password"], "erasure": ["key"]}),
    ],
)
def test_a_process_gets_only_the_credentials_it_needs(process, expected):
    kind = "Deployment" if process in ("-ingress", "-console", "-backfill", "-postgres") else "StatefulSet"
    assert secrets(of("production", kind, process)) == expected


def test_the_topics_job_gets_only_kafka_credentials():
    assert secrets(of("tls-sasl", "Job", "-topics")) == {"kafka.millrace": ["password", "username"]}
    assert secrets(of("production", "Job", "-topics")) == {}


NAMED = {"name": "MILLRACE_KAFKA_INSTANCE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}


@pytest.mark.parametrize(
    "values,process",
    [
        ("production", "-refunds"),
        ("production", "-consumption"),
        ("keda", "-refunds"),
        ("keda", "-forward"),
        ("consumers", "-consumer-winback"),
        ("consumers", "-consumer-loyalty"),
    ],
)
def test_a_worker_is_a_static_member_with_the_name_of_its_pod(values, process):
    workload = of(values, "StatefulSet", process)
    assert NAMED in container(workload)["env"]


def test_static_membership_can_be_disabled_and_other_processes_have_none():
    assert "INSTANCE" not in str(container(of("production", "StatefulSet", "-forward"))["env"])
    for process in ("-ingress", "-console", "-backfill", "-postgres"):
        assert "INSTANCE" not in str(container(of("production", "Deployment", process))["env"])


def on_stop(values, process):
    return {name: entry.get("onStop") for name, entry in config(values, process)["workers"].items()}


def test_autoscaled_pods_release_their_lanes_and_others_keep_them():
    assert on_stop("production", "refunds")["refunds"] is None
    assert on_stop("consumers", "consumer-winback")["winback"] is None
    assert on_stop("consumers", "consumer-loyalty")["loyalty"] == "leave"
    # A process knows onStop only of its own workers, so that changes do not restart other processes.
    assert on_stop("consumers", "consumer-winback")["loyalty"] is None
    assert on_stop("keda", "forward")["forward-old"] == "leave"


def test_on_stop_overrides_the_default():
    said = merged(ci("keda"), {"config": {"workers": {"refunds": {"onStop": "keep"}}}})
    files = next(one for one in manifests(said) if one["kind"] == "ConfigMap" and "refunds.yaml" in one["data"])
    entries = yaml.safe_load(files["data"]["refunds.yaml"])["workers"]
    assert entries["refunds"] == {"onStop": "keep"}


def test_the_topics_job_knows_every_running_worker():
    names = yaml.safe_load(of("production", "ConfigMap", "-topics")["data"]["millrace.yaml"])["workers"]
    ours = {"subscriptions", "refunds", "renewal-extensions", "consumption", "decoder"}
    assert set(names) == ours | {"forward-old", "forward-finance", "winback", "webhook-crm"}


def test_only_the_process_of_http_workers_has_their_handlers():
    assert config("production", "worker")["workers"]["winback"]["families"] == ["subscriptions"]
    for process in ("refunds", "forward"):
        entry = config("production", process)["workers"]["winback"]
        assert entry == {"calls": ["extendSubscriptionRenewalDate"]}


def test_a_webhook_is_a_worker_whose_settings_only_its_process_has():
    settings = config("production", "worker")["workers"]["webhook-crm"]["settings"]
    assert settings["secretFile"] == "/etc/millrace/secrets/crm-webhook/signing"
    assert settings["events"] == ["subscription.*", "customer.erased"]
    for process in ("refunds", "worker", "forward"):
        assert "webhooks" not in config("production", process)
    assert config("production", "forward")["workers"]["webhook-crm"] == {}


def test_workers_can_share_the_pods_of_one_process():
    said = manifests(merged(ci("production"), {"workers": {"together": {"enabled": True}}}))
    (together,) = [one for one in said if one["kind"] == "StatefulSet"]
    command = container(together)["command"]
    assert command[:2] == ["millrace", "workers"]
    file = next(one["data"] for one in said if one["kind"] == "ConfigMap" and "workers.yaml" in one["data"])
    entries = yaml.safe_load(file["workers.yaml"])["workers"]
    assert set(command[2:]) == set(entries) and "webhook-crm" in entries
    assert entries["winback"]["handler"] and entries["webhook-crm"]["settings"]["secretFile"]
    # Its pods have the files of every worker.
    files = {volume["name"] for one in of("production", "StatefulSet") for volume in pod(one)["volumes"]}
    assert {volume["name"] for volume in pod(together)["volumes"]} == files


def test_a_webhook_scales_by_the_events_of_every_publisher():
    workers = {"http": {"enabled": True, "autoscaling": {"enabled": True}}}
    webhook = {"url": "https://a.example", "secretFile": {"secret": "s", "key": "k"}}
    said = merged(ci("keda"), {"workers": workers, "config": {"webhooks": {"a": webhook}}})
    (scaled,) = [
        one for one in manifests(said) if one["kind"] == "ScaledObject" and one["metadata"]["name"].endswith("-worker")
    ]
    topics = {trigger["metadata"]["topic"].split("appstore.")[-1] for trigger in scaled["spec"]["triggers"]}
    assert "events.refunds" in topics
    assert all(topic.startswith("events.") and "forward" not in topic for topic in topics)


def checksums(values):
    return {
        document["metadata"]["name"]: document["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        for document in manifests(values)
        if document["kind"] in ("Deployment", "StatefulSet")
    }


def test_a_changed_setting_restarts_the_processes_that_read_it():
    before = checksums(ci("production"))
    everybody = checksums(merged(ci("production"), {"config": {"logging": {"level": "debug"}}}))
    assert all(before[name] != everybody[name] for name in before)


def test_a_workers_settings_restart_only_that_worker():
    values = ci("production")
    before = checksums(values)
    values["config"]["workers"]["refunds"] = {"parallelism": 4}
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
def test_custom_resources_are_created_only_on_request(name):
    kinds = {document["apiVersion"].split("/")[0] for document in DOCUMENTS[name]}
    foreign = kinds - {"v1", "apps", "batch", "policy", "autoscaling", "networking.k8s.io"}
    assert foreign == {
        "keda": {"keda.sh"},
        "consumers": {"keda.sh"},
        "strimzi": {"kafka.strimzi.io"},
        "production": {"monitoring.coreos.com", "gateway.networking.k8s.io"},
    }.get(name, set())


def test_the_service_monitor_selects_every_admin_port_once():
    (monitor,) = of("production", "ServiceMonitor")
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    found = [one for one in of("production", "Service") if wanted <= one["metadata"]["labels"].items()]
    pods = [one for one in DOCUMENTS["production"] if one["kind"] in ("Deployment", "StatefulSet")]
    assert len(found) == len(pods)
    assert all([port["name"] for port in one["spec"]["ports"]] == ["admin"] for one in found)


@pytest.mark.parametrize("name", ["production", "strimzi"])
def test_only_the_two_endpoints_are_exposed(name):
    kind = {"production": "HTTPRoute", "strimzi": "Ingress"}[name]
    (route,) = of(name, kind)
    text = str(route["spec"])
    assert "'/v1'" in text and "'/v2'" in text and "Exact" in text
    assert "Prefix" not in text and "9090" not in text and "admin" not in text


def test_the_backfill_runs_in_a_single_pod():
    deployment = of("production", "Deployment", "-backfill")
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}


def test_the_topics_job_runs_before_anything_else_and_fails_the_release():
    job = of("minimal", "Job", "-topics")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert container(job)["command"] == ["millrace", "topics", "apply", "--yes", "--by", "helm"]
    for document in (of("minimal", "ConfigMap", "-topics"), of("minimal", "NetworkPolicy", "-topics")):
        assert int(document["metadata"]["annotations"]["helm.sh/hook-weight"]) < int(
            job["metadata"]["annotations"]["helm.sh/hook-weight"]
        )


def test_topics_outlive_the_release():
    for topic in of("strimzi", "KafkaTopic"):
        assert topic["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
        assert topic["metadata"]["labels"]["strimzi.io/cluster"] == "main"


def test_a_digest_takes_precedence_over_a_tag():
    assert container(of("production", "Deployment", "-ingress"))["image"].startswith(
        "ghcr.io/millrace/millrace@sha256:"
    )
    assert container(of("minimal", "Deployment", "-ingress"))["image"] == "ghcr.io/millrace/millrace:0.1.0"
    assert container(of("consumers", "StatefulSet", "-winback"))["image"] == "registry.example.com/winback:1.4.0"


def test_disabled_processes_are_not_rendered():
    assert not [one for one in DOCUMENTS["consumers"] if "parked" in str(one)]
    assert {one["metadata"]["name"] for one in of("minimal", "StatefulSet")} == set()


def test_the_notes_name_three_commands():
    text = notes(ci("production"))
    commands = [line.strip() for line in text.splitlines() if line.strip().startswith("kubectl ")]
    assert len(commands) == 3
    assert commands[-1].endswith("-- millrace api test-notification --environment Sandbox")
    assert "https://appstore.example.com/v2" in text
    assert "No process of this release has an App Store Server API key" in notes(ci("minimal"))


def test_the_notes_are_correct_for_a_release_with_only_consumers():
    text = notes(ci("consumers"))
    assert "exec" not in text
    assert "no pod of this release contains the program millrace" in text
    assert "key is only in pods without the\n   program millrace (loyalty)" in text
    assert "'jsonpath={.data.consumer-loyalty\\.yaml}'" in text
    assert "consumer-loyalty.yaml" in of("consumers", "ConfigMap", "shop-millrace")["data"]


@pytest.mark.parametrize("more", ["", "ingress", "backfill"])
@pytest.mark.parametrize("name", ci_names())
def test_commands_in_the_notes_run_in_the_pods_they_name(name, more):
    """The image has the program; commands that call Apple also need the API key and port 443."""
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
