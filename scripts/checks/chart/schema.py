"""Generates helm/millrace/values.schema.json.

The schema of `config` is derived from docs/configuration.md, which a test compares with the code. The rest is defined
here. Every value has a description, and unknown keys are errors.
"""

import json
import re

from places import CONFIGURATION_PAGE

# Keys that the chart sets.
OWN_KEYS = {"topics.directory", "kafka.instance", "workers.<name>.staticMember"}

REFERENCES = {
    "secretReference": {
        "description": "A key of a Secret in the release's namespace. The chart mounts it as a file.",
        "type": "object",
        "additionalProperties": False,
        "required": ["secret", "key"],
        "properties": {
            "secret": {"description": "The name of the Secret.", "type": "string", "minLength": 1},
            "key": {"description": "The key.", "type": "string", "pattern": "^[-._a-zA-Z0-9]+$"},
        },
    },
    "configMapReference": {
        "description": "A key of a ConfigMap in the release's namespace, for files that are not secret.",
        "type": "object",
        "additionalProperties": False,
        "required": ["configMap", "key"],
        "properties": {
            "configMap": {"description": "The name of the ConfigMap.", "type": "string", "minLength": 1},
            "key": {"description": "The key.", "type": "string", "pattern": "^[-._a-zA-Z0-9]+$"},
        },
    },
    "serviceAccountToken": {
        "description": "A token of the pod's ServiceAccount, which Kubernetes renews within an hour.",
        "type": "object",
        "additionalProperties": False,
        "required": ["serviceAccountAudience"],
        "properties": {
            "serviceAccountAudience": {
                "description": "The audience that the brokers expect.",
                "type": "string",
                "minLength": 1,
            },
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
    "endpoint": {"type": "string", "pattern": "^[a-zA-Z0-9]+$"},
    "instance name": {"type": "string", "pattern": "^[-._a-zA-Z0-9]{1,200}$"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "duration": DURATION,
    "size": SIZE,
    "URL": {"type": "string", "pattern": "^https?://"},
    "time": {"type": "string"},
    # Apple's values. They stay plain strings, because Apple may add some.
    "product type": {"type": "string"},
    "reason": {"type": "string"},
    "delivery status": {"type": "string"},
    "refund preference": {"type": "string"},
}


class Unknown(Exception):
    """The page names a kind of value that this file does not know."""


def value(key, kind):
    """The schema of a value, by the kind that the page names."""
    if kind == "list of sections":
        return {"type": "array", "items": closed({}, f"One entry of `{key}`.")}
    if kind.startswith("list of "):
        return {"type": "array", "items": value(key, kind.removeprefix("list of "))}
    if kind == "path":
        if key == "kafka.oauth.tokenFile":
            return {"anyOf": [SECRET, {"$ref": "#/definitions/serviceAccountToken"}]}
        return ANY_REFERENCE if key in ("trust.roots", "kafka.oauth.caFile") else SECRET
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
        raise Unknown(f"{key} has the kind {kind!r}: add its schema to {__file__}")
    return SCALARS[kind]


def rows(page):
    """Yields (section, key, kind, default, meaning) of every key on the page."""
    section = None
    for line in page.splitlines():
        if heading := re.fullmatch(r"## `(.+)`", line):
            section = heading[1]
        elif section and line.startswith("| `"):
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            # The table of workers with other defaults has two columns.
            if len(cells) == 5:
                yield section, cells[0].strip("`"), cells[2], cells[3].strip("`"), cells[4]


def worker_schema(config, section):
    """The object of `config.workers` that holds the keys of a section, such as `workers.consumption.settings`."""
    entry = "One worker. docs/configuration.md describes its keys under `workers.<name>`."
    workers = config["properties"].setdefault(
        "workers",
        {
            "description": "The workers by name.",
            "type": "object",
            "propertyNames": SCALARS["worker name"],
            "patternProperties": {},
            "additionalProperties": closed({"settings": free("The worker's own settings.")}, entry),
        },
    )
    # The section of all workers comes first on the page, so its keys can be copied.
    every = workers["additionalProperties"]
    name = section.split(".")[1]
    if name == "<name>":
        return every
    pattern = "^" + re.sub("<.*>", "", name) + ("" if "<" in name else "$")
    settings = closed({}, f"docs/configuration.md describes the keys under `{section}`.")
    one = workers["patternProperties"].setdefault(
        pattern, closed({**every["properties"], "settings": settings}, every["description"])
    )
    if name.startswith("webhook-"):
        # `webhooks.<name>` is short for the settings of the worker `webhook-<name>`.
        config["properties"]["webhooks"] = {
            "description": "The webhooks by name: docs/webhooks.md.",
            "type": "object",
            "additionalProperties": one["properties"]["settings"],
        }
    return one["properties"]["settings"]


def insert(schema, path, leaf, is_required):
    """Adds a leaf to an object's schema at a path, with the objects in between."""
    head, *rest = path
    if not rest:
        schema["properties"][head] = leaf
        if is_required:
            schema.setdefault("required", []).append(head)
        return
    inner = schema["properties"].setdefault(head, closed({}, f"The keys of `{head}`, as in docs/configuration.md."))
    insert(inner, rest, leaf, False)


def closed(properties, description, required=()):
    """The schema of an object with only these properties."""
    schema = {"description": description, "type": "object", "additionalProperties": False, "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema


def config_schema(page):
    """The schema of `config`, with the keys of docs/configuration.md."""
    config = closed(
        {}, "The configuration of all processes, with the keys of docs/configuration.md. References replace paths."
    )
    for section, key, kind, default, meaning in rows(page):
        is_list, is_worker = section.endswith("[]"), section.startswith("workers.")
        full = f"{section}.{key}" if is_list or is_worker else key
        if full in OWN_KEYS:
            continue
        standard = f" Default: {default}." if default else ""
        leaf = {"description": meaning + standard, **value(key, kind)}
        if "$ref" in leaf:  # Draft 7 ignores keywords next to a reference.
            leaf = {"description": leaf["description"], "allOf": [{"$ref": leaf["$ref"]}]}
        if is_list:
            name = section[:-2]
            entries = config["properties"].setdefault(
                name,
                {
                    "description": f"A list. docs/configuration.md describes the keys of an entry under `{section}`.",
                    "type": "array",
                    "items": closed({}, f"One entry of `{name}`."),
                },
            )
            insert(entries["items"], key.split("."), leaf, "Required." in meaning)
        elif is_worker and "[]." in key:
            list_key, _, member = key.partition("[].")
            entries = worker_schema(config, section)["properties"][list_key]
            insert(entries["items"], member.split("."), leaf, False)
        elif is_worker:
            insert(worker_schema(config, section), key.split("."), leaf, False)
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
    """An object that Kubernetes defines and validates."""
    return {"description": description, "type": "object"}


def free_list(description):
    return {"description": description, "type": "array", "items": {"type": "object"}}


def names(description):
    return {"description": description, "type": "array", "items": {"type": "string", "minLength": 1}}


def image(description, required=()):
    return closed(
        {
            "repository": text("The image's repository, without the tag."),
            "tag": text("The tag; empty: the chart's appVersion."),
            "digest": text("sha256:…; takes precedence over the tag.", pattern="^(sha256:[0-9a-f]{64})?$"),
            "pullPolicy": text("The image pull policy.", enum=["Always", "IfNotPresent", "Never"]),
        },
        description,
        required,
    )


RESOURCES = closed(
    {
        "requests": free("The resources that the scheduler reserves."),
        "limits": free("The maximum resources. A CPU limit delays responses when Apple posts in waves."),
    },
    "The container's CPU and memory.",
)

PLACEMENT = {
    "nodeSelector": strings("Labels of the nodes that may run the pods."),
    "tolerations": free_list("The taints that the pods tolerate."),
    "affinity": free("The pods' affinity."),
    "priorityClassName": text("The pods' priority class."),
}

PROCESS = {
    "enabled": flag("Whether this process runs."),
    "resources": RESOURCES,
    "podLabels": strings("Additional labels of the pods."),
    "podAnnotations": strings("Additional annotations of the pods."),
    "env": strings(
        "Additional environment variables, for example for a tracing exporter. No secrets, and no MILLRACE_*."
    ),
    "terminationGracePeriodSeconds": count(
        "Seconds a pod may take to stop. Default: derived from config.shutdown.grace. A shorter value is an error.", 1
    ),
    "extraEgress": free_list("Additional egress rules of the process's NetworkPolicy."),
    **PLACEMENT,
}

REPLICAS = {"replicas": count("The number of pods, without autoscaling.", 1)}

SERVICE = closed(
    {
        "type": text("The type of the Service.", enum=["ClusterIP", "LoadBalancer", "NodePort"]),
        "port": count("The port of the Service.", 1, maximum=65535),
        "annotations": strings("Annotations of the Service, for example for a load balancer."),
        "loadBalancerSourceRanges": names(
            "The addresses that a LoadBalancer admits. Apple does not publish the addresses it posts from."
        ),
    },
    "The Service of the process.",
)


def scaling(what, more):
    return closed(
        {
            "enabled": flag(f"Whether to scale by {what}."),
            "minReplicas": count("The minimum number of pods, at least 1.", 1),
            "maxReplicas": count("The maximum number of pods; for a worker, at most config.topics.lanes.", 1),
            **more,
        },
        f"Scaling by {what}.",
    )


KEDA = scaling("the lag of the input topics, with KEDA", {"lagThreshold": count("The lag per pod, in records.", 1)})

WORKER = {
    **PROCESS,
    **REPLICAS,
    "staticMembership": flag(
        "Whether pods are static members of the group: a pod that restarts within its session gets its lanes back."
    ),
    "autoscaling": KEDA,
}


def worker(description, required=(), **more):
    return closed({**WORKER, **more}, description, required)


def values_schema(page):
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart millrace",
        "description": "Generated by scripts/check chart --update from docs/configuration.md and scripts/checks/chart/schema.py.",
        "type": "object",
        "additionalProperties": False,
        "required": ["config"],
        "definitions": REFERENCES,
        "properties": {
            "nameOverride": text("Replaces the chart's name in the names of resources."),
            "fullnameOverride": text("Replaces both the release's and the chart's name in the names of resources."),
            "commonLabels": strings("Labels of all resources."),
            "global": free("Values of parent charts. Not used."),
            "image": image("The image with all programs of Millrace.", ["repository"]),
            "imagePullSecrets": names("The names of the image pull Secrets."),
            "serviceAccount": closed(
                {
                    "create": flag("Whether to create a ServiceAccount. Its token is never mounted."),
                    "name": text("Its name; empty: the release's full name."),
                    "annotations": strings("Its annotations."),
                },
                "The pods' ServiceAccount.",
            ),
            "config": config_schema(page),
            "pods": closed(
                {
                    "labels": strings("Labels of every pod."),
                    "annotations": strings("Annotations of every pod."),
                    "resources": RESOURCES,
                    "topologySpread": text(
                        "How pods are spread over zones and nodes; empty: no constraint.",
                        enum=["", "ScheduleAnyway", "DoNotSchedule"],
                    ),
                    **PLACEMENT,
                },
                "The defaults of all pods. A process can override them.",
            ),
            "ingress": closed(
                {
                    **PROCESS,
                    **REPLICAS,
                    "preStopSeconds": count("Seconds a terminating pod keeps serving before SIGTERM."),
                    "autoscaling": scaling(
                        "CPU usage",
                        {
                            "targetCPUUtilizationPercentage": count(
                                "The target CPU usage, in percent of the request.", 1, maximum=100
                            )
                        },
                    ),
                    "service": SERVICE,
                    "allowFrom": free_list(
                        "NetworkPolicy peers that may connect; empty: all, which a layer 4 load balancer needs."
                    ),
                    "exposure": closed(
                        {
                            "kind": text(
                                "The kind of resource that exposes the ingress outside the cluster.",
                                enum=["none", "ingress", "gateway"],
                            ),
                            "hostnames": names("The host names of the URLs in App Store Connect."),
                            "annotations": strings("Annotations of the Ingress or HTTPRoute."),
                            "className": text("The IngressClass; empty: the cluster's default."),
                            "tlsSecretName": text("The Secret with the Ingress's certificate."),
                            "gateways": free_list("The parentRefs of the HTTPRoute."),
                        },
                        "An Ingress or a Gateway API HTTPRoute, for /v1 and /v2 only.",
                    ),
                },
                "The process that receives Apple's notifications.",
            ),
            "workers": closed(
                {
                    "subscriptions": worker(
                        "Keeps a table of subscriptions and purchases, and publishes their changes: docs/subscriptions.md."
                    ),
                    "refunds": worker(
                        "Publishes events about refunds and keeps a table of entitlements: docs/refunds.md."
                    ),
                    "renewalExtensions": worker("Retries failed renewal extensions: docs/renewal-extensions.md."),
                    "consumption": worker("Answers consumption requests: docs/consumption.md."),
                    "decoder": worker(
                        "Writes decoded records for consumers that cannot verify a token: docs/decoder.md."
                    ),
                    "http": worker(
                        "Posts to the endpoints of the workers with a handler, and to webhooks: docs/http-workers.md, "
                        "docs/webhooks.md."
                    ),
                    "forward": worker("Forwards notifications to the receivers in config.forward: docs/forward.md."),
                    "together": closed(
                        {key: of for key, of in WORKER.items() if key != "autoscaling"},
                        "One process for all enabled workers, for a small deployment: docs/deploying.md.",
                    ),
                },
                "The built-in workers.",
            ),
            "console": closed(
                {
                    **PROCESS,
                    **REPLICAS,
                    "allowActions": flag("Whether users can run commands; otherwise the console is read-only."),
                    "showPayloads": flag("Whether it shows the content of notifications, which is personal data."),
                    "service": SERVICE,
                    "allowFrom": free_list(
                        "NetworkPolicy peers that may connect: only your authenticating proxy. Required."
                    ),
                },
                "The web console, behind your authenticating proxy.",
            ),
            "postgres": closed(
                {**PROCESS, **REPLICAS},
                "Writes tables, events and decoded notifications to PostgreSQL: docs/postgres.md.",
            ),
            "backfill": closed(
                {**PROCESS, "replicas": count("The number of pods, always 1.", 1, maximum=1)},
                "Fetches notifications that never arrived from Apple's notification history.",
            ),
            "consumers": {
                "description": "Your own consumers, by name. `millrace new consumer` writes such an entry.",
                "type": "object",
                "propertyNames": {"pattern": "^[a-z]([a-z0-9-]{0,28}[a-z0-9])?$"},
                "additionalProperties": worker(
                    "A consumer. Its name is the worker's name in Swift.",
                    ["enabled", "image", "replicas"],
                    image=image("The consumer's own image.", ["repository"]),
                    command={
                        "description": "The program and its arguments; empty: the image's entry point.",
                        "type": "array",
                        "items": {"type": "string"},
                    },
                    families=names("The families it reads. Needed for autoscaling."),
                    appStoreAPI=flag("Whether its pods get the App Store Server API keys."),
                ),
            },
            "topics": closed(
                {
                    "manage": text(
                        "How topics are created: by a Job with `millrace topics apply`, by Strimzi, or not by the chart.",
                        enum=["job", "strimzi", "none"],
                    ),
                    "job": closed({"resources": RESOURCES}, "The Job."),
                    "strimzi": closed(
                        {
                            "apiVersion": text(
                                "The API version of KafkaTopic.",
                                enum=["kafka.strimzi.io/v1beta2", "kafka.strimzi.io/v1"],
                            ),
                            "cluster": text("The name of the Kafka resource."),
                            "namespace": text(
                                "The namespace that Strimzi's topic operator watches; empty: the release's."
                            ),
                        },
                        "The KafkaTopic resources.",
                    ),
                },
                "How topics are created, from the same topic files that the programs use.",
            ),
            "keda": closed(
                {
                    "pollingInterval": count("Seconds between measurements of the lag.", 1),
                    "cooldownPeriod": count(
                        "Seconds before KEDA scales to zero. Without effect, because minReplicas is at least 1.", 0
                    ),
                },
                "Settings of KEDA.",
            ),
            "networkPolicy": closed(
                {
                    "enabled": flag("Whether to create NetworkPolicies."),
                    "metricsFrom": free_list("Peers that may read metrics; empty: all."),
                    "dnsTo": free_list("The DNS servers; empty: all peers."),
                    "kafka": closed(
                        {
                            "to": free_list("The brokers; empty: all peers, on the brokers' ports."),
                            "ports": {
                                "description": "Additional ports that the brokers advertise.",
                                "type": "array",
                                "items": {"type": "integer", "minimum": 1, "maximum": 65535},
                            },
                        },
                        "The brokers.",
                    ),
                },
                "The NetworkPolicies. Each process may reach only DNS, Kafka and the systems that it calls.",
            ),
            "monitoring": closed(
                {
                    "serviceMonitor": closed(
                        {
                            "enabled": flag("Whether to create a ServiceMonitor."),
                            "interval": {"description": "The scrape interval.", **DURATION},
                            "labels": strings("Labels that your Prometheus selects."),
                        },
                        "A ServiceMonitor of the Prometheus operator.",
                    ),
                    "prometheusRule": closed(
                        {
                            "enabled": flag("Whether to create a PrometheusRule."),
                            "labels": strings("Labels that your Prometheus selects."),
                            "alertLabels": strings("Labels of every alert, for example a team."),
                            "runbookURL": text("The URL of the runbook that alerts link to."),
                            "disabled": names("The names of alerts to omit."),
                            "thresholds": closed(THRESHOLDS, "The thresholds of the alerts."),
                        },
                        "The alerts. docs/runbook.md has a section for each.",
                    ),
                    "dashboards": closed(
                        {
                            "enabled": flag("Whether to create ConfigMaps with the dashboards."),
                            "namespace": text("The namespace of the ConfigMaps; empty: the release's."),
                            "labels": strings("Labels that Grafana's sidecar selects."),
                            "annotations": strings("Annotations, for example the folder."),
                        },
                        "The Grafana dashboards.",
                    ),
                },
                "Metrics, alerts and dashboards.",
            ),
        },
    }


THRESHOLDS = {
    "refusedPerSecond": {"description": "Rejected requests (4xx) per second.", "type": "number", "exclusiveMinimum": 0},
    "unavailablePerSecond": {"description": "503 responses per second.", "type": "number", "exclusiveMinimum": 0},
    "lagSeconds": count("Age of the oldest record that a lane has not finished, in seconds.", 1),
    "consumptionRiskSeconds": count("The same for the consumption worker, in seconds. Apple waits 12 hours.", 1),
    "postgresLagRecords": count("How many records PostgreSQL may be behind Kafka.", 1),
    "backfillBehindSeconds": count("How far the backfill may be behind Apple's history, in seconds.", 1),
    "retryLatenessSeconds": {
        "description": "Delay between a retry's due time and its start, 99th percentile, in seconds.",
        "type": "number",
        "exclusiveMinimum": 0,
    },
    "budgetShare": {
        "description": "The share of Apple's budget in use above which the budget counts as scarce.",
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 1,
    },
    "usualPerDay": count("Average notifications per day above which a day without any raises an alert.", 1),
    "certificateDays": count("Days before the ingress's own certificate expires.", 1),
    "forgottenAfterDays": count("Days after which alerts treat a missing process as removed on purpose.", 1),
}


def rendered():
    """The content of the file."""
    page = CONFIGURATION_PAGE.read_text()
    return json.dumps(values_schema(page), indent=2, ensure_ascii=False) + "\n"
