"""Publishes an event for each subscriber who cancelled, for example to send a win-back offer."""

Json = dict


def decide(data: Json) -> Json | None:
    """Returns the outcome of a request, or None if there is nothing to do. It depends on the request alone: a repeated
    request has the same outcome."""
    if data["kind"] != "notification":  # The worker sets no timers and makes no calls.
        return None
    notification = data["notification"]
    if notification["version"] != 2:  # Version 1 is not signed.
        return None
    if (notification.get("type"), notification.get("subtype")) != ("EXPIRED", "VOLUNTARY"):
        return None
    product = notification.get("transaction", {}).get("productId")
    return {"events": [{"name": "subscriber.left", "data": {"product": product}}]}
