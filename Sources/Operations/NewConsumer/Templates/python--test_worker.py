import pytest

from worker import decide


def notification(type, subtype=None, version=2):
    said = {"version": version, "type": type, "receivedAt": "2026-01-06T03:22:02.114Z"}
    if subtype:
        said["subtype"] = subtype
    said["transaction"] = {"productId": "premium"}
    return {"kind": "notification", "key": "2000000100000918", "attempt": 1, "state": None, "notification": said}


def test_a_subscriber_who_cancels_causes_one_event():
    event = {"name": "subscriber.left", "data": {"product": "premium"}}
    assert decide(notification("EXPIRED", "VOLUNTARY")) == {"events": [event]}


@pytest.mark.parametrize(
    "data",
    [
        notification("EXPIRED", "BILLING_RETRY"),
        notification("DID_RENEW"),
        notification("EXPIRED", "VOLUNTARY", version=1),
        {"kind": "timer", "key": "1", "state": None, "timer": {"name": "unknown"}},
    ],
)
def test_everything_else_causes_none(data):
    assert decide(data) is None
