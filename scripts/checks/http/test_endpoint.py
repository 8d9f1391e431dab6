"""A running endpoint: signatures, repetitions, and an outcome for each kind of request."""

import json

import pytest

import contract
from millrace import TRANSACTION, now, signature

TYPES = [
    "SUBSCRIBED",
    "DID_RENEW",
    "DID_FAIL_TO_RENEW",
    "GRACE_PERIOD_EXPIRED",
    "EXPIRED",
    "DID_CHANGE_RENEWAL_PREF",
    "DID_CHANGE_RENEWAL_STATUS",
    "OFFER_REDEEMED",
    "PRICE_INCREASE",
    "A_TYPE_THAT_APPLE_ADDS",
]


def signed(endpoint, change=None, body=b"{}", **options):
    """The status of an answer to a request whose headers `change` has changed."""
    sample = contract.sample("request-notification")
    body = body if body != b"{}" else json.dumps(sample).encode()
    headers = endpoint.headers(sample["id"], body, **options)
    if change:
        change(headers)
    return endpoint.post(body, headers).status


def test_a_valid_signature_is_accepted(endpoint):
    assert signed(endpoint) == 200


def test_another_secret_is_refused(endpoint):
    assert signed(endpoint, secret="whsec_c29tZXRoaW5nIGVsc2U=") == 401


def test_a_changed_body_is_refused(endpoint):
    sample = contract.sample("request-notification")
    headers = endpoint.headers(sample["id"], json.dumps(sample).encode())
    sample["data"]["key"] = "1"
    assert endpoint.post(json.dumps(sample).encode(), headers).status == 401


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_missing_header_is_refused(endpoint, name):
    assert signed(endpoint, lambda headers: headers.pop(name)) == 401


@pytest.mark.parametrize("text", ["v1", "v1,", "v1,AAAA", "v1,*", "v2,AAAA", "x"])
def test_a_malformed_signature_is_refused(endpoint, text):
    assert signed(endpoint, lambda headers: headers.update({"webhook-signature": text})) == 401


def test_a_signature_of_another_id_is_refused(endpoint):
    other = {"webhook-id": "0b5c1f0e-8f35-5a3b-9a5e-6f0d1d0e7c12"}
    assert signed(endpoint, lambda headers: headers.update(other)) == 401


@pytest.mark.parametrize("away", [-3600, -310, 310, 3600])
def test_a_request_of_another_time_is_refused(endpoint, away):
    assert signed(endpoint, time=now() + away) == 401


def test_a_clock_may_differ_a_little(endpoint):
    assert signed(endpoint, time=now() - 200) == 200
    assert signed(endpoint, time=now() + 200) == 200


def test_during_a_rotation_either_secret_is_enough(endpoint):
    def both(headers, first):
        body = json.dumps(contract.sample("request-notification")).encode()
        other = signature("another", headers["webhook-id"], headers["webhook-timestamp"], body)
        own = headers["webhook-signature"]
        headers["webhook-signature"] = f"{other} {own}" if first else f"{own} {other}"

    assert signed(endpoint, lambda headers: both(headers, True)) == 200
    assert signed(endpoint, lambda headers: both(headers, False)) == 200


def test_the_secret_can_be_replaced_while_the_endpoint_runs(endpoint):
    old = endpoint.secret
    try:
        for new in ["whsec_cm90YXRlZCBzZWNyZXQ=", "a secret as plain text"]:
            with open(endpoint.secret_file, "w") as file:
                file.write(new + "\n")
            assert signed(endpoint, secret=new) == 200
            assert signed(endpoint, secret=old) == 401
    finally:
        with open(endpoint.secret_file, "w") as file:
            file.write(old)
    assert signed(endpoint) == 200


@pytest.mark.parametrize("body", [b"{", b"[]", b"null"])
def test_a_body_that_is_no_event_is_refused(endpoint, body):
    assert signed(endpoint, body=body) == 400


@pytest.mark.parametrize("name", sorted(path.stem for path in contract.SAMPLES.glob("request-*.json")))
def test_every_sample_has_a_valid_outcome(endpoint, name):
    request = contract.sample(name)
    assert endpoint.send(request) == endpoint.send(request)


@pytest.mark.parametrize("state", [None, {"left": "2026-01-05T00:00:00.000Z", "product": None}])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("type", TYPES)
def test_every_type_has_a_valid_outcome(worker, type, version, state):
    worker.state = state
    worker.notify(type, version=version)
    worker.notify(type, version=version, payload={}, transaction=TRANSACTION, renewalInfo={})
    assert worker.dead_letters == []
