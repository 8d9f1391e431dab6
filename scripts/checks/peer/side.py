"""An environment with Apple's verifier for received notifications and Apple's client for API calls."""
import collections
import http.server
import json
import queue
import threading
import time

import attr
from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

from scenario import APPLE_ID, BUNDLE, ISSUER, KEY, kind


# Subtypes that Apple documents and its library lacks.
NEWER_THAN_THE_LIBRARY = {"CREATED", "ACTIVE_TOKEN_REMINDER"}


class Disagreement(Exception):
    """Apple's library and the simulator do not agree."""


def wait(what, condition, seconds=120):
    """Waits for a true value of the condition and returns it."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise Disagreement(f"{what} did not happen within {seconds} s")
        time.sleep(0.05)
    return value


class Side:
    def __init__(self, environment):
        self.environment = environment
        self.lock = threading.Lock()
        self.received, self.failures = collections.defaultdict(list), []
        self.verified, self.completed = collections.Counter(), collections.Counter()
        self.refused = collections.Counter()
        self.verifier = self.client = self.key = self.url = None
        # Posted bodies, verified later, because Apple's library is too slow for a response in time.
        self.posted = queue.SimpleQueue()
        self.posts = self.taken = 0

    def connect(self, root, key, port):
        self.verifier = SignedDataVerifier([root], False, self.environment, BUNDLE, APPLE_ID)
        self.key, self.url = key, f"http://127.0.0.1:{port}"
        self.client = self.caller()
        threading.Thread(target=self.verify_posted, daemon=True).start()

    def caller(self, key_id=KEY, issuer=ISSUER, bundle=BUNDLE):
        client = AppStoreServerAPIClient(self.key, key_id, issuer, bundle, self.environment)
        client._base_url = self.url
        return client

    # Verifying

    def verify(self, field, token):
        """Verifies a signed token, by the name of its field."""
        verify = {
            "signedPayload": self.verifier.verify_and_decode_notification,
            "signedTransactionInfo": self.verifier.verify_and_decode_signed_transaction,
            "signedTransactions": self.verifier.verify_and_decode_signed_transaction,
            "signedRenewalInfo": self.verifier.verify_and_decode_renewal_info,
            "signedAppTransactionInfo": self.verifier.verify_and_decode_app_transaction,
        }[field]
        decoded = verify(token)
        with self.lock:
            self.verified["signedTransactionInfo" if field == "signedTransactions" else field] += 1
        return decoded

    def verify_all(self, value):
        """Verifies all signed tokens in an object of the library, recursively. Returns them decoded, by field."""
        found = collections.defaultdict(list)
        waiting = [value]
        while waiting:
            value = waiting.pop()
            if isinstance(value, (list, tuple)):
                waiting += value
            elif attr.has(type(value)):
                for field in attr.fields(type(value)):
                    content = getattr(value, field.name)
                    self.expect_known(value, field.name, content)
                    if field.name.startswith("signed") and isinstance(content, (str, list)):
                        for token in [content] if isinstance(content, str) else content:
                            decoded = self.verify(field.name, token)
                            found[field.name].append(decoded)
                            waiting.append(decoded)
                    else:
                        waiting.append(content)
        return found

    @staticmethod
    def expect_known(value, name, content):
        """Fails if the library keeps a value only in a raw field, because it does not know the value."""
        if name.startswith("raw") and isinstance(content, (str, int)) and content not in NEWER_THAN_THE_LIBRARY:
            if getattr(value, name[3].lower() + name[4:]) is None:
                raise Disagreement(f"the library does not know the {name[3:]} {content!r}")

    # Receiving

    def post(self, body):
        """Queues a body for verification."""
        with self.lock:
            self.posts += 1
        self.posted.put(body)

    def verify_posted(self):
        while True:
            self.take(self.posted.get())
            with self.lock:
                self.taken += 1

    def is_idle(self):
        """Whether all posted bodies are verified."""
        with self.lock:
            return self.posts == self.taken

    def take(self, body):
        try:
            payload = self.verify("signedPayload", json.loads(body)["signedPayload"])
            name = kind(payload.rawNotificationType, payload.rawSubtype)
            inside = self.verify_all(payload)
            with self.lock:
                self.received[name].append((payload, inside))
        except Exception as error:  # every disagreement is a finding
            with self.lock:
                self.failures.append(f"{self.environment.value}: a notification: {error!r}")

    def notifications(self, name):
        with self.lock:
            return list(self.received[name])

    def transactions(self, name, product=None):
        """The transactions in received notifications of a kind."""
        return [transaction for _, inside in self.notifications(name) for transaction in inside["signedTransactionInfo"]
                if product in (None, transaction.productId)]

    # Asking

    def call(self, name, *arguments):
        """Calls an endpoint and verifies the signed tokens in its answer."""
        try:
            answer = getattr(self.client, name)(*arguments)
            answer_inside = self.verify_all(answer)
        except Exception as error:
            code = f" {error.raw_api_error} {error.error_message}" if isinstance(error, APIException) else ""
            raise Disagreement(f"{self.environment.value}: {name}: {error!r}{code}") from error
        self.completed[name] += 1
        return answer, answer_inside

    def refuse(self, status, code, name, *arguments, client=None):
        """Calls an endpoint and expects an error with this status and code."""
        where = f"{self.environment.value}: {name}"
        try:
            getattr(client or self.client, name)(*arguments)
        except APIException as error:
            if (error.http_status_code, error.raw_api_error) != (status, code):
                raise Disagreement(
                    f"{where}: {error.http_status_code} {error.raw_api_error}, not {status} {code}") from error
            if code is not None and error.api_error is None:
                raise Disagreement(f"{where}: the library does not know the code {code}") from error
            self.refused[code or status] += 1
        else:
            raise Disagreement(f"{where} succeeded, expected {code or status}")


def expect(condition, what):
    if not condition:
        raise Disagreement(what)


def serve(sides):
    """Starts a server that receives notifications at /Production and /Sandbox. Returns its port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            sides[self.path.strip("/")].post(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        # The default backlog is 5 connections. On a busy machine the system would reset the others.
        request_queue_size = 512

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]
