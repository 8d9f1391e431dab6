"""A running win-back worker: signatures, repetitions, each kind of request, and the story that it tells."""

import json

import pytest

import contract
from millrace import Endpoint, Worker, now, signature

TRANSACTION = {"transactionId": "2000000100002790", "productId": "com.example.app.premium"}
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


@pytest.fixture
def endpoint(pytestconfig):
    return Endpoint(pytestconfig.getoption("--url"), pytestconfig.getoption("--secret-file"))


@pytest.fixture
def worker(endpoint):
    return Worker(endpoint)


def succeeded(*statuses):
    last = [{"status": status, "originalTransactionId": "2000000100000918"} for status in statuses]
    body = {"environment": "Production", "bundleId": "com.example.app", "data": [{"lastTransactions": last}]}
    return {"status": "succeeded", "body": body}


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


def test_a_request_without_signed_date_has_an_outcome(worker):
    notification = {"id": "a", "version": 2, "type": "EXPIRED", "subtype": "VOLUNTARY", "family": "subscriptions"}
    notification["receivedAt"] = "2026-01-06T03:22:02Z"
    worker.deliver(worker.request("notification", "2026-01-06T03:22:02Z", notification=notification))
    assert worker.fire("offer") == "2026-01-09T03:22:02.000Z"


def left(worker):
    worker.notify("EXPIRED", "VOLUNTARY", transaction=TRANSACTION)
    assert worker.state == {"left": "2026-01-06T03:22:02.114Z", "product": "com.example.app.premium"}
    assert list(worker.timers) == ["offer"]


def asked(worker):
    left(worker)
    assert worker.fire("offer") == "2026-01-09T03:22:02.114Z"
    assert [(call["operation"], call["arguments"]) for call in worker.calls] == [
        ("getAllSubscriptionStatuses", {"transactionId": worker.key})
    ]


@pytest.mark.parametrize("status", [2, 3, 5])
def test_a_subscriber_who_stays_away_gets_an_offer(worker, status):
    asked(worker)
    worker.answer(succeeded(status))
    assert worker.events == [{"name": "winback.offered", "data": {"product": "com.example.app.premium"}}]
    assert (worker.state, worker.timers, worker.calls, worker.dead_letters) == (None, {}, [], [])


@pytest.mark.parametrize("status", [1, 4])
def test_an_active_subscriber_gets_none(worker, status):
    asked(worker)
    worker.answer(succeeded(2, status))
    assert (worker.state, worker.events, worker.dead_letters) == (None, [], [])


@pytest.mark.parametrize("type", ["DID_RENEW", "SUBSCRIBED"])
def test_a_return_cancels_the_timer(worker, type):
    left(worker)
    worker.notify(type, signed="2026-01-07T00:00:00.000Z")
    assert (worker.state, worker.timers, worker.events) == (None, {}, [])


def test_a_renewal_before_the_departure_changes_nothing(worker):
    left(worker)
    worker.notify("DID_RENEW", signed="2026-01-05T00:00:00.000Z")
    assert worker.state
    assert worker.timers


def test_a_return_between_timer_and_answer_stops_the_offer(worker):
    asked(worker)
    worker.notify("SUBSCRIBED", "RESUBSCRIBE", signed="2026-01-09T03:22:02.900Z")
    worker.answer(succeeded(2))
    assert (worker.state, worker.events) == (None, [])


def test_a_subscriber_who_leaves_again_causes_another_call(worker):
    asked(worker)
    first = worker.calls[0]["name"]
    worker.answer(succeeded(1))
    worker.notify("EXPIRED", "VOLUNTARY", signed="2026-03-06T03:22:02.114Z")
    worker.fire("offer")
    assert worker.calls[0]["name"] != first


def test_a_call_that_apple_refused_becomes_a_dead_letter(worker):
    asked(worker)
    worker.answer({"status": "failed", "httpStatus": 404, "errorCode": 4040010, "message": "Transaction id not found."})
    assert worker.dead_letters == [{"reason": "apple-refused", "detail": "Transaction id not found."}]
    assert worker.events == []


def test_an_empty_answer_of_apple_has_an_outcome(worker):
    asked(worker)
    worker.answer({"status": "succeeded", "body": {}})
    assert len(worker.events) == 1
