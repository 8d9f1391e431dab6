"""Offers a subscriber who cancelled to come back, three days later and unless the subscriber has returned by then."""

from datetime import datetime, timedelta

Json = dict


def decide(data: Json) -> Json | None:
    """Returns the outcome of a request, or None if there is nothing to do. It depends on the request alone: a repeated
    request has the same outcome."""
    state = data["state"]
    if data["kind"] == "notification":
        return notified(data["notification"], state)
    if state is None:  # The subscriber has returned.
        return None
    if data["kind"] == "timer":
        # The date makes the name unique: the same subscriber can leave again.
        return {
            "calls": [
                {
                    "name": f"status/{state['left']}",
                    "operation": "getAllSubscriptionStatuses",
                    "arguments": {"transactionId": data["key"]},
                }
            ]
        }
    result = data["call"]["result"]
    if result["status"] == "failed":
        return {"deadLetter": {"reason": "apple-refused", "detail": result["message"][:1000]}}
    if is_active(result["body"]):
        return {"state": None}
    return {"events": [{"name": "winback.offered", "data": {"product": state["product"]}}], "state": None}


def notified(notification: Json, state: Json | None) -> Json | None:
    if notification["version"] != 2:  # Version 1 is not signed.
        return None
    signed = notification.get("signedDate", notification["receivedAt"])
    match notification.get("type"), notification.get("subtype"):
        case "EXPIRED", "VOLUNTARY":
            offer = (datetime.fromisoformat(signed) + timedelta(days=3)).isoformat()
            product = notification.get("transaction", {}).get("productId")
            return {"state": {"left": signed, "product": product}, "timers": [{"name": "offer", "at": offer}]}
        case "DID_RENEW" | "SUBSCRIBED", _ if state and is_later(signed, state["left"]):
            return {"state": None, "timers": [{"name": "offer", "at": None}]}
    return None


def is_later(time: str, other: str) -> bool:
    """Apple may post out of order: only a renewal after the departure counts."""
    return datetime.fromisoformat(time) > datetime.fromisoformat(other)


def is_active(statuses: Json) -> bool:
    """Whether any subscription is active (1) or in its grace period (4)."""
    groups = statuses.get("data", [])
    return any(last.get("status") in (1, 4) for group in groups for last in group.get("lastTransactions", []))
