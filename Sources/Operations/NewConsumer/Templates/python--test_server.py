import json
from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient
from standardwebhooks import Webhook

from server import app
from worker import decide

ID = "0b5c1f0e-8f35-5a3b-9a5e-6f0d1d0e7c11"
TEST = {
    "kind": "notification",
    "key": "2000000100000918",
    "state": None,
    "notification": {"version": 2, "type": "TEST", "receivedAt": "2026-01-06T03:22:02.114Z"},
}
EXPIRED = {**TEST, "notification": {**TEST["notification"], "type": "EXPIRED", "subtype": "VOLUNTARY"}}


@pytest.fixture(params=["whsec_bWlsbHJhY2U=", "millrace"])
def secret(request, tmp_path, monkeypatch):
    file = tmp_path / "secret"
    file.write_text(request.param + "\n")
    monkeypatch.setenv("WEBHOOK_SECRET_FILE", str(file))
    return b"millrace"


def post(body, secret, sign=lambda signature: signature):
    now = datetime.now(UTC)
    headers = {"webhook-id": ID, "webhook-timestamp": str(int(now.timestamp()))}
    headers["webhook-signature"] = sign(Webhook(secret).sign(ID, now, body))
    return TestClient(app).post("/notifications", content=body, headers=headers)


def test_a_signed_request_is_answered(secret):
    answer = post(json.dumps({"data": EXPIRED}), secret)
    assert answer.status_code == 200
    assert answer.json() == decide(EXPIRED)
    assert post(json.dumps({"data": TEST}), secret).status_code == 204


def test_during_a_rotation_one_valid_signature_is_enough(secret):
    body = json.dumps({"data": TEST})
    assert post(body, secret, lambda valid: "v1,AAAA " + valid).status_code == 204


@pytest.mark.parametrize("signature", ["", "v1", "v1,", "v1,AAAA", "v1,=", "v2,AAAA", "nonsense"])
def test_a_wrong_signature_is_refused(secret, signature):
    assert post("{}", secret, lambda _: signature).status_code == 401


def test_another_secret_is_refused(secret):
    assert post("{}", b"another").status_code == 401


def test_a_request_without_headers_is_refused(secret):
    assert TestClient(app).post("/notifications", content="{}").status_code == 401


@pytest.mark.parametrize("body", ["{", "{}", "[]", "1"])
def test_a_body_that_is_no_event_is_refused(secret, body):
    assert post(body, secret).status_code == 400
