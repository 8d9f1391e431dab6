"""The chart rejects contradictory values with a message that says what to change."""

import json
import re

import pytest

from chart import Refused, ci, manifests, merged

API = {"issuerId": "a", "keyId": "b", "privateKeyFile": {"secret": "s", "key": "k"}}
APP = {"bundleId": "com.example.app", "appAppleId": 1}
REFUNDS = {"workers": {"refunds": {"enabled": True}}}
OIDC = {
    "method": "oidc",
    "tokenURL": "https://login.example.com/token",
    "clientId": "millrace",
    "clientSecretFile": {"secret": "kafka", "key": "client"},
}
KEDA = {"workers": {"refunds": {"enabled": True, "autoscaling": {"enabled": True}}}}
CONSOLE = {
    "console": {"enabled": True, "allowFrom": [{"podSelector": {"matchLabels": {"app": "oauth2-proxy"}}}]},
}
CONSUMPTION = {
    "config": {"apps": [{**APP, "api": API}], "workers": {"consumption": {"settings": {"providers": ["topic"]}}}},
    "workers": {"consumption": {"enabled": True}},
}
HTTP_WORKER = {
    "families": ["subscriptions"],
    "handler": {"url": "http://a", "secretFile": {"secret": "s", "key": "k"}},
}
# NetworkPolicy peers that admit every pod or address.
EVERYBODY = [
    {},
    {"namespaceSelector": {}},
    {"namespaceSelector": {}, "podSelector": {}},
    {"ipBlock": {"cidr": "0.0.0.0/0"}},
    {"ipBlock": {"cidr": "::/0"}},
]


def sasl(**properties):
    return {"config": {"kafka": {"properties": {"security.protocol": "SASL_SSL", **properties}}}}


