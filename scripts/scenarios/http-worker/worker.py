"""The win-back worker of examples/python-worker, with a shorter wait, and with counters in its state.

An outcome that is applied twice, or not at all, leaves a wrong counter, also if no later request notices it.
"""

from datetime import datetime, timedelta

OFFER = timedelta(seconds=4)
REMINDER = timedelta(days=1)
NEW = {"seen": 0, "fired": 0, "answered": 0, "left": None, "returned": None}


def decide(data):
    state = data["state"] or NEW
    if data["kind"] == "notification":
        return notified(data["notification"], state)
    if data["kind"] == "timer":
        name = data["timer"]["name"]
        call = {
            "name": name.replace("offer/", "status/"),
            "operation": "getAllSubscriptionStatuses",
            "arguments": {"transactionId": data["key"]},
        }
        return counted(state, "fired", name) | {"calls": [call]}
    return counted(state, "answered", data["call"]["name"])


def counted(state, counter, cause):
    number = state[counter] + 1
    return {
        "state": state | {counter: number},
        "events": [{"name": counter, "data": {"cause": cause, "number": number}}],
    }


def notified(notification, state):
    """The reminder depends on the newest dates, and not on the order: a requeued notification comes late."""
    outcome = counted(state, "seen", notification["id"])
    signed, timers = notification["signedDate"], []
    match notification["type"], notification.get("subtype"):
        case "EXPIRED", "VOLUNTARY":
            date = "left"
            timers = [{"name": f"offer/{notification['id']}", "at": later(signed, OFFER)}]
        case "DID_RENEW" | "SUBSCRIBED", _:
            date = "returned"
        case _:
            return outcome
    changed = outcome["state"]
    changed[date] = max(changed[date] or signed, signed, key=datetime.fromisoformat)
    left, returned = changed["left"], changed["returned"]
    is_away = left and (not returned or datetime.fromisoformat(left) > datetime.fromisoformat(returned))
    timers.append({"name": "reminder", "at": later(left, REMINDER) if is_away else None})
    return outcome | {"timers": timers}


def later(time, wait):
    return (datetime.fromisoformat(time) + wait).isoformat()
