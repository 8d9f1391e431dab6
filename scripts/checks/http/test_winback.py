"""The story that a running win-back worker tells."""

import pytest

from millrace import TRANSACTION


def succeeded(*statuses):
    last = [{"status": status, "originalTransactionId": "2000000100000918"} for status in statuses]
    body = {"environment": "Production", "bundleId": "com.example.app", "data": [{"lastTransactions": last}]}
    return {"status": "succeeded", "body": body}


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
