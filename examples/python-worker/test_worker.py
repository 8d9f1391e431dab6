import pytest

from worker import decide

KEY = "2000000100000918"
LEFT = "2026-01-06T03:22:02.114Z"
STATE = {"left": LEFT, "product": "premium"}


def request(kind, state=None, **members):
    return {"kind": kind, "key": KEY, "attempt": 1, "state": state, **members}


def notification(type, subtype=None, signed="2026-01-06T03:22:02.114Z", state=None, version=2):
    said = {"version": version, "type": type, "signedDate": signed, "receivedAt": signed}
    if subtype:
        said["subtype"] = subtype
    said["transaction"] = {"productId": "premium"}
    return request("notification", state, notification=said)


def call_result(*statuses, state=STATE):
    data = [{"lastTransactions": [{"status": status} for status in statuses]}]
    return request("call-result", state, call={"result": {"status": "succeeded", "body": {"data": data}}})


def test_a_cancelled_subscription_sets_a_timer_for_three_days_later():
    assert decide(notification("EXPIRED", "VOLUNTARY")) == {
        "state": STATE,
        "timers": [{"name": "offer", "at": "2026-01-09T03:22:02.114000+00:00"}],
    }


@pytest.mark.parametrize("type", ["DID_RENEW", "SUBSCRIBED"])
def test_a_return_cancels_the_timer(type):
    returned = notification(type, signed="2026-01-07T00:00:00Z", state=STATE)
    assert decide(returned) == {"state": None, "timers": [{"name": "offer", "at": None}]}


@pytest.mark.parametrize(
    "data",
    [
        notification("EXPIRED", "BILLING_RETRY"),
        notification("DID_RENEW"),
        notification("DID_RENEW", signed="2026-01-05T00:00:00Z", state=STATE),
        notification("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", state=STATE),
        notification("DID_RENEW", signed="2026-01-07T00:00:00Z", state=STATE, version=1),
        request("timer", timer={"name": "offer"}),
        call_result(2, state=None),
    ],
)
def test_everything_else_changes_nothing(data):
    assert decide(data) is None


def test_the_timer_asks_apple():
    call = {
        "name": f"status/{LEFT}",
        "operation": "getAllSubscriptionStatuses",
        "arguments": {"transactionId": KEY},
    }
    assert decide(request("timer", STATE, timer={"name": "offer"})) == {"calls": [call]}


def test_an_expired_subscription_gets_an_offer():
    event = {"name": "winback.offered", "data": {"product": "premium"}}
    assert decide(call_result(2, 5)) == {"events": [event], "state": None}


@pytest.mark.parametrize("status", [1, 4])
def test_an_active_subscription_gets_none(status):
    assert decide(call_result(2, status)) == {"state": None}


def test_a_refused_call_is_a_dead_letter():
    call = {"result": {"status": "failed", "message": "Transaction id not found."}}
    letter = {"reason": "apple-refused", "detail": "Transaction id not found."}
    assert decide(request("call-result", STATE, call=call)) == {"deadLetter": letter}
