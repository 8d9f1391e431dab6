"""docs/http-workers: the OpenAPI document is valid, agrees with the schemas, and both accept and refuse what they must."""

import copy
import re

import jsonschema
import pytest
import standardwebhooks
import yaml
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

import contract

REQUESTS = sorted(path.stem for path in contract.SAMPLES.glob("request-*.json"))
OUTCOMES = sorted(path.stem for path in contract.SAMPLES.glob("outcome-*.json"))


def changed(value, path, new):
    """A copy of a sample with another value at a path such as `data.kind`; `...` removes the member."""
    value = copy.deepcopy(value)
    place = value
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parents:
        place = place[part]
    if new is ...:
        del place[last]
    else:
        place[last] = new
    return value


def test_the_openapi_document_is_valid():
    validate(contract.document(), cls=OpenAPIV31SpecValidator)


@pytest.mark.parametrize("name", ["request", "outcome"])
def test_the_schemas_are_valid(name):
    Draft202012Validator.check_schema(contract.schema(name))


def test_the_schemas_of_the_openapi_document_agree_with_the_files():
    schemas = contract.document()["components"]["schemas"]
    del schemas["Problem"]
    assert schemas == contract.components(), "run scripts/check http-schemas --write"
    assert contract.OPENAPI.read_text() == contract.rendered(), "run scripts/check http-schemas --write"


def test_the_openapi_document_has_one_operation():
    paths = contract.document()["paths"]
    assert [method for path in paths.values() for method in path if method != "summary"] == ["post"]


def test_the_examples_of_the_openapi_document_exist():
    names = re.findall(r"externalValue: (\S+) }", contract.OPENAPI.read_text())
    assert names
    assert all((contract.FOLDER / name).is_file() for name in names)


def test_request_and_outcome_list_the_same_operations():
    asked = contract.schema("outcome")["$defs"]["call"]
    answered = contract.schema("request")["$defs"]["call"]
    operations = asked["properties"]["operation"]["enum"]
    assert answered["properties"]["operation"]["enum"] == operations
    conditions = [rule["if"]["properties"]["operation"]["const"] for rule in asked["allOf"]]
    assert conditions == operations
    assert [rule["then"]["properties"]["arguments"]["$ref"] for rule in asked["allOf"]] == [
        f"#/$defs/{operation}" for operation in operations
    ]


def test_every_operation_has_a_sample():
    used = {call["operation"] for call in contract.sample("outcome-calls")["calls"]}
    assert used == set(contract.schema("outcome")["$defs"]["call"]["properties"]["operation"]["enum"])