CASES = [
    ("nothing", {"ingress": {"enabled": False}}, "nothing is enabled: set ingress.enabled"),
    (
        "no brokers",
        {"config": {"kafka": {"bootstrapServers": ""}}},
        "config.kafka.bootstrapServers is empty: list your brokers",
    ),
    ("embedded", {"config": {"kafka": {"bootstrapServers": "embedded"}}}, "write host:port"),
    ("no apps", {"config": {"apps": []}}, "config.apps is empty: the ingress would answer 503 to everything"),
    ("no Apple ID", {"config": {"apps": [{"bundleId": "a.b"}]}}, "a.b has no appAppleId, which Production requires"),
    (
        "password",
        {"config": {"kafka": {"properties": {"sasl.password": "x"}}}},
        "move it to config.kafka.propertyFiles",
    ),
    (
        "reference",
        {"config": {"kafka": {"properties": {"sasl.username": {"secret": "a", "key": "b"}}}}},
        "config.kafka.properties.sasl.username is a reference",
    ),
    (
        "header",
        {"config": {"workers": {"forward-a": {"settings": {"url": "http://a", "headers": {"Authorization": "x"}}}}}},
        "move it to headerFiles",
    ),
    ("no receiver", {"workers": {"forward": {"enabled": True}}}, "config.workers has no forward-<receiver>"),
    (
        "no secret of a webhook",
        {"config": {"webhooks": {"a": {"url": "http://a"}}}},
        "config.webhooks.a has no secretFile",
    ),
    ("no worker", {"workers": {"together": {"enabled": True}}}, "workers.together is enabled, but no worker is"),
    ("no handler", {"workers": {"http": {"enabled": True}}}, "no entry of config.workers has a handler"),
    (
        "no secret",
        {"config": {"workers": {"winback": {"families": ["refunds"], "handler": {"url": "http://a"}}}}},
        "config.workers.winback has no handler.secretFile",
    ),
    (
        "no families",
        {
            "config": {
                "workers": {"winback": {"handler": {"url": "http://a", "secretFile": {"secret": "s", "key": "k"}}}},
            },
        },
        "config.workers.winback has a handler but no families",
    ),
    (
        "grace",
        {"ingress": {"terminationGracePeriodSeconds": 40}},
        "ingress.terminationGracePeriodSeconds is 40, but the process takes up to 40 s to stop",
    ),
    (
        "worker's grace",
        merged(REFUNDS, {"workers": {"refunds": {"terminationGracePeriodSeconds": 30}}}),
        "workers.refunds.terminationGracePeriodSeconds is 30",
    ),
    (
        "drain",
        {"config": {"workers": {"refunds": {"drainTimeout": "1m"}}}},
        "refunds drains for up to 60 s, but the process stops after config.shutdown.grace, 25 s: raise config.shutdown.grace to at least 60s",
    ),
    (
        "standard drain",
        merged(REFUNDS, {"config": {"shutdown": {"grace": "5s"}}}),
        "refunds drains for up to 20 s, but the process stops after config.shutdown.grace, 5 s",
    ),
    ("admin's port", {"config": {"admin": {"port": 8080}}}, "config.ingress.port and config.admin.port are both 8080"),
    (
        "ingress's port",
        {"config": {"ingress": {"port": 9090}}},
        "config.ingress.port and config.admin.port are both 9090",
    ),
    (
        "console's port",
        merged(CONSOLE, {"config": {"console": {"port": 9090}}}),
        "config.console.port and config.admin.port are both 9090",
    ),
    ("any port", {"config": {"ingress": {"port": 0}}}, "config.ingress.port is 0, a random port"),
    (
        "any console's port",
        merged(CONSOLE, {"config": {"console": {"port": 0}}}),
        "config.console.port is 0, a random port",
    ),
    ("any admin's port", {"config": {"admin": {"port": 0}}}, "config.admin.port is 0, a random port"),
    (
        "admin on loopback",
        {"config": {"admin": {"host": "127.0.0.1"}}},
        "config.admin.host is 127.0.0.1, which probes and Prometheus cannot reach",
    ),
    (
        "ingress on loopback",
        {"config": {"ingress": {"host": "localhost"}}},
        "config.ingress.host is localhost, which its Service cannot reach",
    ),
    ("postgres without a database", {"postgres": {"enabled": True}}, "config.postgres.url is missing"),
    ("console for all", {"console": {"enabled": True}}, "console.allowFrom is empty, so any pod of the cluster"),
    (
        "console for all, with actions",
        {"console": {"enabled": True, "allowActions": True, "service": {"type": "LoadBalancer"}}},
        "select the pods of your authenticating proxy, for example [{podSelector:",
    ),
    *(
        (
            f"console for {json.dumps(peer)}",
            {"console": {"enabled": True, "allowFrom": [*CONSOLE["console"]["allowFrom"], peer]}},
            f"console.allowFrom contains {json.dumps(peer, separators=(',', ':'))}, which admits any client",
        )
        for peer in EVERYBODY
    ),
    (
        "console without policies",
        merged(CONSOLE, {"networkPolicy": {"enabled": False}}),
        "networkPolicy.enabled is false, so any pod of the cluster could use the console as any user",
    ),
    *(
        (
            f"console as {kind}",
            merged(CONSOLE, {"console": {"service": {"type": kind}}}),
            f"console.service.type is {kind}, which would let clients bypass the proxy",
        )
        for kind in ("LoadBalancer", "NodePort")
    ),
    (
        "console without proxy",
        merged(CONSOLE, {"config": {"console": {"proxy": "none"}}}),
        "config.console.proxy is none, so the console would listen on loopback only",
    ),
    ("secret in env", {"ingress": {"env": {"API_TOKEN": "x"}}}, "ingress.env.API_TOKEN looks like a secret"),
    ("setting in env", {"ingress": {"env": {"MILLRACE_INGRESS_PORT": "1"}}}, "set the key under config instead"),
    (
        "beyond lanes",
        merged(KEDA, {"workers": {"refunds": {"autoscaling": {"maxReplicas": 5}}}}),
        "workers.refunds.autoscaling.maxReplicas is 5, but there are 4 lanes (config.topics.lanes)",
    ),
    (
        "replicas beyond lanes",
        merged(REFUNDS, {"workers": {"refunds": {"replicas": 5}}, "config": {"topics": {"lanes": 4}}}),
        "workers.refunds.replicas is 5, but there are 4 lanes",
    ),
    (
        "min above max",
        merged(KEDA, {"workers": {"refunds": {"autoscaling": {"minReplicas": 5}}}}),
        "minReplicas is above maxReplicas",
    ),
    (
        "no CPU",
        {"ingress": {"autoscaling": {"enabled": True}, "resources": {"requests": {"memory": "1Gi"}}}},
        "set ingress.resources.requests.cpu",
    ),
    (
        "families",
        {
            "consumers": {
                "a": {"enabled": True, "image": {"repository": "r"}, "replicas": 1, "autoscaling": {"enabled": True}}
            }
        },
        "consumers.a has autoscaling but no families",
    ),
    (
        "taken name",
        {"consumers": {"refunds": {"enabled": True, "image": {"repository": "r"}, "replicas": 1}}},
        "would share its group and ledger: rename it",
    ),
    (
        "name of an HTTP worker",
        {
            "config": {"workers": {"winback": HTTP_WORKER}},
            "consumers": {"winback": {"enabled": True, "image": {"repository": "r"}, "replicas": 1}},
        },
        "consumers.winback has the name of an HTTP worker (config.workers.winback.handler)",
    ),
    (
        "no key",
        {"workers": {"renewalExtensions": {"enabled": True}}},
        "workers.renewalExtensions calls Apple, but no app in config.apps has api",
    ),
    (
        "nobody to ask",
        merged(CONSUMPTION, {"config": {"workers": {"consumption": {"settings": {"providers": []}}}}}),
        "config.workers.consumption.settings.providers is empty: list at least one",
    ),
    (
        "nowhere to ask",
        merged(CONSUMPTION, {"config": {"workers": {"consumption": {"settings": {"providers": ["topic", "http"]}}}}}),
        "config.workers.consumption.settings.http.url is missing",
    ),
    ("no host", {"ingress": {"exposure": {"kind": "ingress"}}}, "ingress.exposure.hostnames is empty"),
    (
        "no gateway",
        {"ingress": {"exposure": {"kind": "gateway", "hostnames": ["a.b"]}}},
        "ingress.exposure.gateways is empty",
    ),
    (
        "gateway's certificate",
        {
            "ingress": {
                "exposure": {"kind": "gateway", "hostnames": ["a.b"], "gateways": [{"name": "g"}], "tlsSecretName": "t"}
            }
        },
        "the Gateway's listener has the certificate",
    ),
    ("no cluster", {"topics": {"manage": "strimzi"}}, "topics.strimzi.cluster is empty"),
    (
        "KEDA, mechanism",
        merged(KEDA, sasl(**{"sasl.mechanism": "GSSAPI"})),
        "KEDA does not support sasl.mechanism GSSAPI",
    ),
    (
        "topics job, role",
        {"config": {"kafka": {"oauth": {"method": "aws", "region": "eu-west-1"}}}},
        "the topics job runs before the release creates its ServiceAccount",
    ),
    (
        "topics job, token",
        {"config": {"kafka": {"oauth": {"method": "file", "tokenFile": {"serviceAccountAudience": "kafka"}}}}},
        "the topics job runs before the release creates its ServiceAccount",
    ),
    (
        "KEDA, tokens",
        merged(KEDA, {"config": {"kafka": {"oauth": OIDC}}}),
        "the chart cannot give KEDA the tokens of config.kafka.oauth",
    ),
    (
        "KEDA, user",
        merged(KEDA, sasl(**{"sasl.mechanism": "PLAIN", "sasl.username": "millrace"})),
        "KEDA reads sasl.username only from a Secret",
    ),
]


