"""Runs the simulator and lets Apple's Python library judge it: signatures, then every endpoint of its client.

usage: check.py SIMULATOR SCENARIO DIRECTORY
"""
import base64
import collections
import http.server
import json
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
import warnings

from appstoreserverlibrary.api_client import AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

BUNDLE, APPLE_ID = "com.example.app", 1234567890
ISSUER, KEY = "57246542-96fe-1a63-e053-0824d011072a", "SIMULATOR1"

# The version 1 consumption endpoint is deprecated, and simulated all the same.
warnings.filterwarnings("ignore", category=DeprecationWarning)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Receiver:
    """Takes notifications as a team's server does and verifies each with what is inside."""

    def __init__(self):
        self.seen, self.failures = collections.defaultdict(list), []
        self.verifier, self.lock = None, threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                with receiver.lock:
                    try:
                        receiver.take(json.loads(body)["signedPayload"])
                    except Exception as error:  # every disagreement is a finding
                        receiver.failures.append(repr(error))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, signed):
        payload = self.verifier.verify_and_decode_notification(signed)
        transaction = None
        if payload.data and payload.data.signedTransactionInfo:
            transaction = self.verifier.verify_and_decode_signed_transaction(payload.data.signedTransactionInfo)
        if payload.data and payload.data.signedRenewalInfo:
            self.verifier.verify_and_decode_renewal_info(payload.data.signedRenewalInfo)
        if payload.appData:
            self.verifier.verify_and_decode_app_transaction(payload.appData.signedAppTransactionInfo)
        kind = payload.rawNotificationType + (f"/{payload.rawSubtype}" if payload.rawSubtype else "")
        self.seen[kind].append(transaction)

    def has_all(self, kinds):
        with self.lock:
            return bool(self.failures) or (
                len(self.seen) >= kinds and all(len(found) >= 3 for found in self.seen.values()))


def wait(what, condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"check.py: {what} did not happen within {seconds} s")
        time.sleep(0.05)


def consumption_v1():
    values = {
        "customerConsented": True, "consumptionStatus": 0, "platform": 1, "sampleContentProvided": False,
        "deliveryStatus": 0, "appAccountToken": "", "accountTenure": 0, "playTime": 0, "lifetimeDollarsRefunded": 0,
        "lifetimeDollarsPurchased": 0, "userStatus": 0, "refundPreference": 0,
    }
    # Numbers go into the fields of the library that take them as they are.
    fields = {attribute.name for attribute in ConsumptionRequestV1.__attrs_attrs__}
    raw = {name: "raw" + name[0].upper() + name[1:] for name in values}
    return ConsumptionRequestV1(**{raw[name] if raw[name] in fields else name: values[name] for name in values})