def objects(schema, path="$"):
    """The subschemas that describe the members of an object."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            yield path, schema
        for key, value in schema.items():
            yield from objects(value, f"{path}.{key}")


def test_outcomes_allow_no_other_members():
    found = list(objects(contract.schema("outcome")))
    assert len(found) > 10
    assert [path for path, schema in found if schema.get("additionalProperties") is not False] == []


def test_requests_allow_members_of_later_versions():
    assert [path for path, schema in objects(contract.schema("request")) if "additionalProperties" in schema] == []


@pytest.mark.parametrize("name", REQUESTS)
def test_recorded_requests_are_valid(name):
    assert contract.problems("request", contract.sample(name)) == []
    assert contract.problems("outcome", contract.sample(name)), "a request must not pass as an outcome"


@pytest.mark.parametrize("name", OUTCOMES)
def test_recorded_outcomes_are_valid(name):
    assert contract.problems("outcome", contract.sample(name)) == []
    assert contract.problems("request", contract.sample(name)), "an outcome must not pass as a request"


def test_the_openapi_components_judge_the_samples_alike():
    document = contract.document()
    for name in REQUESTS + OUTCOMES:
        title = name.split("-", maxsplit=1)[0].capitalize()
        schema = {"$ref": f"#/components/schemas/{title}", "components": document["components"]}
        jsonschema.validate(contract.sample(name), schema, cls=Draft202012Validator)


@pytest.mark.parametrize(
    ("name", "path", "new"),
    [
        ("request-notification", "specversion", "0.3"),
        ("request-notification", "id", "0b5c1f0e.8f35.5a3b"),
        ("request-notification", "source", "winback"),
        ("request-notification", "type", "dev.millrace.worker.timer"),
        ("request-notification", "time", "2026-01-06 03:22"),
        ("request-notification", "time", "2026-13-06T03:22:02Z"),
        ("request-notification", "subject", ...),
        ("request-notification", "data.kind", "found"),
        ("request-notification", "data.attempt", 0),
        ("request-notification", "data.replay", ...),
        ("request-notification", "data.reapply", None),
        ("request-notification", "data.state", ...),
        ("request-notification", "data.deadline", 1767669722114),
        ("request-notification", "data.notification", ...),
        ("request-notification", "data.timer", {"name": "offer", "at": "2026-01-09T03:22:02Z", "payload": None}),
        ("request-notification", "data.notification.version", "2.0"),
        ("request-notification", "data.notification.signedDate", 1767669722114),
        ("request-notification", "data.notification.subtype", None),
        ("request-full", "data.notification.signedPayload", "not-a-token"),
        ("request-timer", "data.timer", ...),
        ("request-timer", "data.timer.payload", ...),
        ("request-timer", "data.notification", {}),
        ("request-call-result", "data.call", ...),
        ("request-call-result", "data.call.operation", "getNotificationHistory"),
        ("request-call-result", "data.call.result", {"status": "succeeded"}),
        ("request-call-result", "data.call.result", {"status": "unknown", "message": "?"}),
        ("request-call-failed", "data.call.result.message", ...),
    ],
)
def test_wrong_requests_are_refused(name, path, new):
    assert contract.problems("request", changed(contract.sample(name), path, new))


ARGUMENTS = "calls.0.arguments"


@pytest.mark.parametrize(
    ("name", "path", "new"),
    [
        ("outcome-nothing", "event", []),
        ("outcome-results", "retry", {"reason": "crm-down"}),
        ("outcome-retry", "deadLetter", {"reason": "no-customer"}),
        ("outcome-retry", "state", None),
        ("outcome-retry", "retry.after", -1),
        ("outcome-retry", "retry.after", 604801),
        ("outcome-retry", "retry.after", "90"),
        ("outcome-retry", "retry.reason", ...),
        ("outcome-retry", "retry.reason", "CRM is down"),
        ("outcome-retry", "retry.attempts", 3),
        ("outcome-dead-letter", "deadLetter.reason", "no customer"),
        ("outcome-dead-letter", "deadLetter", None),
        ("outcome-results", "events", {}),
        ("outcome-results", "events.0.name", "WinbackOffered"),
        ("outcome-results", "events.0.data", "text"),
        ("outcome-results", "events.0.data", ...),
        ("outcome-results", "events.0.id", "1"),
        ("outcome-results", "events.0.key", ""),
        ("outcome-results", "timers.0.at", ...),
        ("outcome-results", "timers.0.at", "tomorrow"),
        ("outcome-results", "timers.0.at", "2026-02-30T00:00:00Z"),
        ("outcome-results", "timers.0.at", "2026-01-16T03:22:02"),
        ("outcome-results", "timers.0.at", 1767669722114),
        ("outcome-results", "timers.0.name", ""),
        ("outcome-results", "timers.0.name", "a name"),
        ("outcome-results", "calls.0.operation", "massExtendRenewalDate"),
        ("outcome-results", "calls.0.name", ...),
        ("outcome-results", ARGUMENTS, ...),
        ("outcome-results", ARGUMENTS + ".extendByDays", 91),
        ("outcome-results", ARGUMENTS + ".extendReasonCode", 4),
        ("outcome-results", ARGUMENTS + ".requestIdentifier", ""),
        ("outcome-results", ARGUMENTS + ".originalTransactionId", "2000000100000918/1"),
        ("outcome-results", ARGUMENTS + ".originalTransactionId", 2000000100000918),
        ("outcome-results", ARGUMENTS + ".environment", "Xcode"),
        ("outcome-results", ARGUMENTS + ".transactionId", "2000000100000918"),
        ("outcome-calls", "calls.1.arguments.sort", "NEWEST"),
        ("outcome-calls", "calls.2.arguments.status", [6]),
        ("outcome-calls", "calls.6.arguments.customerConsented", False),
        ("outcome-calls", "calls.6.arguments.consumptionPercentage", 100001),
        ("outcome-calls", "calls.7.arguments.appAccountToken", "customer-17"),
        ("outcome-calls", "calls.8.arguments.orderId", "../refund"),
    ],
)
def test_wrong_outcomes_are_refused(name, path, new):
    assert contract.problems("outcome", changed(contract.sample(name), path, new))


@pytest.mark.parametrize("value", [None, [], "text", 1, True])
def test_an_outcome_is_an_object(value):
    assert contract.problems("outcome", value)


def test_signatures_of_the_published_library_have_the_documented_form():
    import datetime

    parameters = contract.document()["paths"]["/"]["post"]["parameters"]
    form = next(each for each in parameters if each["name"] == "webhook-signature")["schema"]["pattern"]
    hook = standardwebhooks.Webhook(b"secret")
    signature = hook.sign("0b5c1f0e-8f35-5a3b-9a5e-6f0d1d0e7c11", datetime.datetime.now(datetime.UTC), "{}")
    assert re.fullmatch(form, signature)
    assert re.fullmatch(form, f"{signature} {signature}")
    assert not re.fullmatch(form, signature.removeprefix("v1,"))


def test_the_yaml_has_no_duplicate_keys():
    class Strict(yaml.SafeLoader):
        pass

    def mapping(loader, node):
        keys = [loader.construct_object(key) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"duplicate keys in {keys}"
        return yaml.SafeLoader.construct_mapping(loader, node, deep=True)

    Strict.add_constructor("tag:yaml.org,2002:map", mapping)
    yaml.load(contract.OPENAPI.read_text(), Loader=Strict)