@pytest.mark.parametrize(("values", "sentence"), [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_contradictory_values_are_rejected_with_a_remedy(values, sentence):
    base = merged(ci("minimal"), {"config": {"apps": [APP]}})
    with pytest.raises(Refused, match=re.escape(sentence)):
        manifests(merged(base, values))


@pytest.mark.parametrize(
    "properties",
    [{"sasl.mechanism": "OAUTHBEARER"}, {"sasl.mechanism": "PLAIN", "sasl.username": "millrace"}],
    ids=lambda one: one["sasl.mechanism"],
)
@pytest.mark.parametrize(
    "scaled", [{}, {"ingress": {"autoscaling": {"enabled": True}}}], ids=["fixed", "ingress scaled"]
)
def test_authentication_that_keda_lacks_is_accepted_without_keda(properties, scaled):
    documents = manifests(merged(ci("minimal"), REFUNDS, sasl(**properties), scaled))
    assert not [one for one in documents if one["apiVersion"].startswith("keda.sh/")]


def test_the_base_of_these_cases_is_valid():
    manifests(merged(ci("minimal"), {"config": {"apps": [{**APP, "api": API}]}}))
    manifests(merged(ci("minimal"), KEDA))
    manifests(merged(ci("minimal"), {"ingress": {"terminationGracePeriodSeconds": 41}}))
    manifests(merged(ci("minimal"), CONSOLE))
    manifests(merged(ci("minimal"), CONSUMPTION))
    manifests(merged(ci("minimal"), {"networkPolicy": {"enabled": False}}))
    for peer in (
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "gateways"}}},
        {"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "Exists"}]}},
        {"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "oauth2-proxy"}}},
        {"ipBlock": {"cidr": "10.0.0.7/32"}},
    ):
        manifests(merged(ci("minimal"), {"console": {"enabled": True, "allowActions": True, "allowFrom": [peer]}}))
    manifests(merged(ci("minimal"), {"config": {"shutdown": {"grace": "5s"}}}))
    short = {"shutdown": {"grace": "5s"}, "workers": {"refunds": {"drainTimeout": "4s"}}}
    manifests(merged(ci("minimal"), REFUNDS, {"config": short}))
    consumer = {"other": {"enabled": True, "image": {"repository": "r"}, "replicas": 1}}
    manifests(merged(ci("minimal"), {"config": {"workers": {"winback": HTTP_WORKER}}, "consumers": consumer}))
    # Entries of workers that this release does not run.
    manifests(merged(ci("minimal"), {"config": {**short, "workers": {"refunds": {}}, "console": {"port": 9090}}}))