def check_endpoints(client, receiver):
    """Calls every endpoint of the App Store Server API that the library's client has."""
    verifier, done = receiver.verifier, set()

    def call(name, *arguments):
        done.add(name)
        return getattr(client, name)(*arguments)

    subscribed = receiver.seen["SUBSCRIBED/INITIAL_BUY"]
    transaction, other = subscribed[0].transactionId, subscribed[1].originalTransactionId
    info = call("get_transaction_info", transaction)
    assert verifier.verify_and_decode_signed_transaction(info.signedTransactionInfo).transactionId == transaction
    for version in GetTransactionHistoryVersion:
        history = call("get_transaction_history", transaction, None, TransactionHistoryRequest(), version)
        assert len(history.signedTransactions) >= 1 and history.bundleId == BUNDLE
        for signed in history.signedTransactions:
            verifier.verify_and_decode_signed_transaction(signed)
    statuses = call("get_all_subscription_statuses", transaction)
    for last in [last for group in statuses.data for last in group.lastTransactions]:
        verifier.verify_and_decode_signed_transaction(last.signedTransactionInfo)
        verifier.verify_and_decode_renewal_info(last.signedRenewalInfo)
    app = call("get_app_transaction_info", transaction)
    verifier.verify_and_decode_app_transaction(app.signedAppTransactionInfo)
    token = str(uuid.uuid4())
    call("set_app_account_token", transaction, UpdateAppAccountTokenRequest(appAccountToken=token))
    again = call("get_transaction_info", transaction)
    assert verifier.verify_and_decode_signed_transaction(again.signedTransactionInfo).appAccountToken == token
    assert call("look_up_order_id", "MAAAAAAAAA").status is not None
    refunds = call("get_refund_history", receiver.seen["REFUND"][0].transactionId, None)
    assert len(refunds.signedTransactions) == 1
    extension = call(
        "extend_subscription_renewal_date", other,
        ExtendRenewalDateRequest(
            extendByDays=7, extendReasonCode=ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE, requestIdentifier="peer-1"))
    assert extension.success
    identifier, product = str(uuid.uuid4()), "com.example.app.yearly"
    mass = call(
        "extend_renewal_date_for_all_active_subscribers",
        MassExtendRenewalDateRequest(
            extendByDays=3, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier=identifier, productId=product))
    assert mass.requestIdentifier == identifier
    status = call("get_status_of_subscription_renewal_date_extensions", identifier, product)
    assert status.requestIdentifier == identifier
    asked = [transaction.transactionId for transaction in receiver.seen["CONSUMPTION_REQUEST"]]
    call(
        "send_consumption_information", asked[0],
        ConsumptionRequest(customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED))
    call("send_consumption_data", asked[1], consumption_v1())
    now = int(time.time() * 1000)
    query = NotificationHistoryRequest(startDate=now - 86_400_000, endDate=now + 86_400_000)
    first = call("get_notification_history", None, query)
    assert len(first.notificationHistory) == 20 and first.hasMore
    for item in first.notificationHistory:
        verifier.verify_and_decode_notification(item.signedPayload)
    assert call("get_notification_history", first.paginationToken, query).notificationHistory
    before = len(receiver.seen["TEST"])
    test = call("request_test_notification")
    wait("the test notification", lambda: len(receiver.seen["TEST"]) > before)
    wait("the test's status", lambda: call("get_test_notification_status", test.testNotificationToken).sendAttempts)
    call("finish_transaction", transaction)
    return sorted(done)


def main():
    simulator, scenario, directory = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    receiver, port = Receiver(), free_port()
    with open(scenario) as lines:
        kinds = sum(line.strip().startswith("- { do: send") for line in lines)
    with open(directory / "simulator.log", "w") as log:
        process = subprocess.Popen(
            [simulator, "run", scenario, "--target", f"http://127.0.0.1:{receiver.server.server_address[1]}/v2",
             "--port", str(port), "--sandbox-port", "0", "--write-root", str(directory / "root.pem"),
             "--write-api-key", str(directory / "key.p8"), "--report", str(directory / "report.json")],
            stdout=subprocess.DEVNULL, stderr=log)
    try:
        root = directory / "root.pem"
        wait("the root certificate", lambda: root.exists() and "END CERTIFICATE" in root.read_text())
        der = base64.b64decode("".join(line for line in root.read_text().splitlines() if "-----" not in line))
        receiver.verifier = SignedDataVerifier([der], False, Environment.PRODUCTION, BUNDLE, APPLE_ID)
        wait("every kind of notification", lambda: receiver.has_all(kinds))
        if receiver.failures:
            sys.exit(f"check.py: a notification is not verified: {receiver.failures[0]}")
        print(f"    {sum(map(len, receiver.seen.values()))} notifications of {len(receiver.seen)} kinds verified")
        client = AppStoreServerAPIClient((directory / "key.p8").read_bytes(), KEY, ISSUER, BUNDLE, Environment.PRODUCTION)
        client._base_url = f"http://127.0.0.1:{port}"
        for name in check_endpoints(client, receiver):
            print(f"    {name}")
    finally:
        process.send_signal(signal.SIGINT)
        status = process.wait(30)
    broken = json.loads((directory / "report.json").read_text())["rulesBroken"]
    problems = receiver.failures + [f"rule broken: {rule['rule']}" for rule in broken]
    if problems or status != 0:
        sys.exit("check.py: " + ("; ".join(problems[:5]) or f"the simulator ended with {status}"))


if __name__ == "__main__":
    main()
