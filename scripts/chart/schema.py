"""Makes helm/millrace/values.schema.json.

The part below `config` follows docs/configuration.md, which follows the code: a key that the programs learn or lose
changes the schema. The rest is written here. Every value has a description, and nothing else is admitted.
"""

import json
import re

from places import CONFIGURATION_PAGE

# Keys that the chart itself decides.
OWN_KEYS = {"topics.directory", "workers[].staticMember"}

REFERENCES = {
    "secretReference": {
        "description": "A key of a Secret in the release's namespace; it is mounted, and the programs read the file.",
        "type": "object",
        "additionalProperties": False,
        "required": ["secret", "key"],
        "properties": {
            "secret": {"description": "The Secret's name.", "type": "string", "minLength": 1},
            "key": {"description": "The key in it.", "type": "string", "pattern": "^[-._a-zA-Z0-9]+$"},
        },
    },
    "configMapReference": {
        "description": "A key of a ConfigMap in the release's namespace, for what is no secret.",
        "type": "object",
        "additionalProperties": False,
        "required": ["configMap", "key"],
        "properties": {
            "configMap": {"description": "The ConfigMap's name.", "type": "string", "minLength": 1},
            "key": {"description": "The key in it.", "type": "string", "pattern": "^[-._a-zA-Z0-9]+$"},
        },
    },
}

SECRET = {"$ref": "#/definitions/secretReference"}
ANY_REFERENCE = {"anyOf": [SECRET, {"$ref": "#/definitions/configMapReference"}]}
DURATION = {"type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$"}
SIZE = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+(B|KiB|MiB|GiB)?$"}]}
SCALARS = {
    "text": {"type": "string"},
    "worker name": {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,39}$"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "duration": DURATION,
    "size": SIZE,
    "URL": {"type": "string", "pattern": "^https?://"},
    "time": {"type": "string"},
    # Apple's words; a new one of theirs is not an error of yours.
    "product type": {"type": "string"},
    "reason": {"type": "string"},
    "delivery status": {"type": "string"},
    "refund preference": {"type": "string"},
}


class Unknown(Exception):
    """The page says something this file has not heard of."""


def value(key, kind):
    """The schema of a value of the kind that the page names."""
    if kind.startswith("list of "):
        return {"type": "array", "items": value(key, kind.removeprefix("list of "))}
    if kind == "path":
        return ANY_REFERENCE if key == "trust.roots" else SECRET
    if kind == "map":
        if key.lower().endswith("files"):
            return {"type": "object", "additionalProperties": SECRET}
        if key == "kafka.properties":
            scalar = {"type": ["string", "number", "boolean"]}
            return {"type": "object", "additionalProperties": {"anyOf": [scalar, *ANY_REFERENCE["anyOf"]]}}
        return {"type": "object", "additionalProperties": {"type": "string"}}
    if " | " in kind:
        return {"type": "string", "enum": kind.split(" | ")}
    if kind not in SCALARS:
        raise Unknown(f"{key} is a {kind}, of which {__file__} has no schema")
    return SCALARS[kind]


def rows(page):
    """(section, key, kind, default, meaning) of every key on the page."""
    section = None
    for line in page.splitlines():
        if heading := re.fullmatch(r"## `(.+)`", line):
            section = heading[1]
        elif section and line.startswith("| `"):
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            yield section, cells[0].strip("`"), cells[2], cells[3].strip("`"), cells[4]


def insert(schema, path, leaf, is_required):
    """Puts a leaf below an object's schema, making the objects on the way."""
    head, *rest = path
    if not rest:
        schema["properties"][head] = leaf
        if is_required:
            schema.setdefault("required", []).append(head)
        return
    inner = schema["properties"].setdefault(head, closed({}, f"Keys below `{head}`, as in docs/configuration.md."))
    insert(inner, rest, leaf, False)


