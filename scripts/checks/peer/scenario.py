"""The scenario: every type and subtype, in production and in the sandbox, in real time."""
import json

from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.Subtype import Subtype

BUNDLE, APPLE_ID = "com.example.app", 1234567890
ISSUER, KEY = "57246542-96fe-1a63-e053-0824d011072a", "SIMULATOR1"
YEARLY, MONTHLY, WEEKLY, COINS = (f"{BUNDLE}.{name}" for name in ("yearly", "monthly", "weekly", "coins"))
SETTLED = 12
LOOKUPS_AN_HOUR = 18

# Every type with its documented subtypes; "" is no subtype.
KINDS = {
    "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"],
    "DID_RENEW": ["", "BILLING_RECOVERY"],
    "DID_CHANGE_RENEWAL_PREF": ["", "UPGRADE", "DOWNGRADE"],
    "DID_CHANGE_RENEWAL_STATUS": ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
    "OFFER_REDEEMED": ["", "UPGRADE", "DOWNGRADE", "INITIAL_BUY", "RESUBSCRIBE"],
    "EXPIRED": ["", "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"],
    "DID_FAIL_TO_RENEW": ["", "GRACE_PERIOD"],
    "PRICE_INCREASE": ["PENDING", "ACCEPTED"],
    "RENEWAL_EXTENSION": ["SUMMARY", "FAILURE"],
    "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"],
    **{name: [""] for name in (
        "GRACE_PERIOD_EXPIRED", "REFUND", "REFUND_REVERSED", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "REVOKE",
        "RENEWAL_EXTENDED", "ONE_TIME_CHARGE", "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION", "PRICE_CHANGE",
        "TEST")},
}


def kind(name, subtype):
    return f"{name}/{subtype}" if subtype else name


ALL_KINDS = [kind(name, subtype) for name, subtypes in KINDS.items() for subtype in subtypes]


def unknown_to_us():
    """Types and subtypes of the library that KINDS lacks. A newer library may add some."""
    subtypes = {subtype for known in KINDS.values() for subtype in known}
    return sorted(
        {known.value for known in NotificationTypeV2} - set(KINDS) | {known.value for known in Subtype} - subtypes)


def offer():
    return [{"identifier": "TRY", "type": "code", "discountType": "FREE_TRIAL", "period": "P1W"}]


def scenario(urls):
    """The scenario file, as JSON. `urls` contains a URL for each environment."""
    environments = list(urls)
    events = [
        {"do": "send", "type": name, **({"subtype": subtype} if subtype else {}), "environment": environment,
         "after": "100ms", "for": "2s", "count": 3}
        for environment in environments for name, subtypes in KINDS.items() for subtype in subtypes]
    # Renewals of weekly subscribers, from which the test learns transactions with a history of a year.
    events += [{"do": "renew", "product": WEEKLY, "environment": environment, "after": "100ms", "for": "1s",
                "count": SETTLED} for environment in environments]
    return json.dumps({
        "seed": 9,
        "clock": {"rate": 1},
        "apps": [{
            "bundleId": BUNDLE, "appAppleId": APPLE_ID, "environments": environments,
            "notifications": {environment: {"url": url} for environment, url in urls.items()},
            "products": [
                {"productId": YEARLY, "group": "plans", "level": 1, "period": "P1Y", "offers": offer()},
                {"productId": MONTHLY, "group": "plans", "level": 2, "offers": offer()},
                {"productId": f"{BUNDLE}.graceful", "group": "extras", "gracePeriod": "16d"},
                {"productId": WEEKLY, "group": "news", "period": "P1W"},
                {"productId": COINS, "type": "consumable"},
            ],
        }],
        "world": {"customers": [
            {"environment": environment, "count": SETTLED, "products": [product], "since": since}
            for environment in environments for product, since in ((YEARLY, "300d"), (WEEKLY, "365d"))]},
        "events": events,
        # A long timeout, because the machine may be busy, and slow deliveries are not tested here.
        "delivery": {"timeout": "60s"},
        "server": {
            "massExtension": {"startDelay": "500ms", "duration": "1s", "failureShare": 0.25},
            "refunds": {"decisionDelay": "200ms", "followsPreference": 1, "reversalShare": 0},
            "messaging": {"reviewDelay": "1s", "performanceTestDuration": "1s"},
            # A low limit, so that the test can reach 429.
            "limits": {"perSecond": {"lookUpOrderId": LOOKUPS_AN_HOUR / 3600}},
        },
    })
