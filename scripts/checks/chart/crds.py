"""Strict schemas of custom resources. A kind without a schema is an error."""

import functools

import jsonschema
from cloudcoil.models.keda import v1alpha1 as keda
from cloudcoil.models.prometheus_operator import v1 as operator

MODELS = {
    ("keda.sh/v1alpha1", "ScaledObject"): keda.ScaledObject,
    ("keda.sh/v1alpha1", "TriggerAuthentication"): keda.TriggerAuthentication,
    ("monitoring.coreos.com/v1", "ServiceMonitor"): operator.ServiceMonitor,
    ("monitoring.coreos.com/v1", "PrometheusRule"): operator.PrometheusRule,
}


def record(required, **properties):
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


STRING = {"type": "string", "minLength": 1}
METADATA = record(
    ["name", "namespace", "labels"],
    name={"type": "string", "pattern": "^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$"},
    namespace=STRING,
    labels={"type": "object", "additionalProperties": {"type": "string", "maxLength": 63}},
    annotations={"type": "object", "additionalProperties": {"type": "string"}},
)


def resource(spec):
    return record(
        ["apiVersion", "kind", "metadata", "spec"], apiVersion=STRING, kind=STRING, metadata=METADATA, spec=spec
    )


# Strimzi's KafkaTopic: https://strimzi.io/docs/operators/latest/configuring#type-KafkaTopicSpec-reference
KAFKA_TOPIC = resource(
    record(
        ["topicName", "partitions", "replicas"],
        topicName={"type": "string", "pattern": "^[-._a-zA-Z0-9]{1,249}$"},
        partitions={"type": "integer", "minimum": 1},
        replicas={"type": "integer", "minimum": 1, "maximum": 32767},
        config={"type": "object", "additionalProperties": {"type": ["string", "integer", "number", "boolean"]}},
    )
)

# The part of Gateway API's HTTPRoute that the chart uses: https://gateway-api.sigs.k8s.io/reference/spec/#httproute
HTTP_ROUTE = resource(
    record(
        ["parentRefs", "hostnames", "rules"],
        parentRefs={
            "type": "array",
            "minItems": 1,
            "items": record(
                ["name"],
                name=STRING,
                namespace=STRING,
                sectionName=STRING,
                port={"type": "integer"},
                group=STRING,
                kind=STRING,
            ),
        },
        hostnames={"type": "array", "minItems": 1, "maxItems": 16, "items": STRING},
        rules={
            "type": "array",
            "items": record(
                ["matches", "backendRefs"],
                matches={
                    "type": "array",
                    "items": record(
                        ["path"],
                        path=record(
                            ["type", "value"],
                            type={"enum": ["Exact", "PathPrefix", "RegularExpression"]},
                            value={"type": "string", "pattern": "^/"},
                        ),
                        method={"enum": ["GET", "POST"]},
                    ),
                },
                backendRefs={
                    "type": "array",
                    "items": record(["name", "port"], name=STRING, port={"type": "integer"}),
                },
            ),
        },
    )
)

WRITTEN = {
    ("kafka.strimzi.io/v1beta2", "KafkaTopic"): KAFKA_TOPIC,
    ("kafka.strimzi.io/v1", "KafkaTopic"): KAFKA_TOPIC,
    ("gateway.networking.k8s.io/v1", "HTTPRoute"): HTTP_ROUTE,
}


def closed(schema):
    """A copy of a schema that rejects unknown properties."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if "properties" in schema and "additionalProperties" not in schema:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        schema = [closed(value) for value in schema]
    return schema


@functools.cache
def validator(api_version, kind):
    """The validator of a kind, or None."""
    key = (api_version, kind)
    if key in MODELS:
        return jsonschema.Draft202012Validator(closed(MODELS[key].model_json_schema(by_alias=True)))
    return jsonschema.Draft202012Validator(WRITTEN[key]) if key in WRITTEN else None