def closed(properties, description, required=()):
    """An object that has these properties and no others."""
    schema = {"description": description, "type": "object", "additionalProperties": False, "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema


def config_schema(page):
    """`config`: the keys on the page."""
    config = closed({}, "The configuration of all processes: the keys of docs/configuration.md. Files are references.")
    for section, key, kind, default, meaning in rows(page):
        is_list = section.endswith("[]")
        full = f"{section}.{key}" if is_list else key
        if full in OWN_KEYS:
            continue
        standard = f" Default: {default}." if default else ""
        leaf = {"description": meaning + standard, **value(key, kind)}
        if "$ref" in leaf:  # Draft 7 ignores what stands beside a reference.
            leaf = {"description": leaf["description"], "allOf": [{"$ref": leaf["$ref"]}]}
        if is_list:
            name = section[:-2]
            entries = config["properties"].setdefault(
                name,
                {
                    "description": f"A list; the keys of an entry are in docs/configuration.md under `{section}`.",
                    "type": "array",
                    "items": closed({}, f"One entry of `{name}`."),
                },
            )
            insert(entries["items"], key.split("."), leaf, "Required." in meaning)
        else:
            insert(config, key.split("."), leaf, False)
    return config


def text(description, **more):
    return {"description": description, "type": "string", **more}


def flag(description):
    return {"description": description, "type": "boolean"}


def count(description, least=0, **more):
    return {"description": description, "type": "integer", "minimum": least, **more}


def strings(description):
    return {"description": description, "type": "object", "additionalProperties": {"type": "string"}}


def free(description):
    """What Kubernetes itself defines and checks."""
    return {"description": description, "type": "object"}


def free_list(description):
    return {"description": description, "type": "array", "items": {"type": "object"}}


def names(description):
    return {"description": description, "type": "array", "items": {"type": "string", "minLength": 1}}


def image(description, required=()):
    return closed(
        {
            "repository": text("Where the image is, without tag."),
            "tag": text("The tag; empty: the chart's appVersion."),
            "digest": text("sha256:…; beats the tag.", pattern="^(sha256:[0-9a-f]{64})?$"),
            "pullPolicy": text("When the image is pulled.", enum=["Always", "IfNotPresent", "Never"]),
        },
        description,
        required,
    )


RESOURCES = closed(
    {
        "requests": free("What the scheduler sets aside."),
        "limits": free("What may not be exceeded. A limit of CPU makes answers late when Apple posts in waves."),
    },
    "CPU and memory of the container.",
)

PLACEMENT = {
    "nodeSelector": strings("Labels of the nodes that pods may run on."),
    "tolerations": free_list("Taints that pods bear."),
    "affinity": free("Affinity of pods, as Kubernetes has it."),
    "priorityClassName": text("The pods' priority class."),
}

PROCESS = {
    "enabled": flag("Whether this process runs."),
    "resources": RESOURCES,
    "podLabels": strings("Further labels of the pods."),
    "podAnnotations": strings("Further annotations of the pods."),
    "env": strings(
        "Further environment variables, such as those of a tracing exporter. No secrets, and no MILLRACE_*."
    ),
    "terminationGracePeriodSeconds": count(
        "How long a pod may take to leave. Derived from config.shutdown.grace; refused when too short.", 1
    ),
    "extraEgress": free_list("Further egress rules of the process's NetworkPolicy."),
    **PLACEMENT,
}

REPLICAS = {"replicas": count("Pods, where autoscaling is off.", 1)}

SERVICE = closed(
    {
        "type": text("The Service's type.", enum=["ClusterIP", "LoadBalancer", "NodePort"]),
        "port": count("The Service's port.", 1, maximum=65535),
        "annotations": strings("Annotations of the Service, for load balancers."),
        "loadBalancerSourceRanges": names("Addresses a LoadBalancer admits. Apple does not publish its own."),
    },
    "The Service before the process.",
)


def scaling(what, more):
    return closed(
        {
            "enabled": flag(f"Whether {what} decides how many pods there are."),
            "minReplicas": count("Fewest pods; never none.", 1),
            "maxReplicas": count("Most pods; of a worker never more than config.topics.lanes.", 1),
            **more,
        },
        f"Scaling by {what}.",
    )


KEDA = scaling("KEDA, by the lag of the worker's input topics", {"lagThreshold": count("Records of lag for a pod.", 1)})

WORKER = {
    **PROCESS,
    **REPLICAS,
    "staticMembership": flag(
        "Whether a pod keeps its lanes over a restart, as a static member of its group. For fixed replicas only."
    ),
    "autoscaling": KEDA,
}


def worker(description, required=(), **more):
    return closed({**WORKER, **more}, description, required)


def values_schema(page):
    """The whole schema."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart millrace",
        "description": "Generated by scripts/check-chart --update from docs/configuration.md and scripts/chart/schema.py.",
        "type": "object",
        "additionalProperties": False,
        "required": ["config"],
        "definitions": REFERENCES,
        "properties": {
            "nameOverride": text("Instead of the chart's name in names."),
            "fullnameOverride": text("Instead of release and chart name in names."),
            "commonLabels": strings("Labels of everything the chart makes."),
            "global": free("Values of parent charts; not used."),
            "image": image("The image with all of Millrace's programs.", ["repository"]),
            "imagePullSecrets": names("Secrets for pulling images, by name."),
            "serviceAccount": closed(
                {
                    "create": flag("Whether the chart makes a ServiceAccount. Its token is never mounted."),
                    "name": text("Its name; empty: the release's."),
                    "annotations": strings("Annotations of it."),
                },
                "Under which account pods run.",
            ),
            "config": config_schema(page),
            "pods": closed(
                {
                    "labels": strings("Labels of every pod."),
                    "annotations": strings("Annotations of every pod."),
                    "resources": RESOURCES,
                    "topologySpread": text(
                        "Over zones and nodes; empty: not spread.", enum=["", "ScheduleAnyway", "DoNotSchedule"]
                    ),
                    **PLACEMENT,
                },
                "What all pods have where a process says nothing else.",
            ),
            "ingress": closed(
                {
                    **PROCESS,
                    **REPLICAS,
                    "preStopSeconds": count("How long a pod goes on answering before it is told to stop."),
                    "autoscaling": scaling(
                        "the CPU in use",
                        {
                            "targetCPUUtilizationPercentage": count(
                                "Share of the requested CPU to keep to.", 1, maximum=100
                            )
                        },
                    ),
                    "service": SERVICE,
                    "allowFrom": free_list(
                        "NetworkPolicy peers that may post; empty: anybody, as before a load balancer of layer 4."
                    ),
                    "exposure": closed(
                        {
                            "kind": text("How it is reached from outside.", enum=["none", "ingress", "gateway"]),
                            "hostnames": names("The hosts that App Store Connect has."),
                            "annotations": strings("Annotations of the Ingress or HTTPRoute."),
                            "className": text("IngressClass; empty: the cluster's default."),
                            "tlsSecretName": text("Secret of the Ingress's certificate."),
                            "gateways": free_list("parentRefs of the HTTPRoute."),
                        },
                        "An Ingress or a Gateway API HTTPRoute, for /v1 and /v2 only.",
                    ),
                },
                "The process that Apple posts to.",
            ),
            "workers": closed(
                {
                    "refunds": worker("Refunds become events and a table: docs/refunds.md."),
                    "renewalExtensions": worker("Failed renewal extensions are retried: docs/renewal-extensions.md."),
                    "consumption": worker("Consumption requests are answered."),
                    "forward": worker("Notifications go on to receivers (config.forward): docs/forward.md."),
                },
                "The workers that come with Millrace.",
            ),
            "console": closed(
                {
                    **PROCESS,
                    **REPLICAS,
                    "allowActions": flag("Whether people may act in it; otherwise they look."),
                    "showPayloads": flag("Whether it shows what notifications say. That is personal data."),
                    "service": SERVICE,
                    "allowFrom": free_list(
                        "NetworkPolicy peers that may reach it: your authenticating proxy. Required."
                    ),
                },
                "The console, behind an authenticating proxy of yours.",
            ),
            "backfill": closed(
                {**PROCESS, "replicas": count("One.", 1, maximum=1)},
                "Fetches from Apple's notification history what never arrived.",
            ),
            "consumers": {
                "description": "Consumers of your own, by name; `millrace new consumer` writes such an entry.",
                "type": "object",
                "propertyNames": {"pattern": "^[a-z]([a-z0-9-]{0,28}[a-z0-9])?$"},
                "additionalProperties": worker(
                    "One consumer. Its name is the worker's name in Swift.",
                    ["enabled", "image", "replicas"],
                    image=image("The consumer's own image.", ["repository"]),
                    command={
                        "description": "Program and arguments; empty: the image's entry point.",
                        "type": "array",
                        "items": {"type": "string"},
                    },
                    families=names("The families it reads, for autoscaling."),
                    appStoreAPI=flag("Whether it gets the keys of the App Store Server API."),
                ),
            },
            "topics": closed(
                {
                    "manage": text(
                        "Who makes the topics: a Job with `millrace topics apply`, Strimzi, or nobody.",
                        enum=["job", "strimzi", "none"],
                    ),
                    "job": closed({"resources": RESOURCES}, "The Job."),
                    "strimzi": closed(
                        {
                            "apiVersion": text(
                                "Of KafkaTopic.", enum=["kafka.strimzi.io/v1beta2", "kafka.strimzi.io/v1"]
                            ),
                            "cluster": text("The Kafka resource that the topics are for."),
                            "namespace": text("Where Strimzi's topic operator looks; empty: the release's."),
                        },
                        "KafkaTopic resources.",
                    ),
                },
                "The topics, from the same files that the programs go by.",
            ),
            "keda": closed(
                {
                    "pollingInterval": count("Seconds between two looks at the lag.", 1),
                    "cooldownPeriod": count(
                        "Seconds KEDA waits before it scales to none, which it never does here.", 0
                    ),
                },
                "How KEDA looks.",
            ),
            "networkPolicy": closed(
                {
                    "enabled": flag("Whether pods are fenced."),
                    "metricsFrom": free_list("Peers that may read metrics; empty: anybody in the cluster."),
                    "dnsTo": free_list("Peers that answer DNS; empty: any."),
                    "kafka": closed(
                        {
                            "to": free_list("Peers that are brokers; empty: any, on the brokers' ports."),
                            "ports": {
                                "description": "Further ports that brokers name as their own.",
                                "type": "array",
                                "items": {"type": "integer", "minimum": 1, "maximum": 65535},
                            },
                        },
                        "Where Kafka is.",
                    ),
                },
                "In: the load balancer and metrics. Out: DNS, Kafka, and what each process asks.",
            ),
            "monitoring": closed(
                {
                    "serviceMonitor": closed(
                        {
                            "enabled": flag("Whether a ServiceMonitor is made."),
                            "interval": {"description": "How often metrics are read.", **DURATION},
                            "labels": strings("Labels by which your Prometheus finds it."),
                        },
                        "For the Prometheus operator.",
                    ),
                    "prometheusRule": closed(
                        {
                            "enabled": flag("Whether a PrometheusRule is made."),
                            "labels": strings("Labels by which your Prometheus finds it."),
                            "alertLabels": strings("Labels of every alert, such as a team."),
                            "runbookURL": text("What the alerts' links begin with."),
                            "disabled": names("Alerts that are left out, by name."),
                            "thresholds": closed(THRESHOLDS, "Where alerts begin."),
                        },
                        "Alerts, each with its place in docs/runbook.md.",
                    ),
                    "dashboards": closed(
                        {
                            "enabled": flag("Whether ConfigMaps with dashboards are made."),
                            "namespace": text("Where; empty: the release's."),
                            "labels": strings("Labels by which Grafana's sidecar finds them."),
                            "annotations": strings("Annotations, such as the folder."),
                        },
                        "Grafana dashboards.",
                    ),
                },
                "Metrics, alerts, dashboards.",
            ),
        },
    }


THRESHOLDS = {
    "refusedPerSecond": {"description": "Refused requests a second (4xx).", "type": "number", "exclusiveMinimum": 0},
    "unavailablePerSecond": {"description": "Answers of 503 a second.", "type": "number", "exclusiveMinimum": 0},
    "lagSeconds": count("Age of the oldest record a lane has not finished, in seconds.", 1),
    "consumptionRiskSeconds": count("The same of the consumption worker; Apple waits 12 hours.", 1),
    "backfillBehindSeconds": count("Seconds since everything before was last asked for from Apple's history.", 1),
    "retryLatenessSeconds": {
        "description": "How late 99 of 100 retries may be, in seconds.",
        "type": "number",
        "exclusiveMinimum": 0,
    },
    "budgetShare": {
        "description": "Share of Apple's budget in use from which it is scarce.",
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 1,
    },
    "usualPerDay": count("Notifications a day from which an app counts as one that has traffic.", 1),
    "certificateDays": count("Days before the end of the ingress's certificate.", 1),
    "forgottenAfterDays": count("Days after which it is no news that a process is gone.", 1),
}


def rendered():
    """The file's text."""
    page = CONFIGURATION_PAGE.read_text()
    return json.dumps(values_schema(page), indent=2, ensure_ascii=False) + "\n"
