"""Calls every endpoint of the library's client successfully at least once."""
import inspect
import json
import struct
import time
import urllib.request
import uuid
import zlib

from appstoreserverlibrary.api_client import AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.BulletPoint import BulletPoint
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.HeaderPosition import HeaderPosition
from appstoreserverlibrary.models.ImageSize import ImageSize
from appstoreserverlibrary.models.ImageState import ImageState
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.MessageState import MessageState
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.PerformanceTestStatus import PerformanceTestStatus
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UploadMessageImage import UploadMessageImage
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody

from scenario import BUNDLE, SETTLED, WEEKLY, YEARLY
from side import expect, wait

# Endpoints that Apple has in one environment only.
ONLY_IN = {
    "look_up_order_id": Environment.PRODUCTION,
    "initiate_performance_test": Environment.SANDBOX,
    "get_performance_test_results": Environment.SANDBOX,
}


def methods_of_the_client():
    return [name for name, _ in inspect.getmembers(AppStoreServerAPIClient, inspect.isfunction)
            if not name.startswith("_")]


def missing(side):
    return [name for name in methods_of_the_client()
            if ONLY_IN.get(name, side.environment) is side.environment and not side.completed[name]]


def png(width=3840, height=160):
    """A black PNG image."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = (b"\0" + b"\0" * (3 * width)) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def now():
    return int(time.time() * 1000)


def history_query(**filters):
    return NotificationHistoryRequest(startDate=now() - 86_400_000, endDate=now() + 60_000, **filters)


def extension(**changes):
    return ExtendRenewalDateRequest(**{
        "extendByDays": 7, "extendReasonCode": ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE,
        "requestIdentifier": str(uuid.uuid4()), **changes})


def mass_extension(**changes):
    return MassExtendRenewalDateRequest(**{
        "extendByDays": 3, "extendReasonCode": ExtendReasonCode.OTHER, "requestIdentifier": str(uuid.uuid4()),
        "productId": YEARLY, **changes})


def consumption(**changes):
    return ConsumptionRequest(**{
        "customerConsented": True, "sampleContentProvided": False, "deliveryStatus": DeliveryStatus.DELIVERED,
        **changes})


def consumption_v1(**changes):
    return ConsumptionRequestV1(**{
        "customerConsented": True, "rawConsumptionStatus": 0, "rawPlatform": 1, "sampleContentProvided": False,
        "rawDeliveryStatus": 0, "appAccountToken": "", "rawAccountTenure": 0, "rawPlayTime": 0,
        "rawLifetimeDollarsRefunded": 0, "rawLifetimeDollarsPurchased": 0, "rawUserStatus": 0, **changes})


def message(**changes):
    return UploadMessageRequestBody(**{"header": "Stay with us", "body": "There is more to come.", **changes})


def complete_everything(side):
    transactions(side)
    subscriptions(side)
    refunds(side)
    notifications(side)
    messaging(side)


def transactions(side):
    transaction = side.transactions("SUBSCRIBED/INITIAL_BUY")[0]
    _, inside = side.call("get_transaction_info", transaction.transactionId)
    expect(inside["signedTransactionInfo"][0].transactionId == transaction.transactionId, "the answer has another transaction")
    _, inside = side.call("get_app_transaction_info", transaction.transactionId)
    expect(inside["signedAppTransactionInfo"][0].bundleId == BUNDLE, "the app transaction belongs to another app")

    token = str(uuid.uuid4())
    side.call("set_app_account_token", transaction.originalTransactionId, UpdateAppAccountTokenRequest(token))
    _, inside = side.call("get_transaction_info", transaction.transactionId)
    expect(inside["signedTransactionInfo"][0].appAccountToken == token, "the app account token is not set")
    side.call("finish_transaction", side.transactions("ONE_TIME_CHARGE")[0].transactionId)

    if side.environment is Environment.PRODUCTION:
        with urllib.request.urlopen(f"{side.url}/simulator/orders/{transaction.transactionId}") as answer:
            order = json.load(answer)["orderId"]
        found, inside = side.call("look_up_order_id", order)
        expect(found.status is OrderLookupStatus.VALID, "a valid order is reported as invalid")
        expect(inside["signedTransactions"][0].transactionId == transaction.transactionId, "an order has another transaction")
        found, _ = side.call("look_up_order_id", "MAAAAAAAAA")
        expect(found.status is OrderLookupStatus.INVALID, "an unknown order is reported as valid")

    # At least one weekly subscriber has more than one page of transactions.
    renewals = side.transactions("DID_RENEW", WEEKLY)
    for version in GetTransactionHistoryVersion:
        pages = 1
        for renewal in renewals:
            pages = max(pages, transaction_history(side, renewal.transactionId, version))
        expect(pages > 1, "no transaction history has more than one page")


def transaction_history(side, transaction, version):
    revision, ids, pages = None, [], 0
    while True:
        page, inside = side.call(
            "get_transaction_history", transaction, revision, TransactionHistoryRequest(), version)
        ids += [found.transactionId for found in inside["signedTransactions"]]
        pages, revision = pages + 1, page.revision
        if not page.hasMore:
            break
    expect(len(ids) == len(set(ids)), "a transaction is on two pages of a history")
    expect(transaction in ids, "a transaction is missing from its customer's history")
    return pages


def subscriptions(side):
    subscribed = side.transactions("SUBSCRIBED/INITIAL_BUY")
    statuses, inside = side.call("get_all_subscription_statuses", subscribed[0].transactionId)
    expect(statuses.environment is side.environment and inside["signedRenewalInfo"], "the answer has no subscription status")

    before = subscribed[1]
    extended, _ = side.call("extend_subscription_renewal_date", before.originalTransactionId, extension())
    expect(extended.success and extended.effectiveDate > before.expiresDate, "an extension did not extend the renewal date")
    wait("RENEWAL_EXTENDED", lambda: any(
        transaction.originalTransactionId == before.originalTransactionId
        for transaction in side.transactions("RENEWAL_EXTENDED")))

    request = mass_extension()
    started, _ = side.call("extend_renewal_date_for_all_active_subscribers", request)
    expect(started.requestIdentifier == request.requestIdentifier, "a mass extension has another request identifier")

    def completed():
        status, _ = side.call(
            "get_status_of_subscription_renewal_date_extensions", request.requestIdentifier, request.productId)
        return status if status.complete else time.sleep(0.2)

    status = wait("the end of a mass extension", completed)
    expect(status.succeededCount + status.failedCount >= SETTLED and status.failedCount > 0,
           f"a mass extension reports {status.succeededCount} successes and {status.failedCount} failures")
    summary = wait("the summary of a mass extension", lambda: next(
        (payload.summary for payload, _ in side.notifications("RENEWAL_EXTENSION/SUMMARY")
         if payload.summary.requestIdentifier == request.requestIdentifier), None))
    expect((summary.succeededCount, summary.failedCount) == (status.succeededCount, status.failedCount),
           "the summary of a mass extension and its status disagree")


def refunds(side):
    refunded = side.transactions("REFUND")[0].transactionId
    _, inside = side.call("get_refund_history", refunded, None)
    expect([found.transactionId for found in inside["signedTransactions"]] == [refunded],
           "a refund is missing from the refund history")
    asked = [transaction.transactionId for transaction in side.transactions("CONSUMPTION_REQUEST")]
    side.call("send_consumption_information", asked[0], consumption(refundPreference=RefundPreference.DECLINE))
    wait("the decision about a refund", lambda: any(
        declined.transactionId == asked[0] for declined in side.transactions("REFUND_DECLINED")))
    side.call("send_consumption_data", asked[1], consumption_v1())


def notifications(side):
    before = len(side.notifications("TEST"))
    test, _ = side.call("request_test_notification")
    wait("the test notification", lambda: len(side.notifications("TEST")) > before)

    def attempted():
        try:
            return side.client.get_test_notification_status(test.testNotificationToken).sendAttempts
        except Exception:  # As at Apple, the status is not available at first.
            return None

    wait("the status of the test notification", attempted)
    side.call("get_test_notification_status", test.testNotificationToken)

    query, token, uuids, pages = history_query(), None, [], 0
    while True:
        page, inside = side.call("get_notification_history", token, query)
        uuids += [payload.notificationUUID for payload in inside["signedPayload"]]
        pages, token = pages + 1, page.paginationToken
        if not page.hasMore:
            break
        expect(len(page.notificationHistory) == 20, "a page of the notification history before the last is not full")
    expect(len(uuids) == len(set(uuids)), "a notification is on two pages of the history")
    with side.lock:
        received = {payload.notificationUUID for found in side.received.values() for payload, _ in found}
    expect(received <= set(uuids), "a received notification is missing from the history")
    expect(pages > 2, "the notification history has fewer than three pages")


def messaging(side):
    full, bullet, text = uuid.uuid4(), uuid.uuid4(), uuid.uuid4()
    side.call("upload_image", full, png())
    side.call("upload_image", bullet, png(64, 64), ImageSize.BULLET_POINT)
    side.call("upload_message", text, message(
        image=UploadMessageImage(full, "A hand that waves"), headerPosition=HeaderPosition.ABOVE_IMAGE,
        bulletPoints=[BulletPoint("More of everything", bullet, "A star")]))
    wait("the review of images", lambda: all(
        item.imageState is ImageState.APPROVED for item in side.call("get_image_list")[0].imageIdentifiers))
    wait("the review of messages", lambda: all(
        item.messageState is MessageState.APPROVED for item in side.call("get_message_list")[0].messageIdentifiers))
    images = {item.imageIdentifier: item.imageSize for item in side.call("get_image_list")[0].imageIdentifiers}
    expect(images == {full: ImageSize.FULL_SIZE, bullet: ImageSize.BULLET_POINT}, "the list has other images")
    side.call("configure_default_message", YEARLY, "en-US", DefaultConfigurationRequest(text))
    expect(side.call("get_default_message", YEARLY, "en-US")[0].messageIdentifier == text, "the default message is another one")
    side.call("delete_default_message", YEARLY, "en-US")
    side.call("delete_message", text)
    side.call("delete_image", full)
    side.call("delete_image", bullet)

    url = "https://example.com/retention"
    side.call("configure_realtime_url", RealtimeUrlRequest(url))
    expect(side.call("get_realtime_url")[0].realtimeURL == url, "the real-time URL is another one")
    if side.environment is Environment.SANDBOX:
        transaction = side.transactions("SUBSCRIBED/INITIAL_BUY")[0].originalTransactionId
        run = side.call("initiate_performance_test", PerformanceTestRequest(transaction))[0]

        def ended():
            result = side.call("get_performance_test_results", run.requestId)[0]
            return result if result.result is not PerformanceTestStatus.PENDING else None

        result = wait("the end of the performance test", ended)
        expect((result.result, result.target, result.config) == (PerformanceTestStatus.PASS, url, run.config),
               "the performance test failed or has other parameters")
    side.call("delete_realtime_url")
