"""Runs `millrace handler check` against endpoints that are broken on purpose. Each must get its findings, and no others.

broken.py MILLRACE    prints a line for each fault; exits with 1 if a finding is missing or not expected
"""

import hmac
import http.server
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

import millrace

SECRET = "whsec_bWlsbHJhY2U="
TIMEOUT = 2  # seconds

SIGNATURE = ["signature-missing", "signature-wrong", "signature-body", "signature-old"]
# The checks that send a valid request, and those of them that this endpoint answers with 200.
EVERY_ANSWER = ["answer", "signature-rotated", "types", "version-1", "timer", "call-result", "unknown"]
EVERY_OUTCOME = ["answer", "signature-rotated", "types"]

# The findings that are not good, and a part of their text, by the name of the fault.
FAULTS = {
    "none": {},
    "accepts-every-signature": dict.fromkeys(SIGNATURE, "accepted a request"),
    "refuses-valid-signatures": dict.fromkeys(EVERY_ANSWER, "401, which means a misconfigured endpoint"),
    "refuses-with-400": dict.fromkeys(SIGNATURE, "with 400"),
    "ignores-the-timestamp": {"signature-old": "accepted a request that is an hour old"},
    "reads-one-signature": {"signature-rotated": "two signatures, the second one valid"},
    "is-not-idempotent": {"idempotence": "another outcome the second time"},
    "answers-garbage": dict.fromkeys(EVERY_ANSWER, "does not fit"),
    "answers-10-mb": dict.fromkeys(EVERY_ANSWER, "does not fit"),
    "never-answers": {"answer": "endpoint-timeout"},
    "adds-a-member": dict.fromkeys(EVERY_OUTCOME, "does not fit"),
    "has-a-wrong-type": dict.fromkeys(EVERY_OUTCOME, "does not fit"),
    "fails-on-call-results": {"call-result": "endpoint-error"},
    "redirects": dict.fromkeys([*EVERY_ANSWER, "malformed"], "302"),
    "gives-up-unknown-types": {"unknown": "gives up a type that does not exist today"},
    "accepts-malformed-bodies": {"malformed": "accepted a body that is not JSON"},
    "is-slow": {"speed": "more than half of the limit"},
}


def is_genuine(headers, body, fault):
    id, time, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if fault == "accepts-every-signature":
        return True
    if not time.isdigit() or (abs(millrace.now() - int(time)) > 300 and fault != "ignores-the-timestamp"):
        return False
    given = signatures.split(" ")[: 1 if fault == "reads-one-signature" else None]
    return any(hmac.compare_digest(each, millrace.signature(SECRET, id, time, body)) for each in given)


def decide(data, fault):
    """A status and an outcome."""
    notification = data.get("notification", {})
    if fault == "fails-on-call-results" and data.get("kind") == "call-result":
        return 500, None
    if fault == "is-slow" and data.get("kind") == "timer":
        time.sleep(0.7 * TIMEOUT)
    if fault == "gives-up-unknown-types" and notification.get("type") == "MILLRACE_CHECK":
        return 422, None
    if notification.get("type") != "EXPIRED":
        return 204, None
    outcome = {
        "state": {"left": notification["signedDate"]},
        "timers": [{"name": "offer", "at": "2030-01-01T00:00:00Z"}],
    }
    if fault == "is-not-idempotent":
        outcome["state"] = random.random()
    if fault == "adds-a-member":
        outcome["note"] = "a member that no version has"
    if fault == "has-a-wrong-type":
        outcome["timers"][0]["at"] = 1893456000
    return 200, outcome


class Endpoint(http.server.BaseHTTPRequestHandler):
    """The path names the fault."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        fault = self.path.removeprefix("/")
        body = self.rfile.read(int(self.headers["content-length"]))
        if fault == "never-answers":
            time.sleep(3 * TIMEOUT)
            self.close_connection = True
        elif fault == "refuses-valid-signatures":
            self.answer(401)
        elif not is_genuine(self.headers, body, fault):
            self.answer(400 if fault == "refuses-with-400" else 401)
        elif fault == "redirects":
            self.answer(302)
        else:
            self.decided(body, fault)

    def decided(self, body, fault):
        try:
            data = json.loads(body)["data"]
        except ValueError:
            return self.answer(204 if fault == "accepts-malformed-bodies" else 400)
        if fault == "answers-garbage":
            return self.answer(200, b"<html>It works!</html>")
        if fault == "answers-10-mb":
            return self.answer(200, json.dumps({"state": "x" * 10_000_000}).encode())
        status, outcome = decide(data, fault)
        return self.answer(status, b"" if outcome is None else json.dumps(outcome).encode())

    def answer(self, status, body=b""):
        try:
            self.send_response(status)
            if status == 302:
                self.send_header("location", "/none")
            if status != 204:
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:  # The check reads no more than 1 MiB.
            self.close_connection = True

    def log_message(self, *_):
        pass


def findings(program, url, secret_file):
    """The findings that are not good, with their texts, and the exit status."""
    command = [program, "handler", "check", url, "--secret-file", secret_file, "--timeout", f"{TIMEOUT}s", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    if not lines:
        sys.exit(f"{' '.join(command)} printed nothing: {run.stderr}")
    return {line["check"]: line for line in lines if line["result"] in ("warning", "failure")}, run.returncode


def differences(fault, found, status):
    expected = FAULTS[fault]
    wrong = [f"no finding {check}" for check in expected if check not in found]
    # On a busy machine any answer can be slow.
    wrong += [
        f"{check}: {line['what']}"
        for check, line in found.items()
        if expected.get(check, "" if check == "speed" else "\0") not in line["what"]
    ]
    failed = any(line["result"] == "failure" for line in found.values())
    if status != int(failed):
        wrong.append(f"exit status {status}")
    return wrong


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        secret = pathlib.Path(directory) / "secret"
        secret.write_text(SECRET)
        for fault in FAULTS:
            found, status = findings(sys.argv[1], f"http://127.0.0.1:{server.server_port}/{fault}", str(secret))
            wrong = differences(fault, found, status)
            failed += bool(wrong)
            print(f"{'FAILED' if wrong else 'ok    '}  {fault}: {', '.join(found) or 'no finding'}", flush=True)
            for line in wrong:
                print(f"        {line}", flush=True)
    if failed:
        sys.exit(f"{failed} of {len(FAULTS)} endpoints got other findings than expected")


if __name__ == "__main__":
    main()
