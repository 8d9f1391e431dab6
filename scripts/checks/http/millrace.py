"""A stand-in for millrace-worker: signs requests, posts them, validates both sides, and carries out the outcomes.

It keeps state, timers and calls of one key, so that a test can tell a story.
"""

import base64
import datetime
import hashlib
import hmac
import http.client
import json
import urllib.parse
import uuid
from dataclasses import dataclass, field

import contract

TRANSACTION = {"transactionId": "2000000100002790", "productId": "com.example.app.premium"}
NAMESPACE = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")


def key_of(secret):
    return base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()


def signature(secret, id, time, body):
    """`v1,` and the Base64 of HMAC-SHA256, computed without the library that an endpoint uses."""
    code = hmac.new(key_of(secret), f"{id}.{time}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(code).decode()


def now():
    return int(datetime.datetime.now(datetime.UTC).timestamp())


@dataclass
class Answer:
    status: int
    type: str
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Endpoint:
    url: str
    secret_file: str

    @property
    def secret(self):
        with open(self.secret_file) as file:
            return file.read().strip()

    def headers(self, id, body, time=None, secret=None):
        time = now() if time is None else time
        return {
            "content-type": "application/cloudevents+json",
            "millrace-protocol": "1",
            "user-agent": "millrace-worker/check",
            "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "webhook-id": id,
            "webhook-timestamp": str(time),
            "webhook-signature": signature(secret or self.secret, id, time, body),
        }

    def post(self, body, headers):
        place = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
        try:
            connection.request("POST", place.path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.getheader("content-type", ""), answer.read())
        finally:
            connection.close()

    def send(self, request):
        """Posts a valid request with a valid signature. Returns the validated outcome; None for an answer 204."""
        assert contract.problems("request", request) == []
        body = json.dumps(request).encode()
        answer = self.post(body, self.headers(request["id"], body))
        if answer.status == 204:
            assert answer.body == b""
            return None
        assert answer.status == 200, answer
        assert answer.type.split(";")[0] == "application/json"
        assert len(answer.body) <= 1 << 20
        assert contract.problems("outcome", answer.json) == []
        return answer.json


@dataclass
class Worker:
    """The worker `winback`, as far as one key is concerned."""

    endpoint: Endpoint
    key: str = "2000000100000918"
    state: object = None
    timers: dict = field(default_factory=dict)
    calls: list = field(default_factory=list)
    events: list = field(default_factory=list)
    dead_letters: list = field(default_factory=list)
    sent: int = 0

    def request(self, kind, time, **members):
        self.sent += 1
        deadline = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=30)
        return {
            "specversion": "1.0",
            "id": str(uuid.uuid5(NAMESPACE, f"winback {kind} {self.key} {self.sent}")),
            "source": "millrace/winback",
            "type": f"dev.millrace.worker.{kind}",
            "subject": self.key,
            "time": time,
            "datacontenttype": "application/json",
            "data": {
                "kind": kind,
                "worker": "winback",
                "key": self.key,
                "attempt": 1,
                "replay": False,
                "reapply": False,
                "deadline": deadline.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "state": self.state,
                **members,
            },
        }

    def deliver(self, request):
        """Sends a request twice, as after a lost answer. Both outcomes must be equal; one is carried out."""
        outcome = self.endpoint.send(request)
        assert self.endpoint.send(request) == outcome, "a repeated request has another outcome"
        outcome = outcome or {}
        self.events += outcome.get("events", [])
        if "state" in outcome:
            self.state = outcome["state"]
        for timer in outcome.get("timers", []):
            if timer["at"] is None:
                self.timers.pop(timer["name"], None)
            else:
                self.timers[timer["name"]] = timer
        self.calls += outcome.get("calls", [])
        if "deadLetter" in outcome:
            self.dead_letters.append(outcome["deadLetter"])
        return outcome

    def notify(self, type, subtype=None, signed="2026-01-06T03:22:02.114Z", version=2, **members):
        notification = {
            "id": str(uuid.uuid5(NAMESPACE, f"{type} {subtype} {signed}")),
            "version": version,
            "type": type,
            "family": "subscriptions",
            "bundleId": "com.example.app",
            "environment": "Production",
            "signedDate": signed,
            "receivedAt": signed,
            **members,
        }
        if subtype:
            notification["subtype"] = subtype
        return self.deliver(self.request("notification", signed, notification=notification))

    def fire(self, name):
        timer = self.timers.pop(name)
        at = datetime.datetime.fromisoformat(timer["at"]).astimezone(datetime.UTC)
        at = at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        fired = {"name": name, "at": at, "payload": timer.get("payload")}
        self.deliver(self.request("timer", at, timer=fired))
        return at

    def answer(self, result):
        call = self.calls.pop(0)
        return self.deliver(self.request("call-result", "2026-01-09T03:22:03Z", call={**call, "result": result}))
